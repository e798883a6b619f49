// Strings, lists and hashes of a Txn, and its errors: the corners by name.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/txn_words.h"
#include "weir/testing/txn_factory.h"

namespace weir {
namespace testing {
namespace {

constexpr int64_t kMostInteger = std::numeric_limits<int64_t>::max();

const char kWrongType[] =
    "WRONGTYPE Operation against a key holding the wrong kind of value";

std::vector<std::string> ListRange(Txn& txn, int64_t start, int64_t stop,
                                   size_t room) {
  std::vector<std::string> out(room);
  out.resize(static_cast<size_t>(txn.LRANGE(start, stop, absl::MakeSpan(out))));
  return out;
}

using Strings = std::vector<std::string>;

}  // namespace

void KeepTxnTypesLaw();
void KeepTxnTypesLaw() {}

TEST_P(TxnLaw, ListsCountFromEitherEnd) {
  At(kStart, [](Txn& txn) {
    EXPECT_EQ(txn.RPUSH("b"), 1);
    EXPECT_EQ(txn.RPUSH("c"), 2);
    EXPECT_EQ(txn.LPUSH("a"), 3);
    EXPECT_EQ(ListRange(txn, 0, -1, 8), (Strings{"a", "b", "c"}));
    EXPECT_EQ(ListRange(txn, -100, 100, 2), (Strings{"a", "b"}));
    EXPECT_EQ(ListRange(txn, 2, 1, 8), Strings());
    EXPECT_EQ(txn.LINDEX(0), "a");
    EXPECT_EQ(txn.LINDEX(-1), "c");
    EXPECT_EQ(txn.LINDEX(3), std::nullopt);
    EXPECT_EQ(txn.LINDEX(-4), std::nullopt);
    EXPECT_TRUE(txn.LSET(-2, "x"));
    txn.LTRIM(1, -1);
    EXPECT_EQ(txn.LPOP(), "x");
    EXPECT_EQ(txn.RPOP(), "c");
    EXPECT_EQ(txn.RPOP(), std::nullopt);
    EXPECT_FALSE(txn.EXISTS());
    EXPECT_EQ(txn.LPUSHX("a"), 0);
    EXPECT_EQ(txn.RPUSHX("a"), 0);
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, LsetOfNothingIsAnError) {
  At(kStart, [](Txn& txn) {
    EXPECT_FALSE(txn.LSET(0, "a"));
    EXPECT_EQ(txn.TakeError(), "ERR no such key");
    txn.RPUSH("a");
    for (const int64_t outside :
         {int64_t{1}, int64_t{-2}, kMostInteger, -kMostInteger - 1}) {
      EXPECT_FALSE(txn.LSET(outside, "b"));
      EXPECT_EQ(txn.TakeError(), "ERR index out of range");
    }
    EXPECT_EQ(ListRange(txn, 0, -1, 4), Strings{"a"});
  });
}

TEST_P(TxnLaw, ACommandOnAnotherTypeIsAnErrorAndChangesNothing) {
  const std::vector<Words> makers = {
      {"SET", "1"}, {"RPUSH", "1"}, {"ZADD", "1", "1"}, {"HSET", "1", "1"}};
  const std::vector<std::vector<Words>> commands = {
      {{"GET"},
       {"STRLEN"},
       {"GETDEL"},
       {"GETSET", "2"},
       {"APPEND", "2"},
       {"INCRBY", "1"},
       {"INCRBYFLOAT", "1"}},
      {{"LLEN"},
       {"LPUSH", "2"},
       {"RPUSH", "2"},
       {"LPUSHX", "2"},
       {"RPUSHX", "2"},
       {"LPOP"},
       {"RPOP"},
       {"LINDEX", "0"},
       {"LSET", "0", "2"},
       {"LRANGE", "0", "-1"},
       {"LTRIM", "1", "0"}},
      {{"ZADD", "2", "2"},
       {"ZADD", "XX", "2", "2"},
       {"ZINCRBY", "1", "1"},
       {"ZCARD"},
       {"ZCOUNT", "-inf", "inf"},
       {"ZSCORE", "1"},
       {"ZRANK", "1"},
       {"ZREVRANK", "1"},
       {"ZRANGE", "0", "-1"},
       {"ZREVRANGE", "0", "-1"},
       {"ZRANGEBYSCORE", "-inf", "inf"},
       {"ZREVRANGEBYSCORE", "inf", "-inf"},
       {"ZREM", "1"},
       {"ZREMRANGEBYRANK", "0", "-1"},
       {"ZREMRANGEBYSCORE", "-inf", "inf"},
       {"ZPOPMIN"},
       {"ZPOPMAX"}},
      {{"HSET", "1", "2"},
       {"HSETNX", "2", "2"},
       {"HGET", "1"},
       {"HMGET", "1", "2"},
       {"HGETALL"},
       {"HDEL", "1"},
       {"HEXISTS", "1"},
       {"HLEN"},
       {"HSTRLEN", "1"},
       {"HINCRBY", "1", "1"},
       {"HINCRBYFLOAT", "1", "1"}}};
  const std::vector<Words> whole = {
      {"GET"}, {"LRANGE", "0", "-1"}, {"ZRANGE", "0", "-1"}, {"HGETALL"}};
  for (size_t type = 0; type < makers.size(); ++type) {
    At(kStart, [&](Txn& txn) {
      txn.DEL();
      RunOnTxn(makers[type], txn);
      txn.PEXPIRE(5000);
      const std::string before = RunOnTxn(whole[type], txn);
      for (size_t other = 0; other < commands.size(); ++other) {
        for (const Words& words : commands[other]) {
          if (other == type) continue;
          EXPECT_EQ(RunOnTxn(words, txn), std::string("-") + kWrongType)
              << Readable(words) << " after " << Readable(makers[type]);
        }
      }
      EXPECT_EQ(RunOnTxn(whole[type], txn), before);
      EXPECT_EQ(txn.PTTL(), 5000);
    });
  }
}

TEST_P(TxnLaw, TheFirstErrorIsToldOnce) {
  At(kStart, [](Txn& txn) {
    txn.SET("abc", 1000);
    EXPECT_EQ(txn.TakeError(), "");
    EXPECT_EQ(txn.INCRBY(1), std::nullopt);
    EXPECT_EQ(txn.LLEN(), 0);
    EXPECT_EQ(txn.GET(), "abc");
    EXPECT_EQ(txn.TakeError(), "ERR value is not an integer or out of range");
    EXPECT_EQ(txn.TakeError(), "");
  });
}

TEST_P(TxnLaw, WholeNumbersAreOf64Bits) {
  At(kStart, [](Txn& txn) {
    EXPECT_EQ(txn.INCRBY(5), 5);
    EXPECT_EQ(txn.PTTL(), -1);
    txn.PEXPIRE(1000);
    EXPECT_EQ(txn.INCRBY(-7), -2);
    EXPECT_EQ(txn.GET(), "-2");
    EXPECT_EQ(txn.PTTL(), 1000);
    txn.SET(std::to_string(kMostInteger), 1000);
    EXPECT_EQ(txn.INCRBY(1), std::nullopt);
    EXPECT_EQ(txn.TakeError(), "ERR increment or decrement would overflow");
    EXPECT_EQ(txn.GET(), std::to_string(kMostInteger));
    for (const char* text : {"", " 1", "1 ", "+1", "01", "-0", "1.0", "0x1",
                             "9223372036854775808"}) {
      txn.SET(text, 1000);
      EXPECT_EQ(txn.INCRBY(1), std::nullopt) << text;
      EXPECT_NE(txn.TakeError(), "");
      EXPECT_EQ(txn.GET(), text);
    }
  });
}

TEST_P(TxnLaw, RealNumbersAreWrittenWithoutAnExponent) {
  At(kStart, [](Txn& txn) {
    EXPECT_EQ(txn.INCRBYFLOAT(10.5), "10.5");
    EXPECT_EQ(txn.INCRBYFLOAT(-0.5), "10");
    txn.SET("5.0e3", 1000);
    EXPECT_EQ(txn.INCRBYFLOAT(200), "5200");
    EXPECT_EQ(txn.PTTL(), 1000);
    EXPECT_EQ(txn.INCRBYFLOAT(std::numeric_limits<double>::infinity()),
              std::nullopt);
    EXPECT_EQ(txn.TakeError(), "ERR increment would produce NaN or Infinity");
    EXPECT_EQ(txn.GET(), "5200");
    EXPECT_EQ(txn.HINCRBYFLOAT("a", 1), std::nullopt);
    EXPECT_EQ(txn.TakeError(), kWrongType);
    txn.DEL();
    // As a script that adds 0.1 does: numbers have 17 digits there.
    EXPECT_EQ(txn.HINCRBYFLOAT("a", 0.1), "0.10000000000000001");
    EXPECT_EQ(txn.HGET("a"), "0.10000000000000001");
  });
}

TEST_P(TxnLaw, SetsOptionsSayWhenItWritesAndWhatExpires) {
  At(kStart, [](Txn& txn) {
    EXPECT_FALSE(txn.SET("a", {WriteIf::kKnown, {}, false}));
    EXPECT_FALSE(txn.EXISTS());
    EXPECT_TRUE(txn.SET("a", {WriteIf::kNew, 1000, false}));
    EXPECT_FALSE(txn.SET("b", {WriteIf::kNew, 5000, false}));
    EXPECT_FALSE(txn.SETNX("b"));
    EXPECT_EQ(txn.GET(), "a");
    EXPECT_EQ(txn.PTTL(), 1000);
    EXPECT_TRUE(txn.SET("b", {WriteIf::kAny, {}, true}));
    EXPECT_EQ(txn.PTTL(), 1000);
    EXPECT_EQ(txn.APPEND("c"), 2);
    EXPECT_EQ(txn.PTTL(), 1000);
    EXPECT_EQ(txn.GETSET("d"), "bc");
    EXPECT_EQ(txn.PTTL(), -1);
    EXPECT_EQ(txn.GETDEL(), "d");
    EXPECT_FALSE(txn.EXISTS());
    txn.SET("a", 0);
    EXPECT_EQ(txn.TakeError(), "ERR invalid expire time in 'set' command");
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, ExpiriesAreSetUnderConditions) {
  At(kStart, [](Txn& txn) {
    txn.SETNX("a");
    EXPECT_FALSE(txn.PEXPIRE(1000, ExpireIf::kSome));
    EXPECT_FALSE(txn.PEXPIRE(1000, ExpireIf::kLater));
    EXPECT_TRUE(txn.PEXPIRE(1000, ExpireIf::kEarlier));
    EXPECT_FALSE(txn.PEXPIRE(2000, ExpireIf::kNone));
    EXPECT_FALSE(txn.PEXPIRE(1000, ExpireIf::kLater));
    EXPECT_FALSE(txn.PEXPIRE(1000, ExpireIf::kEarlier));
    EXPECT_TRUE(txn.PEXPIREAT(kStart / 1000 + 3000, ExpireIf::kLater));
    EXPECT_EQ(txn.PTTL(), 3000);
    EXPECT_EQ(txn.PEXPIRETIME(), kStart / 1000 + 3000);
    EXPECT_TRUE(txn.PERSIST());
    EXPECT_FALSE(txn.PERSIST());
    EXPECT_EQ(txn.PEXPIRETIME(), -1);
    EXPECT_FALSE(txn.PEXPIRE(kMostInteger));
    EXPECT_EQ(txn.TakeError(), "ERR invalid expire time in 'pexpire' command");
    EXPECT_TRUE(txn.PEXPIREAT(0, ExpireIf::kEarlier));
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, ZaddsOptionsSayWhatMayChange) {
  At(kStart, [](Txn& txn) {
    EXPECT_FALSE(txn.ZADD(1, "a", {WriteIf::kKnown, ScoreIf::kAny, false}));
    EXPECT_FALSE(txn.EXISTS());
    EXPECT_TRUE(txn.ZADD(5, "a", {WriteIf::kAny, ScoreIf::kGreater, false}));
    EXPECT_FALSE(txn.ZADD(4, "a", {WriteIf::kAny, ScoreIf::kGreater, true}));
    EXPECT_TRUE(txn.ZADD(6, "a", {WriteIf::kAny, ScoreIf::kGreater, true}));
    EXPECT_FALSE(txn.ZADD(7, "a", {WriteIf::kAny, ScoreIf::kLess, true}));
    EXPECT_FALSE(txn.ZADD(7, "a", {WriteIf::kNew, ScoreIf::kAny, true}));
    EXPECT_EQ(txn.ZSCORE("a"), 6);
    EXPECT_FALSE(txn.ZADD(7, "b", {WriteIf::kNew, ScoreIf::kLess, true}));
    EXPECT_NE(txn.TakeError(), "");
    EXPECT_FALSE(txn.ZADD(std::numeric_limits<double>::quiet_NaN(), "b"));
    EXPECT_EQ(txn.TakeError(), "ERR value is not a valid float");
    EXPECT_EQ(txn.ZINCRBY(0.5, "a"), 6.5);
    EXPECT_EQ(txn.ZINCRBY(0.5, "b"), 0.5);
    EXPECT_EQ(txn.ZRANK("a"), 1);
    EXPECT_EQ(txn.ZREVRANK("a"), 0);
    EXPECT_EQ(txn.ZPOPMAX()->member, "a");
    EXPECT_EQ(txn.ZPOPMIN()->score, 0.5);
    EXPECT_FALSE(txn.ZPOPMIN().has_value());
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, ThereIsOneZero) {
  At(kStart, [](Txn& txn) {
    // As the first score of a log, and among others.
    for (const char* other : {"", "a"}) {
      if (other[0] != '\0') txn.ZADD(0.5, other);
      txn.ZADD(-0.0, "zero");
      EXPECT_FALSE(std::signbit(txn.ZSCORE("zero").value_or(-1)));
      EXPECT_EQ(txn.ZINCRBY(-0.0, "zero"), 0);
      EXPECT_FALSE(std::signbit(*txn.ZINCRBY(-0.0, "zero")));
      txn.DEL();
    }
  });
}

TEST_P(TxnLaw, HashesHoldFields) {
  At(kStart, [](Txn& txn) {
    EXPECT_TRUE(txn.HSET("b", "1"));
    EXPECT_TRUE(txn.HSET("a", "2"));
    EXPECT_FALSE(txn.HSET("b", "3"));
    EXPECT_FALSE(txn.HSETNX("b", "4"));
    EXPECT_EQ(txn.HGET("b"), "3");
    EXPECT_EQ(txn.HINCRBY("a", 40), 42);
    EXPECT_EQ(txn.HINCRBY("c", -1), -1);
    EXPECT_EQ(txn.HLEN(), 3);
    EXPECT_EQ(txn.HSTRLEN("a"), 2);
    const std::string_view fields[] = {"a", "none", "c"};
    std::optional<std::string> values[3];
    txn.HMGET(fields, absl::MakeSpan(values));
    EXPECT_EQ(values[0], "42");
    EXPECT_EQ(values[1], std::nullopt);
    EXPECT_EQ(values[2], "-1");
    // What is written may be a view of what is there.
    EXPECT_TRUE(txn.HSET("d", *txn.HGET("a")));
    EXPECT_FALSE(txn.HSET("b", *txn.HGET("a")));
    EXPECT_EQ(txn.HGET("b"), "42");
    EXPECT_EQ(txn.HGET("d"), "42");
    for (const char* field : {"a", "b", "c", "d"}) {
      EXPECT_TRUE(txn.EXISTS());
      EXPECT_TRUE(txn.HDEL(field));
    }
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, WhatIsWrittenMayBeAViewOfWhatIsThere) {
  At(kStart, [](Txn& txn) {
    txn.SET(std::string(40, 'a') + "b", 1000);
    EXPECT_EQ(txn.APPEND(*txn.GET()), 82);
    txn.SET(txn.GET()->substr(40, 2), 1000);
    EXPECT_EQ(txn.GET(), "ba");
    for (int i = 0; i < 200; ++i) txn.APPEND(*txn.GET() == "" ? "x" : "y");
    txn.DEL();
    // Also while a hash passes from one encoding to the next.
    txn.HSET("0", std::string(30, 'v'));
    for (int i = 1; i < 200; ++i) {
      txn.HSET(std::to_string(i), *txn.HGET(std::to_string(i - 1)));
    }
    EXPECT_EQ(txn.HLEN(), 200);
    EXPECT_EQ(txn.HGET("199"), std::string(30, 'v'));
  });
}

}  // namespace testing
}  // namespace weir
