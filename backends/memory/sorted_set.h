// A sorted set, with Redis's order: by score, then by member as bytes.
//
// Two encodings, and the change from one to the other can't be seen. `packed`
// holds a log of times: whole scores, members that are ascending 7-byte
// numbers (with a 4-byte cost behind it or not), appended at the end, taken
// from either end: 8 bytes an element while the numbers go up by one, 20 if
// not. Anything else makes it `general`: a sorted array.
#ifndef WEIR_BACKENDS_MEMORY_SORTED_SET_H_
#define WEIR_BACKENDS_MEMORY_SORTED_SET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/ring.h"
#include "weir/txn.h"

namespace weir {

class SortedSet {
 public:
  int64_t size() const {
    return static_cast<int64_t>(packed_ ? times_.size() : general_.size());
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

 private:
  struct Number {
    int64_t sum = 0;
    int64_t cost = 1;  // 1: no cost is written in the member
  };
  struct Weighted {
    int64_t sum;
    uint32_t cost;
  };

  static std::optional<Number> Parse(std::string_view member);
  static std::string Write(const Number& number);

  Number NumberAt(size_t i) const {
    if (!weighted_) return {first_ + static_cast<int64_t>(i), 1};
    return {numbers_[i].sum, numbers_[i].cost};
  }
  int64_t RankOf(std::string_view member) const;
  bool Append(double score, const Number& number);
  double ScoreAt(int64_t rank) const {
    const size_t i = static_cast<size_t>(rank);
    return packed_ ? static_cast<double>(times_[i]) : general_[i].score;
  }
  template <class Before>
  int64_t CountWhile(Before before) const;
  void MakeGeneral();

  bool packed_ = true;
  bool weighted_ = false;
  int64_t first_ = 0;  // the number of element 0, unless weighted
  Ring<int64_t> times_;
  Ring<Weighted> numbers_;  // if weighted: one for each time
  std::vector<ScoredMember> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SORTED_SET_H_
