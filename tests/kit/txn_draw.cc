#include "tests/kit/txn_draw.h"

#include <limits>
#include <utility>

namespace weir {
namespace testing {
namespace {

const char* const kConditions[] = {"NX", "XX", "GT", "LT"};

}  // namespace

std::ostream& operator<<(std::ostream& out, Use use) {
  static const char* const kNames[] = {"string",         "set",
                                       "set of entries", "set of times",
                                       "list",           "list of entries",
                                       "list of times",  "hash"};
  return out << kNames[static_cast<int>(use)];
}

std::string_view TypeOf(Use use) {
  static constexpr std::string_view kTypes[] = {
      "string", "zset", "zset", "zset", "list", "list", "list", "hash"};
  return kTypes[static_cast<int>(use)];
}

Words TxnDraw::Next(std::string_view type, int64_t size) {
  if (rng_.OneIn(12)) return OfKeys();
  // Of another type: an error, or what makes a missing key.
  if (rng_.OneIn(80)) {
    const std::vector<int64_t> sums = sums_;
    const Use use = kUses[rng_.Uniform(0, 7)];
    Words words = Of(use, size);
    if (TypeOf(use) != TypeOf(use_)) sums_ = sums;
    return words;
  }
  if (type != "none" && type != TypeOf(use_)) {
    if (rng_.OneIn(8)) return {"DEL"};
    for (const Use use : kUses) {
      if (type == TypeOf(use)) return Of(use, size);
    }
  }
  return Of(use_, size);
}

Words TxnDraw::Of(Use use, int64_t size) {
  const std::string_view type = TypeOf(use);
  if (type == "string") return OfStrings();
  if (type == "zset") return OfSets(size);
  if (type == "list") return OfLists(size);
  return OfHashes(size);
}

Words TxnDraw::OfKeys() {
  switch (rng_.Uniform(0, 9)) {
    case 0:
      if (rng_.OneIn(grow_ * 5)) return {"DEL"};
      return {"TYPE"};
    case 1:
      return {"EXISTS"};
    case 2:
      return {"PERSIST"};
    case 3:
      return {"PEXPIRETIME"};
    case 4:
    case 5:
      return {"PTTL"};
    default:
      return Expire();
  }
}

Words TxnDraw::Expire() {
  Words words = {"PEXPIRE", Milliseconds()};
  if (rng_.OneIn(2)) {
    const int64_t at = now_ms_ + rng_.LogUniform(1, 100'000);
    words = {"PEXPIREAT", std::to_string(at)};
  }
  // What deletes is rare.
  if (rng_.OneIn(20 * grow_)) {
    words[1] = std::to_string(words[0] == "PEXPIRE" ? -rng_.Uniform(0, 1)
                                                    : now_ms_ - 1);
  }
  if (rng_.OneIn(2)) words.push_back(kConditions[rng_.Uniform(0, 3)]);
  return words;
}

Words TxnDraw::SetText() {
  Words words = {"SET", rng_.OneIn(3) ? Bytes() : Number()};
  if (rng_.OneIn(4)) words.push_back(rng_.OneIn(2) ? "NX" : "XX");
  if (rng_.OneIn(2)) {
    words.push_back("PX");
    words.push_back(rng_.OneIn(20) ? std::to_string(rng_.Uniform(-1, 0))
                                   : Milliseconds());
  }
  if (rng_.OneIn(4)) words.push_back("KEEPTTL");
  return words;
}

Words TxnDraw::OfStrings() {
  switch (rng_.Uniform(0, 11)) {
    case 0:
      return {"GET"};
    case 1:
      return {"STRLEN"};
    case 2:
      return {"SETNX", Number()};
    case 3:
      return {"GETSET", Number()};
    case 4:
      return {"GETDEL"};
    case 5:
      return {"APPEND", rng_.OneIn(2) ? Short() : Number()};
    case 6:
    case 7:
      return {"INCRBY", WholeIncrement()};
    case 8:
    case 9:
      return {"INCRBYFLOAT", Increment()};
    default:
      return SetText();
  }
}

Words TxnDraw::Zadd() {
  Words words = {"ZADD"};
  if (Stray() && rng_.OneIn(2)) {
    words.insert(words.end(), kConditions[rng_.Uniform(0, 3)]);
    if (rng_.OneIn(10)) words.insert(words.end(), "GT");
    if (rng_.OneIn(2)) words.insert(words.end(), "CH");
    if (words[1] == "GT" || words[1] == "LT") {
      // Not both.
      words.resize(2);
      if (rng_.OneIn(4)) words.insert(words.end(), "XX");
    }
  }
  const double score = Score();
  const bool is_number = !rng_.OneIn(300);
  words.push_back(is_number ? NumberWord(score) : "nan");
  words.push_back(is_number ? NewMember() : Member());
  return words;
}

// From either end, as logs do; or from anywhere.
Words TxnDraw::Drop(int64_t size) {
  const int64_t some = rng_.LogUniform(1, grow_) - 1;
  switch (Stray() ? rng_.Uniform(0, 6) : rng_.Uniform(0, 3)) {
    case 0:
      return {"ZREMRANGEBYRANK", "0", std::to_string(some)};
    case 1:
      NewestGoes(some + 1);
      return {"ZREMRANGEBYRANK", std::to_string(-1 - some), "-1"};
    case 2:
      return {"ZPOPMIN"};
    case 3:
      NewestGoes(1);
      return {"ZPOPMAX"};
    case 4: {
      const int64_t rank = Rank(size);
      return {"ZREMRANGEBYRANK", std::to_string(rank),
              std::to_string(rng_.OneIn(grow_) ? Rank(size) : rank)};
    }
    case 5:
      return {"ZREMRANGEBYSCORE", rng_.OneIn(2) ? "-inf" : BoundWord(Bound()),
              BoundWord({static_cast<double>(rng_.Uniform(-5, 5)), true})};
    default:
      return {"ZREM", Member()};
  }
}

// Of a large key long ones are rare.
Words TxnDraw::RankRange(std::string command, int64_t size) {
  const int64_t start = Rank(size);
  int64_t stop = Rank(size);
  if (!rng_.OneIn(1 + size / 20) && start < kMost - 5) {
    stop = start + rng_.Uniform(0, 5);
  }
  return {std::move(command), std::to_string(start), std::to_string(stop)};
}

Words TxnDraw::OfSets(int64_t size) {
  if (rng_.OneIn(3)) {
    return rng_.OneIn(grow_) ? Drop(size) : Zadd();
  }
  switch (rng_.Uniform(0, 15)) {
    case 0:
      return {"ZCARD"};
    case 1:
    case 2:
      return {"ZCOUNT", BoundWord(Bound()), BoundWord(Bound())};
    case 3:
      return {"ZSCORE", Member()};
    case 4:
      return {"ZRANK", Member()};
    case 5:
      return {"ZREVRANK", Member()};
    case 6:
    case 7: {
      Words words = RankRange(rng_.OneIn(2) ? "ZRANGE" : "ZREVRANGE", size);
      words.push_back("WITHSCORES");
      return words;
    }
    case 8:
    case 9: {
      Words words = {rng_.OneIn(2) ? "ZRANGEBYSCORE" : "ZREVRANGEBYSCORE",
                     BoundWord(Bound()), BoundWord(Bound()), "WITHSCORES"};
      if (!rng_.OneIn(1 + size / 20)) {
        // Not below 0: servers since Redis 8 read that otherwise.
        words.push_back("LIMIT");
        words.push_back(rng_.OneIn(20) ? std::to_string(kMost)
                                       : std::to_string(rng_.Uniform(0, 5)));
        words.push_back(rng_.OneIn(1 + size / 20)
                            ? "-1"
                            : std::to_string(rng_.Uniform(0, 6)));
      }
      return words;
    }
    case 10:
      if (!Stray()) return Zadd();
      return {"ZINCRBY", rng_.OneIn(4) ? Increment() : NumberWord(Score()),
              Member()};
    default:
      return Zadd();
  }
}

// From either end, as logs do; or from anywhere.
Words TxnDraw::Trim(int64_t size) {
  if (Stray() && rng_.OneIn(grow_)) {
    return {"LTRIM", RankWord(size), RankWord(size)};
  }
  const bool newest = rng_.OneIn(2);
  const bool left = newest == left_;
  const int64_t some = rng_.LogUniform(1, grow_) - 1;
  const bool one = rng_.OneIn(2);
  if (newest) NewestGoes(one ? 1 : some);
  if (one) return {left ? "LPOP" : "RPOP"};
  if (left) return {"LTRIM", std::to_string(some), "-1"};
  return {"LTRIM", "0", std::to_string(-1 - some)};
}

Words TxnDraw::OfLists(int64_t size) {
  const bool left = Stray() ? rng_.OneIn(2) : left_;
  if (rng_.OneIn(3 * grow_)) return Trim(size);
  switch (rng_.Uniform(0, 11)) {
    case 0:
      return {"LLEN"};
    case 1:
    case 2:
      return {"LINDEX", RankWord(size)};
    case 3: {
      // The newest, or any; none that is far outside, of which servers since
      // Redis 8 keep 32 bits.
      if (Stray()) {
        return {"LSET", std::to_string(rng_.Uniform(-size - 2, size + 1)),
                Element()};
      }
      NewestGoes(1);
      return {"LSET", left_ ? "0" : "-1", Element()};
    }
    case 4:
      return RankRange("LRANGE", size);
    case 5:
      return {left ? "LPUSHX" : "RPUSHX", Element()};
    default:
      return {left ? "LPUSH" : "RPUSH", Element()};
  }
}

Words TxnDraw::OfHashes(int64_t size) {
  const std::string field = Short();
  if (rng_.OneIn(3)) {
    if (rng_.OneIn(grow_)) return {"HDEL", field};
    return {"HSET", field, rng_.OneIn(3) ? Bytes() : Number()};
  }
  switch (rng_.Uniform(0, 11)) {
    case 0:
      return {"HGET", field};
    case 1:
      return {"HMGET", field, Short(), Short()};
    case 2:
      if (!rng_.OneIn(1 + size / 20)) return {"HGET", field};
      return {"HGETALL"};
    case 3:
      return {"HEXISTS", field};
    case 4:
      return {"HLEN"};
    case 5:
      return {"HSTRLEN", field};
    case 6:
      return {"HSETNX", field, Number()};
    case 7:
    case 8:
      return {"HINCRBY", field, WholeIncrement()};
    case 9:
    case 10:
      return {"HINCRBYFLOAT", field, Increment()};
    default:
      return {"HSET", field, Short()};
  }
}

}  // namespace testing
}  // namespace weir
