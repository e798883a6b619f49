// An entry: one key of one rule, and its value. A small string lies in the
// entry itself, so that a known key needs no memory.
#ifndef WEIR_BACKENDS_MEMORY_ENTRY_H_
#define WEIR_BACKENDS_MEMORY_ENTRY_H_

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include "backends/memory/limit_record.h"
#include "backends/memory/list.h"
#include "backends/memory/sorted_set.h"

namespace weir {

class Entry {
 public:
  enum class Type : uint8_t { kNone, kWord, kString, kList, kSortedSet };
  static constexpr size_t kWordBytes = 40;
  static constexpr int64_t kNoExpiry = std::numeric_limits<int64_t>::max();

  struct Free {
    void operator()(Entry* e) const {
      e->~Entry();
      ::operator delete(e);
    }
  };
  using Owned = std::unique_ptr<Entry, Free>;

  static Owned Make(uint64_t hash, const LimitRecord* record,
                    std::string_view key) {
    void* memory = ::operator new(sizeof(Entry) + key.size());
    return Owned(new (memory) Entry(hash, record, key));
  }

  ~Entry() { Clear(); }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool Matches(uint64_t h, uint32_t state_id, std::string_view k) const {
    return hash == h && record->state_id == state_id && key() == k;
  }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(this + 1), key_size_};
  }

  Type type() const { return type_; }
  std::string_view text() const {
    if (type_ == Type::kString) return *string_;
    return {word_, word_size_};
  }
  void SetText(std::string_view value) {
    if (value.size() <= kWordBytes) {
      if (type_ != Type::kWord) Clear();
      // The value may be a view of this very entry.
      std::memmove(word_, value.data(), value.size());
      word_size_ = static_cast<uint8_t>(value.size());
      type_ = Type::kWord;
      return;
    }
    auto* copy = new std::string(value);
    Clear();
    string_ = copy;
    type_ = Type::kString;
  }

  // Null if it is of another type.
  SortedSet* set() { return type_ == Type::kSortedSet ? set_ : nullptr; }
  List* list() { return type_ == Type::kList ? list_ : nullptr; }
  List* MakeList() {
    Clear();
    list_ = new List();
    type_ = Type::kList;
    return list_;
  }
  SortedSet* MakeSet() {
    Clear();
    set_ = new SortedSet();
    type_ = Type::kSortedSet;
    return set_;
  }

  void Clear() {
    if (type_ == Type::kString) delete string_;
    if (type_ == Type::kList) delete list_;
    if (type_ == Type::kSortedSet) delete set_;
    type_ = Type::kNone;
  }

  Entry* next = nullptr;  // in its bucket
  const uint64_t hash;
  const LimitRecord* record;  // what the value was written under
  int64_t expire_us = kNoExpiry;
  bool in_use = false;  // by the call that holds the stripe's lock

 private:
  Entry(uint64_t h, const LimitRecord* r, std::string_view k)
      : hash(h), record(r), key_size_(static_cast<uint32_t>(k.size())) {
    if (k.empty()) return;
    std::memcpy(reinterpret_cast<char*>(this + 1), k.data(), k.size());
  }

  Type type_ = Type::kNone;
  uint8_t word_size_ = 0;
  uint32_t key_size_;
  union {
    char word_[kWordBytes];
    std::string* string_;
    List* list_;
    SortedSet* set_;
  };
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_ENTRY_H_
