// Values that no key has any more and that are too large to be freed in one
// call: a log of ten million entries lies in forty thousand blocks. They are
// freed piece by piece, and counted for as long.
#ifndef WEIR_BACKENDS_MEMORY_DEAD_VALUES_H_
#define WEIR_BACKENDS_MEMORY_DEAD_VALUES_H_

#include <cstdint>
#include <memory>

#include "backends/memory/value.h"

namespace weir {

// Not thread safe: its stripe's lock is held. Takes no memory of its own.
class DeadValues {
 public:
  DeadValues() = default;
  ~DeadValues() {
    while (!empty()) FreeSome();
  }
  DeadValues(const DeadValues&) = delete;
  DeadValues& operator=(const DeadValues&) = delete;

  bool empty() const { return first_ == nullptr; }
  // Returns by how much what is counted for it changes, in bytes.
  int64_t Add(std::unique_ptr<Value> value) {
    const int64_t change = value->Recount();
    value->LinkTo(first_);
    first_ = value.release();
    return change;
  }
  // A bounded number of blocks; it is not empty. Returns how many bytes.
  int64_t FreeSome() {
    const int64_t before = first_->bytes();
    if (first_->FreeSome()) return before - first_->bytes();
    const std::unique_ptr<const Value> gone(first_);
    first_ = gone->linked();
    return before;
  }

 private:
  Value* first_ = nullptr;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_DEAD_VALUES_H_
