#include "tools/cli/bound_template.h"

#include "core/text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {

absl::StatusOr<BoundTemplate> BoundTemplate::Bind(const KeyTemplate& key,
                                                  const Columns& columns) {
  BoundTemplate bound;
  for (const KeyTemplate::Part& part : key.parts()) {
    if (!part.is_column) {
      bound.parts_.push_back({-1, part.text});
      continue;
    }
    const int column = columns.Find(part.text);
    if (column < 0) {
      std::string there;
      for (const std::string& name : columns.names()) {
        absl::StrAppend(&there, there.empty() ? "" : ", ",
                        Printable(name, kShownBytes));
      }
      return InvalidArgument("no column {", Printable(part.text, kShownBytes),
                             "}; the columns are: ", there);
    }
    bound.parts_.push_back({column, ""});
  }
  if (bound.parts_.size() == 1) bound.single_ = bound.parts_[0].column;
  return bound;
}

std::string_view BoundTemplate::RenderParts(
    absl::Span<const std::string_view> fields, std::string* buffer) const {
  buffer->clear();
  for (const Part& part : parts_) {
    buffer->append(part.column < 0 ? std::string_view(part.text)
                                   : fields[static_cast<size_t>(part.column)]);
  }
  return *buffer;
}

}  // namespace weir::cli
