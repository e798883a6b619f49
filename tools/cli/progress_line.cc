#include "tools/cli/progress_line.h"

#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tools/cli/human.h"

namespace weir::cli {
namespace {

constexpr std::chrono::milliseconds kPatience(2000);
constexpr std::chrono::milliseconds kInterval(250);

}  // namespace

ProgressLine::ProgressLine()
    : terminal_(isatty(STDERR_FILENO) == 1),
      begin_(Clock::now()),
      next_(begin_ + kPatience) {}

void ProgressLine::Show(const Progress& progress) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kInterval;
  const std::chrono::duration<double> spent = now - begin_;
  std::string text = absl::StrCat(Thousands(progress.lines), " lines, ",
                                  HumanBytes(progress.bytes));
  if (progress.total_bytes > 0) {
    absl::StrAppend(&text, " of ", HumanBytes(progress.total_bytes));
  }
  const double rate = static_cast<double>(progress.lines) / spent.count();
  absl::StrAppend(&text, ", ", Thousands(static_cast<uint64_t>(rate)),
                  " lines/s");
  std::fprintf(stderr, "\r%s\x1b[K", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace weir::cli
