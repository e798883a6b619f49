// The memory store's transaction, for engines that keep more than one small
// struct and for those from outside the tree.
//
// Engines are compiled against this very type, so a command is a plain call,
// and those that the built-in engines use can be inlined; the virtual face
// serves engines from outside the tree.
#ifndef WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
#define WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/types/span.h"
#include "backends/memory/open_key.h"
#include "core/engines/log_entry.h"
#include "weir/txn.h"

namespace weir {

class MemoryTxn final : public Txn {
 public:
  // `key` is not of a word engine.
  explicit MemoryTxn(OpenKey* key) : key_(key) {}
  ~MemoryTxn() override {
    // That there is no room is not the engine's fault; the store tells it.
    if (__builtin_expect(error_ != nullptr, 0) && !key_->failed()) {
      key_->SetFault(error_);
    }
    char* const state = key_->state();
    Value* const value = state == nullptr ? nullptr : Table::ValueOf(state);
    if (value == nullptr) return;
    // There was no memory for its first element.
    if (made_ && value->hollow()) Table::SetExpiry(state, kOver);
    key_->CountBytes(value->Recount());
  }
  MemoryTxn(const MemoryTxn&) = delete;
  MemoryTxn& operator=(const MemoryTxn&) = delete;

  std::string_view TakeError() override {
    const std::string_view error = error_ == nullptr ? "" : error_;
    error_ = nullptr;
    return error;
  }

  bool EXISTS() override { return Live() != nullptr; }
  bool DEL() override {
    const bool was = EXISTS();
    key_->Drop();
    return was;
  }
  std::string_view TYPE() override;
  bool PEXPIRE(int64_t milliseconds) override {
    return PEXPIRE(milliseconds, ExpireIf::kAny);
  }
  bool PEXPIRE(int64_t milliseconds, ExpireIf condition) override;
  bool PEXPIREAT(int64_t milliseconds, ExpireIf condition) override;
  int64_t PTTL() override;
  int64_t PEXPIRETIME() override;
  bool PERSIST() override;

