// Txn: the commands that an engine may use on its one key, by their Redis
// names and with Redis's meaning.
//
// Who uses it: authors of engines (see weir/engine.h) call it; authors of
// stores implement it. A store of another kind (a file, another server) is
// right if the conformance kit in tests/kit says so. docs/adding-an-engine.md
// lists what is here, what is not, and why.
//
// A Txn is one key inside one atomic step: it is made for one call, used by
// one thread, and sees one reading of the clock. It holds what Redis holds: a
// missing key, a string, a list, a sorted set or a hash. Writes that add make a
// missing key; the last element that goes takes the key, and its expiry, with
// it. Any other write leaves the expiry as it is, unless it says otherwise. A
// key whose time is over reads as missing.
//
// A command that Redis answers with an error (another type, "abc" + 1, an
// overflow) changes nothing and replies as it would for a missing key; the
// error is told by TakeError, in Redis's words. On Redis a script stops there.
// An engine that leaves an error untaken is faulty. Its call is not decided:
// FailedPrecondition, with the error, on either store. The embedded store's
// status names the engine, and nothing is charged, but that a value above 4 KiB
// keeps what the engine wrote in that call; on Redis all stays that was written
// before the script stopped.
//
// Times to live are in milliseconds, as in Redis, and count from the
// transaction's reading. Views in replies hold until the next command.
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
  std::string member = {};
  double score = 0;
};

// One field of a hash.
struct HashField {
  std::string field = {};
  std::string value = {};
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

// Whether a write may make something, or only change what is there.
enum class WriteIf : uint8_t { kAny, kNew, kKnown };  // -, NX, XX

// Whether a new number must be greater, or less, than the one that is there.
enum class ScoreIf : uint8_t { kAny, kGreater, kLess };  // -, GT, LT

struct SetOptions {
  WriteIf only = WriteIf::kAny;
  std::optional<int64_t> px = {};  // ms, from 1; nothing: no expiry
  bool keep_ttl = false;           // not with px
};

struct ZaddOptions {
  WriteIf only = WriteIf::kAny;
  // Of members that are there; new ones are added. Not with WriteIf::kNew.
  ScoreIf score = ScoreIf::kAny;
  bool ch = false;  // reply with "added or changed"
};

// The option of PEXPIRE and PEXPIREAT: only if there is no expiry, if there is
// one, or if the new one is later or earlier (none is later than any).
enum class ExpireIf : uint8_t { kAny, kNone, kSome, kLater, kEarlier };

class Txn {
 public:
  virtual ~Txn() = default;

  // The first error since the last TakeError; empty if every command went well.
  virtual std::string_view TakeError() = 0;

  // Keys. DEL, PEXPIRE, PEXPIREAT and PERSIST say whether they did anything; an
  // expiry that is not in the future deletes. PTTL and PEXPIRETIME are -2 for a
  // missing key, -1 for one without an expiry. PEXPIREAT and PEXPIRETIME are in
  // ms since the epoch. TYPE: none, string, list, zset or hash.
  virtual bool EXISTS() = 0;
  virtual bool DEL() = 0;
  virtual std::string_view TYPE() = 0;
  virtual bool PEXPIRE(int64_t milliseconds) = 0;
  virtual bool PEXPIRE(int64_t milliseconds, ExpireIf condition) = 0;
  virtual bool PEXPIREAT(int64_t milliseconds, ExpireIf condition) = 0;
  virtual int64_t PTTL() = 0;
  virtual int64_t PEXPIRETIME() = 0;
  virtual bool PERSIST() = 0;

  // Strings. SET, SETNX and GETSET replace a value with its expiry, SET and
  // SETNX one of any type. The short SET is SET key value PX milliseconds. The
  // long one and SETNX say whether they wrote. GETSET and GETDEL reply with
  // what was there. STRLEN and APPEND reply with the length in bytes.
  virtual std::optional<std::string_view> GET() = 0;
  virtual void SET(std::string_view value, int64_t px) = 0;
  virtual bool SET(std::string_view value, const SetOptions& options) = 0;
  virtual bool SETNX(std::string_view value) = 0;
  virtual std::optional<std::string> GETSET(std::string_view value) = 0;
  virtual std::optional<std::string> GETDEL() = 0;
  virtual int64_t STRLEN() = 0;
  virtual int64_t APPEND(std::string_view value) = 0;
  // Numbers in a string: whole ones of 64 bits, or any, in the platform's long
  // double. The new value; nothing after an error. INCRBYFLOAT takes its number
  // as a script's reaches a server, with 17 digits, and replies with the text.
  virtual std::optional<int64_t> INCRBY(int64_t n) = 0;
  virtual std::optional<std::string> INCRBYFLOAT(double n) = 0;

