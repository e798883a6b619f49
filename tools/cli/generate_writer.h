// Writes the lines of a generated trace through a buffer of its own, without a
// printf for each.
#ifndef WEIR_TOOLS_CLI_GENERATE_WRITER_H_
#define WEIR_TOOLS_CLI_GENERATE_WRITER_H_

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/cli/generate.h"
#include "tools/cli/time_units.h"

namespace weir::cli {

// One line to be.
struct GeneratedCall {
  int64_t time_us = 0;
  uint32_t client = 0;  // an IPv4 address
  std::string_view method;
  std::string_view path;
  // Behind the path, if it is not negative.
  int64_t item = -1;
  int status = 200;
  int64_t bytes = 0;
  std::string_view agent;
};

class TraceWriter {
 public:
  TraceWriter(TraceFormat format, std::FILE* out)
      : format_(format), out_(out), buffer_(new char[kSize]) {}

  void Header() {
    if (format_ == TraceFormat::kCsv) {
      Text("time,client,method,path,status,bytes\n");
    }
  }

  absl::Status Line(const GeneratedCall& call) {
    if (kSize - used_ < kLongestLine) {
      if (absl::Status s = Flush(); !s.ok()) return s;
    }
    if (format_ == TraceFormat::kCsv) {
      Csv(call);
    } else {
      Log(call);
    }
    return absl::OkStatus();
  }

  absl::Status Finish() {
    if (absl::Status s = Flush(); !s.ok()) return s;
    return std::fflush(out_) == 0 ? absl::OkStatus() : Error();
  }

 private:
  static constexpr size_t kSize = size_t{256} << 10;
  static constexpr size_t kLongestLine = 512;

  static absl::Status Error() {
    return absl::UnavailableError(
        absl::StrCat("cannot write the trace: ", std::strerror(errno)));
  }

  absl::Status Flush() {
    const size_t used = used_;
    used_ = 0;
    return std::fwrite(buffer_.get(), 1, used, out_) == used ? absl::OkStatus()
                                                             : Error();
  }

  void Byte(char c) { buffer_[used_++] = c; }
  void Text(std::string_view text) {
    std::memcpy(buffer_.get() + used_, text.data(), text.size());
    used_ += text.size();
  }
  void Number(int64_t value, int least_digits = 1) {
    char digits[20];
    int n = 0;
    for (; value > 0 || n < least_digits; value /= 10) {
      digits[n++] = static_cast<char>('0' + value % 10);
    }
    while (n > 0) Byte(digits[--n]);
  }
  void Client(uint32_t address) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      Number(address >> shift & 255);
      if (shift > 0) Byte('.');
    }
  }
  void Path(const GeneratedCall& call) {
    Text(call.path);
    if (call.item >= 0) Number(call.item);
  }

  void Csv(const GeneratedCall& call) {
    Number(call.time_us / kS);
    Byte('.');
    Number(call.time_us % kS, 6);
    Byte(',');
    Client(call.client);
    Byte(',');
    Text(call.method);
    Byte(',');
    Path(call);
    Byte(',');
    Number(call.status);
    Byte(',');
    Number(call.bytes);
    Byte('\n');
  }

  void Log(const GeneratedCall& call) {
    Client(call.client);
    Text(" - - [");
    Date(call.time_us / kS);
    Text("] \"");
    Text(call.method);
    Byte(' ');
    Path(call);
    Text(" HTTP/1.1\" ");
    Number(call.status);
    Byte(' ');
    Number(call.bytes);
    Text(" \"-\" \"");
    Text(call.agent);
    Text("\"\n");
  }

  // 14/Nov/2023:00:00:00 +0000. The date is found by counting on from the one
  // before: time never runs back, so that is at most once a day.
  void Date(int64_t seconds) {
    constexpr char kMonths[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    while (seconds / kDaySeconds > day_number_) NextDay();
    Number(day_, 2);
    Byte('/');
    Text(std::string_view(kMonths + 3 * (month_ - 1), 3));
    Byte('/');
    Number(year_, 4);
    Byte(':');
    Number(seconds % kDaySeconds / 3600, 2);
    Byte(':');
    Number(seconds % 3600 / 60, 2);
    Byte(':');
    Number(seconds % 60, 2);
    Text(" +0000");
  }

  void NextDay() {
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year_ % 4 == 0 && (year_ % 100 != 0 || year_ % 400 == 0);
    const int days = kDays[month_ - 1] + (leap && month_ == 2 ? 1 : 0);
    ++day_number_;
    if (++day_ > days) {
      day_ = 1;
      if (++month_ > 12) {
        month_ = 1;
        ++year_;
      }
    }
  }

  const TraceFormat format_;
  std::FILE* const out_;
  std::unique_ptr<char[]> buffer_;
  size_t used_ = 0;
  int64_t day_number_ = 0;  // since 1970-01-01
  int year_ = 1970;
  int month_ = 1;
  int day_ = 1;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_GENERATE_WRITER_H_
