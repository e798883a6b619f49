// The table of a stripe: what it holds, and what a single step of it costs.
#include <algorithm>
#include <map>
#include <new>
#include <random>
#include <string>

#include "backends/memory/table.h"
#include "gtest/gtest.h"
#include "tests/failing_new.h"
#include "weir/registry.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

class TableTest : public ::testing::Test {
 protected:
  TableTest()
      : record_(0, context_.hash.Seed(0), CompiledLimit(), nullptr, nullptr) {
    EXPECT_TRUE(context_.records.Hold(record_));
  }

  uint64_t Hash(std::string_view key) {
    return context_.hash(record_.seed, key);
  }
  Table::Entry Find(std::string_view key) {
    return table_.Find(Hash(key), record_, key);
  }
  void Insert(std::string_view key, int64_t mark) {
    record_.uses.Add();
    Table::SetExpiry(table_.Insert(Hash(key), record_, key).state(record_),
                     mark);
  }

  Table::Entry InsertOrNone(uint64_t hash, std::string_view key, int news) {
    const FailingNew failing(news);
    record_.uses.Add();
    try {
      return table_.Insert(hash, record_, key);
    } catch (const std::bad_alloc&) {
      record_.uses.Drop();
      return {};
    }
  }

  TableContext context_;
  const LimitRecord record_;
  Table table_{&context_};
};

std::string KeyOf(uint64_t i) {
  // Of many lengths, among them none at all and ones that lie apart.
  std::string key = std::to_string(i);
  if (i == 0) return "";
  key.append(i % 13 == 0 ? i % 600 : i % 40, 'x');
  return key;
}

