// Draws commands for a Txn, so that the corners are reached.
#ifndef WEIR_TESTS_KIT_TXN_DRAW_H_
#define WEIR_TESTS_KIT_TXN_DRAW_H_

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/kit/txn_words.h"
#include "weir/testing/random.h"

namespace weir {
namespace testing {

// What a key is used for in one run of commands. Logs and numbers are what a
// store may well keep in another form than the rest.
enum class Use {
  kString,
  kSet,
  kSetOfEntries,  // a log as the built-in engines write it
  kSetOfTimes,    // a log whose members are the times
  kList,
  kListOfEntries,
  kListOfTimes,
  kHash,
};
constexpr Use kUses[] = {Use::kString,      Use::kSet,  Use::kSetOfEntries,
                         Use::kSetOfTimes,  Use::kList, Use::kListOfEntries,
                         Use::kListOfTimes, Use::kHash};

std::ostream& operator<<(std::ostream& out, Use use);
// The type that a key has then, by Redis's name.
std::string_view TypeOf(Use use);

class TxnDraw {
 public:
  // `now_ms`: about when the commands run. `clean`: one command in so many is
  // not of the log that the key is used for. `grow`: how many are added for
  // each that goes.
  TxnDraw(Use use, int64_t now_ms, int64_t clean, int64_t grow, Rng& rng)
      : use_(use),
        clean_(clean),
        grow_(grow),
        rng_(rng),
        now_ms_(now_ms),
        time_(now_ms * 1000),
        left_(rng.OneIn(2)) {}

  void SetTime(int64_t now_ms) { now_ms_ = now_ms; }
  // The next command for a key of this type and size.
  Words Next(std::string_view type, int64_t size);

 private:
  // Corners of arguments.
  static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  Words Of(Use use, int64_t size);
  Words OfKeys();
  Words OfStrings();
  Words OfLists(int64_t size);
  Words OfSets(int64_t size);
  Words OfHashes(int64_t size);
  Words SetText();
  Words Zadd();
  Words Drop(int64_t size);
  Words Trim(int64_t size);
  Words Expire();
  Words RankRange(std::string command, int64_t size);

  bool IsLog() const { return use_ != Use::kSet && use_ != Use::kList; }
  bool Stray() { return !IsLog() || rng_.OneIn(clean_); }
  std::string Bytes();
  std::string Short();
  std::string Member();
  std::string NewMember();
  std::string Element();
  std::string EntryMember();
  // Soon passes from one byte to two.
  int64_t NewestSum() const { return sums_.empty() ? 250 : sums_.back(); }
  // So many of the newest entries are taken away.
  void NewestGoes(int64_t n);
  double Score();
  ScoreBound Bound();
  std::string Increment();
  std::string WholeIncrement();
  std::string Number();
  std::string Milliseconds();
  int64_t Rank(int64_t size);
  std::string RankWord(int64_t size) { return std::to_string(Rank(size)); }

  const Use use_;
  const int64_t clean_;
  const int64_t grow_;
  Rng& rng_;
  int64_t now_ms_;
  int64_t time_;               // of the newest entry of a log, us
  std::vector<int64_t> sums_;  // of the entries that were added
  const bool left_;            // the end at which a list is pushed
};

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_TXN_DRAW_H_
