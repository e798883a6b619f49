#include "tools/cli/comparison_text.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "tools/cli/human.h"
#include "tools/cli/input_text.h"
#include "tools/cli/limit_text.h"
#include "tools/cli/text_layout.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

constexpr size_t kKeyWidth = 32;
constexpr size_t kRows = 30;

// Rows of cells; the first column stands left, the others right.
class Table {
 public:
  void Row(std::vector<std::string> cells) {
    widths_.resize(std::max(widths_.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) {
      widths_[i] = std::max(widths_[i], DisplayWidth(cells[i]));
    }
    rows_.push_back(std::move(cells));
  }

  void Write(std::string* out) const {
    for (const std::vector<std::string>& cells : rows_) {
      std::string line = "  " + PadRight(cells[0], widths_[0]);
      for (size_t i = 1; i < cells.size(); ++i) {
        line += "  " + PadLeft(cells[i], widths_[i]);
      }
      line.erase(line.find_last_not_of(' ') + 1);
      absl::StrAppend(out, line, "\n");
    }
  }

 private:
  std::vector<size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

class TextComparison {
 public:
  TextComparison(const Comparison& comparison, const TextOptions& options)
      : comparison_(comparison), options_(options) {}

  std::string Write(const std::vector<std::string>& files) {
    WriteInputText("Comparison", comparison_.input(), files, options_.ascii,
                   options_.sorted, &out_);
    const uint64_t calls = comparison_.input().checks;
    out_ += "\n";
    Item("alike", calls - comparison_.differing(), calls);
    Item("differently", comparison_.differing(), calls);
    WriteLimits();
    WriteTallies();
    WritePairs();
    WriteKeys();
    WriteFirst(files);
    WriteTimeLine();
    return std::move(out_);
  }

 private:
  void Title(const std::string& title) {
    absl::StrAppend(&out_, "\n", title, "\n");
  }

  void Item(const char* name, uint64_t part, uint64_t whole) {
    absl::StrAppend(&out_, "  ", PadRight(name, 14),
                    PadLeft(Thousands(part), 12), "  ", Percent(part, whole),
                    "\n");
  }

  std::string Shown(std::string_view text, size_t width) const {
    return text.empty() ? "(empty)" : Printable(text, width, options_.ascii);
  }

  // "A denies", "B denies", ...
  void AddLetters(const char* after, std::vector<std::string>* cells) const {
    for (size_t i = 0; i < comparison_.size(); ++i) {
      cells->push_back(LimitLetter(i) + after);
    }
  }

  void WriteLimits() {
    Title("The limits");
    for (size_t i = 0; i < comparison_.size(); ++i) {
      const Compared& limit = comparison_.limit(i);
      absl::StrAppend(&out_, "  ", LimitLetter(i), "  ", Shown(limit.name, 200),
                      "\n");
      for (size_t r = 0; r < limit.limits->rules.size(); ++r) {
        const Rule& rule = limit.limits->rules[r];
        absl::StrAppend(&out_, "     ", Shown(rule.name, 40), ": ",
                        Shown(LimitText(rule.limit), 200), ", key ",
                        Shown(comparison_.report(i).key_text(r), 80),
                        rule.observe ? " (observed only, denies nothing)" : "",
                        "\n");
      }
    }
  }

  void WriteTallies() {
    Title("What each would have done");
    Table table;
    table.Row({"", "allowed", "denied", "share", "keys", "denied keys",
               "median wait", "99 % within", "longest"});
    for (size_t i = 0; i < comparison_.size(); ++i) {
      const Report& report = comparison_.report(i);
      const Tally& tally = report.overall();
      std::vector<std::string> cells = {
          LimitLetter(i), Thousands(tally.allowed), Thousands(tally.denied),
          Percent(tally.denied, tally.calls())};
      // Of several rules, the one with most denied keys.
      size_t most = 0;
      for (size_t r = 1; r < report.rules(); ++r) {
        if (report.keys_denied(r) > report.keys_denied(most)) most = r;
      }
      cells.push_back(Thousands(report.keys(most)));
      cells.push_back(Thousands(report.keys_denied(most)));
      if (tally.waits.count() > 0) {
        cells.push_back(HumanSpan(tally.waits.Quantile(500)));
        cells.push_back(HumanSpan(tally.waits.Quantile(990)));
        cells.push_back(HumanSpan(tally.waits.max()));
      } else {
        cells.insert(cells.end(), 3, "-");
      }
      table.Row(std::move(cells));
    }
    table.Write(&out_);
    for (size_t i = 0; i < comparison_.size(); ++i) {
      const Tally& tally = comparison_.report(i).overall();
      if (tally.never == 0) continue;
      absl::StrAppend(&out_, "  ", LimitLetter(i), ": no wait would have ",
                      "helped ", Count(tally.never, "call", "calls"), "\n");
    }
  }

  void WritePairs() {
    Title("Calls that the row allows and the column denies");
    Table table;
    std::vector<std::string> head = {""};
    AddLetters("", &head);
    table.Row(std::move(head));
    for (size_t a = 0; a < comparison_.size(); ++a) {
      std::vector<std::string> cells = {LimitLetter(a)};
      for (size_t b = 0; b < comparison_.size(); ++b) {
        cells.push_back(a == b ? "-"
                               : Thousands(comparison_.allowed_only_by(a, b)));
      }
      table.Row(std::move(cells));
    }
    table.Write(&out_);
  }

  void WriteKeys() {
    const std::vector<DifferingKey> top =
        comparison_.TopDiffering(options_.top);
    if (top.empty()) return;
    Title("Keys decided differently most often");
    Table table;
    std::vector<std::string> head = {"key", "differently", "calls"};
    AddLetters(" denies", &head);
    table.Row(std::move(head));
    for (const DifferingKey& key : top) {
      std::vector<std::string> cells = {Shown(key.key, kKeyWidth),
                                        Thousands(key.differing),
                                        Thousands(key.calls)};
      for (const uint64_t denied : key.denied) {
        cells.push_back(Thousands(denied));
      }
      table.Row(std::move(cells));
    }
    table.Write(&out_);
  }

  void WriteFirst(const std::vector<std::string>& files) {
    if (comparison_.first().empty()) return;
    Title("The first calls decided differently (denied: the wait)");
    Table table;
    std::vector<std::string> head = {"line", "time (UTC)", "key", "cost"};
    AddLetters("", &head);
    table.Row(std::move(head));
    for (const DifferingCall& call : comparison_.first()) {
      std::string line = absl::StrCat(call.line);
      if (files.size() > 1) {
        const std::string& file = files[static_cast<size_t>(call.file)];
        line = absl::StrCat(Shown(file, kKeyWidth), ":", line);
      }
      std::vector<std::string> cells = {line, UtcTime(call.time_us, 1),
                                        Shown(call.key, kKeyWidth),
                                        Thousands(uint64_t(call.cost))};
      for (const DifferingCall::Verdict& verdict : call.verdicts) {
        cells.push_back(VerdictText(verdict));
      }
      table.Row(std::move(cells));
    }
    table.Write(&out_);
  }

  static std::string VerdictText(const DifferingCall::Verdict& verdict) {
    if (verdict.allowed) return "passes";
    if (!verdict.retry_after.has_value()) return "never";
    return HumanSpan(verdict.retry_after->count());
  }

  void WriteTimeLine() {
    if (comparison_.time_line().buckets().empty()) return;
    // All have seen the same times, and so have the same buckets.
    const TimeLine differing = comparison_.time_line().Narrowed(kRows);
    std::vector<TimeLine> lines;
    for (size_t i = 0; i < comparison_.size(); ++i) {
      lines.push_back(
          comparison_.report(i).overall().time_line.Narrowed(kRows));
    }
    Title(
        absl::StrCat("Over time, each row ", HumanSpan(differing.width_us())));
    Table table;
    std::vector<std::string> head = {"from (UTC)", "calls", "differently"};
    AddLetters(" denies", &head);
    table.Row(std::move(head));
    for (size_t i = 0; i < differing.buckets().size(); ++i) {
      const TimeLine::Bucket& bucket = differing.buckets()[i];
      const auto step = static_cast<int64_t>(i) * differing.width_us();
      std::vector<std::string> cells = {
          UtcTime(differing.start_us() + step, differing.width_us()),
          Thousands(bucket.allowed + bucket.denied), Thousands(bucket.denied)};
      for (const TimeLine& line : lines) {
        cells.push_back(Thousands(line.buckets()[i].denied));
      }
      table.Row(std::move(cells));
    }
    table.Write(&out_);
  }

  const Comparison& comparison_;
  const TextOptions& options_;
  std::string out_;
};

}  // namespace

std::string ComparisonText(const Comparison& comparison,
                           const std::vector<std::string>& files,
                           const TextOptions& options) {
  return TextComparison(comparison, options).Write(files);
}

}  // namespace weir::cli
