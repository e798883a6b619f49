#include "backends/memory/sorted_set.h"

#include <algorithm>
#include <cmath>

#include "backends/memory/decimal.h"
#include "backends/memory/heap_bytes.h"
#include "weir/time.h"

namespace weir {

using engines::LogEntry;

std::string SortedSet::MemberOf(size_t i) const {
  if (log_.form == Form::kEntries) return std::string(log_.At(i).Member());
  return std::string(IntegerText(log_.time(i)).view());
}

size_t SortedSet::HolesBefore(size_t i) const {
  const auto position =
      static_cast<double>(i) + static_cast<double>(rest_->popped);
  return rest_->holes.CountWhile(
      [position](double hole) { return hole < position; });
}

bool SortedSet::IsHole(size_t i) const {
  return LiveBefore(i) == LiveBefore(i + 1);
}

template <class Reached>
size_t SortedSet::FirstInLog(Reached reached) const {
  size_t low = 0;
  size_t high = log_.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

size_t SortedSet::LogBefore(double score, std::string_view member) const {
  return LiveBefore(FirstInLog([&](size_t i) {
    const double time = TimeOf(i);
    return time != score ? time > score : MemberOf(i) >= member;
  }));
}

SortedSet::Place SortedSet::Locate(int64_t rank) const {
  const auto wanted = static_cast<size_t>(rank);
  if (packed()) return {true, wanted};
  if (log_.size() == 0) return {false, wanted};
  // How many of `extra` come before: each has a rank in the whole.
  size_t low = 0;
  size_t high = rest_->extra.size();
  ScoredMember element;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    rest_->extra.At(middle, &element);
    const size_t place = middle + LogBefore(element.score, element.member);
    if (place == wanted) return {false, middle};
    if (place < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const size_t live = wanted - low;
  return {true, FirstInLog([&](size_t i) { return LiveBefore(i + 1) > live; })};
}

void SortedSet::At(int64_t rank, ScoredMember* out) const {
  const Place place = Locate(rank);
  if (!place.in_log) return rest_->extra.At(place.index, out);
  out->score = TimeOf(place.index);
  out->member = MemberOf(place.index);
}

double SortedSet::ScoreAt(int64_t rank) const {
  const Place place = Locate(rank);
  return place.in_log ? TimeOf(place.index) : rest_->extra.ScoreAt(place.index);
}

template <class Before>
int64_t SortedSet::CountWhile(Before before) const {
  size_t count =
      LiveBefore(FirstInLog([&](size_t i) { return !before(TimeOf(i)); }));
  if (!packed()) count += rest_->extra.CountWhile(before);
  return static_cast<int64_t>(count);
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

size_t SortedSet::FindInLog(std::string_view member) const {
  const size_t nowhere = log_.size();
  size_t found = 0;
  if (log_.form == Form::kDecimals) {
    const std::optional<int64_t> time = ParseInteger(member);
    if (!time) return nowhere;
    found = FirstInLog([&](size_t i) { return log_.time(i) >= *time; });
    if (found == nowhere || log_.time(found) != *time) return nowhere;
  } else {
    const std::optional<LogEntry> e = LogEntry::FromMember(0, member);
    if (!e) return nowhere;
    found = FirstInLog([&](size_t i) { return log_.sum(i) >= e->sum; });
    if (found == nowhere || log_.sum(found) != e->sum ||
        log_.At(found).cost != e->cost) {
      return nowhere;
    }
  }
  return packed() || !IsHole(found) ? found : nowhere;
}

int64_t SortedSet::RankOf(std::string_view member) const {
  const size_t i = FindInLog(member);
  if (i < log_.size()) {
    const size_t others =
        packed() ? 0 : rest_->extra.CountBefore(TimeOf(i), member);
    return static_cast<int64_t>(LiveBefore(i) + others);
  }
  if (packed()) return -1;
  const std::optional<size_t> rank = rest_->extra.RankOf(member);
  if (!rank) return -1;
  return static_cast<int64_t>(*rank +
                              LogBefore(rest_->extra.ScoreAt(*rank), member));
}

std::optional<double> SortedSet::Score(std::string_view member) const {
  const size_t i = FindInLog(member);
  if (i < log_.size()) return TimeOf(i);
  return packed() ? std::nullopt : rest_->extra.ScoreOf(member);
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

SortedSet::SortedSet(const SortedSet& other) : log_(other.log_) {
  if (!other.packed()) rest_ = std::make_unique<Rest>(*other.rest_);
}

SortedSet::Rest& SortedSet::rest() {
  if (packed()) rest_ = std::make_unique<Rest>();
  return *rest_;
}

void SortedSet::Insert(double score, std::string_view member) {
  // A set that is no log does not become one by chance.
  const bool is_log = packed() || rest_->extra.size() <= log_.size();
  if (is_log && Append(score, member)) return;
  // There is one zero, as in a server's compact encoding: see weir/txn.h.
  rest().extra.Insert(score + 0.0, member);
}

void SortedSet::SetScore(int64_t rank, double score, std::string_view member) {
  RemoveRange(rank, rank + 1);
  Insert(score, member);
}

void SortedSet::RemoveRange(int64_t first, int64_t last) {
  if (first >= last) return;
  const auto n = static_cast<size_t>(last - first);
  if (packed() && first == 0) return log_.PopFront(n);
  if (packed() && last == size()) return log_.PopBack(n);
  rest();
  for (size_t i = 0; i < n; ++i) RemoveOne(first);
  if (rest_->extra.size() == 0 && rest_->holes.size() == 0) rest_.reset();
}

void SortedSet::RemoveOne(int64_t rank) {
  const Place place = Locate(rank);
  if (!place.in_log) return rest_->extra.Erase(place.index, place.index + 1);
  const auto position = static_cast<int64_t>(place.index) + rest_->popped;
  rest_->holes.Insert(static_cast<double>(position),
                      IntegerText(position).view());
  DropHolesAtEnds();
  if (rest_->holes.size() > 0) MoveOver();
}

// The log's first entries go to the rest.
void SortedSet::MoveOver() {
  for (int i = 0; i < kMoves && log_.size() > 0; ++i) {
    rest_->extra.Insert(TimeOf(0), MemberOf(0));
    log_.PopFront(1);
    ++rest_->popped;
    DropHolesAtEnds();
  }
}

bool SortedSet::FreeSome() {
  if (log_.FreeSome()) return true;
  if (packed()) return false;
  RankedSet& some = rest_->extra.size() > 0 ? rest_->extra : rest_->holes;
  const size_t size = some.size();
  some.Erase(size - std::min(size, kFreedBlocks / 2), size);
  return size > 0;
}

void SortedSet::DropHolesAtEnds() {
  RankedSet& holes = rest_->holes;
  while (holes.size() > 0 &&
         holes.ScoreAt(0) == static_cast<double>(rest_->popped)) {
    holes.Erase(0, 1);
    log_.PopFront(1);
    ++rest_->popped;
  }
  while (holes.size() > 0 && holes.ScoreAt(holes.size() - 1) ==
                                 static_cast<double>(rest_->popped) +
                                     static_cast<double>(log_.size()) - 1) {
    holes.Erase(holes.size() - 1, holes.size());
    log_.PopBack(1);
  }
}

}  // namespace weir
