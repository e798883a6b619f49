// The memory store's transaction: one key of one rule, its stripe locked.
//
// Engines are compiled against this very type, so a command is a plain call
// that can be inlined; the virtual face serves engines from outside the tree.
#ifndef WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
#define WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/types/span.h"
#include "backends/memory/keeper.h"
#include "weir/txn.h"

namespace weir {

// What the transactions of one call have in common.
struct MemoryCall {
  Keeper* keeper;
  int64_t now;
  bool steady;                    // `now` is of a clock that never jumps
  absl::Span<const size_t> held;  // stripes, ascending, locked
};

class MemoryTxn final : public Txn {
 public:
  MemoryTxn(MemoryCall* call, size_t stripe, const LimitRecord* record,
            uint64_t hash, std::string_view key)
      : call_(call),
        stripe_(stripe),
        record_(record),
        hash_(hash),
        key_(key),
        entry_(table().Find(hash, record->state_id, key)) {
    if (entry_ != nullptr) entry_->in_use = true;
  }
  ~MemoryTxn() override {
    if (entry_ != nullptr) entry_->in_use = false;
    if (reserved_) call_->keeper->Release(1);
  }
  MemoryTxn(const MemoryTxn&) = delete;
  MemoryTxn& operator=(const MemoryTxn&) = delete;

  // Sees to it that the next write finds room. False: the store is full.
  bool Reserve() {
    if (entry_ == nullptr && !reserved_) {
      reserved_ = call_->keeper->Reserve(stripe_, call_->held, call_->now,
                                         call_->steady);
      return reserved_;
    }
    return true;
  }

  // What the value was written under; null if there is none.
  const LimitRecord* written_under() const {
    return live() ? entry_->record : nullptr;
  }
  // A write found no room, and nothing was written.
  bool failed() const { return failed_; }
  bool inserted() const { return inserted_; }
  size_t stripe() const { return stripe_; }
  const LimitRecord* record() const { return record_; }
  // Writes from here on are made under this record.
  void set_record(const LimitRecord* record) { record_ = record; }

  bool EXISTS() override { return live(); }
  bool DEL() override {
    const bool was = live();
    Drop();
    return was;
  }
  bool PEXPIRE(int64_t milliseconds) override {
    if (!live()) return false;
    if (milliseconds <= 0) {
      Drop();
    } else {
      SetExpiry(milliseconds);
    }
    return true;
  }
  int64_t PTTL() override {
    if (!live()) return -2;
    if (entry_->expire_us == Entry::kNoExpiry) return -1;
    return (entry_->expire_us - call_->now) / 1000;
  }

  std::optional<std::string_view> GET() override {
    if (!live()) return std::nullopt;
    const bool text = entry_->type() == Entry::Type::kWord ||
                      entry_->type() == Entry::Type::kString;
    ABSL_ASSERT(text && "GET on a key of another type");
    if (!text) return std::nullopt;
    return entry_->text();
  }
  void SET(std::string_view value, int64_t px) override {
    if (!Ensure()) return;
    entry_->SetText(value);
    SetExpiry(std::max<int64_t>(px, 1));
  }

  int64_t LLEN() override {
    const List* list = GetList();
    return list == nullptr ? 0 : list->size();
  }
  int64_t LPUSH(std::string_view element) override {
    List* list = ListToPush();
    if (list == nullptr) return 0;
    list->PushLeft(element);
    return list->size();
  }
  int64_t RPUSH(std::string_view element) override {
    List* list = ListToPush();
    if (list == nullptr) return 0;
    list->PushRight(element);
    return list->size();
  }
  std::optional<std::string> LPOP() override {
    List* list = GetList();
    if (list == nullptr) return std::nullopt;
    std::string element = list->At(0);
    list->PopLeft(1);
    AfterRemoval(list->size());
    return element;
  }
  std::optional<std::string> RPOP() override {
    List* list = GetList();
    if (list == nullptr) return std::nullopt;
    std::string element = list->At(list->size() - 1);
    list->PopRight(1);
    AfterRemoval(list->size());
    return element;
  }
  std::optional<std::string> LINDEX(int64_t index) override {
    const List* list = GetList();
    if (list == nullptr || !FindIndex(list->size(), &index)) {
      return std::nullopt;
    }
    return list->At(index);
  }
  bool LSET(int64_t index, std::string_view element) override {
    List* list = GetList();
    if (list == nullptr || !FindIndex(list->size(), &index)) return false;
    list->Set(index, element);
    entry_->record = record_;
    return true;
  }
  int64_t LRANGE(int64_t start, int64_t stop,
                 absl::Span<std::string> out) override {
    const List* list = GetList();
    if (list == nullptr || !Clip(list->size(), &start, &stop)) return 0;
    const int64_t n =
        std::min(stop - start + 1, static_cast<int64_t>(out.size()));
    for (int64_t i = 0; i < n; ++i) {
      out[static_cast<size_t>(i)] = list->At(start + i);
    }
    return n;
  }
  void LTRIM(int64_t start, int64_t stop) override {
    List* list = GetList();
    if (list == nullptr) return;
    if (!Clip(list->size(), &start, &stop)) {
      Drop();
      return;
    }
    list->PopRight(list->size() - 1 - stop);
    list->PopLeft(start);
    AfterRemoval(list->size());
  }

