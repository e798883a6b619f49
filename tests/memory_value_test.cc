// What the values of keys take, and what one step on them costs.
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/memory/dead_values.h"
#include "backends/memory/list.h"
#include "backends/memory/ranked_set.h"
#include "backends/memory/sorted_set.h"
#include "core/engines/log_entry.h"
#include "gtest/gtest.h"
#include "tests/memory_txn_host.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000;

TEST(RankedSet, StaysBalanced) {
  testing::Rng rng = testing::TestRng();
  for (const int order : {0, 1, 2}) {
    RankedSet set;
    constexpr int kSize = 20'000;
    for (int i = 0; i < kSize; ++i) {
      const double score = order == 0   ? i
                           : order == 1 ? -i
                                        : static_cast<double>(rng.Next() % 100);
      set.Insert(score, std::to_string(i));
    }
    // The deepest tree of these weights: a side has at most 3 parts of 4.
    EXPECT_LE(set.depth(), 36U);
    for (int i = 0; i < kSize * 9 / 10; ++i) {
      const size_t rank = order == 2 ? rng.Next() % set.size() : 0;
      set.Erase(rank, rank + 1);
    }
    EXPECT_LE(set.depth(), 28U);
    ScoredMember before;
    ScoredMember element;
    set.At(0, &before);
    for (size_t i = 1; i < set.size(); ++i) {
      set.At(i, &element);
      ASSERT_EQ(set.RankOf(element.member), i);
      ASSERT_TRUE(
          before.score < element.score ||
          (before.score == element.score && before.member < element.member));
      before = element;
    }
    set.Erase(0, set.size());
    EXPECT_EQ(set.bytes(), 0U);
  }
}

// The most that one addition takes or gives back, and what all of it takes.
struct Growth {
  size_t step = 0;
  size_t total = 0;
};

template <class Add>
Growth Grow(Add add, int n) {
  Growth growth;
  for (int i = 0; i < n; ++i) {
    const size_t before = growth.total;
    growth.total = add(i);
    growth.step = std::max(growth.step, std::max(growth.total, before) -
                                            std::min(growth.total, before));
  }
  return growth;
}

constexpr int kLong = 200'000;
constexpr size_t kBlock = 40 * 1024;

TEST(SortedSet, ALogOfTimesTakesEightBytesAnEntryInSmallSteps) {
  SortedSet entries;
  int64_t sum = 0;
  const Growth g = Grow(
      [&](int i) {
        const engines::LogEntry e = {kStart + i, ++sum, 1};
        entries.Insert(static_cast<double>(e.time), e.Member());
        return entries.bytes();
      },
      kLong);
  EXPECT_TRUE(entries.packed());
  EXPECT_LE(g.total, size_t{kLong} * 17 / 2);
  EXPECT_LE(g.step, kBlock);
  SortedSet decimals;
  const Growth d = Grow(
      [&](int i) {
        decimals.Insert(static_cast<double>(kStart + i),
                        std::to_string(kStart + i));
        return decimals.bytes();
      },
      kLong);
  EXPECT_TRUE(decimals.packed());
  EXPECT_LE(d.total, size_t{kLong} * 17 / 2);
  EXPECT_LE(d.step, kBlock);
}

TEST(SortedSet, TheFirstCostInALongLogIsASmallStepToo) {
  SortedSet set;
  int64_t sum = 0;
  const auto add = [&](int64_t cost) {
    sum += cost;
    const engines::LogEntry e = {kStart + sum, sum, cost};
    set.Insert(static_cast<double>(e.time), e.Member());
    return set.bytes();
  };
  const size_t before = Grow([&](int) { return add(1); }, kLong).total;
  EXPECT_LE(add(500) - before, size_t{1024});
  const Growth costs = Grow([&](int) { return add(3); }, kLong);
  EXPECT_TRUE(set.packed());
  EXPECT_LE(costs.total - before, size_t{kLong} * 17);
  for (const int64_t rank : {int64_t{0}, int64_t{kLong - 1}, int64_t{kLong},
                             int64_t{kLong + 1}, set.size() - 1}) {
    ScoredMember m;
    set.At(rank, &m);
    EXPECT_EQ(set.RankOf(m.member), rank);
    EXPECT_EQ(set.Score(m.member), m.score);
  }
  // Gone, they cost nothing again.
  set.RemoveRange(0, set.size() - 10);
  EXPECT_LE(set.bytes(), size_t{2048});
}

