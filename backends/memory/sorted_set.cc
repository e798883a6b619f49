#include "backends/memory/sorted_set.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weir/time.h"

namespace weir {

using engines::LogEntry;

void SortedSet::At(int64_t rank, ScoredMember* out) const {
  const size_t i = static_cast<size_t>(rank);
  if (!packed_) {
    *out = general_[i];
    return;
  }
  out->score = ScoreAt(rank);
  out->member = log_.At(i).Member();
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
  const std::optional<LogEntry> wanted = LogEntry::FromMember(0, member);
  if (!wanted) return -1;
  size_t low = 0;
  size_t high = log_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (log_.sum(middle) < wanted->sum) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == log_.size()) return -1;
  const LogEntry found = log_.At(low);
  const bool same = found.sum == wanted->sum && found.cost == wanted->cost;
  return same ? static_cast<int64_t>(low) : -1;
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  const int64_t rank = RankOf(member);
  if (rank < 0) return std::nullopt;
  return ScoreAt(rank);
}

bool SortedSet::Append(double score, std::string_view member) {
  if (!(std::fabs(score) <= static_cast<double>(kMaxExact)) ||
      score != std::floor(score) ||
      (size() > 0 && score < ScoreAt(size() - 1))) {
    return false;
  }
  const std::optional<LogEntry> e = LogEntry::FromMember(score, member);
  return e.has_value() && log_.Append(*e);
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
    if (Append(score, member)) return true;
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
    log_.PopFront(n);
  } else {
    log_.PopBack(n);
  }
}

void SortedSet::MakeGeneral() {
  if (!packed_) return;
  general_.reserve(log_.size() + 1);
  for (int64_t i = 0; i < size(); ++i) {
    ScoredMember element;
    At(i, &element);
    general_.push_back(std::move(element));
  }
  packed_ = false;
  log_.Clear();
}

}  // namespace weir
