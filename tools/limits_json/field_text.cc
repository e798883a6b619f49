#include "tools/limits_json/field_text.h"

#include "absl/strings/str_cat.h"
#include "core/field_range.h"
#include "tools/limits_json/duration.h"

namespace weir::cli {

namespace {

std::string RangeText(const Field& field) {
  switch (field.type) {
    case FieldType::kCount:
      return absl::StrCat("a whole number from ", field.min, " to ", field.max);
    case FieldType::kDuration:
      return absl::StrCat("a duration like \"10s\", from ",
                          FormatDuration(Micros(field.min)), " to ",
                          FormatDuration(Micros(field.max)));
    case FieldType::kReal:
      return RealRangeText(field);
    case FieldType::kBool:
      return "true or false";
    case FieldType::kWord: {
      std::string words = "\"";
      for (const char c : field.words) {
        if (c == '|') {
          words += "\" or \"";
        } else {
          words += c;
        }
      }
      return words + "\"";
    }
  }
  return "";
}

}  // namespace

std::string AllowedText(absl::Span<const Field> fields, const Field& field) {
  std::string text = RangeText(field);
  if (IsLimit(fields, field)) text.append(kOrZero);
  return text;
}

}  // namespace weir::cli
