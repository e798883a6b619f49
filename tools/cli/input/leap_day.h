// The instant that tests of times write in many ways.
#ifndef WEIR_TOOLS_CLI_INPUT_LEAP_DAY_H_
#define WEIR_TOOLS_CLI_INPUT_LEAP_DAY_H_

#include <cstdint>

namespace weir::cli {

// 2016-02-29 12:00:00 UTC, in microseconds.
inline constexpr int64_t kNoon = 1456747200 * int64_t{1000000};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_LEAP_DAY_H_
