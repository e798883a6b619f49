// The value of a key whose engine keeps more than one small struct: what Redis
// holds under a key.
#ifndef WEIR_BACKENDS_MEMORY_VALUE_H_
#define WEIR_BACKENDS_MEMORY_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "backends/memory/field_map.h"
#include "backends/memory/heap_bytes.h"
#include "backends/memory/list.h"
#include "backends/memory/sorted_set.h"

namespace weir {

class Value {
 public:
  Value() = default;
  // The whole of it, not counted yet.
  Value(const Value& other) : held_(other.held_) {}
  Value& operator=(const Value&) = delete;

  bool is_text() const { return std::holds_alternative<std::string>(held_); }
  std::string_view text() const { return std::get<std::string>(held_); }
  // The value may be a view of this very one.
  void SetText(std::string_view value) {
    if (is_text()) {
      AssignText(&text_ref(), value);
    } else {
      held_ = std::string(value);
    }
  }

  // For writing in place; a string only.
  std::string& text_ref() { return std::get<std::string>(held_); }

  // By Redis's name.
  std::string_view type() const {
    constexpr std::string_view kTypes[] = {"string", "list", "zset", "hash"};
    return kTypes[held_.index()];
  }

  // Null if it is of another type.
  SortedSet* set() { return std::get_if<SortedSet>(&held_); }
  List* list() { return std::get_if<List>(&held_); }
  FieldMap* hash() { return std::get_if<FieldMap>(&held_); }

  // It holds nothing, as no key does that is there.
  bool hollow() {
    return (list() != nullptr && list()->size() == 0) ||
           (set() != nullptr && set()->size() == 0) ||
           (hash() != nullptr && hash()->size() == 0);
  }

  // What it takes.
  int64_t bytes() const {
    return static_cast<int64_t>(
        sizeof(Value) +
        std::visit([](const auto& held) { return BytesOf(held); }, held_));
  }
  // What is counted for it, brought up to date; returns the change.
  int64_t Recount() {
    const int64_t change = bytes() - counted_;
    counted_ += change;
    return change;
  }
  int64_t counted() const { return counted_; }

  // Of so many blocks that no call frees them all. A text is one.
  bool large() const {
    return __builtin_expect(!is_text() && bytes() > kFreedAtOnce, 0);
  }
  // Frees a bounded number of its blocks. False: there were none; what is left
  // goes with the value. It is of no use any more, but for this.
  bool FreeSome() {
    if (List* l = list(); l != nullptr) return l->FreeSome();
    if (SortedSet* s = set(); s != nullptr) return s->FreeSome();
    FieldMap* const h = hash();
    return h != nullptr && h->FreeSome();
  }
  // Dead values are linked where the count was (see DeadValues).
  void LinkTo(Value* next) { next_ = next; }
  Value* linked() const { return next_; }

  void MakeList() { held_.emplace<List>(); }
  void MakeSet() { held_.emplace<SortedSet>(); }
  void MakeHash() { held_.emplace<FieldMap>(); }

 private:
  static constexpr int64_t kFreedAtOnce = 128 * 1024;

  static size_t BytesOf(const std::string& text) { return HeapBytes(text); }
  template <class T>
  static size_t BytesOf(const T& held) {
    return held.bytes();
  }

  union {
    int64_t counted_ = 0;
    Value* next_;
  };
  std::variant<std::string, List, SortedSet, FieldMap> held_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_VALUE_H_