TEST_F(TableTest, HoldsWhatAMapHolds) {
  testing::Rng rng = testing::TestRng();
  std::map<uint64_t, int64_t> map;
  const int64_t steps = testing::Rounds(200'000, 2'000'000);
  // Grows, shrinks, and grows again.
  for (int64_t i = 0; i < steps; ++i) {
    const bool growing = (i / 40'000) % 2 == 0;
    const uint64_t n = rng.Next() % 30'000;
    const std::string key = KeyOf(n);
    const auto it = map.find(n);
    const Table::Entry e = Find(key);
    ASSERT_EQ(static_cast<bool>(e), it != map.end()) << key;
    ASSERT_EQ(table_.FindPlain(Hash(key), record_, key).p, e.p) << key;
    if (e) {
      ASSERT_EQ(Table::ExpiryOf(e.state(record_)), it->second);
      ASSERT_EQ(e.slot().key(), key);
    }
    if (!e && (growing || rng.Next() % 8 == 0)) {
      Insert(key, i);
      map[n] = i;
    } else if (e && (!growing || rng.Next() % 8 == 0)) {
      table_.Remove(Hash(key), e);
      map.erase(n);
    }
    ASSERT_EQ(table_.size(), map.size());
  }
  for (const auto& [n, mark] : map) {
    const Table::Entry e = Find(KeyOf(n));
    ASSERT_TRUE(e) << n;
    ASSERT_EQ(Table::ExpiryOf(e.state(record_)), mark);
  }
}

TEST_F(TableTest, NoStepMovesMoreThanAFewEntries) {
  constexpr int kInserted = 300'000;
  int64_t most = 0;
  size_t most_bytes = 0;
  int64_t most_maps = 0;
  const auto step = [&](auto run) {
    const int64_t moved = table_.moved();
    const size_t bytes = table_.bytes();
    const int64_t maps = context_.pool.maps();
    run();
    most = std::max(most, table_.moved() - moved);
    if (table_.bytes() > bytes) {
      most_bytes = std::max(most_bytes, table_.bytes() - bytes);
    }
    most_maps = std::max(most_maps, context_.pool.maps() - maps);
  };
  for (int i = 0; i < kInserted; ++i) {
    step([&] { Insert("client:" + std::to_string(i), i); });
  }
  EXPECT_LE(most, 64);
  // New pieces: of entries and of lines.
  EXPECT_LE(most_bytes, size_t{2 * 64 * 1024});
  EXPECT_EQ(most_maps, 1);
  most = 0;
  for (int i = 0; i < kInserted; ++i) {
    const std::string key = "client:" + std::to_string(i);
    step([&] { table_.Remove(Hash(key), Find(key)); });
  }
  EXPECT_LE(most, 64);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(TableTest, TakesLittleAndGivesItBack) {
  for (int i = 0; i < 200'000; ++i) {
    char key[32];
    std::snprintf(key, sizeof(key), "client:%013d", i);
    Insert(key, i);
  }
  // 20-byte keys, 16 bytes of state.
  EXPECT_LE(table_.bytes(), size_t{200'000} * 56);
  while (table_.size() > 1000) table_.Remove(table_.Next());
  EXPECT_LE(table_.bytes(), size_t{150'000});
  while (table_.size() > 0) table_.Remove(table_.Next());
  EXPECT_EQ(table_.bytes(), 0U);
}

TEST_F(TableTest, VisitsEveryEntryInARound) {
  std::map<std::string, int> seen;
  for (uint64_t i = 0; i < 5'000; ++i) Insert(KeyOf(i), 0);
  table_.BeginRound();
  for (int i = 0; i < 5'000; ++i) {
    ++seen[std::string(table_.Next().slot().key())];
  }
  EXPECT_EQ(seen.size(), 5'000U);
}

TEST_F(TableTest, FindsAsPlainOnlyWhatCanBeUsedAsItIs) {
  const LimitRecord other(0, record_.seed, CompiledLimit(), nullptr, nullptr);
  ASSERT_TRUE(context_.records.Hold(other));
  for (const std::string& key : {std::string("short"), std::string(500, 'x')}) {
    Insert(key, 0);
    Slot slot = Find(key).slot();
    const auto plain = [&] {
      return static_cast<bool>(table_.FindPlain(Hash(key), record_, key));
    };
    EXPECT_TRUE(plain());
    slot.set_bound(true);
    EXPECT_FALSE(plain());
    slot.set_bound(false);
    slot.set_held(true);
    EXPECT_FALSE(plain());
    slot.set_held(false);
    slot.set_record_id(other.id);
    EXPECT_FALSE(plain());
    EXPECT_TRUE(table_.FindPlain(Hash(key), other, key));
    EXPECT_TRUE(Find(key));
    EXPECT_FALSE(table_.FindPlain(Hash("absent"), record_, "absent"));
    slot.set_record_id(record_.id);  // the table outlives the other one
  }
}

TEST_F(TableTest, SaysWhenASizeIsFull) {
  context_.most_of_a_size = 3;
  for (const char* key : {"aa", "bb", "cc"}) {
    EXPECT_TRUE(table_.HasRoom(record_, key));
    Insert(key, 0);
  }
  EXPECT_FALSE(table_.HasRoom(record_, "dd"));
  EXPECT_TRUE(table_.HasRoom(record_, "of another size"));
  table_.Remove(Hash("aa"), Find("aa"));
  EXPECT_TRUE(table_.HasRoom(record_, "dd"));
}

TEST_F(TableTest, StaysWholeWhenMemoryRunsOut) {
  testing::Rng rng = testing::TestRng();
  std::map<uint64_t, int64_t> map;
  int64_t thrown = 0;
  const int64_t steps = testing::Rounds(60'000, 1'000'000);
  for (int64_t i = 0; i < steps; ++i) {
    const bool growing = (i / 15'000) % 2 == 0;
    const uint64_t n = rng.Next() % 10'000;
    const std::string key = KeyOf(n);
    const uint64_t hash = Hash(key);
    const Table::Entry e = Find(key);
    ASSERT_EQ(static_cast<bool>(e), map.count(n) != 0) << key;
    if (!e && (growing || rng.Next() % 8 == 0)) {
      // Up to three blocks are had, the next one is not.
      if (Table::Entry added =
              InsertOrNone(hash, key, static_cast<int>(rng.Next() % 4))) {
        Table::SetExpiry(added.state(record_), i);
        map[n] = i;
      } else {
        ++thrown;
      }
    } else if (e && (!growing || rng.Next() % 8 == 0)) {
      {
        const FailingNew failing(0);
        table_.Remove(hash, e);
      }
      map.erase(n);
    }
    ASSERT_EQ(table_.size(), map.size());
  }
  EXPECT_GT(thrown, 10);
  for (const auto& [n, mark] : map) {
    const Table::Entry e = Find(KeyOf(n));
    ASSERT_TRUE(e) << n;
    ASSERT_EQ(Table::ExpiryOf(e.state(record_)), mark);
  }
}

TEST(DenseArray, KeepsWhatWasBooked) {
  BlockPool pool;
  for (uint32_t size = 0; size < 300; ++size) {
    for (const uint32_t less : {0U, size / 2, size}) {
      DenseArray array(&pool, 32);
      while (array.size() < size) array.Append();
      array.Book();
      array.Book();
      for (uint32_t i = 0; i < less; ++i) array.Pop();
      const auto append_two = [&] {
        const FailingNew failing(0);
        array.Append();
        array.Append();
      };
      append_two();
      array.Pop();
      array.Pop();
      for (uint32_t i = 0; i < less + 5; ++i) {
        array.Reserve();
        array.Append();
      }
      append_two();
      array.Unbook();
      array.Unbook();
      while (array.size() > 0) array.Pop();
      ASSERT_LE(array.bytes(), size_t{32} * 16);
    }
  }
}

}  // namespace
}  // namespace weir
