// The value of a key whose engine keeps more than one small struct: what Redis
// holds under a key.
#ifndef WEIR_BACKENDS_MEMORY_VALUE_H_
#define WEIR_BACKENDS_MEMORY_VALUE_H_

#include <cstddef>
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

  void MakeList() { held_.emplace<List>(); }
  void MakeSet() { held_.emplace<SortedSet>(); }

 private:
  std::variant<std::string, List, SortedSet> held_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_VALUE_H_
