// A list, with Redis's meaning: elements of any bytes, pushed and taken at
// either end.
//
// Two encodings, and the change from one to the other can't be seen. A log
// that is pushed at the left and taken from either end (elements as LogEntry
// writes them) is packed; anything else is a deque.
#ifndef WEIR_BACKENDS_MEMORY_LIST_H_
#define WEIR_BACKENDS_MEMORY_LIST_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "backends/memory/packed_log.h"

namespace weir {

class List {
 public:
  int64_t size() const {
    return static_cast<int64_t>(packed_ ? log_.size() : general_.size());
  }

  // 0 <= index < size(), from the left.
  std::string At(int64_t index) const;
  void Set(int64_t index, std::string_view element);
  void PushLeft(std::string_view element);
  void PushRight(std::string_view element);
  void PopLeft(int64_t n);
  void PopRight(int64_t n);

  bool packed() const { return packed_; }
  // About what it takes on the heap, long elements aside.
  size_t bytes() const {
    return log_.bytes() + general_.size() * sizeof(std::string);
  }

 private:
  void MakeGeneral();

  bool packed_ = true;
  PackedLog log_;  // its last entry is the leftmost element
  std::deque<std::string> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIST_H_
