// A sorted set, with Redis's order: by score, then by member as bytes.
//
// Two encodings, and the change from one to the other can't be seen. A log
// that is appended at the end and taken from either end (whole scores, members
// as LogEntry writes them) is packed; anything else is a sorted array.
#ifndef WEIR_BACKENDS_MEMORY_SORTED_SET_H_
#define WEIR_BACKENDS_MEMORY_SORTED_SET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/packed_log.h"
#include "weir/txn.h"

namespace weir {

class SortedSet {
 public:
  int64_t size() const {
    return static_cast<int64_t>(packed_ ? log_.size() : general_.size());
  }

  // The element of this rank, 0 <= rank < size().
  void At(int64_t rank, ScoredMember* out) const;

  // How many elements lie below a lower bound, or up to an upper one.
  int64_t CountBelow(ScoreBound bound) const;
  int64_t CountUpTo(ScoreBound bound) const;

  std::optional<double> Score(std::string_view member) const;

  // True if the member is new; an old one gets the new score.
  bool Add(double score, std::string_view member);
  bool Remove(std::string_view member);
  // Ranks [first, last).
  void RemoveRange(int64_t first, int64_t last);

  bool packed() const { return packed_; }
  // About what it takes on the heap, long elements aside.
  size_t bytes() const {
    return log_.bytes() + general_.size() * sizeof(ScoredMember);
  }

 private:
  double ScoreAt(int64_t rank) const {
    const size_t i = static_cast<size_t>(rank);
    return packed_ ? static_cast<double>(log_.time(i)) : general_[i].score;
  }
  // -1 if it is not there.
  int64_t RankOf(std::string_view member) const;
  bool Append(double score, std::string_view member);
  template <class Before>
  int64_t CountWhile(Before before) const;
  void MakeGeneral();

  bool packed_ = true;
  PackedLog log_;
  std::vector<ScoredMember> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SORTED_SET_H_
