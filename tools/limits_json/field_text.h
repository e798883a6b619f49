// What may be written for a parameter, for people.
#ifndef WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_
#define WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_

#include <string>

#include "weir/engine.h"

namespace weir::cli {

// `a whole number from 1 to 1000000000000`; `a duration like "10s", from 1us
// to 36600d`; `"first" or "epoch"`.
std::string AllowedText(const Field& field);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_FIELD_TEXT_H_
