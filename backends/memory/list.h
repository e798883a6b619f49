// A list, with Redis's meaning: elements of any bytes, pushed and taken at
// either end.
//
// Three encodings, and the change from one to another can't be seen. A log that
// is pushed at one end and taken from either is packed, 8 bytes an element:
// with elements as LogEntry writes them, or whole numbers in decimal. Anything
// else is a deque. The change to it costs as much as the log is long, and comes
// once, with the first command that no log would give.
#ifndef WEIR_BACKENDS_MEMORY_LIST_H_
#define WEIR_BACKENDS_MEMORY_LIST_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backends/memory/packed_log.h"

namespace weir {

class List {
 public:
  int64_t size() const {
    return static_cast<int64_t>(packed() ? log_.size()
                                         : general_->elements.size());
  }

  // 0 <= index < size(), from the left.
  std::string At(int64_t index) const;
  void Set(int64_t index, std::string_view element);
  void PushLeft(std::string_view element) { Push(element, true); }
  void PushRight(std::string_view element) { Push(element, false); }
  void PopLeft(int64_t n) { Pop(n, true); }
  void PopRight(int64_t n) { Pop(n, false); }

  bool packed() const { return general_ == nullptr; }
  // On the heap.
  size_t bytes() const;

 private:
  using Form = PackedLog::Form;
  struct General {
    std::deque<std::string> elements;
    size_t bytes = 0;  // of their characters, on the heap
  };

  // Where an element lies in the packed log.
  size_t Place(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    return log_.newest_is_left ? log_.size() - 1 - i : i;
  }
  void Push(std::string_view element, bool left);
  void Pop(int64_t n, bool left);
  bool Append(std::string_view element);
  void MakeGeneral();

  PackedLog log_;
  std::unique_ptr<General> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIST_H_
