// A list, with Redis's meaning: elements of any bytes, pushed and taken at
// either end.
//
// A log that is pushed at one end and taken from either is packed, 8 bytes an
// element: with elements as LogEntry writes them, or whole numbers in decimal.
// What no log would have lies in a deque at the end to which it was pushed, or
// is noted as a change of an element of the log, so that no step pays for the
// whole. None of it can be seen.
#ifndef WEIR_BACKENDS_MEMORY_LIST_H_
#define WEIR_BACKENDS_MEMORY_LIST_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/memory/packed_log.h"

namespace weir {

class List {
 public:
  List() = default;
  List(List&&) = default;
  List& operator=(List&&) = default;
  List(const List& other);
  List& operator=(const List&) = delete;

  int64_t size() const {
    return static_cast<int64_t>(log_.size()) +
           (packed() ? 0 : SizeOf(rest_->left) + SizeOf(rest_->right));
  }

  // 0 <= index < size(), from the left.
  std::string At(int64_t index) const;
  // The same as an entry. False, and nothing is written: it is none.
  bool At(int64_t index, engines::LogEntry* entry) const {
    if (__builtin_expect(packed() && log_.form == Form::kEntries, 1)) {
      *entry = log_.At(Place(index));
      return true;
    }
    return ParseAt(index, entry);
  }
  void Set(int64_t index, std::string_view element);
  void PushLeft(std::string_view element) { Push(element, true); }
  void PushRight(std::string_view element) { Push(element, false); }
  void PopLeft(int64_t n) { Pop(n, true); }
  void PopRight(int64_t n) { Pop(n, false); }

  // All of it is a log.
  bool packed() const { return rest_ == nullptr; }
  // On the heap.
  size_t bytes() const;
  // See Value.
  bool FreeSome();

 private:
  using Form = PackedLog::Form;
  using Elements = std::unique_ptr<std::deque<std::string>>;  // null: none
  // The elements left of the log, and right of it, and those of the log itself
  // that were changed, by their positions since the rest was made.
  struct Rest {
    Elements left;
    Elements right;
    std::map<int64_t, std::string> changed;
    int64_t popped = 0;  // from the log's front since
    size_t bytes = 0;    // of the characters, on the heap
  };

  static int64_t SizeOf(const Elements& elements) {
    return elements == nullptr ? 0 : static_cast<int64_t>(elements->size());
  }
  // Where an element lies in the log; not before the log, nor behind it.
  size_t Place(int64_t index) const {
    const auto i =
        static_cast<size_t>(packed() ? index : index - SizeOf(rest_->left));
    return log_.newest_is_left ? log_.size() - 1 - i : i;
  }
  // The element, if it is not in the log.
  std::string* Beside(int64_t index) const;
  std::string* ChangedAt(size_t place) const;
  std::string Packed(size_t place) const;
  bool ParseAt(int64_t index, engines::LogEntry* entry) const;
  void Push(std::string_view element, bool left);
  void Pop(int64_t n, bool left);
  void PopOne(bool left);
  bool Append(std::string_view element);
  bool ReplaceNewest(std::string_view element);
  void PushBeside(std::string_view element, bool left);
  Rest& rest();

  PackedLog log_;
  std::unique_ptr<Rest> rest_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_LIST_H_
