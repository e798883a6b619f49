#include "tools/cli/comparison.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace weir::cli {
Comparison::Comparison(std::vector<Compared> limits, size_t keep)
    : limits_(std::move(limits)),
      keep_(keep),
      pairs_(limits_.size() * limits_.size()),
      keys_(2 + limits_.size()) {
  for (const Compared& limit : limits_) reports_.emplace_back(*limit.limits);
}

bool Comparison::Add(const Row& row, absl::Span<const Answer> answers) {
  for (size_t i = 0; i < answers.size(); ++i) {
    reports_[i].Add(row, answers[i].keys, answers[i].decision);
  }
  if (row.op != Op::kCheck) return false;
  uint64_t* counters = keys_.Find(answers[0].keys[0]);
  ++counters[0];
  bool differs = false;
  for (size_t a = 0; a < answers.size(); ++a) {
    if (!answers[a].decision.allowed) {
      ++counters[2 + a];
      continue;
    }
    for (size_t b = 0; b < answers.size(); ++b) {
      if (answers[b].decision.allowed) continue;
      ++pairs_[a * size() + b];
      differs = true;
    }
  }
  time_line_.Add(row.time_us, !differs);
  if (!differs) return false;
  ++counters[1];
  ++differing_;
  if (first_.size() < keep_) Keep(row, answers);
  return true;
}

void Comparison::Keep(const Row& row, absl::Span<const Answer> answers) {
  DifferingCall call;
  call.file = row.file;
  call.line = row.line;
  call.time_us = row.time_us;
  call.cost = row.cost;
  call.key = answers[0].keys[0];
  for (const Answer& answer : answers) {
    call.verdicts.push_back(
        {answer.decision.allowed, answer.decision.retry_after});
  }
  first_.push_back(std::move(call));
}

std::vector<DifferingKey> Comparison::TopDiffering(size_t most) const {
  std::vector<size_t> order;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_.counts(i)[1] > 0) order.push_back(i);
  }
  const auto end =
      order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(), [&](size_t a, size_t b) {
    const uint64_t in_a = keys_.counts(a)[1];
    const uint64_t in_b = keys_.counts(b)[1];
    return in_a != in_b ? in_a > in_b : keys_.key(a) < keys_.key(b);
  });
  std::vector<DifferingKey> top;
  for (auto it = order.begin(); it != end; ++it) {
    const uint64_t* counts = keys_.counts(*it);
    top.push_back({keys_.key(*it), counts[0], counts[1],
                   std::vector<uint64_t>(counts + 2, counts + 2 + size())});
  }
  return top;
}

}  // namespace weir::cli
