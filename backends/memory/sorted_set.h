// A sorted set, with Redis's order: by score, then by member as bytes.
//
// A log that is appended at the end and taken from either end is packed, 8
// bytes an entry: with members as LogEntry writes them, or with the time itself
// in decimal as its member. What no log would have lies beside it in a
// RankedSet, and what leaves it in the middle is a hole. A log with many holes
// moves over, a few entries with each new hole, so that no step pays for the
// whole. None of it can be seen.
#ifndef WEIR_BACKENDS_MEMORY_SORTED_SET_H_
#define WEIR_BACKENDS_MEMORY_SORTED_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/packed_log.h"
#include "backends/memory/ranked_set.h"
#include "weir/txn.h"

namespace weir {

class SortedSet {
 public:
  SortedSet() = default;
  SortedSet(SortedSet&&) = default;
  SortedSet& operator=(SortedSet&&) = default;
  SortedSet(const SortedSet& other);
  SortedSet& operator=(const SortedSet&) = delete;

  int64_t size() const {
    return static_cast<int64_t>(LiveBefore(log_.size()) +
                                (packed() ? 0 : rest_->extra.size()));
  }

  // The element of this rank, 0 <= rank < size().
  void At(int64_t rank, ScoredMember* out) const;

  double ScoreAt(int64_t rank) const;

  // How many elements lie below a lower bound, or up to an upper one.
  int64_t CountBelow(ScoreBound bound) const;
  int64_t CountUpTo(ScoreBound bound) const;

  std::optional<double> Score(std::string_view member) const;
  // -1 if it is not there.
  int64_t RankOf(std::string_view member) const;

  // A member that is not there.
  void Insert(double score, std::string_view member);
  // Another score for the member of this rank.
  void SetScore(int64_t rank, double score, std::string_view member);
  // Ranks [first, last).
  void RemoveRange(int64_t first, int64_t last);

  // All of it is a log.
  bool packed() const { return rest_ == nullptr; }
  // On the heap.
  size_t bytes() const {
    return log_.bytes() + (packed() ? 0
                                    : sizeof(*rest_) + rest_->extra.bytes() +
                                          rest_->holes.bytes());
  }
  // See Value.
  bool FreeSome();

 private:
  using Form = PackedLog::Form;

  struct Rest {
    RankedSet extra;
    // Of the log: their positions, counted from the first entry that it had
    // when the rest was made, are the scores.
    RankedSet holes;
    int64_t popped = 0;  // from the log's front since
  };
  // How many entries move over with each new hole.
  static constexpr int kMoves = 16;

  // Of an element of some rank.
  struct Place {
    bool in_log;
    size_t index;  // in the log, or its rank in `extra`
  };

  std::string MemberOf(size_t i) const;
  double TimeOf(size_t i) const { return static_cast<double>(log_.time(i)); }
  // How many of the log's first `i` entries are no holes.
  size_t LiveBefore(size_t i) const {
    return packed() ? i : i - HolesBefore(i);
  }
  size_t HolesBefore(size_t i) const;
  bool IsHole(size_t i) const;
  // The first entry of the log for which `reached` holds: all later ones do.
  template <class Reached>
  size_t FirstInLog(Reached reached) const;
  // How many of the log's entries come before this element.
  size_t LogBefore(double score, std::string_view member) const;
  Place Locate(int64_t rank) const;
  template <class Before>
  int64_t CountWhile(Before before) const;
  // The log's size if it is not there.
  size_t FindInLog(std::string_view member) const;
  bool Append(double score, std::string_view member);
  Rest& rest();
  void RemoveOne(int64_t rank);
  void MoveOver();
  void DropHolesAtEnds();

  PackedLog log_;
  std::unique_ptr<Rest> rest_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SORTED_SET_H_
