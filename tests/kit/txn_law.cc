// A Txn does what Redis does: random commands against a model, and by name the
// corners that are easily got wrong.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/naive_key.h"
#include "weir/testing/txn_factory.h"

namespace weir {
namespace testing {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TxnLaw);

std::vector<TxnFactory> TxnCases(std::vector<TxnFactory> factories) {
  return factories;
}

std::string TxnCaseName(const ::testing::TestParamInfo<TxnFactory>& info) {
  return info.param.name;
}

namespace {

constexpr int64_t kStart = 1'700'000'000'000'000;
constexpr int64_t kMs = 1'000;
constexpr double kInf = std::numeric_limits<double>::infinity();

// What a sorted set is used for in one run of random commands: a mess, or a
// log, which a store may well keep in another form.
enum class Style { kMess, kLog };

// Draws the arguments of commands.
class Arguments {
 public:
  Arguments(Style style, Rng& rng) : style_(style), rng_(rng) {}

  std::string Member() {
    if (style_ == Style::kLog && !rng_.OneIn(60)) return LogMember();
    static const char* const kMembers[] = {"",     "a",    "b",  "ab", "A",
                                           "a ",   "10",   "9",  "-1", "\xff",
                                           "\x7f", "\x80", "aa", "%s", "{x}"};
    std::string member = kMembers[rng_.Uniform(0, 14)];
    if (rng_.OneIn(4)) member += std::string(1, '\0');
    if (rng_.OneIn(30)) member += std::string(300, 'z');
    return member;
  }

  double Score() {
    if (style_ == Style::kLog && !rng_.OneIn(60)) {
      time_ += rng_.OneIn(2) ? 0 : rng_.Uniform(1, 1000);
      return static_cast<double>(time_);
    }
    switch (rng_.Uniform(0, 9)) {
      case 0:
        return rng_.OneIn(2) ? kInf : -kInf;
      case 1:
        return static_cast<double>(rng_.Uniform(-30, 30)) / 4;
      case 2:
        return 1e300;
      case 3:
        return 9007199254740992.0 +
               2 * static_cast<double>(rng_.Uniform(-2, 2));
      default:
        return static_cast<double>(rng_.Uniform(-5, 5));
    }
  }

