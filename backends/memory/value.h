// The value of a key whose engine keeps more than one small struct: what Redis
// holds under a key.
#ifndef WEIR_BACKENDS_MEMORY_VALUE_H_
#define WEIR_BACKENDS_MEMORY_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "backends/memory/list.h"
#include "backends/memory/sorted_set.h"

namespace weir {

class Value {
 public:
  bool is_text() const { return std::holds_alternative<std::string>(held_); }
  std::string_view text() const { return std::get<std::string>(held_); }
  // The value may be a view of this very one.
  void SetText(std::string_view value) {
    if (is_text()) {
      std::get<std::string>(held_).assign(value);
    } else {
      held_ = std::string(value);
    }
  }

  // Null if it is of another type.
  SortedSet* set() { return std::get_if<SortedSet>(&held_); }
  List* list() { return std::get_if<List>(&held_); }

  // What is counted for it, brought up to date; returns the change.
  int64_t Recount() {
    size_t now = sizeof(Value);
    if (is_text()) now += text().size();
    if (const List* l = list(); l != nullptr) now += l->bytes();
    if (const SortedSet* s = set(); s != nullptr) now += s->bytes();
    const int64_t change = static_cast<int64_t>(now) - counted_;
    counted_ += change;
    return change;
  }
  int64_t counted() const { return counted_; }

  void MakeList() { held_.emplace<List>(); }
  void MakeSet() { held_.emplace<SortedSet>(); }

 private:
  int64_t counted_ = 0;
  std::variant<std::string, List, SortedSet> held_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_VALUE_H_
