// The memory store's transaction, for engines that keep more than one small
// struct and for those from outside the tree.
//
// Engines are compiled against this very type, so a command is a plain call
// that can be inlined; the virtual face serves engines from outside the tree.
#ifndef WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
#define WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/macros.h"
#include "absl/types/span.h"
#include "backends/memory/open_key.h"
#include "weir/txn.h"

namespace weir {

class MemoryTxn final : public Txn {
 public:
  // `key` is not of a word engine.
  explicit MemoryTxn(OpenKey* key) : key_(key) {}
  ~MemoryTxn() override {
    const char* state = key_->state();
    if (state != nullptr && Table::ValueOf(state) != nullptr) {
      key_->CountBytes(Table::ValueOf(state)->Recount());
    }
  }
  MemoryTxn(const MemoryTxn&) = delete;
  MemoryTxn& operator=(const MemoryTxn&) = delete;

  bool EXISTS() override { return live(); }
  bool DEL() override {
    const bool was = live();
    key_->Drop();
    return was;
  }
  bool PEXPIRE(int64_t milliseconds) override {
    if (!live()) return false;
    if (milliseconds <= 0) {
      key_->Drop();
    } else {
      SetExpiry(milliseconds);
    }
    return true;
  }
  int64_t PTTL() override {
    if (!live()) return -2;
    const int64_t expiry = Table::ExpiryOf(key_->state());
    if (expiry == kNoExpiry) return -1;
    return (expiry - key_->now()) / 1000;
  }

  std::optional<std::string_view> GET() override {
    const Value* value = Live();
    if (value == nullptr) return std::nullopt;
    ABSL_ASSERT(value->is_text() && "GET on a key of another type");
    if (!value->is_text()) return std::nullopt;
    return value->text();
  }
  void SET(std::string_view value, int64_t px) override {
    Value* v = Ensure();
    if (v == nullptr) return;
    v->SetText(value);
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
    key_->Written();
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
      key_->Drop();
      return;
    }
    list->PopRight(list->size() - 1 - stop);
    list->PopLeft(start);
    AfterRemoval(list->size());
  }

  bool ZADD(double score, std::string_view member) override {
    if (!live()) {
      Value* value = Ensure();
      if (value == nullptr) return false;
      value->MakeSet();
      Table::SetExpiry(key_->state(), kNoExpiry);
    }
    SortedSet* set = Set();
    if (set == nullptr) return false;
    key_->Written();
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
  static constexpr int64_t kNoExpiry = std::numeric_limits<int64_t>::max();

  // The value, if there is one and its time is not over.
  Value* Live() const {
    const char* state = key_->state();
    if (state == nullptr || Table::ExpiryOf(state) <= key_->now()) {
      return nullptr;
    }
    return Table::ValueOf(state);
  }
  bool live() const { return Live() != nullptr; }

  List* GetList() const {
    Value* value = Live();
    if (value == nullptr) return nullptr;
    ABSL_ASSERT(value->list() != nullptr && "not a list");
    return value->list();
  }

  List* ListToPush() {
    if (!live()) {
      Value* value = Ensure();
      if (value == nullptr) return nullptr;
      value->MakeList();
      Table::SetExpiry(key_->state(), kNoExpiry);
    }
    key_->Written();
    return GetList();
  }

  SortedSet* Set() const {
    Value* value = Live();
    if (value == nullptr) return nullptr;
    ABSL_ASSERT(value->set() != nullptr && "not a sorted set");
    return value->set();
  }

  // A value to write to, written under the call's record. One that is over
  // counts as none. Null: there is no room.
  Value* Ensure() {
    char* state = key_->Ensure();
    if (state == nullptr) return nullptr;
    if (Table::ValueOf(state) == nullptr) {
      Table::SetValue(state, new Value());
    }
    key_->Written();
    return Table::ValueOf(state);
  }

  void SetExpiry(int64_t milliseconds) {
    Table::SetExpiry(
        key_->state(),
        key_->now() + std::min(milliseconds, kLongestExpiryMs) * 1000);
    key_->Written();
  }

  // The last element takes the key with it.
  void AfterRemoval(int64_t left) {
    key_->Written();
    if (left == 0) key_->Drop();
  }

  int64_t RemoveRange(int64_t first, int64_t last) {
    if (first >= last) return 0;
    SortedSet* set = Set();
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

  OpenKey* const key_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