  // About where the scores are.
  ScoreBound Bound() {
    ScoreBound bound;
    bound.exclusive = rng_.OneIn(2);
    if (style_ == Style::kLog && !rng_.OneIn(5)) {
      bound.value = static_cast<double>(time_ - rng_.LogUniform(1, 20'000));
    } else {
      bound.value = Score();
    }
    return bound;
  }

  int64_t Rank(int64_t size) {
    if (rng_.OneIn(20)) {
      return rng_.OneIn(2) ? std::numeric_limits<int64_t>::min()
                           : std::numeric_limits<int64_t>::max();
    }
    return rng_.Uniform(-size - 2, size + 2);
  }

  std::string Value() {
    std::string value(static_cast<size_t>(rng_.LogUniform(1, 200) - 1), '\0');
    for (char& c : value) c = static_cast<char>(rng_.Uniform(0, 255));
    return value;
  }

  int64_t Milliseconds() { return rng_.LogUniform(1, 100'000); }

 private:
  // A rising number of 7 bytes, sometimes with 4 more behind it; now and then
  // one that was there before.
  std::string LogMember() {
    const bool again = rng_.OneIn(12);
    if (!again) sum_ += rng_.OneIn(4) ? rng_.LogUniform(1, 1'000'000) : 1;
    const int64_t sum = again ? sum_ - rng_.Uniform(0, 5) : sum_;
    std::string member;
    for (int shift = 48; shift >= 0; shift -= 8) {
      member += static_cast<char>(sum >> shift);
    }
    if (rng_.OneIn(6)) {
      member += std::string("\0\0\0", 3);
      member += static_cast<char>(rng_.Uniform(0, 3));
    }
    return member;
  }

  const Style style_;
  Rng& rng_;
  int64_t time_ = kStart;
  int64_t sum_ = 250;  // soon passes from one byte to two
};

std::string Text(bool b) { return b ? "yes" : "no"; }
std::string Text(int64_t n) { return std::to_string(n); }
std::string Text(const std::optional<std::string>& s) {
  return s ? "\"" + ::testing::PrintToString(*s) + "\"" : "nil";
}
std::string Text(const std::optional<double>& d) {
  return d ? ::testing::PrintToString(*d) : "nil";
}
std::string Text(const std::vector<std::pair<std::string, double>>& list) {
  return ::testing::PrintToString(list);
}

std::vector<std::pair<std::string, double>> Range(Txn& txn, int64_t start,
                                                  int64_t stop, size_t room) {
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

// One random command, given to both; the replies as text.
class Commands {
 public:
  Commands(Style style, Rng& rng) : args_(style, rng), rng_(rng) {}

  void One(Txn& txn, NaiveKey& model) {
    const bool set_ok = model.type() != NaiveKey::Type::kString;
    const bool string_ok = model.type() != NaiveKey::Type::kSortedSet;
    // A command on a key of another type is a fault of the caller's.
    for (;;) {
      const int64_t pick = rng_.Uniform(0, 19);
      if (pick <= 3) return Keys(txn, model);
      if (pick <= 5 && string_ok) return Strings(txn, model, pick == 4);
      if (pick == 6 && rng_.OneIn(30)) return Strings(txn, model, false);
      if (pick >= 7 && set_ok) return Sets(txn, model);
    }
  }

  std::string said;
  std::string wanted;
  std::string command;

 private:
  template <class A, class B>
  void Note(std::string name, const A& a, const B& b) {
    command = std::move(name);
    said = Text(a);
    wanted = Text(b);
  }

  void Keys(Txn& txn, NaiveKey& model) {
    switch (rng_.Uniform(0, 9)) {
      case 0:
        if (rng_.OneIn(5)) return Note("DEL", txn.DEL(), model.Del());
        [[fallthrough]];
      case 1: {
        const int64_t ms =
            rng_.OneIn(20) ? rng_.Uniform(-1, 0) : args_.Milliseconds();
        return Note("PEXPIRE", txn.PEXPIRE(ms), model.Pexpire(ms));
      }
      case 2:
      case 3:
        return Note("EXISTS", txn.EXISTS(), model.Exists());
      default:
        return Note("PTTL", txn.PTTL(), model.Pttl());
    }
  }

  void Strings(Txn& txn, NaiveKey& model, bool get) {
    if (get) {
      const std::optional<std::string_view> got = txn.GET();
      std::optional<std::string> copy;
      if (got) copy.emplace(*got);
      return Note("GET", copy, model.Get());
    }
    const std::string value = args_.Value();
    const int64_t px = args_.Milliseconds();
    txn.SET(value, px);
    model.Set(value, px);
    Note("SET", true, true);
  }

  void Sets(Txn& txn, NaiveKey& model) {
    const int64_t size = model.Zcard();
    const std::string member = args_.Member();
    switch (rng_.Uniform(0, 15)) {
      case 0:
        return Note("ZCARD", txn.ZCARD(), model.Zcard());
      case 1: {
        const ScoreBound min = args_.Bound();
        const ScoreBound max = args_.Bound();
        return Note("ZCOUNT", txn.ZCOUNT(min, max), model.Zcount(min, max));
      }
      case 2:
        return Note("ZSCORE", txn.ZSCORE(member), model.Zscore(member));
      case 3: {
        const int64_t start = args_.Rank(size);
        const int64_t stop = args_.Rank(size);
        const size_t room = static_cast<size_t>(
            rng_.OneIn(2) ? size + 3 : rng_.Uniform(0, size + 1));
        auto want = model.Zrange(start, stop);
        if (want.size() > room) want.resize(room);
        return Note("ZRANGE", Range(txn, start, stop, room), want);
      }
      case 4:
        return Note("ZREM", txn.ZREM(member), model.Zrem(member));
      case 5: {
        if (!rng_.OneIn(3)) return Drop(txn, model);
        const int64_t start = args_.Rank(size);
        const int64_t stop = args_.Rank(size);
        return Note("ZREMRANGEBYRANK", txn.ZREMRANGEBYRANK(start, stop),
                    model.Zremrangebyrank(start, stop));
      }
      case 6: {
        if (!rng_.OneIn(3)) return Drop(txn, model);
        const ScoreBound min =
            rng_.OneIn(2) ? ScoreBound::Lowest() : args_.Bound();
        const ScoreBound max = args_.Bound();
        return Note("ZREMRANGEBYSCORE", txn.ZREMRANGEBYSCORE(min, max),
                    model.Zremrangebyscore(min, max));
      }
      default: {
        const double score = args_.Score();
        return Note("ZADD", txn.ZADD(score, member), model.Zadd(score, member));
      }
    }
  }

  // One from either end, as logs do.
  void Drop(Txn& txn, NaiveKey& model) {
    const int64_t rank = rng_.OneIn(2) ? 0 : -1;
    Note("ZREMRANGEBYRANK", txn.ZREMRANGEBYRANK(rank, rank),
         model.Zremrangebyrank(rank, rank));
  }

  Arguments args_;
  Rng& rng_;
};

void RunRandomCommands(TxnHost& host, Style style, int steps, Rng& rng) {
  NaiveKey model;
  Commands commands(style, rng);
  int64_t now = kStart;
  for (int i = 0; i < steps; ++i) {
    // Whole milliseconds, and never the very instant at which a key expires:
    // servers differ by one there.
    if (rng.OneIn(3)) now += rng.LogUniform(1, 5'000) * kMs;
    model.SetTime(now / kMs);
    if (model.Pttl() == 1) {
      now += 2 * kMs;
      model.SetTime(now / kMs);
    }
    host.Step(now, [&](Txn& txn) {
      for (int64_t n = rng.Uniform(1, 4); n > 0; --n) {
        commands.One(txn, model);
        ASSERT_EQ(commands.said, commands.wanted)
            << commands.command << " in step " << i
            << ", WEIR_TEST_SEED=" << Seed();
      }
      if (model.type() == NaiveKey::Type::kString) return;
      const size_t room = static_cast<size_t>(model.Zcard()) + 1;
      ASSERT_EQ(Range(txn, 0, -1, room), model.Zrange(0, -1))
          << "after " << commands.command << " in step " << i
          << ", WEIR_TEST_SEED=" << Seed();
    });
    if (::testing::Test::HasFailure()) return;
  }
}

using List = std::vector<std::pair<std::string, double>>;

}  // namespace

TEST_P(TxnLaw, RandomCommandsGetTheRepliesOfTheModel) {
  for (int round = 0; round < Rounds(40, 2'000); ++round) {
    const std::unique_ptr<TxnHost> host = GetParam().make();
    RunRandomCommands(*host, Style::kMess, 300, rng_);
    if (HasFailure()) return;
  }
}

TEST_P(TxnLaw, RandomCommandsOnALogGetTheRepliesOfTheModel) {
  for (int round = 0; round < Rounds(40, 2'000); ++round) {
    const std::unique_ptr<TxnHost> host = GetParam().make();
    RunRandomCommands(*host, Style::kLog, 300, rng_);
    if (HasFailure()) return;
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
    EXPECT_EQ(Range(txn, 0, -1, 4), List());
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
    EXPECT_EQ(Range(txn, 0, -1, 10), want);
  });
}

TEST_P(TxnLaw, AKnownMemberGetsTheNewScore) {
  At(kStart, [](Txn& txn) {
    EXPECT_TRUE(txn.ZADD(1, "a"));
    EXPECT_TRUE(txn.ZADD(2, "b"));
    EXPECT_FALSE(txn.ZADD(3, "a"));
    EXPECT_FALSE(txn.ZADD(3, "a"));
    EXPECT_EQ(txn.ZSCORE("a"), 3);
    EXPECT_EQ(Range(txn, 0, -1, 4), (List{{"b", 2}, {"a", 3}}));
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
    EXPECT_EQ(Range(txn, 0, -1, 8), (List{{"2", 2}, {"3", 3}, {"4", 4}}));
  });
}

TEST_P(TxnLaw, RanksCountFromEitherEndAndAreCutToWhatIsThere) {
  At(kStart, [](Txn& txn) {
    for (int i = 0; i < 4; ++i) txn.ZADD(i, std::to_string(i));
    const List all = {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}};
    EXPECT_EQ(Range(txn, 0, -1, 8), all);
    EXPECT_EQ(Range(txn, -100, 100, 8), all);
    EXPECT_EQ(Range(txn, -2, -1, 8), (List{{"2", 2}, {"3", 3}}));
    EXPECT_EQ(Range(txn, 1, 1, 8), (List{{"1", 1}}));
    EXPECT_EQ(Range(txn, 3, 1, 8), List());
    EXPECT_EQ(Range(txn, 4, 8, 8), List());
    EXPECT_EQ(Range(txn, 0, -5, 8), List());
    EXPECT_EQ(Range(txn, 0, -1, 2), (List{{"0", 0}, {"1", 1}}));
    EXPECT_EQ(Range(txn, 0, -1, 0), List());
    EXPECT_EQ(txn.ZREMRANGEBYRANK(4, 9), 0);
    EXPECT_EQ(txn.ZREMRANGEBYRANK(-1, -1), 1);
    EXPECT_EQ(txn.ZREMRANGEBYRANK(0, 0), 1);
    EXPECT_EQ(Range(txn, 0, -1, 8), (List{{"1", 1}, {"2", 2}}));
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
    EXPECT_EQ(Range(txn, 0, -1, 8), (List{{"least", -kInf},
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
