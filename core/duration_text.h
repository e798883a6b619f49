// A duration as people write it, and as limits.json takes it: 250us, 10s, 1h.
#ifndef WEIR_CORE_DURATION_TEXT_H_
#define WEIR_CORE_DURATION_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/text.h"

namespace weir {

struct DurationUnit {
  std::string_view name;
  int64_t us;
};

// Longest first.
inline constexpr DurationUnit kDurationUnits[] = {
    {"d", 86'400'000'000}, {"h", 3'600'000'000}, {"m", 60'000'000},
    {"s", 1'000'000},      {"ms", 1'000},        {"us", 1}};

// Exact, in the longest unit that divides it: "90s", not "1.5m". "0s" for
// nothing.
inline std::string DurationText(int64_t us) {
  if (us == 0) return "0s";
  for (const DurationUnit& unit : kDurationUnits) {
    if (us % unit.us == 0) return absl::StrCat(us / unit.us, Sv(unit.name));
  }
  return "";  // not reached: 1 us divides everything
}

}  // namespace weir

#endif  // WEIR_CORE_DURATION_TEXT_H_
