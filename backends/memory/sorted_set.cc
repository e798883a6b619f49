#include "backends/memory/sorted_set.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/engines/log_entry.h"
#include "weir/time.h"

namespace weir {

using engines::LogEntry;

std::optional<SortedSet::Number> SortedSet::Parse(std::string_view member) {
  const bool plain = member.size() == LogEntry::kSumBytes;
  if (!plain && member.size() != LogEntry::kSumBytes + LogEntry::kCostBytes) {
    return std::nullopt;
  }
  const LogEntry e = LogEntry::Decode({std::string(member), 0});
  // A cost of 1 that is written out would not come back as it was.
  if (!plain && e.cost == 1) return std::nullopt;
  return Number{e.sum, e.cost};
}

std::string SortedSet::Write(const Number& number) {
  return LogEntry{0, number.sum, number.cost}.Member();
}

void SortedSet::At(int64_t rank, ScoredMember* out) const {
  if (!packed_) {
    *out = general_[static_cast<size_t>(rank)];
    return;
  }
  out->score = ScoreAt(rank);
  out->member = Write(NumberAt(static_cast<size_t>(rank)));
}

template <class Before>
int64_t SortedSet::CountWhile(Before before) const {
  int64_t low = 0;
  int64_t high = size();
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (before(ScoreAt(middle))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int64_t SortedSet::CountBelow(ScoreBound bound) const {
  return CountWhile([bound](double score) {
    return bound.exclusive ? score <= bound.value : score < bound.value;
  });
}

int64_t SortedSet::CountUpTo(ScoreBound bound) const {
  return CountWhile([bound](double score) {
    return bound.exclusive ? score < bound.value : score <= bound.value;
  });
}

int64_t SortedSet::RankOf(std::string_view member) const {
  if (!packed_) {
    for (size_t i = 0; i < general_.size(); ++i) {
      if (general_[i].member == member) return static_cast<int64_t>(i);
    }
    return -1;
  }
  const std::optional<Number> wanted = Parse(member);
  if (!wanted) return -1;
  size_t low = 0;
  size_t high = times_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (NumberAt(middle).sum < wanted->sum) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == times_.size()) return -1;
  const Number found = NumberAt(low);
  const bool same = found.sum == wanted->sum && found.cost == wanted->cost;
  return same ? static_cast<int64_t>(low) : -1;
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  const int64_t rank = RankOf(member);
  if (rank < 0) return std::nullopt;
  return ScoreAt(rank);
}

bool SortedSet::Append(double score, const Number& number) {
  if (!(std::fabs(score) <= static_cast<double>(kMaxExact)) ||
      score != std::floor(score)) {
    return false;
  }
  const size_t n = times_.size();
  if (n > 0) {
    if (score < ScoreAt(static_cast<int64_t>(n) - 1)) return false;
    if (number.sum <= NumberAt(n - 1).sum) return false;
  } else {
    weighted_ = false;
    numbers_ = {};
    first_ = number.sum;
  }
  const bool in_step =
      number.cost == 1 && number.sum == first_ + static_cast<int64_t>(n);
  if (!weighted_ && !in_step) {
    for (size_t i = 0; i < n; ++i) {
      numbers_.push_back({first_ + static_cast<int64_t>(i), 1});
    }
    weighted_ = true;
  }
  if (weighted_) {
    numbers_.push_back({number.sum, static_cast<uint32_t>(number.cost)});
  }
  times_.push_back(static_cast<int64_t>(score));
  return true;
}

bool SortedSet::Add(double score, std::string_view member) {
  const int64_t rank = RankOf(member);
  const bool is_new = rank < 0;
  if (!is_new) {
    if (ScoreAt(rank) == score) return false;
    MakeGeneral();
    general_.erase(general_.begin() + rank);
  }
  if (packed_) {
    const std::optional<Number> number = Parse(member);
    if (number && Append(score, *number)) return true;
    MakeGeneral();
  }
  ScoredMember element = {std::string(member), score};
  const auto place = std::upper_bound(
      general_.begin(), general_.end(), element,
      [](const ScoredMember& a, const ScoredMember& b) {
        return a.score != b.score ? a.score < b.score : a.member < b.member;
      });
  general_.insert(place, std::move(element));
  return is_new;
}

bool SortedSet::Remove(std::string_view member) {
  const int64_t rank = RankOf(member);
  if (rank < 0) return false;
  RemoveRange(rank, rank + 1);
  return true;
}

void SortedSet::RemoveRange(int64_t first, int64_t last) {
  if (first >= last) return;
  if (packed_ && first > 0 && last < size()) MakeGeneral();
  if (!packed_) {
    general_.erase(general_.begin() + first, general_.begin() + last);
    return;
  }
  const size_t n = static_cast<size_t>(last - first);
  if (first == 0) {
    times_.pop_front(n);
    if (weighted_) numbers_.pop_front(n);
    first_ += last;
  } else {
    times_.pop_back(n);
    if (weighted_) numbers_.pop_back(n);
  }
}

void SortedSet::MakeGeneral() {
  if (!packed_) return;
  general_.reserve(times_.size() + 1);
  for (int64_t i = 0; i < size(); ++i) {
    ScoredMember element;
    At(i, &element);
    general_.push_back(std::move(element));
  }
  packed_ = false;
  times_ = {};
  numbers_ = {};
}

}  // namespace weir
