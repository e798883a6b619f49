#include "backends/memory/list.h"

#include <optional>

namespace weir {

using engines::LogEntry;

std::string List::At(int64_t index) const {
  if (!packed_) return general_[static_cast<size_t>(index)];
  return log_.At(log_.size() - 1 - static_cast<size_t>(index)).Element();
}

void List::Set(int64_t index, std::string_view element) {
  MakeGeneral();
  general_[static_cast<size_t>(index)] = std::string(element);
}

void List::PushLeft(std::string_view element) {
  if (packed_) {
    const std::optional<LogEntry> e = LogEntry::FromElement(element);
    // What can't be written back as it came is not packed.
    if (e && e->Element() == element && log_.Append(*e)) return;
    MakeGeneral();
  }
  general_.emplace_front(element);
}

void List::PushRight(std::string_view element) {
  if (size() == 0) {
    PushLeft(element);
    return;
  }
  MakeGeneral();
  general_.emplace_back(element);
}

void List::PopLeft(int64_t n) {
  if (packed_) {
    log_.PopBack(static_cast<size_t>(n));
  } else {
    general_.erase(general_.begin(), general_.begin() + n);
  }
}

void List::PopRight(int64_t n) {
  if (packed_) {
    log_.PopFront(static_cast<size_t>(n));
  } else {
    general_.erase(general_.end() - n, general_.end());
  }
}

void List::MakeGeneral() {
  if (!packed_) return;
  for (int64_t i = 0; i < size(); ++i) general_.push_back(At(i));
  packed_ = false;
  log_.Clear();
}

}  // namespace weir