  bool ZADD(double score, std::string_view member) override {
    if (!live()) {
      if (!Ensure()) return false;
      entry_->MakeSet();
      entry_->expire_us = Entry::kNoExpiry;
    }
    SortedSet* set = Set();
    if (set == nullptr) return false;
    entry_->record = record_;
    return set->Add(score, member);
  }
  int64_t ZCARD() override {
    const SortedSet* set = Set();
    return set == nullptr ? 0 : set->size();
  }
  int64_t ZCOUNT(ScoreBound min, ScoreBound max) override {
    const SortedSet* set = Set();
    if (set == nullptr) return 0;
    return std::max<int64_t>(0, set->CountUpTo(max) - set->CountBelow(min));
  }
  std::optional<double> ZSCORE(std::string_view member) override {
    const SortedSet* set = Set();
    return set == nullptr ? std::nullopt : set->Score(member);
  }
  int64_t ZRANGE(int64_t start, int64_t stop,
                 absl::Span<ScoredMember> out) override {
    const SortedSet* set = Set();
    if (set == nullptr || !Clip(set->size(), &start, &stop)) return 0;
    const int64_t n =
        std::min(stop - start + 1, static_cast<int64_t>(out.size()));
    for (int64_t i = 0; i < n; ++i) {
      set->At(start + i, &out[static_cast<size_t>(i)]);
    }
    return n;
  }
  bool ZREM(std::string_view member) override {
    SortedSet* set = Set();
    if (set == nullptr || !set->Remove(member)) return false;
    AfterRemoval(set->size());
    return true;
  }
  int64_t ZREMRANGEBYRANK(int64_t start, int64_t stop) override {
    SortedSet* set = Set();
    if (set == nullptr || !Clip(set->size(), &start, &stop)) return 0;
    return RemoveRange(start, stop + 1);
  }
  int64_t ZREMRANGEBYSCORE(ScoreBound min, ScoreBound max) override {
    SortedSet* set = Set();
    if (set == nullptr) return 0;
    return RemoveRange(set->CountBelow(min), set->CountUpTo(max));
  }

 private:
  // The call holds the stripe's lock for as long as its transactions live.
  Table& table() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return call_->keeper->stripe(stripe_).table;
  }

  bool live() const {
    return entry_ != nullptr && entry_->expire_us > call_->now;
  }

  List* GetList() const {
    if (!live()) return nullptr;
    ABSL_ASSERT(entry_->list() != nullptr && "not a list");
    return entry_->list();
  }

  List* ListToPush() {
    if (!live()) {
      if (!Ensure()) return nullptr;
      entry_->MakeList();
      entry_->expire_us = Entry::kNoExpiry;
    }
    entry_->record = record_;
    return GetList();
  }

  SortedSet* Set() const {
    if (!live()) return nullptr;
    ABSL_ASSERT(entry_->set() != nullptr && "not a sorted set");
    return entry_->set();
  }

  // An entry to write to. A value that is over counts as none.
  bool Ensure() {
    if (entry_ == nullptr) {
      if (failed_ || !Reserve()) {
        failed_ = true;
        return false;
      }
      reserved_ = false;
      inserted_ = true;
      entry_ = table().Insert(Entry::Make(hash_, record_, key_));
      entry_->in_use = true;
    }
    entry_->record = record_;
    return true;
  }

  void Drop() {
    if (entry_ == nullptr) return;
    table().Remove(entry_);
    entry_ = nullptr;
    // What is dropped and written again in one step keeps its room.
    reserved_ = true;
  }

  void SetExpiry(int64_t milliseconds) {
    entry_->expire_us =
        call_->now + std::min(milliseconds, kLongestExpiryMs) * 1000;
    entry_->record = record_;
  }

  // The last element takes the key with it.
  void AfterRemoval(int64_t left) {
    entry_->record = record_;
    if (left == 0) Drop();
  }

  int64_t RemoveRange(int64_t first, int64_t last) {
    if (first >= last) return 0;
    SortedSet* set = entry_->set();
    set->RemoveRange(first, last);
    AfterRemoval(set->size());
    return last - first;
  }

  static bool FindIndex(int64_t size, int64_t* index) {
    if (*index < 0) *index += size;
    return *index >= 0 && *index < size;
  }

  // Ranks as Redis reads them: negative ones from the end, the rest cut off.
  static bool Clip(int64_t size, int64_t* start, int64_t* stop) {
    if (*start < 0) *start = std::max<int64_t>(0, *start + size);
    if (*stop < 0) *stop += size;
    *stop = std::min(*stop, size - 1);
    return *start <= *stop;
  }

  // Thirty thousand years: far from any overflow, and longer than any limit.
  static constexpr int64_t kLongestExpiryMs = 1'000'000'000'000'000;

  MemoryCall* call_;
  size_t stripe_;
  const LimitRecord* record_;
  uint64_t hash_;
  std::string_view key_;
  Entry* entry_;
  bool reserved_ = false;
  bool failed_ = false;
  bool inserted_ = false;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
