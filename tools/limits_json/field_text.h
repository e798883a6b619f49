// What may be written for a parameter, for people.
#ifndef WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_
#define WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_

#include <string>

#include "weir/engine.h"

namespace weir::cli {

// `a whole number from 1 to 1000000000000`; `a duration like "10s", from 1us
// to 36600d`; `"first" or "epoch"`. `fields`: those of the algorithm, of which
// `field` is one; of the limit itself, 0 is allowed too.
std::string AllowedText(absl::Span<const Field> fields, const Field& field);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_
