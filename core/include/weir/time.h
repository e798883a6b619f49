// Time in weir: microseconds since the Unix epoch, as std::chrono types in
// every public signature and as int64 inside.
//
// Accepted times lie in [-2^53 + 1, 2^53 - 1] microseconds (to the year 2255),
// the range in which Redis's numbers are exact too.
#ifndef WEIR_TIME_H_
#define WEIR_TIME_H_

#include <chrono>
#include <cstdint>

namespace weir {

using Micros = std::chrono::duration<int64_t, std::micro>;
using Time = std::chrono::time_point<std::chrono::system_clock, Micros>;

// The largest count, cost, sum or time that both stores keep exactly.
inline constexpr int64_t kMaxExact = (int64_t{1} << 53) - 1;

// `us` microseconds after the Unix epoch.
constexpr Time TimeFromMicros(int64_t us) { return Time(Micros(us)); }
constexpr int64_t ToMicros(Time t) { return t.time_since_epoch().count(); }

}  // namespace weir

#endif  // WEIR_TIME_H_