TEST(SortedSet, WhatNoLogWouldHaveIsASmallStepToo) {
  testing::Rng rng = testing::TestRng();
  SortedSet set;
  const auto time = [](int64_t i) { return kStart + 10 * i; };
  for (int64_t i = 0; i < kLong; ++i) {
    set.Insert(static_cast<double>(time(i)), std::to_string(time(i)));
  }
  size_t bytes = set.bytes();
  size_t step = 0;
  int64_t size = kLong;
  for (int i = 0; i < 5'000; ++i) {
    const int64_t rank = rng.Uniform(0, set.size() - 1);
    ScoredMember m;
    set.At(rank, &m);
    ASSERT_EQ(set.RankOf(m.member), rank);
    // Two may have one score.
    ASSERT_LE(set.CountBelow({m.score, false}), rank);
    ASSERT_GT(set.CountUpTo({m.score, false}), rank);
    ASSERT_EQ(set.Score(m.member), m.score);
    switch (rng.Uniform(0, 2)) {
      case 0:
        set.RemoveRange(rank, rank + 1);
        ASSERT_EQ(set.RankOf(m.member), -1);
        --size;
        break;
      case 1:
        set.SetScore(rank, m.score + 5, m.member);
        ASSERT_EQ(set.Score(m.member), m.score + 5);
        break;
      default:
        set.Insert(m.score - 1, "stray" + std::to_string(i));
        ++size;
        break;
    }
    ASSERT_EQ(set.size(), size);
    step = std::max(
        step, std::max(bytes, set.bytes()) - std::min(bytes, set.bytes()));
    bytes = set.bytes();
  }
  EXPECT_LE(step, kBlock);
  set.RemoveRange(0, set.size());
  EXPECT_LE(set.bytes(), size_t{2048});
  EXPECT_TRUE(set.packed());
}

TEST(List, ALogOfTimesTakesEightBytesAnEntryInSmallSteps) {
  for (const bool left : {true, false}) {
    for (const bool decimal : {true, false}) {
      List list;
      int64_t sum = 0;
      const Growth g = Grow(
          [&](int i) {
            const engines::LogEntry e = {kStart + i, ++sum, 1};
            const std::string element =
                decimal ? std::to_string(e.time) : std::string(e.Element());
            if (left) {
              list.PushLeft(element);
            } else {
              list.PushRight(element);
            }
            return list.bytes();
          },
          kLong);
      EXPECT_TRUE(list.packed());
      EXPECT_LE(g.total, size_t{kLong} * 17 / 2);
      EXPECT_LE(g.step, kBlock);
      // The newest is increased in place.
      const int64_t newest = left ? 0 : list.size() - 1;
      const int64_t one_more = kStart + kLong;
      if (decimal) list.Set(newest, std::to_string(one_more));
      EXPECT_TRUE(list.packed());
    }
  }
}

