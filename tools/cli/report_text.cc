#include "tools/cli/report_text.h"

#include <algorithm>

#include "core/text.h"
#include "tools/cli/human.h"
#include "tools/cli/input_text.h"
#include "tools/cli/limit_text.h"
#include "tools/cli/text_layout.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

constexpr size_t kKeyWidth = 44;
constexpr size_t kBarWidth = 40;
constexpr size_t kRows = 30;

// What the bars are made of.
struct Ink {
  std::string_view allowed;
  std::string_view denied;
};
constexpr Ink kBlocks = {"\u2588", "\u2591"};
constexpr Ink kAscii = {"#", "-"};

class TextReport {
 public:
  TextReport(const Report& report, const TextOptions& options)
      : report_(report), options_(options) {}

  std::string Write(const std::vector<std::string>& files) {
    WriteInput(files);
    if (!report_.overall_is_rule()) {
      Line("");
      Line("All rules together");
      WriteTally(report_.overall());
      WriteTimeLine(report_.overall().time_line);
    }
    for (size_t i = 0; i < report_.rules(); ++i) WriteRule(i);
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&out_, parts..., "\n");
  }

  // A name, and what is known of it.
  template <class... Parts>
  void Item(std::string_view name, const Parts&... parts) {
    Line("  ", PadRight(std::string(name), 14), parts...);
  }

  std::string Shown(std::string_view text, size_t width) const {
    return Printable(text, width, options_.ascii);
  }

  void WriteInput(const std::vector<std::string>& files) {
    WriteInputText("Replay", report_.input(), files, options_.ascii,
                   options_.sorted, &out_);
  }

  void WriteRule(size_t i) {
    const Rule& rule = report_.limits().rules[i];
    const Tally& tally = report_.rule(i);
    Line("");
    Line("Rule \"", Shown(rule.name, 40),
         "\": ", Shown(LimitText(rule.limit), 200),
         rule.observe ? " (observed only, denies nothing)" : "");
    WriteTally(tally);
    if (rule.soft.has_value()) {
      Item("soft", Thousands(tally.soft), "  calls above ",
           ValueText(*rule.soft), " of the limit");
    }
    const size_t denied = report_.keys_denied(i);
    Item("keys", PadLeft(Thousands(report_.keys(i)), 12), "  of which ",
         Thousands(denied), denied == 1 ? " was" : " were",
         " denied at least once");
    WriteTop(i);
    WriteTimeLine(tally.time_line);
  }

  void WriteTally(const Tally& tally) {
    Item("calls", PadLeft(Thousands(tally.calls()), 12));
    Item("allowed", PadLeft(Thousands(tally.allowed), 12), "  ",
         Percent(tally.allowed, tally.calls()));
    Item("denied", PadLeft(Thousands(tally.denied), 12), "  ",
         Percent(tally.denied, tally.calls()));
    if (tally.waits.count() > 0) {
      Item("their wait", "median ", HumanSpan(tally.waits.Quantile(500)),
           ", 99 % within ", HumanSpan(tally.waits.Quantile(990)), ", longest ",
           HumanSpan(tally.waits.max()));
    }
    if (tally.never > 0) {
      Item("never", PadLeft(Thousands(tally.never), 12),
           "  denied calls that no wait would have helped");
    }
    if (const auto worst = tally.worst_minute.Find()) {
      Item("worst minute", UtcTime(worst->start_us, 60'000'000), " UTC, ",
           Thousands(worst->denied), " denied");
    }
  }

  void WriteTop(size_t rule) {
    const std::vector<DeniedKey> top = report_.TopDenied(rule, options_.top);
    if (top.empty()) return;
    std::vector<std::string> names;
    size_t width = 16;
    for (const DeniedKey& key : top) {
      names.push_back(key.key.empty() ? "(empty)" : Shown(key.key, kKeyWidth));
      width = std::max(width, DisplayWidth(names.back()));
    }
    Line("");
    Line("  ", PadRight("most denied keys", width),
         "       denied        calls");
    for (size_t i = 0; i < top.size(); ++i) {
      Line("  ", PadRight(names[i], width),
           PadLeft(Thousands(top[i].denied), 13),
           PadLeft(Thousands(top[i].calls), 13),
           PadLeft(Percent(top[i].denied, top[i].calls), 10));
    }
  }

  void WriteTimeLine(const TimeLine& whole) {
    if (whole.buckets().empty()) return;
    const TimeLine line = whole.Narrowed(kRows);
    const Ink& ink = options_.ascii ? kAscii : kBlocks;
    uint64_t most = 0;
    for (const TimeLine::Bucket& bucket : line.buckets()) {
      most = std::max(most, bucket.allowed + bucket.denied);
    }
    const size_t label = UtcTime(line.start_us(), line.width_us()).size();
    Line("");
    Line("  ", PadRight("from (UTC)", label), "  ",
         PadRight(absl::StrCat("each row ", HumanSpan(line.width_us()), ", ",
                               Sv(ink.allowed), " allowed, ", Sv(ink.denied),
                               " denied"),
                  kBarWidth),
         "     allowed      denied");
    int64_t start = line.start_us();
    for (const TimeLine::Bucket& bucket : line.buckets()) {
      Line("  ", PadRight(UtcTime(start, line.width_us()), label), "  ",
           PadRight(Bar(bucket, most, ink), kBarWidth),
           PadLeft(Thousands(bucket.allowed), 12),
           PadLeft(Thousands(bucket.denied), 12));
      start += line.width_us();
    }
  }

  // The bar of a bucket; the fullest one takes the whole width. What is not
  // nothing is seen.
  static std::string Bar(const TimeLine::Bucket& bucket, uint64_t most,
                         const Ink& ink) {
    const auto cells = [&](uint64_t n) {
      const double share = static_cast<double>(n) / static_cast<double>(most);
      return static_cast<size_t>(share * kBarWidth + 0.5);
    };
    const uint64_t total = bucket.allowed + bucket.denied;
    if (total == 0) return "";
    const size_t least =
        (bucket.allowed > 0 ? 1u : 0u) + (bucket.denied > 0 ? 1u : 0u);
    const size_t all = std::max(cells(total), least);
    size_t denied = std::min(cells(bucket.denied), all);
    if (bucket.denied > 0) denied = std::max<size_t>(denied, 1);
    if (bucket.allowed > 0) denied = std::min(denied, all - 1);
    return Repeat(ink.allowed, all - denied) + Repeat(ink.denied, denied);
  }

  const Report& report_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string ReportText(const Report& report,
                       const std::vector<std::string>& files,
                       const TextOptions& options) {
  return TextReport(report, options).Write(files);
}

}  // namespace weir::cli
