// A Txn does what Redis does: random commands against a model, and by name the
// corners that are easily got wrong.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/naive_key.h"
#include "tests/kit/txn_draw.h"
#include "tests/kit/txn_words.h"
#include "weir/testing/txn_factory.h"

namespace weir {
namespace testing {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TxnLaw);

// Of txn_types_law.cc, which nothing else would link.
void KeepTxnTypesLaw();

std::vector<TxnFactory> TxnCases(std::vector<TxnFactory> factories) {
  KeepTxnTypesLaw();
  return factories;
}

std::string TxnCaseName(const ::testing::TestParamInfo<TxnFactory>& info) {
  return info.param.name;
}

namespace {

constexpr int64_t kMs = 1'000;
constexpr double kInf = std::numeric_limits<double>::infinity();

std::vector<std::pair<std::string, double>> SetRange(Txn& txn, int64_t start,
                                                     int64_t stop,
                                                     size_t room) {
  std::vector<ScoredMember> out(room);
  const int64_t n = txn.ZRANGE(start, stop, absl::MakeSpan(out));
  std::vector<std::pair<std::string, double>> list;
  for (int64_t i = 0; i < n && i < static_cast<int64_t>(room); ++i) {
    const ScoredMember& m = out[static_cast<size_t>(i)];
    list.emplace_back(m.member, m.score);
  }
  EXPECT_LE(n, static_cast<int64_t>(room));
  return list;
}

// What all of a key is asked by.
Words WholeOf(const std::string& type) {
  if (type == "string") return {"GET"};
  if (type == "list") return {"LRANGE", "0", "-1"};
  if (type == "zset") return {"ZRANGE", "0", "-1", "WITHSCORES"};
  if (type == "hash") return {"HGETALL"};
  return {"TYPE"};
}

void RunRandomCommands(TxnHost& host, Use use, int steps, Rng& rng) {
  NaiveKey model;
  TxnDraw draw(use, TxnLaw::kStart / kMs, rng.LogUniform(20, 2'000),
               rng.LogUniform(1, 50), rng);
  const auto same = [&](const Words& words, Txn& txn, int step) {
    ASSERT_EQ(RunOnTxn(words, txn), model.Do(words))
        << Readable(words) << " in step " << step << " on a " << use
        << ", WEIR_TEST_SEED=" << Seed();
  };
  int64_t now = TxnLaw::kStart;
  for (int i = 0; i < steps; ++i) {
    // Whole milliseconds, and never the very instant at which a key expires:
    // servers differ by one there.
    if (rng.OneIn(3)) now += rng.LogUniform(1, 5'000) * kMs;
    model.SetTime(now / kMs);
    if (model.Pttl() == 1) {
      now += 2 * kMs;
      model.SetTime(now / kMs);
    }
    draw.SetTime(now / kMs);
    host.Step(now, [&](Txn& txn) {
      for (int64_t n = rng.Uniform(1, 4); n > 0; --n) {
        same(draw.Next(model.type(), model.size()), txn, i);
        if (::testing::Test::HasFatalFailure()) return;
      }
      same({"TYPE"}, txn, i);
      same({"PTTL"}, txn, i);
      same(WholeOf(model.type()), txn, i);
    });
    if (::testing::Test::HasFailure()) return;
  }
}

using List = std::vector<std::pair<std::string, double>>;

}  // namespace

TEST_P(TxnLaw, RandomCommandsGetTheRepliesOfTheModel) {
  for (int round = 0; round < Rounds(10, 500); ++round) {
    for (const Use use : kUses) {
      const std::unique_ptr<TxnHost> host = GetParam().make();
      RunRandomCommands(*host, use, 300, rng_);
      if (HasFailure()) return;
    }
  }
}

TEST_P(TxnLaw, AMissingKeyAnswersAsOne) {
  At(kStart, [](Txn& txn) {
    EXPECT_FALSE(txn.EXISTS());
    EXPECT_FALSE(txn.DEL());
    EXPECT_FALSE(txn.PEXPIRE(1000));
    EXPECT_EQ(txn.PTTL(), -2);
    EXPECT_FALSE(txn.GET().has_value());
    EXPECT_EQ(txn.ZCARD(), 0);
    EXPECT_EQ(txn.ZCOUNT(ScoreBound::Lowest(), ScoreBound::Highest()), 0);
    EXPECT_FALSE(txn.ZSCORE("a").has_value());
    EXPECT_EQ(SetRange(txn, 0, -1, 4), List());
    EXPECT_FALSE(txn.ZREM("a"));
    EXPECT_EQ(txn.ZREMRANGEBYRANK(0, -1), 0);
    EXPECT_EQ(txn.ZREMRANGEBYSCORE(ScoreBound::Lowest(), ScoreBound::Highest()),
              0);
    EXPECT_FALSE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, EqualScoresAreOrderedByMemberAsBytes) {
  At(kStart, [](Txn& txn) {
    for (const char* member : {"b", "\xff", "", "a", "ab", "B", "\x7f"}) {
      EXPECT_TRUE(txn.ZADD(5, member));
    }
    txn.ZADD(4, "z");
    const List want = {{"z", 4},  {"", 5},  {"B", 5},    {"a", 5},
                       {"ab", 5}, {"b", 5}, {"\x7f", 5}, {"\xff", 5}};
    EXPECT_EQ(SetRange(txn, 0, -1, 10), want);
  });
}

TEST_P(TxnLaw, AKnownMemberGetsTheNewScore) {
  At(kStart, [](Txn& txn) {
    EXPECT_TRUE(txn.ZADD(1, "a"));
    EXPECT_TRUE(txn.ZADD(2, "b"));
    EXPECT_FALSE(txn.ZADD(3, "a"));
    EXPECT_FALSE(txn.ZADD(3, "a"));
    EXPECT_EQ(txn.ZSCORE("a"), 3);
    EXPECT_EQ(SetRange(txn, 0, -1, 4), (List{{"b", 2}, {"a", 3}}));
  });
}

TEST_P(TxnLaw, AnOffsetBelowZeroYieldsNothing) {
  At(kStart, [](Txn& txn) {
    txn.ZADD(1, "a");
    ScoredMember out[2];
    for (const int64_t count : {-1, 1}) {
      EXPECT_EQ(txn.ZRANGEBYSCORE(ScoreBound::Lowest(), ScoreBound::Highest(),
                                  -1, count, absl::MakeSpan(out)),
                0);
      EXPECT_EQ(
          txn.ZREVRANGEBYSCORE(ScoreBound::Highest(), ScoreBound::Lowest(), -1,
                               count, absl::MakeSpan(out)),
          0);
    }
  });
}

TEST_P(TxnLaw, BoundsAreInclusiveUnlessTheySayOtherwise) {
  At(kStart, [](Txn& txn) {
    for (int i = 1; i <= 5; ++i) txn.ZADD(i, std::to_string(i));
    EXPECT_EQ(txn.ZCOUNT({2, false}, {4, false}), 3);
    EXPECT_EQ(txn.ZCOUNT({2, true}, {4, false}), 2);
    EXPECT_EQ(txn.ZCOUNT({2, false}, {4, true}), 2);
    EXPECT_EQ(txn.ZCOUNT({2, true}, {4, true}), 1);
    EXPECT_EQ(txn.ZCOUNT({3, true}, {3, false}), 0);
    EXPECT_EQ(txn.ZCOUNT({4, false}, {2, false}), 0);
    EXPECT_EQ(txn.ZREMRANGEBYSCORE({4, false}, {2, false}), 0);
    EXPECT_EQ(txn.ZREMRANGEBYSCORE(ScoreBound::Lowest(), {2, true}), 1);
    EXPECT_EQ(txn.ZREMRANGEBYSCORE({4, true}, ScoreBound::Highest()), 1);
    EXPECT_EQ(SetRange(txn, 0, -1, 8), (List{{"2", 2}, {"3", 3}, {"4", 4}}));
  });
}

TEST_P(TxnLaw, RanksCountFromEitherEndAndAreCutToWhatIsThere) {
  At(kStart, [](Txn& txn) {
    for (int i = 0; i < 4; ++i) txn.ZADD(i, std::to_string(i));
    const List all = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
    EXPECT_EQ(SetRange(txn, 0, -1, 8), all);
    EXPECT_EQ(SetRange(txn, -100, 100, 8), all);
    EXPECT_EQ(SetRange(txn, -2, -1, 8), (List{{"2", 2}, {"3", 3}}));
    EXPECT_EQ(SetRange(txn, 1, 1, 8), (List{{"1", 1}}));
    EXPECT_EQ(SetRange(txn, 3, 1, 8), List());
    EXPECT_EQ(SetRange(txn, 4, 8, 8), List());
    EXPECT_EQ(SetRange(txn, 0, -5, 8), List());
    EXPECT_EQ(SetRange(txn, 0, -1, 2), (List{{"0", 0}, {"1", 1}}));
    EXPECT_EQ(SetRange(txn, 0, -1, 0), List());
    EXPECT_EQ(txn.ZREMRANGEBYRANK(4, 9), 0);
    EXPECT_EQ(txn.ZREMRANGEBYRANK(-1, -1), 1);
    EXPECT_EQ(txn.ZREMRANGEBYRANK(0, 0), 1);
    EXPECT_EQ(SetRange(txn, 0, -1, 8), (List{{"1", 1}, {"2", 2}}));
  });
}

TEST_P(TxnLaw, TheLastElementTakesTheKeyWithIt) {
  const std::vector<std::function<void(Txn&)>> ways = {
      [](Txn& txn) { EXPECT_TRUE(txn.ZREM("a")); },
      [](Txn& txn) { EXPECT_EQ(txn.ZREMRANGEBYRANK(0, -1), 1); },
      [](Txn& txn) {
        EXPECT_EQ(
            txn.ZREMRANGEBYSCORE(ScoreBound::Lowest(), ScoreBound::Highest()),
            1);
      }};
  for (const auto& way : ways) {
    At(kStart, [&](Txn& txn) {
      txn.ZADD(1, "a");
      EXPECT_TRUE(txn.PEXPIRE(1000));
      way(txn);
      EXPECT_FALSE(txn.EXISTS());
      EXPECT_EQ(txn.PTTL(), -2);
      // A new set under the same name has no expiry left over.
      EXPECT_TRUE(txn.ZADD(1, "a"));
      EXPECT_EQ(txn.PTTL(), -1);
      txn.DEL();
    });
  }
}

TEST_P(TxnLaw, AKeyWhoseTimeIsOverIsMissing) {
  At(kStart, [](Txn& txn) {
    txn.SET("value", 10);
    EXPECT_EQ(txn.PTTL(), 10);
  });
  At(kStart + 9 * kMs, [](Txn& txn) {
    EXPECT_EQ(txn.GET(), "value");
    EXPECT_EQ(txn.PTTL(), 1);
  });
  At(kStart + 11 * kMs, [](Txn& txn) {
    EXPECT_FALSE(txn.EXISTS());
    EXPECT_FALSE(txn.GET().has_value());
    EXPECT_EQ(txn.PTTL(), -2);
    EXPECT_FALSE(txn.PEXPIRE(1000));
    EXPECT_FALSE(txn.DEL());
    // What comes after it is new, whatever its type.
    EXPECT_TRUE(txn.ZADD(1, "a"));
    EXPECT_EQ(txn.ZCARD(), 1);
    EXPECT_EQ(txn.PTTL(), -1);
  });
}

TEST_P(TxnLaw, AnExpiryOfNothingOrLessDeletes) {
  for (const int64_t ms : {int64_t{0}, int64_t{-1}}) {
    At(kStart, [ms](Txn& txn) {
      txn.SET("value", 1000);
      EXPECT_TRUE(txn.PEXPIRE(ms));
      EXPECT_FALSE(txn.EXISTS());
    });
  }
}

TEST_P(TxnLaw, SetReplacesAnyTypeAndItsExpiry) {
  At(kStart, [](Txn& txn) {
    txn.ZADD(1, "a");
    txn.PEXPIRE(5);
    txn.SET("value", 1000);
    EXPECT_EQ(txn.GET(), "value");
    EXPECT_EQ(txn.PTTL(), 1000);
    txn.SET("", 2000);
    EXPECT_EQ(txn.GET(), "");
    EXPECT_EQ(txn.PTTL(), 2000);
    EXPECT_TRUE(txn.EXISTS());
  });
}

TEST_P(TxnLaw, ZaddKeepsTheExpiry) {
  At(kStart, [](Txn& txn) {
    txn.ZADD(1, "a");
    txn.PEXPIRE(1000);
    txn.ZADD(2, "b");
    txn.ZREM("a");
    EXPECT_EQ(txn.PTTL(), 1000);
  });
}

TEST_P(TxnLaw, AnyBytesComeBackAsTheyWere) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  for (size_t n = 0; n <= 256; ++n) {
    At(kStart, [&](Txn& txn) {
      const std::string value = all.substr(0, n);
      txn.SET(value, 1000);
      EXPECT_EQ(txn.GET(), value);
    });
  }
  At(kStart, [&](Txn& txn) {
    txn.DEL();
    for (size_t n = 0; n <= 256; ++n) txn.ZADD(1, all.substr(256 - n));
    EXPECT_EQ(txn.ZCARD(), 257);
    for (size_t n = 0; n <= 256; ++n) {
      EXPECT_EQ(txn.ZSCORE(all.substr(256 - n)), 1) << n;
    }
  });
}

TEST_P(TxnLaw, ScoresAreDoublesToTheirEnds) {
  At(kStart, [](Txn& txn) {
    txn.ZADD(kInf, "most");
    txn.ZADD(-kInf, "least");
    txn.ZADD(0.5, "half");
    txn.ZADD(9007199254740991.0, "exact");
    EXPECT_EQ(SetRange(txn, 0, -1, 8), (List{{"least", -kInf},
                                             {"half", 0.5},
                                             {"exact", 9007199254740991.0},
                                             {"most", kInf}}));
    EXPECT_EQ(txn.ZCOUNT(ScoreBound::Lowest(), ScoreBound::Highest()), 4);
    EXPECT_EQ(txn.ZCOUNT({-kInf, true}, {kInf, true}), 2);
  });
}

TEST_P(TxnLaw, ExpiryWorksBeforeTheEpoch) {
  const int64_t before = -1'000'000'000'000;
  At(before, [](Txn& txn) {
    txn.SET("value", 1000);
    EXPECT_EQ(txn.GET(), "value");
    EXPECT_EQ(txn.PTTL(), 1000);
  });
  At(before + 999 * kMs, [](Txn& txn) { EXPECT_TRUE(txn.EXISTS()); });
  At(before + 1001 * kMs, [](Txn& txn) { EXPECT_FALSE(txn.EXISTS()); });
}

}  // namespace testing
}  // namespace weir
