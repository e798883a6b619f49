#include "backends/memory/list.h"

#include <optional>
#include <utility>

#include "backends/memory/decimal.h"
#include "backends/memory/heap_bytes.h"

namespace weir {

using engines::LogEntry;

List::List(const List& other) : log_(other.log_) {
  if (other.packed()) return;
  const Rest& from = *other.rest_;
  rest_ = std::make_unique<Rest>();
  using Deque = std::deque<std::string>;
  if (from.left != nullptr) rest_->left = std::make_unique<Deque>(*from.left);
  if (from.right != nullptr) {
    rest_->right = std::make_unique<Deque>(*from.right);
  }
  rest_->changed = from.changed;
  rest_->popped = from.popped;
  rest_->bytes = from.bytes;
}

std::string* List::Beside(int64_t index) const {
  if (packed()) return nullptr;
  const int64_t left = SizeOf(rest_->left);
  if (index < left) return &(*rest_->left)[static_cast<size_t>(index)];
  index -= left + static_cast<int64_t>(log_.size());
  if (index < 0) return nullptr;
  return &(*rest_->right)[static_cast<size_t>(index)];
}

std::string* List::ChangedAt(size_t place) const {
  if (packed()) return nullptr;
  const auto found =
      rest_->changed.find(rest_->popped + static_cast<int64_t>(place));
  return found == rest_->changed.end() ? nullptr : &found->second;
}

std::string List::Packed(size_t place) const {
  if (log_.form == Form::kEntries) {
    return std::string(log_.At(place).Element());
  }
  return std::string(IntegerText(log_.time(place)).view());
}

std::string List::At(int64_t index) const {
  if (packed()) return Packed(Place(index));
  const std::string* beside = Beside(index);
  if (beside != nullptr) return *beside;
  const size_t place = Place(index);
  const std::string* changed = ChangedAt(place);
  return changed != nullptr ? *changed : Packed(place);
}

bool List::ParseAt(int64_t index, LogEntry* entry) const {
  const std::optional<LogEntry> e = LogEntry::FromElement(At(index));
  if (e) *entry = *e;
  return e.has_value();
}

void List::Set(int64_t index, std::string_view element) {
  std::string* held = Beside(index);
  const size_t place = held == nullptr ? Place(index) : 0;
  if (held == nullptr) held = ChangedAt(place);
  // The newest entry of a log can be another one.
  if (held == nullptr && place == log_.size() - 1 && ReplaceNewest(element)) {
    return;
  }
  if (held == nullptr) {
    held = &rest().changed[rest().popped + static_cast<int64_t>(place)];
  }
  rest_->bytes -= HeapBytes(*held);
  AssignText(held, element);
  rest_->bytes += HeapBytes(*held);
}

// Whether it continues the packed log: then it was appended.
bool List::Append(std::string_view element) {
  if (log_.full()) return false;
  const bool first = log_.size() == 0;
  if (first || log_.form == Form::kEntries) {
    const std::optional<LogEntry> e = LogEntry::FromElement(element);
    // What can't be written back as it came is not packed.
    if (e && e->Element().view() == element && log_.Append(*e)) {
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

// Whether the packed log goes on with it in the newest one's place: then it
// does. Where there is no memory, nothing has changed.
bool List::ReplaceNewest(std::string_view element) {
  const size_t last = log_.size() - 1;
  const bool alone = last == 0;
  if (alone || log_.form == Form::kEntries) {
    const std::optional<LogEntry> e = LogEntry::FromElement(element);
    if (e && e->Element().view() == element && log_.ReplaceNewest(*e)) {
      log_.form = Form::kEntries;
      return true;
    }
  }
  if (alone || log_.form == Form::kDecimals) {
    const std::optional<int64_t> number = ParseInteger(element);
    const int64_t sum = alone ? 1 : log_.sum(last - 1) + 1;
    if (number && log_.ReplaceNewest({*number, sum, 1})) {
      log_.form = Form::kDecimals;
      return true;
    }
  }
  return false;
}

List::Rest& List::rest() {
  if (packed()) rest_ = std::make_unique<Rest>();
  return *rest_;
}

void List::Push(std::string_view element, bool left) {
  // A list that is no log does not become one by chance.
  const bool is_log =
      packed() ||
      (log_.size() > 0 && (left ? rest_->left : rest_->right) == nullptr);
  if (is_log && log_.size() <= 1) log_.newest_is_left = left;
  if (is_log && left == log_.newest_is_left && Append(element)) return;
  PushBeside(element, left);
}

void List::PushBeside(std::string_view element, bool left) {
  Elements* side = left ? &rest().left : &rest().right;
  // The log between two goes only after one of them, and one is then enough.
  Elements* other = left ? &rest_->right : &rest_->left;
  if (log_.size() == 0 && *other != nullptr) side = other;
  if (*side == nullptr) *side = std::make_unique<std::deque<std::string>>();
  std::deque<std::string>& elements = **side;
  if (left) {
    elements.emplace_front(element);
  } else {
    elements.emplace_back(element);
  }
  rest_->bytes += HeapBytes(left ? elements.front() : elements.back());
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
  for (; n > 0; --n) PopOne(left);
  if (rest_->left == nullptr && rest_->right == nullptr &&
      rest_->changed.empty()) {
    rest_.reset();
  }
}

// Of a list that is not all log.
void List::PopOne(bool left) {
  Elements* side = left ? &rest_->left : &rest_->right;
  if (*side == nullptr && log_.size() > 0) {
    const bool newest = left == log_.newest_is_left;
    const size_t place = newest ? log_.size() - 1 : 0;
    if (const std::string* changed = ChangedAt(place)) {
      rest_->bytes -= HeapBytes(*changed);
      rest_->changed.erase(rest_->popped + static_cast<int64_t>(place));
    }
    if (newest) {
      log_.PopBack(1);
    } else {
      log_.PopFront(1);
      ++rest_->popped;
    }
    return;
  }
  // It may be that all of it lies at the other side.
  if (*side == nullptr) side = left ? &rest_->right : &rest_->left;
  std::deque<std::string>& elements = **side;
  rest_->bytes -= HeapBytes(left ? elements.front() : elements.back());
  if (left) {
    elements.pop_front();
  } else {
    elements.pop_back();
  }
  if (elements.empty()) side->reset();
}

bool List::FreeSome() {
  if (log_.FreeSome()) return true;
  if (packed()) return false;
  Rest& rest = *rest_;
  for (size_t i = 0; i < kFreedBlocks; ++i) {
    if (!rest.changed.empty()) {
      rest.bytes -= HeapBytes(rest.changed.begin()->second);
      rest.changed.erase(rest.changed.begin());
      continue;
    }
    Elements* const side = rest.left != nullptr ? &rest.left : &rest.right;
    if (*side == nullptr) return i > 0;
    rest.bytes -= HeapBytes((*side)->back());
    (*side)->pop_back();
    if ((*side)->empty()) side->reset();
  }
  return true;
}

size_t List::bytes() const {
  if (packed()) return log_.bytes();
  // A deque keeps pieces of half a kilobyte, and one at least.
  constexpr size_t kPieces = 2 * 512;
  constexpr size_t kChange = kTreeNodeBytes + 8 + sizeof(std::string);
  size_t sum = log_.bytes() + sizeof(Rest) + rest_->bytes +
               rest_->changed.size() * kChange;
  for (const Elements* e : {&rest_->left, &rest_->right}) {
    if (*e == nullptr) continue;
    sum += kPieces + (*e)->size() * sizeof(std::string);
  }
  return sum;
}

}  // namespace weir
