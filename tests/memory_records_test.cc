// Who holds the record of a limit, and what becomes of its id when nobody does.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/memory/open_key.h"
#include "backends/memory/record_map.h"
#include "gtest/gtest.h"

namespace weir {
namespace {

bool NeverOver(const void*, const char*, int64_t) { return false; }

constexpr WordOps kWords = {16, {}, &NeverOver, nullptr, nullptr};
constexpr WordOps kFewerWords = {8, {}, &NeverOver, nullptr, nullptr};

class RecordsTest : public ::testing::Test {
 protected:
  // Of one state.
  const LimitRecord& Record(const WordOps* words = &kWords) {
    records_.push_back(
        std::make_unique<LimitRecord>(0, 1, CompiledLimit(), words, nullptr));
    return *records_.back();
  }

  std::vector<std::unique_ptr<const LimitRecord>> records_;
  RecordTable table_;
};

TEST_F(RecordsTest, ARecordHasAnIdWhileItIsHeld) {
  const LimitRecord& record = Record();
  EXPECT_EQ(record.id, RecordId::kNone);
  ASSERT_TRUE(table_.Hold(record));
  EXPECT_EQ(&table_[record.id], &record);
  ASSERT_TRUE(table_.Hold(record));
  record.uses.Drop();
  table_.set_most(1);
  EXPECT_FALSE(table_.Hold(Record()));
  EXPECT_EQ(&table_[record.id], &record);
}

TEST_F(RecordsTest, AnIdIsUsedAgainOnceNobodyHoldsItsRecord) {
  table_.set_most(8);
  for (int i = 0; i < 1'000; ++i) {
    const LimitRecord& record = Record();
    ASSERT_TRUE(table_.Hold(record)) << i;
    ASSERT_LT(record.id, 8U);
    ASSERT_EQ(&table_[record.id], &record);
    record.uses.Drop();
  }
  // Those that lost theirs get another.
  for (int i = 0; i < 8; ++i) {
    const LimitRecord& record = *records_[static_cast<size_t>(i)];
    ASSERT_TRUE(table_.Hold(record));
    EXPECT_EQ(&table_[record.id], &record);
  }
  EXPECT_FALSE(table_.Hold(Record()));
}

TEST_F(RecordsTest, EveryFreeIdIsFoundInTheEnd) {
  constexpr uint32_t kMost = 5'000;
  table_.set_most(kMost);
  for (uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(table_.Hold(Record()));
  records_[1'234]->uses.Drop();
  // A try looks at 20 of them.
  const LimitRecord& late = Record();
  int tries = 1;
  while (!table_.Hold(late)) ASSERT_LE(++tries, 250);
  EXPECT_EQ(&table_[late.id], &late);
  EXPECT_EQ(records_[1'234]->id, RecordId::kNone);
}

TEST_F(RecordsTest, AForgottenRecordGivesBackItsId) {
  table_.set_most(1);
  const LimitRecord& first = Record();
  ASSERT_TRUE(table_.Hold(first));
  first.uses.Drop();
  table_.Forget(first);
  ASSERT_TRUE(table_.Hold(Record()));
  table_.Forget(Record());  // it never had one
}

// Calls on one key, under one of several records of its state.
class OpenKeyHoldsTest : public RecordsTest {
 protected:
  // Calls f with the key open.
  template <class F>
  void Open(const LimitRecord& record, F f) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    const size_t stripe = 0;
    MemoryCall call = {&keeper_, 0, true, absl::MakeConstSpan(&stripe, 1)};
    keeper_.stripe(0).mutex.Lock();
    {
      OpenKey key(&call, stripe, &record, 7, "key");
      f(key);
    }
    keeper_.stripe(0).mutex.Unlock();
  }
  static void Write(OpenKey& key) {
    ASSERT_NE(key.Ensure(), nullptr);
    key.Written();
  }

  Keeper keeper_{1, 0, 0, 0};
};

TEST_F(OpenKeyHoldsTest, AnEntryHoldsWhatItWasWrittenUnder) {
  const LimitRecord& first = Record();
  const LimitRecord& second = Record();
  Open(first, [&](OpenKey& key) { Write(key); });
  EXPECT_TRUE(first.uses.Held());
  Open(second, [&](OpenKey& key) {
    EXPECT_EQ(key.written_under(), &first);
    Write(key);
    // The engine may be given it once more.
    EXPECT_TRUE(first.uses.Held());
  });
  EXPECT_FALSE(first.uses.Held());
  EXPECT_TRUE(second.uses.Held());
  Open(second, [&](OpenKey& key) {
    key.Drop();
    EXPECT_TRUE(second.uses.Held());
  });
  EXPECT_FALSE(second.uses.Held());
}

TEST_F(OpenKeyHoldsTest, AnEntryThatIsDroppedAndWrittenAgainIsHeldOnce) {
  const LimitRecord& first = Record();
  const LimitRecord& second = Record();
  Open(first, [&](OpenKey& key) { Write(key); });
  Open(second, [&](OpenKey& key) {
    for (int i = 0; i < 3; ++i) {
      key.Drop();
      Write(key);
    }
    // As a refund does.
    key.set_record(&first);
    key.Drop();
    Write(key);
    key.set_record(&second);
    EXPECT_TRUE(second.uses.Held());
  });
  EXPECT_TRUE(first.uses.Held());
  EXPECT_FALSE(second.uses.Held());
  Open(first, [&](OpenKey& key) { key.Drop(); });
  EXPECT_FALSE(first.uses.Held());
}

TEST_F(OpenKeyHoldsTest, AnEntryTakesTheFormOfWhatItIsWrittenUnder)
ABSL_NO_THREAD_SAFETY_ANALYSIS {
  const LimitRecord& first = Record();
  const LimitRecord& second = Record(&kFewerWords);
  Table& table = keeper_.stripe(0).table;
  Open(first, [&](OpenKey& key) { Write(key); });
  for (const LimitRecord* record : {&second, &first, &second}) {
    Open(*record, [&](OpenKey& key) {
      ASSERT_TRUE(key.HoldOwn());
      ASSERT_TRUE(key.Book());
      Write(key);
      EXPECT_EQ(key.written_under(), record);
    });
    EXPECT_EQ(table.size(), 1U);
    table.BeginRound();
    const Table::Entry entry = table.Next();
    EXPECT_EQ(entry.slot().key(), "key");
    EXPECT_EQ(entry.bytes(), 8 + record->state_bytes);
  }
  // A call that was denied after all gives back what it booked.
  Open(first, [&](OpenKey& key) { ASSERT_TRUE(key.HoldOwn() && key.Book()); });
  keeper_.context().most_of_a_size = 0;
  Open(first, [&](OpenKey& key) { EXPECT_FALSE(key.Book()); });
  EXPECT_EQ(table.Next().bytes(), 8 + second.state_bytes);
  Open(second, [&](OpenKey& key) { key.Drop(); });
  EXPECT_EQ(table.bytes(), 0U);
  EXPECT_FALSE(first.uses.Held());
}

TEST_F(OpenKeyHoldsTest,
       ACallThatOnlyReadsOrFindsNoRoomHoldsNothingAfterwards) {
  const LimitRecord& first = Record();
  const LimitRecord& second = Record();
  keeper_.context().records.set_most(1);
  Open(first, [&](OpenKey& key) { EXPECT_TRUE(key.Reserve()); });
  EXPECT_FALSE(first.uses.Held());
  Open(first, [&](OpenKey& key) { Write(key); });
  Open(second, [&](OpenKey& key) { EXPECT_NE(key.state(), nullptr); });
  EXPECT_FALSE(second.uses.Held());
  Open(second, [&](OpenKey& key) {
    EXPECT_TRUE(key.carried_over());
    EXPECT_FALSE(key.HoldOwn());
  });
  Open(first, [&](OpenKey& key) { EXPECT_FALSE(key.carried_over()); });
}

class RecordMapTest : public ::testing::Test {
 protected:
  std::shared_ptr<const StoreRule> Attach(const std::string& name,
                                          const std::string& limit) {
    CompiledLimit compiled;
    compiled.text = limit;
    return map_.Attach(name, compiled, {&kWords, nullptr}, &context_);
  }
  static const LimitRecord& RecordOf(const StoreRule& rule) {
    return static_cast<const LimitRecord&>(rule);
  }

  RecordMap map_{false};
  TableContext context_;
};

TEST_F(RecordMapTest, EqualLimitsOfANameAreOneRecord) {
  const auto first = Attach("a", "1");
  EXPECT_EQ(Attach("a", "1"), first);
  EXPECT_NE(Attach("a", "2"), first);
  EXPECT_NE(Attach("b", "1"), first);
}

TEST_F(RecordMapTest, ALimitIsKnownForAsLongAsItIsReferredTo) {
  auto handle = Attach("a", "handle");
  auto other_handle = Attach("a", "handle");
  const LimitRecord& held = RecordOf(*Attach("a", "held"));
  ASSERT_TRUE(context_.records.Hold(held));
  for (int i = 0; i < 1'000; ++i) Attach("a", std::to_string(i));
  EXPECT_LE(map_.size(), 8);
  EXPECT_EQ(Attach("a", "handle"), handle);
  EXPECT_EQ(&RecordOf(*Attach("a", "held")), &held);
  EXPECT_EQ(&context_.records[held.id], &held);
  handle.reset();
  other_handle.reset();
  held.uses.Drop();
  for (int i = 0; i < 10; ++i) Attach("b", "1");
  EXPECT_EQ(map_.size(), 1);
  EXPECT_EQ(map_.names(), 1);
}

TEST_F(RecordMapTest, NamesLeaveAndTheirNumbersAreUsedAgain) {
  const auto kept = Attach("kept", "1");
  uint32_t most = 0;
  for (int i = 0; i < 1'000; ++i) {
    const auto rule = Attach(std::to_string(i), "1");
    most = std::max(most, RecordOf(*rule).state_id);
    EXPECT_NE(RecordOf(*rule).state_id, RecordOf(*kept).state_id);
  }
  EXPECT_LE(map_.names(), 8);
  EXPECT_LE(most, 8U);
  EXPECT_EQ(Attach("kept", "1"), kept);
}

TEST_F(RecordMapTest, ThereAreAtMostAThirdMoreThanAreUsed) {
  constexpr int kUsed = 3'000;
  std::vector<std::shared_ptr<const StoreRule>> used;
  for (int i = 0; i < kUsed; ++i)
    used.push_back(Attach("a", std::to_string(i)));
  for (int i = 0; i < 20 * kUsed; ++i) {
    Attach("a", "another " + std::to_string(i));
    ASSERT_LE(map_.size(), kUsed * 4 / 3 + 2);
  }
}

TEST_F(RecordMapTest, AHandleMayOutliveTheMap) {
  std::shared_ptr<const StoreRule> rule;
  {
    RecordMap map(false);
    rule = map.Attach("a", CompiledLimit(), {&kWords, nullptr}, &context_);
  }
  EXPECT_EQ(RecordOf(*rule).id, RecordId::kNone);
}

}  // namespace
}  // namespace weir
