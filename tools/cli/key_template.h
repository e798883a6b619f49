// Key templates: "{host}/{client}" is the text of column `host`, a slash, and
// the text of column `client`. "{{" and "}}" are literal braces.
//
//   absl::StatusOr<KeyTemplate> key = KeyTemplate::Parse("{host}/{client}");
//   absl::StatusOr<BoundTemplate> bound = BoundTemplate::Bind(*key, columns);
//   std::string buffer;
//   std::string_view text = bound->Render(row.fields, &buffer);
#ifndef WEIR_TOOLS_CLI_KEY_TEMPLATE_H_
#define WEIR_TOOLS_CLI_KEY_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/cli/input/row.h"

namespace weir::cli {

class KeyTemplate {
 public:
  struct Part {
    bool is_column = false;
    std::string text;  // the column's name, or the text itself

    bool operator==(const Part& other) const {
      return is_column == other.is_column && text == other.text;
    }
  };

  // InvalidArgument says what is wrong with the braces.
  static absl::StatusOr<KeyTemplate> Parse(std::string_view text);

  // As it was written.
  const std::string& text() const { return text_; }
  const std::vector<Part>& parts() const { return parts_; }
  bool HasColumn(std::string_view name) const;

  // Two templates are equal if they make equal keys of every row.
  bool operator==(const KeyTemplate& other) const {
    return parts_ == other.parts_;
  }
  bool operator!=(const KeyTemplate& other) const { return !(*this == other); }

 private:
  std::string text_;
  std::vector<Part> parts_;
};

// A template over the columns of one file.
class BoundTemplate {
 public:
  // InvalidArgument names the column that is not there, and those that are.
  static absl::StatusOr<BoundTemplate> Bind(const KeyTemplate& key,
                                            const Columns& columns);

  // The key of a row. The view holds as long as the row's fields and *buffer,
  // which is only written where the key is not one field as it stands.
  std::string_view Render(absl::Span<const std::string_view> fields,
                          std::string* buffer) const {
    if (single_ >= 0) return fields[static_cast<size_t>(single_)];
    return RenderParts(fields, buffer);
  }

 private:
  struct Part {
    int column = -1;  // -1: the text
    std::string text;
  };

  std::string_view RenderParts(absl::Span<const std::string_view> fields,
                               std::string* buffer) const;

  int single_ = -1;
  std::vector<Part> parts_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_KEY_TEMPLATE_H_