// Short ones, in which what is packed and what is not come and go.
TEST(List, IsADeque) {
  testing::Rng rng = testing::TestRng();
  for (int round = 0; round < testing::Rounds(300, 5'000); ++round) {
    List list;
    std::deque<std::string> model;
    const int64_t strays = rng.Uniform(1, 6);
    for (int i = 0; i < 200; ++i) {
      const bool left = rng.OneIn(2);
      const std::string element =
          rng.OneIn(strays) ? "stray" + std::to_string(i) : std::to_string(i);
      const bool fill = rng.Uniform(0, 12) > static_cast<int64_t>(model.size());
      if (model.empty() || (fill && !rng.OneIn(4))) {
        if (left) {
          list.PushLeft(element);
          model.push_front(element);
        } else {
          list.PushRight(element);
          model.push_back(element);
        }
      } else if (rng.OneIn(3)) {
        const auto index = static_cast<size_t>(
            rng.Uniform(0, static_cast<int64_t>(model.size()) - 1));
        list.Set(static_cast<int64_t>(index), element);
        model[index] = element;
      } else if (left) {
        list.PopLeft(1);
        model.pop_front();
      } else {
        list.PopRight(1);
        model.pop_back();
      }
      ASSERT_EQ(list.size(), static_cast<int64_t>(model.size()));
      for (size_t at = 0; at < model.size(); ++at) {
        ASSERT_EQ(list.At(static_cast<int64_t>(at)), model[at])
            << "WEIR_TEST_SEED=" << testing::Seed();
      }
    }
  }
}

TEST(List, WhatNoLogWouldHaveIsASmallStepToo) {
  testing::Rng rng = testing::TestRng();
  List list;
  std::deque<std::string> model;
  const auto push = [&](bool left, const std::string& element) {
    if (left) {
      list.PushLeft(element);
      model.push_front(element);
    } else {
      list.PushRight(element);
      model.push_back(element);
    }
  };
  for (int64_t i = 0; i < kLong; ++i) push(true, std::to_string(kStart + i));
  size_t bytes = list.bytes();
  size_t step = 0;
  for (int i = 0; i < 5'000; ++i) {
    const auto size = static_cast<int64_t>(model.size());
    const bool left = rng.OneIn(2);
    const int64_t index = rng.OneIn(2) ? rng.Uniform(0, size - 1)
                          : left       ? rng.Uniform(0, 9)
                                       : size - rng.Uniform(1, 10);
    switch (rng.Uniform(0, 3)) {
      case 0:
        list.Set(index, "changed");
        model[static_cast<size_t>(index)] = "changed";
        break;
      case 1:
        push(left, rng.OneIn(2) ? "stray" : std::to_string(i));
        break;
      default:
        if (left) {
          list.PopLeft(1);
          model.pop_front();
        } else {
          list.PopRight(1);
          model.pop_back();
        }
        break;
    }
    ASSERT_EQ(list.size(), static_cast<int64_t>(model.size()));
    const int64_t look = rng.Uniform(0, list.size() - 1);
    ASSERT_EQ(list.At(look), model[static_cast<size_t>(look)]);
    step = std::max(
        step, std::max(bytes, list.bytes()) - std::min(bytes, list.bytes()));
    bytes = list.bytes();
  }
  EXPECT_LE(step, kBlock);
  for (int64_t i = 0; i < list.size(); ++i) {
    ASSERT_EQ(list.At(i), model[static_cast<size_t>(i)]);
  }
}

// Of every type, and of what no log would have.
TEST(Value, ALargeOneIsFreedInSteps) {
  const std::string text(100, 'x');
  const std::vector<std::function<void(Value&, int)>> adds = {
      [](Value& v, int i) { v.list()->PushLeft(std::to_string(kStart + i)); },
      [&](Value& v, int i) { v.list()->PushRight(text + std::to_string(i)); },
      [&](Value& v, int i) {
        v.list()->PushLeft(std::to_string(kStart + i));
        v.list()->Set(i / 2, text);
      },
      [](Value& v, int i) {
        v.set()->Insert(kStart + i, std::to_string(kStart + i));
      },
      [&](Value& v, int i) { v.set()->Insert(i, text + std::to_string(i)); },
      [](Value& v, int i) {
        v.set()->Insert(kStart + i, std::to_string(kStart + i));
        if (i % 2 == 0) v.set()->RemoveRange(i / 3, i / 3 + 1);
      },
      [&](Value& v, int i) { v.hash()->Set(std::to_string(i), text); },
  };
  for (size_t kind = 0; kind < adds.size(); ++kind) {
    SCOPED_TRACE(kind);
    auto value = std::make_unique<Value>();
    if (kind < 3) value->MakeList();
    if (kind >= 3 && kind < 6) value->MakeSet();
    if (kind == 6) value->MakeHash();
    for (int i = 0; i < 20'000; ++i) adds[kind](*value, i);
    ASSERT_TRUE(value->large());
    DeadValues dead;
    int64_t counted = value->Recount();
    counted += dead.Add(std::move(value));
    int steps = 0;
    for (; !dead.empty(); ++steps) {
      const int64_t freed = dead.FreeSome();
      EXPECT_GT(freed, 0);
      EXPECT_LE(freed, 80 * 1024);
      counted -= freed;
    }
    EXPECT_GT(steps, 2);
    EXPECT_EQ(counted, 0);
  }
}

TEST(MemoryTxn, CountsWhatEveryTypeTakesAndGivesItBack) {
  const std::string text(1'000, 'x');
  const std::vector<std::function<void(Txn&, int)>> writes = {
      [&](Txn& txn, int) { txn.APPEND(text); },
      [&](Txn& txn, int i) { txn.RPUSH(text + std::to_string(i)); },
      [&](Txn& txn, int i) { txn.ZADD(i, text + std::to_string(i)); },
      [&](Txn& txn, int i) { txn.HSET(std::to_string(i), text); },
  };
  for (size_t w = 0; w < writes.size(); ++w) {
    MemoryTxnHost host;
    for (int i = 0; i < 100; ++i) {
      host.Step(kStart, [&](Txn& txn) { writes[w](txn, i); });
      EXPECT_GE(host.bytes(), int64_t{1'000} * (i + 1)) << "of type " << w;
    }
    EXPECT_LE(host.bytes(), int64_t{260'000}) << "of type " << w;
    host.Step(kStart, [&](Txn& txn) { txn.DEL(); });
    EXPECT_EQ(host.bytes(), 0) << "of type " << w;
  }
}

TEST(MemoryTxn, CountsWhatIsTakenAwayPieceByPiece) {
  const std::string text(300, 'x');
  MemoryTxnHost host;
  const auto emptied = [&](const std::function<void(Txn&)>& fill,
                           const std::function<void(Txn&)>& empty) {
    host.Step(kStart, fill);
    const int64_t full = host.bytes();
    host.Step(kStart, empty);
    // One element is left.
    EXPECT_LE(host.bytes(), full / 10);
    host.Step(kStart, [](Txn& txn) { txn.DEL(); });
    EXPECT_EQ(host.bytes(), 0);
  };
  const auto times = [](int n, const std::function<void(Txn&, int)>& run) {
    return [n, run](Txn& txn) {
      for (int i = 0; i < n; ++i) run(txn, i);
    };
  };
  emptied(times(100, [&](Txn& t, int) { t.LPUSH(text); }),
          times(99, [&](Txn& t, int i) { i % 2 ? t.LPOP() : t.RPOP(); }));
  emptied(times(100, [&](Txn& t, int i) { t.ZADD(i % 7, text + char(i)); }),
          times(99, [&](Txn& t, int) { t.ZPOPMIN(); }));
  emptied(times(100, [&](Txn& t, int i) { t.HSET(std::to_string(i), text); }),
          times(99, [&](Txn& t, int i) { t.HDEL(std::to_string(i)); }));
  // A field, and an element, that grow and shrink in place.
  emptied([&](Txn& t) { t.HSET("a", std::string(100'000, 'x')); },
          [&](Txn& t) {
            t.HDEL("a");
            t.HSET("a", "1");
          });
  emptied([&](Txn& t) { t.RPUSH(std::string(100'000, 'x')); },
          [&](Txn& t) { t.LSET(0, "1"); });
}

}  // namespace
}  // namespace weir
