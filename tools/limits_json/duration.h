// Durations as text: "250us", "10ms", "1.5s", "5m", "1h", "7d". Exact: the
// text is read in integers, never as a double.
#ifndef WEIR_TOOLS_LIMITS_JSON_DURATION_H_
#define WEIR_TOOLS_LIMITS_JSON_DURATION_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "weir/time.h"

namespace weir::cli {

// InvalidArgument: no number, no unit or an unknown one. OutOfRange: a part of
// a microsecond, or more than 2^53 - 1 us. A leading '-' is read, so that the
// limit can say why it refuses the value.
absl::StatusOr<Micros> ParseDuration(std::string_view text);

// The shortest exact text: "90s" rather than "1.5m", "36h" rather than "1.5d";
// the largest unit that divides it. "0s" for nothing.
std::string FormatDuration(Micros duration);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_DURATION_H_
