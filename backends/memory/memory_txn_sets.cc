// Sorted sets; what the built-in engines use is in the header.
#include "backends/memory/memory_txn.h"

namespace weir {

bool MemoryTxn::ZADD(double score, std::string_view member,
                     const ZaddOptions& options) {
  if (options.only == WriteIf::kNew && options.score != ScoreIf::kAny) {
    Fail("ERR GT, LT, and/or NX options at the same time are not compatible");
    return false;
  }
  if (std::isnan(score)) {
    Fail("ERR value is not a valid float");
    return false;
  }
  SortedSet* set = GetSet();
  const int64_t rank = set == nullptr ? -1 : set->RankOf(member);
  if (rank < 0) {
    if (options.only == WriteIf::kKnown) return false;
    set = SetToWrite();
    if (set != nullptr) set->Insert(score, member);
    return set != nullptr;
  }
  const double before = set->ScoreAt(rank);
  if (options.only == WriteIf::kNew || score == before ||
      (options.score == ScoreIf::kGreater && score < before) ||
      (options.score == ScoreIf::kLess && score > before)) {
    return false;
  }
  Touch(set)->SetScore(rank, score, member);
  return options.ch;
}

std::optional<double> MemoryTxn::ZINCRBY(double n, std::string_view member) {
  if (std::isnan(n)) {
    Fail("ERR value is not a valid float");
    return std::nullopt;
  }
  SortedSet* set = GetSet();
  const int64_t rank = set == nullptr ? -1 : set->RankOf(member);
  const double score = rank < 0 ? n : set->ScoreAt(rank) + n;
  if (std::isnan(score)) {
    Fail("ERR resulting score is not a number (NaN)");
    return std::nullopt;
  }
  set = SetToWrite();
  if (set == nullptr) return std::nullopt;
  if (rank < 0) {
    set->Insert(score, member);
  } else if (score != set->ScoreAt(rank)) {
    set->SetScore(rank, score, member);
  }
  return score + 0.0;
}

std::optional<double> MemoryTxn::ZSCORE(std::string_view member) {
  const SortedSet* set = GetSet();
  return set == nullptr ? std::nullopt : set->Score(member);
}

std::optional<int64_t> MemoryTxn::ZRANK(std::string_view member) {
  const SortedSet* set = GetSet();
  const int64_t rank = set == nullptr ? -1 : set->RankOf(member);
  if (rank < 0) return std::nullopt;
  return rank;
}

std::optional<int64_t> MemoryTxn::ZREVRANK(std::string_view member) {
  const std::optional<int64_t> rank = ZRANK(member);
  if (!rank) return std::nullopt;
  return GetSet()->size() - 1 - *rank;
}

int64_t MemoryTxn::ZREVRANGE(int64_t start, int64_t stop,
                             absl::Span<ScoredMember> out) {
  const SortedSet* set = GetSet();
  if (set == nullptr || !Clip(set->size(), &start, &stop)) return 0;
  return WriteDown(*set, set->size() - 1 - start, stop - start + 1, out);
}

int64_t MemoryTxn::ZRANGEBYSCORE(ScoreBound min, ScoreBound max, int64_t offset,
                                 int64_t count, absl::Span<ScoredMember> out) {
  if (!AreNumbers(min, max)) return 0;
  const SortedSet* set = GetSet();
  if (set == nullptr || offset < 0) return 0;
  const int64_t first = set->CountBelow(min);
  const int64_t inside = set->CountUpTo(max) - first;
  if (offset >= inside) return 0;
  const int64_t left = inside - offset;
  return Write(*set, first + offset, count < 0 ? left : std::min(count, left),
               out);
}

int64_t MemoryTxn::ZREVRANGEBYSCORE(ScoreBound max, ScoreBound min,
                                    int64_t offset, int64_t count,
                                    absl::Span<ScoredMember> out) {
  if (!AreNumbers(min, max)) return 0;
  const SortedSet* set = GetSet();
  if (set == nullptr || offset < 0) return 0;
  const int64_t last = set->CountUpTo(max);
  const int64_t inside = last - set->CountBelow(min);
  if (offset >= inside) return 0;
  const int64_t left = inside - offset;
  return WriteDown(*set, last - 1 - offset,
                   count < 0 ? left : std::min(count, left), out);
}

int64_t MemoryTxn::WriteDown(const SortedSet& set, int64_t first, int64_t n,
                             absl::Span<ScoredMember> out) {
  n = std::min(n, static_cast<int64_t>(out.size()));
  for (int64_t i = 0; i < n; ++i) {
    set.At(first - i, &out[static_cast<size_t>(i)]);
  }
  return n;
}

bool MemoryTxn::ZREM(std::string_view member) {
  SortedSet* set = GetSet();
  const int64_t rank = set == nullptr ? -1 : set->RankOf(member);
  if (rank < 0) return false;
  RemoveRange(set, rank, rank + 1);
  return true;
}

int64_t MemoryTxn::ZREMRANGEBYSCORE(ScoreBound min, ScoreBound max) {
  if (!AreNumbers(min, max)) return 0;
  SortedSet* set = GetSet();
  if (set == nullptr) return 0;
  return RemoveRange(set, set->CountBelow(min), set->CountUpTo(max));
}

std::optional<ScoredMember> MemoryTxn::Pop(bool highest) {
  SortedSet* set = GetSet();
  if (set == nullptr) return std::nullopt;
  const int64_t rank = highest ? set->size() - 1 : 0;
  ScoredMember element;
  set->At(rank, &element);
  RemoveRange(set, rank, rank + 1);
  return element;
}

std::optional<ScoredMember> MemoryTxn::ZPOPMIN() { return Pop(false); }
std::optional<ScoredMember> MemoryTxn::ZPOPMAX() { return Pop(true); }

}  // namespace weir
