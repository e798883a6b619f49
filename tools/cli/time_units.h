// Units of time, in microseconds unless their names say otherwise.
#ifndef WEIR_TOOLS_CLI_TIME_UNITS_H_
#define WEIR_TOOLS_CLI_TIME_UNITS_H_

#include <cstdint>

namespace weir::cli {

inline constexpr int64_t kMs = 1000;
inline constexpr int64_t kS = 1000 * kMs;
inline constexpr int64_t kMin = 60 * kS;
inline constexpr int64_t kHour = 60 * kMin;
inline constexpr int64_t kDay = 24 * kHour;
inline constexpr int64_t kDaySeconds = kDay / kS;

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TIME_UNITS_H_
