// The statistics of a comparison: each limit's own report, and where they
// differ. A call counts as decided differently if one limit allows it and
// another denies it.
//
// Memory grows with the keys, not with the lines.
#ifndef WEIR_TOOLS_CLI_COMPARISON_H_
#define WEIR_TOOLS_CLI_COMPARISON_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/input/row.h"
#include "tools/cli/key_table.h"
#include "tools/cli/report.h"
#include "tools/cli/time_line.h"
#include "tools/cli/trace_run.h"
#include "tools/limits_json/limits_file.h"
#include "weir/time.h"

namespace weir::cli {

// One of the limits that are compared.
struct Compared {
  std::string name;  // where it comes from: a file, or what was typed
  const LimitsFile* limits = nullptr;
};

// A key, and what was decided of its calls.
struct DifferingKey {
  std::string_view key;
  uint64_t calls = 0;
  uint64_t differing = 0;
  std::vector<uint64_t> denied;  // by each limit
};

// A call that was decided differently.
struct DifferingCall {
  int file = 0;
  uint64_t line = 0;
  int64_t time_us = 0;
  int64_t cost = 0;
  std::string key;
  struct Verdict {
    bool allowed = false;
    std::optional<Micros> retry_after;  // null: never
  };
  std::vector<Verdict> verdicts;  // of each limit
};

class Comparison {
 public:
  // `keep`: how many of the first differing calls are remembered.
  Comparison(std::vector<Compared> limits, size_t keep);

  // A row was decided. True if it is a call and was decided differently.
  bool Add(const Row& row, absl::Span<const Answer> answers);

  size_t size() const { return limits_.size(); }
  const Compared& limit(size_t i) const { return limits_[i]; }
  const Report& report(size_t i) const { return reports_[i]; }
  Report* mutable_report(size_t i) { return &reports_[i]; }
  InputCounts* mutable_input() { return reports_[0].mutable_input(); }
  const InputCounts& input() const { return reports_[0].input(); }

  uint64_t differing() const { return differing_; }
  // Calls that `a` allowed and `b` denied.
  uint64_t allowed_only_by(size_t a, size_t b) const {
    return pairs_[a * size() + b];
  }
  // Calls decided alike by all (as allowed) and differently (as denied).
  const TimeLine& time_line() const { return time_line_; }
  const std::vector<DifferingCall>& first() const { return first_; }
  // The keys decided differently most often, at most `most`; of two alike, the
  // one whose bytes come first. A call's key is that of the first limit's
  // first rule.
  std::vector<DifferingKey> TopDiffering(size_t most) const;

 private:
  void Keep(const Row& row, absl::Span<const Answer> answers);

  std::vector<Compared> limits_;
  const size_t keep_;
  std::deque<Report> reports_;  // of each limit; they do not move
  uint64_t differing_ = 0;
  std::vector<uint64_t> pairs_;
  TimeLine time_line_;
  // A key's counters: its calls, those that differ, and each limit's denials.
  KeyTable keys_;
  std::vector<DifferingCall> first_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_COMPARISON_H_
