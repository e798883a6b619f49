// A key template over the columns of one file.
//
//   absl::StatusOr<BoundTemplate> bound = BoundTemplate::Bind(*key, columns);
//   std::string buffer;
//   std::string_view text = bound->Render(row.fields, &buffer);
#ifndef WEIR_TOOLS_CLI_BOUND_TEMPLATE_H_
#define WEIR_TOOLS_CLI_BOUND_TEMPLATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/cli/input/row.h"
#include "tools/limits_json/key_template.h"

namespace weir::cli {

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

#endif  // WEIR_TOOLS_CLI_BOUND_TEMPLATE_H_
