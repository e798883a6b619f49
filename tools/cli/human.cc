#include "tools/cli/human.h"

#include <time.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tools/cli/time_units.h"

namespace weir::cli {
namespace {

// value / unit, rounded to one digit after the point.
std::string InUnits(int64_t value, int64_t unit, const char* name) {
  const int64_t tenths = (value + unit / 20) / (unit / 10);
  std::string text = absl::StrCat(tenths / 10);
  if (tenths % 10 != 0) absl::StrAppend(&text, ".", tenths % 10);
  return absl::StrCat(text, " ", name);
}

// Rounded to the small unit.
std::string TwoUnits(int64_t value, int64_t big, const char* big_name,
                     int64_t small, const char* small_name) {
  value += small / 2;
  const int64_t rest = value % big / small;
  std::string text = absl::StrCat(value / big, " ", big_name);
  if (rest != 0) absl::StrAppend(&text, " ", rest, " ", small_name);
  return text;
}

}  // namespace

std::string Thousands(uint64_t n) {
  std::string text = absl::StrCat(n);
  for (size_t pos = text.size(); pos > 3;) {
    pos -= 3;
    text.insert(pos, ",");
  }
  return text;
}

std::string Percent(uint64_t part, uint64_t whole) {
  if (whole == 0 || part == 0) return "0 %";
  if (part == whole) return "100 %";
  const double share =
      100 * static_cast<double>(part) / static_cast<double>(whole);
  if (share < 0.1) return "< 0.1 %";
  if (share > 99.9) return "> 99.9 %";
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", share);
  return text;
}

std::string HumanSpan(int64_t us) {
  if (us == 0) return "0 s";
  if (us < kMs) return absl::StrCat(us, " us");
  // What would be rounded up to the next unit is written in it.
  if (us < kS - 50) return InUnits(us, kMs, "ms");
  if (us < kMin - kS / 20) return InUnits(us, kS, "s");
  if (us < kHour - kS / 2) return TwoUnits(us, kMin, "min", kS, "s");
  if (us < kDay - kMin / 2) return TwoUnits(us, kHour, "h", kMin, "min");
  return TwoUnits(us, kDay, "d", kHour, "h");
}

std::string UtcTime(int64_t time_us, int64_t step_us) {
  const int64_t part = (time_us % kS + kS) % kS;
  const time_t seconds = static_cast<time_t>((time_us - part) / kS);
  struct tm utc = {};
  gmtime_r(&seconds, &utc);
  const char* format = "%Y-%m-%d %H:%M:%S";
  if (step_us % kMin == 0) format = "%Y-%m-%d %H:%M";
  if (step_us % kDay == 0) format = "%Y-%m-%d";
  char text[80];
  std::string out(text, strftime(text, sizeof(text), format, &utc));
  if (step_us % kS == 0) return out;
  std::snprintf(text, sizeof(text), ".%06d", static_cast<int>(part));
  out += text;
  while (step_us % 10 == 0) {
    step_us /= 10;
    out.pop_back();
  }
  return out;
}

std::string HumanBytes(int64_t bytes) {
  if (bytes < 1'000'000) return InUnits(bytes, 1'000, "kB");
  if (bytes < 1'000'000'000) return InUnits(bytes, 1'000'000, "MB");
  return InUnits(bytes, 1'000'000'000, "GB");
}

}  // namespace weir::cli
