#include "tools/cli/input/log_time.h"

#include "absl/strings/ascii.h"
#include "tools/cli/input/row.h"

namespace weir::cli {
namespace {

constexpr char kNotATime[] = "not a time";

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Reads from the front of a text; once something was not as asked for, `ok`
// stays false.
struct Scanner {
  const char* p;
  const char* end;
  bool ok = true;

  char Peek() const { return p < end ? *p : '\0'; }
  bool Take(char c) {
    if (p == end || *p != c) return false;
    ++p;
    return true;
  }
  void Need(bool taken) { ok = ok && taken; }

  // A number of `least` to `most` digits.
  int Digits(int least, int most) {
    int value = 0;
    int count = 0;
    while (count < most && p < end && absl::ascii_isdigit(*p)) {
      value = value * 10 + (*p++ - '0');
      ++count;
    }
    if (count < least) ok = false;
    return value;
  }
};

struct Civil {
  int year = 0;
  int month = 0;  // 0: no such name
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;
  int zone_minutes = 0;
};

int MonthOf(const char* name) {
  constexpr char kNames[] = "janfebmaraprmayjunjulaugsepoctnovdec";
  for (int month = 0; month < 12; ++month) {
    const char* known = kNames + 3 * month;
    if (Lower(name[0]) == known[0] && Lower(name[1]) == known[1] &&
        Lower(name[2]) == known[2]) {
      return month + 1;
    }
  }
  return 0;
}

bool IsLeap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int DaysIn(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

// Days from 1970-01-01 in the Gregorian calendar. Years are counted from
// March, so that the leap day is a year's last; `year` is at least 0, and 400
// years are added to stay above it.
int64_t DaysSinceEpoch(int year, int month, int day) {
  const int y = year + 400 - (month <= 2 ? 1 : 0);
  const int m = (month + 9) % 12;
  const int64_t before = int64_t{365} * y + y / 4 - y / 100 + y / 400;
  constexpr int64_t kEpoch = int64_t{365} * 2369 + 2369 / 4 - 2369 / 100 +
                             2369 / 400 + 306;  // 1 January 1970, alike
  return before + (m * 153 + 2) / 5 + day - 1 - kEpoch;
}

void ReadClf(Scanner* in, Civil* civil) {
  civil->day = in->Digits(1, 2);
  in->Need(in->Take('/'));
  if (in->end - in->p < 3) {
    in->ok = false;
    return;
  }
  civil->month = MonthOf(in->p);
  in->p += 3;
  in->Need(in->Take('/'));
  civil->year = in->Digits(4, 4);
  in->Need(in->Take(':') || in->Take(' '));
}

void ReadIsoDate(Scanner* in, Civil* civil) {
  civil->year = in->Digits(4, 4);
  in->Need(in->Take('-'));
  civil->month = in->Digits(2, 2);
  in->Need(in->Take('-'));
  civil->day = in->Digits(2, 2);
  in->Need(in->Take('T') || in->Take('t') || in->Take(' '));
}

void ReadClock(Scanner* in, Civil* civil) {
  civil->hour = in->Digits(2, 2);
  in->Need(in->Take(':'));
  civil->minute = in->Digits(2, 2);
  in->Need(in->Take(':'));
  civil->second = in->Digits(2, 2);
  if (!in->ok || !(in->Take('.') || in->Take(','))) return;
  if (!absl::ascii_isdigit(in->Peek())) in->ok = false;
  int scale = 100000;
  while (absl::ascii_isdigit(in->Peek())) {
    civil->micros += (*in->p++ - '0') * scale;
    scale /= 10;
  }
}

// False: no such zone.
bool ReadZone(Scanner* in, Civil* civil) {
  while (in->Take(' ') || in->Take('\t')) {
  }
  const size_t left = static_cast<size_t>(in->end - in->p);
  const std::string_view name(in->p, left);
  if (left == 0 || name == "Z" || name == "z" || name == "UTC" ||
      name == "GMT") {
    return true;
  }
  const bool west = in->Peek() == '-';
  if (!west && in->Peek() != '+') return false;
  ++in->p;
  const int hours = in->Digits(2, 2);
  int minutes = 0;
  if (in->p != in->end) {
    in->Take(':');
    minutes = in->Digits(2, 2);
  }
  if (!in->ok || in->p != in->end || hours > 23 || minutes > 59) return false;
  civil->zone_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
  return true;
}

const char* CheckCivil(const Civil& civil) {
  if (civil.month < 1 || civil.month > 12) return "no such month";
  if (civil.day < 1 || civil.day > DaysIn(civil.year, civil.month)) {
    return "no such day";
  }
  if (civil.hour > 23) return "no such hour";
  if (civil.minute > 59) return "no such minute";
  if (civil.second > 60) return "no such second";
  return nullptr;
}

}  // namespace

const char* ParseLogTime(std::string_view text, int64_t* micros) {
  Scanner in{text.data(), text.data() + text.size()};
  while (in.Take(' ')) {
  }
  Civil civil;
  const bool iso = in.end - in.p > 4 && in.p[4] == '-';
  if (iso) {
    ReadIsoDate(&in, &civil);
  } else {
    ReadClf(&in, &civil);
  }
  if (in.ok) ReadClock(&in, &civil);
  if (!in.ok) return kNotATime;
  if (!ReadZone(&in, &civil)) return "no such time zone";
  if (const char* wrong = CheckCivil(civil); wrong != nullptr) return wrong;
  const int64_t seconds =
      DaysSinceEpoch(civil.year, civil.month, civil.day) * 86400 +
      civil.hour * 3600 + (civil.minute - civil.zone_minutes) * 60 +
      civil.second;
  // A year has four digits: the product is far from overflowing.
  const int64_t value = seconds * 1000000 + civil.micros;
  if (value > kMaxTraceNumber || value < -kMaxTraceNumber) {
    return "time out of range";
  }
  *micros = value;
  return nullptr;
}

bool LooksLikeLogTime(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && text[i] == ' ') ++i;
  const size_t first = i;
  while (i < text.size() && absl::ascii_isdigit(text[i])) ++i;
  if (i == text.size()) return false;
  const size_t digits = i - first;
  return text[i] == '/' ? digits == 1 || digits == 2
                        : text[i] == '-' && digits == 4;
}

}  // namespace weir::cli
