#include "backends/memory/list.h"

#include <optional>
#include <utility>

#include "backends/memory/decimal.h"
#include "backends/memory/heap_bytes.h"

namespace weir {

using engines::LogEntry;

std::string List::At(int64_t index) const {
  if (!packed()) return general_->elements[static_cast<size_t>(index)];
  const size_t place = Place(index);
  if (log_.form == Form::kEntries) return log_.At(place).Element();
  return std::string(IntegerText(log_.time(place)).view());
}

void List::Set(int64_t index, std::string_view element) {
  // The newest entry of a log can be another one.
  if (packed() && Place(index) == log_.size() - 1) {
    const std::string before = At(index);
    log_.PopBack(1);
    if (Append(element)) return;
    Append(before);
  }
  MakeGeneral();
  std::string& held = general_->elements[static_cast<size_t>(index)];
  general_->bytes -= HeapBytes(held);
  AssignText(&held, element);
  general_->bytes += HeapBytes(held);
}

// Whether it continues the packed log: then it was appended.
bool List::Append(std::string_view element) {
  if (log_.full()) return false;
  const bool first = log_.size() == 0;
  if (first || log_.form == Form::kEntries) {
    const std::optional<LogEntry> e = LogEntry::FromElement(element);
    // What can't be written back as it came is not packed.
    if (e && e->Element() == element && log_.Append(*e)) {
      log_.form = Form::kEntries;
      return true;
    }
  }
  if (first || log_.form == Form::kDecimals) {
    const std::optional<int64_t> number = ParseInteger(element);
    if (number) {
      if (first) log_.Clear();
      log_.form = Form::kDecimals;
      log_.AppendNext(*number, 1);
      return true;
    }
  }
  return false;
}

void List::Push(std::string_view element, bool left) {
  if (packed()) {
    if (size() <= 1) log_.newest_is_left = left;
    if (left == log_.newest_is_left && Append(element)) return;
    MakeGeneral();
  }
  std::deque<std::string>& elements = general_->elements;
  if (left) {
    elements.emplace_front(element);
  } else {
    elements.emplace_back(element);
  }
  general_->bytes += HeapBytes(left ? elements.front() : elements.back());
}

void List::Pop(int64_t n, bool left) {
  if (packed()) {
    const auto count = static_cast<size_t>(n);
    if (left == log_.newest_is_left) {
      log_.PopBack(count);
    } else {
      log_.PopFront(count);
    }
    return;
  }
  std::deque<std::string>& elements = general_->elements;
  for (; n > 0; --n) {
    general_->bytes -= HeapBytes(left ? elements.front() : elements.back());
    if (left) {
      elements.pop_front();
    } else {
      elements.pop_back();
    }
  }
}

size_t List::bytes() const {
  if (packed()) return log_.bytes();
  // A deque keeps pieces of half a kilobyte, and one at least.
  constexpr size_t kPiece = 512;
  return sizeof(General) + 2 * kPiece + general_->bytes +
         general_->elements.size() * sizeof(std::string);
}

void List::MakeGeneral() {
  if (!packed()) return;
  auto general = std::make_unique<General>();
  for (int64_t i = 0; i < size(); ++i) {
    general->elements.push_back(At(i));
    general->bytes += HeapBytes(general->elements.back());
  }
  general_ = std::move(general);
  log_.Clear();
}

}  // namespace weir
