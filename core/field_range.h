// The bounds of a parameter as people read them, in one form for the registry,
// limits.json and `weir list`.
#ifndef WEIR_CORE_FIELD_RANGE_H_
#define WEIR_CORE_FIELD_RANGE_H_

#include <cmath>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir {

inline constexpr std::string_view kOrZero = ", or 0 to deny all";

// Is this the limit itself: the first field, and a number?
inline bool IsLimit(absl::Span<const Field> fields, const Field& field) {
  return &field == fields.data() &&
         (field.type == FieldType::kCount || field.type == FieldType::kReal);
}

// Of a kReal: "a number above 0 and up to 1000000000000".
inline std::string RealRangeText(const Field& field) {
  const auto number = [](double v) {
    // The bounds of counts are written so.
    return v == std::floor(v) && std::fabs(v) <= kMaxExact
               ? absl::StrCat(static_cast<int64_t>(v))
               : RealText(v);
  };
  std::string text = "a number";
  if (std::isfinite(field.above)) {
    absl::StrAppend(&text, " above ", number(field.above));
  }
  if (std::isfinite(field.most)) {
    absl::StrAppend(&text, std::isfinite(field.above) ? " and" : "", " up to ",
                    number(field.most));
  }
  return text;
}

}  // namespace weir

#endif  // WEIR_CORE_FIELD_RANGE_H_
