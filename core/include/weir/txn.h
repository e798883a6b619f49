// Txn: the commands that an engine may use on its one key, by their Redis
// names and with Redis's meaning.
//
// Who uses it: authors of engines (see weir/engine.h) call it; authors of
// stores implement it. A store of another kind (a file, another server) is
// right if the conformance kit in tests/kit says so.
//
// A Txn is one key inside one atomic step: it is made for one call, used by
// one thread, and sees one reading of the clock. It holds what Redis holds: a
// missing key, a string, a list, or a sorted set. A command on a key of another
// type is a fault of the engine and ends the program in debug builds; release
// builds answer as for a missing key and change nothing.
//
// Times to live are in milliseconds, as in Redis, and count from the
// transaction's reading. A key whose time is over reads as missing.
#ifndef WEIR_TXN_H_
#define WEIR_TXN_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace weir {

// One element of a sorted set. Sorted by score, then by member as bytes.
struct ScoredMember {
  std::string member;
  double score = 0;
};

// One end of a range of scores: `5` or `(5` in Redis's notation.
struct ScoreBound {
  double value = 0;
  bool exclusive = false;

  static constexpr ScoreBound Lowest() {
    return {-std::numeric_limits<double>::infinity(), false};
  }
  static constexpr ScoreBound Highest() {
    return {std::numeric_limits<double>::infinity(), false};
  }
};

class Txn {
 public:
  virtual ~Txn() = default;

  // Keys. DEL and PEXPIRE say whether the key was there; PTTL is -2 for a
  // missing key, -1 for one without an expiry.
  virtual bool EXISTS() = 0;
  virtual bool DEL() = 0;
  virtual bool PEXPIRE(int64_t milliseconds) = 0;
  virtual int64_t PTTL() = 0;

  // Strings. The view is valid until the next command. SET replaces a value
  // of any type, and always sets an expiry (SET key value PX milliseconds).
  virtual std::optional<std::string_view> GET() = 0;
  virtual void SET(std::string_view value, int64_t px) = 0;

  // Lists. Indices count from 0 at the left, negative ones from the right;
  // ranges are cut to what is there; the last element takes the key with it.
  // Pushes make a missing key and return the new length. LSET says whether the
  // index was there. LRANGE writes as many elements as `out` has room for;
  // returns how many.
  virtual int64_t LLEN() = 0;
  virtual int64_t LPUSH(std::string_view element) = 0;
  virtual int64_t RPUSH(std::string_view element) = 0;
  virtual std::optional<std::string> LPOP() = 0;
  virtual std::optional<std::string> RPOP() = 0;
  virtual std::optional<std::string> LINDEX(int64_t index) = 0;
  virtual bool LSET(int64_t index, std::string_view element) = 0;
  virtual int64_t LRANGE(int64_t start, int64_t stop,
                         absl::Span<std::string> out) = 0;
  virtual void LTRIM(int64_t start, int64_t stop) = 0;

  // Sorted sets. Ranks count from 0, negative ones from the end; ranges are
  // cut to what is there; the set's last element takes the key with it.
  // ZADD says whether the member is new (an old one gets the new score).
  virtual bool ZADD(double score, std::string_view member) = 0;
  virtual int64_t ZCARD() = 0;
  virtual int64_t ZCOUNT(ScoreBound min, ScoreBound max) = 0;
  virtual std::optional<double> ZSCORE(std::string_view member) = 0;
  // Writes as many elements as `out` has room for; returns how many.
  virtual int64_t ZRANGE(int64_t start, int64_t stop,
                         absl::Span<ScoredMember> out) = 0;
  virtual bool ZREM(std::string_view member) = 0;
  virtual int64_t ZREMRANGEBYRANK(int64_t start, int64_t stop) = 0;
  virtual int64_t ZREMRANGEBYSCORE(ScoreBound min, ScoreBound max) = 0;
};

}  // namespace weir

#endif  // WEIR_TXN_H_
