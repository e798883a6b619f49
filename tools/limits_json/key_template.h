// Key templates: "{host}/{client}" is the text of column `host`, a slash, and
// the text of column `client`. "{{" and "}}" are literal braces.
//
//   absl::StatusOr<KeyTemplate> key = KeyTemplate::Parse("{host}/{client}");
#ifndef WEIR_TOOLS_LIMITS_JSON_KEY_TEMPLATE_H_
#define WEIR_TOOLS_LIMITS_JSON_KEY_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

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

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_KEY_TEMPLATE_H_
