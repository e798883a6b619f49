#include "backends/memory/sorted_set.h"

#include <cmath>

#include "backends/memory/decimal.h"
#include "weir/time.h"

namespace weir {

using engines::LogEntry;

void SortedSet::At(int64_t rank, ScoredMember* out) const {
  const auto i = static_cast<size_t>(rank);
  if (!packed()) return general_->At(i, out);
  out->score = static_cast<double>(log_.time(i));
  if (log_.form == Form::kDecimals) {
    out->member.assign(IntegerText(log_.time(i)).view());
  } else {
    out->member = log_.At(i).Member();
  }
}

template <class Before>
int64_t SortedSet::CountWhile(Before before) const {
  if (!packed()) return static_cast<int64_t>(general_->CountWhile(before));
  size_t low = 0;
  size_t high = log_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (before(static_cast<double>(log_.time(middle)))) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return static_cast<int64_t>(low);
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
  if (packed()) return PackedRankOf(member);
  const std::optional<size_t> rank = general_->RankOf(member);
  return rank ? static_cast<int64_t>(*rank) : -1;
}

int64_t SortedSet::PackedRankOf(std::string_view member) const {
  int64_t wanted = 0;
  std::optional<LogEntry> entry;
  if (log_.form == Form::kDecimals) {
    const std::optional<int64_t> time = ParseInteger(member);
    if (!time) return -1;
    wanted = *time;
  } else {
    entry = LogEntry::FromMember(0, member);
    if (!entry) return -1;
    wanted = entry->sum;
  }
  const auto value = [this](size_t i) {
    return log_.form == Form::kDecimals ? log_.time(i) : log_.sum(i);
  };
  size_t low = 0;
  size_t high = log_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (value(middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == log_.size() || value(low) != wanted) return -1;
  if (entry && log_.At(low).cost != entry->cost) return -1;
  return static_cast<int64_t>(low);
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  if (!packed()) return general_->ScoreOf(member);
  const int64_t rank = PackedRankOf(member);
  if (rank < 0) return std::nullopt;
  return static_cast<double>(log_.time(static_cast<size_t>(rank)));
}

// Whether it continues the packed log: then it was appended.
bool SortedSet::Append(double score, std::string_view member) {
  if (log_.full() || !(std::fabs(score) <= static_cast<double>(kMaxExact)) ||
      score != std::floor(score)) {
    return false;
  }
  const auto time = static_cast<int64_t>(score);
  const bool first = log_.size() == 0;
  if (!first && time < log_.time(log_.size() - 1)) return false;
  if (first) log_.Clear();
  if (first || log_.form == Form::kEntries) {
    const std::optional<LogEntry> e = LogEntry::FromMember(score, member);
    if (e.has_value() && log_.Append(*e)) {
      log_.form = Form::kEntries;
      return true;
    }
  }
  if (first || log_.form == Form::kDecimals) {
    if (ParseInteger(member) == time) {
      log_.form = Form::kDecimals;
      log_.AppendNext(time, 1);
      return true;
    }
  }
  return false;
}

void SortedSet::Insert(double score, std::string_view member) {
  if (packed()) {
    if (Append(score, member)) return;
    MakeGeneral();
  }
  // There is one zero, as in a server's compact encoding: see weir/txn.h.
  general_->Insert(score + 0.0, member);
}

void SortedSet::SetScore(int64_t rank, double score, std::string_view member) {
  // Of a log it is the newest that changes; any other makes it general.
  RemoveRange(rank, rank + 1);
  Insert(score, member);
}

void SortedSet::RemoveRange(int64_t first, int64_t last) {
  if (first >= last) return;
  if (packed() && first > 0 && last < size()) MakeGeneral();
  if (!packed()) {
    general_->Erase(static_cast<size_t>(first), static_cast<size_t>(last));
    return;
  }
  const auto n = static_cast<size_t>(last - first);
  if (first == 0) {
    log_.PopFront(n);
  } else {
    log_.PopBack(n);
  }
}

void SortedSet::MakeGeneral() {
  if (!packed()) return;
  auto general = std::make_unique<RankedSet>();
  ScoredMember element;
  for (int64_t i = 0; i < size(); ++i) {
    At(i, &element);
    general->Insert(element.score, element.member);
  }
  general_ = std::move(general);
  log_.Clear();
}

}  // namespace weir
