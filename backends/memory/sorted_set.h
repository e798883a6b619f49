// A sorted set, with Redis's order: by score, then by member as bytes.
//
// Three encodings, and the change from one to another can't be seen. A log
// that is appended at the end and taken from either end is packed, 8 bytes an
// entry: with members as LogEntry writes them, or with the time itself in
// decimal as its member. Anything else is a RankedSet. The change to it costs
// as much as the log is long, and comes once, with the first command that no
// log would give.
#ifndef WEIR_BACKENDS_MEMORY_SORTED_SET_H_
#define WEIR_BACKENDS_MEMORY_SORTED_SET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "backends/memory/packed_log.h"
#include "backends/memory/ranked_set.h"
#include "weir/txn.h"

namespace weir {

class SortedSet {
 public:
  int64_t size() const {
    return static_cast<int64_t>(packed() ? log_.size() : general_->size());
  }

  // The element of this rank, 0 <= rank < size().
  void At(int64_t rank, ScoredMember* out) const;

  double ScoreAt(int64_t rank) const {
    const auto i = static_cast<size_t>(rank);
    return packed() ? static_cast<double>(log_.time(i)) : general_->ScoreAt(i);
  }

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

  bool packed() const { return general_ == nullptr; }
  // On the heap.
  size_t bytes() const {
    return packed() ? log_.bytes() : sizeof(*general_) + general_->bytes();
  }

 private:
  using Form = PackedLog::Form;

  template <class Before>
  int64_t CountWhile(Before before) const;
  int64_t PackedRankOf(std::string_view member) const;
  bool Append(double score, std::string_view member);
  void MakeGeneral();

  PackedLog log_;
  std::unique_ptr<RankedSet> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SORTED_SET_H_
