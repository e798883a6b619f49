#include "tools/cli/report.h"

#include <algorithm>
#include <utility>

namespace weir::cli {
namespace {

bool IsDeniedMore(const DeniedKey& a, const DeniedKey& b) {
  if (a.denied != b.denied) return a.denied > b.denied;
  return a.key < b.key;
}

}  // namespace

Report::Report(const LimitsFile& limits)
    : limits_(limits),
      overall_is_rule_(limits.rules.size() == 1 && !limits.rules[0].observe),
      tallies_(limits.rules.size()) {
  for (const KeyTemplate& key : limits.keys) key_texts_.push_back(key.text());
  std::vector<std::vector<size_t>> alike;
  for (size_t i = 0; i < limits.rules.size(); ++i) {
    size_t group = 0;
    while (group < alike.size() &&
           limits.keys[alike[group][0]] != limits.keys[i]) {
      ++group;
    }
    if (group == alike.size()) alike.emplace_back();
    alike[group].push_back(i);
    places_.push_back({group, alike[group].size()});
  }
  for (std::vector<size_t>& rules : alike) {
    KeyTable table(1 + rules.size());
    groups_.push_back({std::move(table), std::move(rules)});
  }
}

void InputCounts::Count(const Row& row) {
  if (rows() == 0) {
    first_us = row.time_us;
    last_us = row.time_us;
  }
  first_us = std::min(first_us, row.time_us);
  last_us = std::max(last_us, row.time_us);
  switch (row.op) {
    case Op::kCheck:
      ++checks;
      break;
    case Op::kPeek:
      ++peeks;
      break;
    case Op::kRefund:
      ++refunds;
      break;
    case Op::kReset:
      ++resets;
      break;
    case Op::kReserve:  // no row of a trace is one
      break;
  }
}

void Report::Add(const Row& row, absl::Span<const std::string_view> keys,
                 const Decision& decision) {
  input_.Count(row);
  if (row.op != Op::kCheck) return;
  if (!overall_is_rule_) {
    overall_.Add(row.time_us, decision.allowed, decision.retry_after);
    if (decision.soft) ++overall_.soft;
  }
  for (Group& group : groups_) {
    uint64_t* counters = group.table.Find(keys[group.rules[0]]);
    ++counters[0];
    for (size_t i = 0; i < group.rules.size(); ++i) {
      const size_t rule = group.rules[i];
      const RuleVerdict& verdict = decision.rules()[rule];
      Tally& tally = tallies_[rule];
      tally.Add(row.time_us, verdict.allowed, verdict.retry_after);
      if (verdict.soft) ++tally.soft;
      if (!verdict.allowed) ++counters[1 + i];
    }
  }
}

size_t Report::keys(size_t rule) const {
  return groups_[places_[rule].group].table.size();
}

size_t Report::keys_denied(size_t rule) const {
  const KeyTable& table = groups_[places_[rule].group].table;
  size_t denied = 0;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.counts(i)[places_[rule].counter] > 0) ++denied;
  }
  return denied;
}

std::vector<DeniedKey> Report::TopDenied(size_t rule, size_t most) const {
  const KeyTable& table = groups_[places_[rule].group].table;
  // The best so far, as a heap with the least of them on top.
  std::vector<DeniedKey> top;
  for (size_t i = 0; i < table.size() && most > 0; ++i) {
    const uint64_t denied = table.counts(i)[places_[rule].counter];
    if (denied == 0) continue;
    const DeniedKey key = {table.key(i), table.counts(i)[0], denied};
    if (top.size() == most) {
      if (!IsDeniedMore(key, top.front())) continue;
      std::pop_heap(top.begin(), top.end(), &IsDeniedMore);
      top.pop_back();
    }
    top.push_back(key);
    std::push_heap(top.begin(), top.end(), &IsDeniedMore);
  }
  std::sort_heap(top.begin(), top.end(), &IsDeniedMore);
  return top;
}

}  // namespace weir::cli
