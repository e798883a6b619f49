// Numbers and times as people read them.
#ifndef WEIR_TOOLS_CLI_HUMAN_H_
#define WEIR_TOOLS_CLI_HUMAN_H_

#include <cstdint>
#include <string>

namespace weir::cli {

// "1,234,567".
std::string Thousands(uint64_t n);

// "64.2 %"; a share that is neither nothing nor all never reads as such.
std::string Percent(uint64_t part, uint64_t whole);

// Rounded to about four digits: "250 us", "12.5 ms", "3.2 s", "5 min 3 s",
// "3 h 5 min", "12 d 3 h". `us` is at least 0.
std::string HumanSpan(int64_t us);

// "2012-04-23 14:01:30" in UTC, as far down as `step_us` needs: to the minute
// if that is a whole number of minutes, to the microsecond if it is 1.
std::string UtcTime(int64_t time_us, int64_t step_us);

// "1.2 GB", powers of 1000.
std::string HumanBytes(int64_t bytes);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_HUMAN_H_