  std::optional<std::string_view> GET() override;
  void SET(std::string_view value, int64_t px) override;
  bool SET(std::string_view value, const SetOptions& options) override;
  bool SETNX(std::string_view value) override;
  std::optional<std::string> GETSET(std::string_view value) override;
  std::optional<std::string> GETDEL() override;
  int64_t STRLEN() override;
  int64_t APPEND(std::string_view value) override;
  std::optional<int64_t> INCRBY(int64_t n) override;
  std::optional<std::string> INCRBYFLOAT(double n) override;

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
  int64_t LPUSHX(std::string_view element) override {
    return GetList() == nullptr ? 0 : LPUSH(element);
  }
  int64_t RPUSHX(std::string_view element) override {
    return GetList() == nullptr ? 0 : RPUSH(element);
  }
  std::optional<std::string> LPOP() override;
  std::optional<std::string> RPOP() override;
  std::optional<std::string> LINDEX(int64_t index) override;
  // The element as an entry of a log; false, and nothing is written, if there
  // is none. Inline: each step of a log's search is one of these, or a ZRANGE.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool LINDEX(int64_t index,
                                           engines::LogEntry* entry) {
    const List* list = GetList();
    return list != nullptr && FindIndex(list->size(), &index) &&
           list->At(index, entry);
  }
  bool LSET(int64_t index, std::string_view element) override;
  int64_t LRANGE(int64_t start, int64_t stop,
                 absl::Span<std::string> out) override;
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
    return ZADD(score, member, {});
  }
  bool ZADD(double score, std::string_view member,
            const ZaddOptions& options) override;
  std::optional<double> ZINCRBY(double n, std::string_view member) override;
  int64_t ZCARD() override {
    const SortedSet* set = GetSet();
    return set == nullptr ? 0 : set->size();
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t ZCOUNT(ScoreBound min,
                                              ScoreBound max) override {
    if (!AreNumbers(min, max)) return 0;
    const SortedSet* set = GetSet();
    if (set == nullptr) return 0;
    return std::max<int64_t>(0, set->CountUpTo(max) - set->CountBelow(min));
  }
  std::optional<double> ZSCORE(std::string_view member) override;
  std::optional<int64_t> ZRANK(std::string_view member) override;
  std::optional<int64_t> ZREVRANK(std::string_view member) override;
  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t
  ZRANGE(int64_t start, int64_t stop, absl::Span<ScoredMember> out) override {
    const SortedSet* set = GetSet();
    if (set == nullptr || !Clip(set->size(), &start, &stop)) return 0;
    return Write(*set, start, stop - start + 1, out);
  }
  int64_t ZREVRANGE(int64_t start, int64_t stop,
                    absl::Span<ScoredMember> out) override;
  int64_t ZRANGEBYSCORE(ScoreBound min, ScoreBound max, int64_t offset,
                        int64_t count, absl::Span<ScoredMember> out) override;
  int64_t ZREVRANGEBYSCORE(ScoreBound max, ScoreBound min, int64_t offset,
                           int64_t count,
                           absl::Span<ScoredMember> out) override;
  bool ZREM(std::string_view member) override;
  int64_t ZREMRANGEBYRANK(int64_t start, int64_t stop) override {
    SortedSet* set = GetSet();
    if (set == nullptr || !Clip(set->size(), &start, &stop)) return 0;
    return RemoveRange(set, start, stop + 1);
  }
  int64_t ZREMRANGEBYSCORE(ScoreBound min, ScoreBound max) override;
  std::optional<ScoredMember> ZPOPMIN() override;
  std::optional<ScoredMember> ZPOPMAX() override;

  bool HSET(std::string_view field, std::string_view value) override;
  bool HSETNX(std::string_view field, std::string_view value) override;
  std::optional<std::string_view> HGET(std::string_view field) override;
  void HMGET(absl::Span<const std::string_view> fields,
             absl::Span<std::optional<std::string>> values) override;
  int64_t HGETALL(absl::Span<HashField> out) override;
  bool HDEL(std::string_view field) override;
  bool HEXISTS(std::string_view field) override;
  int64_t HLEN() override;
  int64_t HSTRLEN(std::string_view field) override;
  std::optional<int64_t> HINCRBY(std::string_view field, int64_t n) override;
  std::optional<std::string> HINCRBYFLOAT(std::string_view field,
                                          double n) override;

 private:
  static constexpr int64_t kNoExpiry = std::numeric_limits<int64_t>::max();
  // Thirty thousand years: far from any overflow, and longer than any limit.
  static constexpr int64_t kLongestExpiryMs = 1'000'000'000'000'000;

  // The value, if there is one and its time is not over.
  Value* Live() const {
    const char* state = key_->state();
    if (state == nullptr || Table::ExpiryOf(state) <= key_->now()) {
      return nullptr;
    }
    return Table::ValueOf(state);
  }

  // What the key holds; null if it is missing, or of another type, which is an
  // error.
  List* GetList() { return As(&Value::list); }
  SortedSet* GetSet() { return As(&Value::set); }
  FieldMap* GetHash() { return As(&Value::hash); }
  Value* GetText();
  template <class T>
  T* As(T* (Value::*as)()) {
    Value* value = Live();
    if (value == nullptr) return nullptr;
    T* held = (value->*as)();
    if (__builtin_expect(held == nullptr, 0)) FailType();
    return held;
  }

  // To be written to: what is there, or something new. Null after an error.
  List* ListToPush() {
    if (Live() == nullptr) {
      Value* value = NewValue();
      if (value != nullptr) value->MakeList();
    }
    return Touch(GetList());
  }
  SortedSet* SetToWrite() {
    if (Live() == nullptr) {
      Value* value = NewValue();
      if (value != nullptr) value->MakeSet();
    }
    return Touch(GetSet());
  }
  FieldMap* HashToWrite();
  template <class T>
  T* Touch(T* held) {
    if (held != nullptr) key_->Written();
    return held;
  }
  // A value to write to, written under the call's record; what it was is the
  // caller's to replace. Its expiry is none. Null: there is no room.
  Value* NewValue();
  bool SetText(std::string_view value, int64_t expiry_us);

  // The first error counts. `error` is a literal.
  void Fail(const char* error) {
    if (error_ == nullptr) error_ = error;
  }
  void FailType();
  // Neither bound is NaN; else that is an error.
  bool AreNumbers(ScoreBound a, ScoreBound b) {
    if (__builtin_expect(!std::isnan(a.value) && !std::isnan(b.value), 1)) {
      return true;
    }
    Fail("ERR min or max is not a float");
    return false;
  }

  // What is held as text, nothing being 0, and `n` more; nothing after an
  // error.
  std::optional<int64_t> Sum(std::optional<std::string_view> held, int64_t n,
                             const char* no_number);
  std::optional<std::string> SumOfReals(std::optional<std::string_view> held,
                                        std::optional<long double> n,
                                        const char* no_number);

  int64_t expiry() const { return Table::ExpiryOf(key_->state()); }
  void SetExpiry(int64_t us) {
    Table::SetExpiry(key_->state(), us);
    key_->Written();
  }
  // When so many milliseconds from now are over, in us.
  int64_t After(int64_t milliseconds) const {
    return key_->now() + std::min(milliseconds, kLongestExpiryMs) * 1000;
  }
  bool ExpireAt(int64_t us, ExpireIf condition);
  // Is it too far to be told in milliseconds?
  bool Overflows(int64_t milliseconds) const;

  // The last element takes the key with it.
  void AfterRemoval(int64_t left) {
    key_->Written();
    if (left == 0) key_->Drop();
  }
  // Ranks [first, last).
  int64_t RemoveRange(SortedSet* set, int64_t first, int64_t last) {
    if (first >= last) return 0;
    set->RemoveRange(first, last);
    AfterRemoval(set->size());
    return last - first;
  }
  std::optional<ScoredMember> Pop(bool highest);

  // `n` elements from this rank, upwards.
  static int64_t Write(const SortedSet& set, int64_t first, int64_t n,
                       absl::Span<ScoredMember> out) {
    n = std::min(n, static_cast<int64_t>(out.size()));
    for (int64_t i = 0; i < n; ++i) {
      set.At(first + i, &out[static_cast<size_t>(i)]);
    }
    return n;
  }

  // The same, downwards.
  static int64_t WriteDown(const SortedSet& set, int64_t first, int64_t n,
                           absl::Span<ScoredMember> out);

  static bool FindIndex(int64_t size, int64_t* index) {
    if (*index < 0) *index += size;
    return *index >= 0 && *index < size;
  }

  // Ranges as Redis reads them: negative ones from the end, the rest cut off.
  static bool Clip(int64_t size, int64_t* start, int64_t* stop) {
    if (*start < 0) *start = std::max<int64_t>(0, *start + size);
    if (*stop < 0) *stop += size;
    *stop = std::min(*stop, size - 1);
    return *start <= *stop;
  }

  static constexpr int64_t kOver = std::numeric_limits<int64_t>::min();

  OpenKey* const key_;
  const char* error_ = nullptr;
  bool made_ = false;  // a value
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_MEMORY_TXN_H_
