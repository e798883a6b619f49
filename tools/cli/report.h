// What a replay found out: numbers, gathered line by line and read at the end.
// report_text.h and report_json.h write them.
//
// Memory is bounded by the keys, not by the lines.
#ifndef WEIR_TOOLS_CLI_REPORT_H_
#define WEIR_TOOLS_CLI_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "tools/cli/input/row.h"
#include "tools/cli/key_table.h"
#include "tools/cli/tally.h"
#include "tools/limits_json/limits_file.h"
#include "weir/decision.h"

namespace weir::cli {

// Counts of the input as a whole.
struct InputCounts {
  uint64_t lines = 0;
  uint64_t malformed = 0;
  // Rows by what they ask for; `checks` are what the report calls calls.
  uint64_t checks = 0;
  uint64_t peeks = 0;
  uint64_t refunds = 0;
  uint64_t resets = 0;
  // Rows with a time below the greatest so far, in the order of the input, and
  // by how much the latest one was late.
  uint64_t out_of_order = 0;
  int64_t latest_us = 0;
  // Of all rows. Meaningful if there is a row.
  int64_t first_us = 0;
  int64_t last_us = 0;

  uint64_t rows() const { return checks + peeks + refunds + resets; }
  // A row was decided.
  void Count(const Row& row);
};

// One denied key.
struct DeniedKey {
  std::string_view key;
  uint64_t calls = 0;
  uint64_t denied = 0;
};

class Report {
 public:
  // `limits` must outlive the report.
  explicit Report(const LimitsFile& limits);

  // A row was decided. `keys`: one for each rule.
  void Add(const Row& row, absl::Span<const std::string_view> keys,
           const Decision& decision);

  InputCounts* mutable_input() { return &input_; }
  const InputCounts& input() const { return input_; }
  const LimitsFile& limits() const { return limits_; }

  // What a rule's keys were made from: its template, unless told otherwise.
  const std::string& key_text(size_t rule) const { return key_texts_[rule]; }
  void NameKey(size_t rule, std::string text) {
    key_texts_[rule] = std::move(text);
  }

  size_t rules() const { return tallies_.size(); }
  const Tally& rule(size_t i) const { return tallies_[i]; }
  // The limiter as a whole; with one rule that is enforced, that rule.
  const Tally& overall() const {
    return overall_is_rule_ ? tallies_[0] : overall_;
  }
  bool overall_is_rule() const { return overall_is_rule_; }

  size_t keys(size_t rule) const;
  size_t keys_denied(size_t rule) const;
  // Those denied most often, at most `most` of them; of two alike, the one
  // whose bytes come first.
  std::vector<DeniedKey> TopDenied(size_t rule, size_t most) const;

 private:
  // Rules with the same template have the same keys, which are kept once. A
  // key's counters: its calls, then how often each rule of the group denied.
  struct Group {
    KeyTable table;
    std::vector<size_t> rules;
  };
  struct Place {
    size_t group;
    size_t counter;
  };

  const LimitsFile& limits_;
  const bool overall_is_rule_;
  InputCounts input_;
  std::vector<std::string> key_texts_;
  std::vector<Tally> tallies_;
  Tally overall_;
  std::vector<Group> groups_;
  std::vector<Place> places_;  // of each rule's denials
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_REPORT_H_