  // Lists. Indices count from 0 at the left, negative ones from the right;
  // ranges are cut to what is there. Pushes reply with the new length; LPUSHX
  // and RPUSHX push only to a list that is there. LSET says whether the index
  // was there: if not, that is an error. LRANGE writes as many elements as
  // `out` has room for; returns how many.
  virtual int64_t LLEN() = 0;
  virtual int64_t LPUSH(std::string_view element) = 0;
  virtual int64_t RPUSH(std::string_view element) = 0;
  virtual int64_t LPUSHX(std::string_view element) = 0;
  virtual int64_t RPUSHX(std::string_view element) = 0;
  virtual std::optional<std::string> LPOP() = 0;
  virtual std::optional<std::string> RPOP() = 0;
  virtual std::optional<std::string> LINDEX(int64_t index) = 0;
  virtual bool LSET(int64_t index, std::string_view element) = 0;
  virtual int64_t LRANGE(int64_t start, int64_t stop,
                         absl::Span<std::string> out) = 0;
  virtual void LTRIM(int64_t start, int64_t stop) = 0;

  // Sorted sets. Ranks count from 0, negative ones from the end; ranges are
  // cut to what is there. ZADD says whether the member is new (an old one gets
  // the new score). A score that is no number is an error. There is one zero:
  // a score of -0 reads as 0, as in a server's own compact encoding.
  virtual bool ZADD(double score, std::string_view member) = 0;
  virtual bool ZADD(double score, std::string_view member,
                    const ZaddOptions& options) = 0;
  virtual std::optional<double> ZINCRBY(double n, std::string_view member) = 0;
  virtual int64_t ZCARD() = 0;
  virtual int64_t ZCOUNT(ScoreBound min, ScoreBound max) = 0;
  virtual std::optional<double> ZSCORE(std::string_view member) = 0;
  virtual std::optional<int64_t> ZRANK(std::string_view member) = 0;
  virtual std::optional<int64_t> ZREVRANK(std::string_view member) = 0;
  // Ranges write as many elements as `out` has room for, and return how many.
  // ZREV... counts and writes from the highest. `offset` elements of the range
  // are left out, and at most `count` written (negative: all).
  virtual int64_t ZRANGE(int64_t start, int64_t stop,
                         absl::Span<ScoredMember> out) = 0;
  virtual int64_t ZREVRANGE(int64_t start, int64_t stop,
                            absl::Span<ScoredMember> out) = 0;
  virtual int64_t ZRANGEBYSCORE(ScoreBound min, ScoreBound max, int64_t offset,
                                int64_t count,
                                absl::Span<ScoredMember> out) = 0;
  virtual int64_t ZREVRANGEBYSCORE(ScoreBound max, ScoreBound min,
                                   int64_t offset, int64_t count,
                                   absl::Span<ScoredMember> out) = 0;
  virtual bool ZREM(std::string_view member) = 0;
  virtual int64_t ZREMRANGEBYRANK(int64_t start, int64_t stop) = 0;
  virtual int64_t ZREMRANGEBYSCORE(ScoreBound min, ScoreBound max) = 0;
  virtual std::optional<ScoredMember> ZPOPMIN() = 0;
  virtual std::optional<ScoredMember> ZPOPMAX() = 0;

  // Hashes. HSET and HSETNX say whether the field is new; HSETNX leaves one
  // that is there alone. HMGET fills one reply for each field. HGETALL writes
  // as many fields as `out` has room for, in no promised order; returns how
  // many. Numbers in fields are as in strings.
  virtual bool HSET(std::string_view field, std::string_view value) = 0;
  virtual bool HSETNX(std::string_view field, std::string_view value) = 0;
  virtual std::optional<std::string_view> HGET(std::string_view field) = 0;
  virtual void HMGET(absl::Span<const std::string_view> fields,
                     absl::Span<std::optional<std::string>> values) = 0;
  virtual int64_t HGETALL(absl::Span<HashField> out) = 0;
  virtual bool HDEL(std::string_view field) = 0;
  virtual bool HEXISTS(std::string_view field) = 0;
  virtual int64_t HLEN() = 0;
  virtual int64_t HSTRLEN(std::string_view field) = 0;
  virtual std::optional<int64_t> HINCRBY(std::string_view field, int64_t n) = 0;
  virtual std::optional<std::string> HINCRBYFLOAT(std::string_view field,
                                                  double n) = 0;
};

}  // namespace weir

#endif  // WEIR_TXN_H_
