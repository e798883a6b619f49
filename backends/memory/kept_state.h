// What a key of an engine from outside the tree held before its step, to be put
// back if the engine turns out to be faulty: it left an error of its
// transaction untaken (weir/txn.h), on Redis its script would have stopped.
#ifndef WEIR_BACKENDS_MEMORY_KEPT_STATE_H_
#define WEIR_BACKENDS_MEMORY_KEPT_STATE_H_

#include <cstdint>
#include <memory>

#include "backends/memory/open_key.h"
#include "backends/memory/value.h"

namespace weir {

class KeptState {
 public:
  // Copies a value of at most 4 KiB; of a larger one that would cost each call
  // too much, and nothing is kept. Throws as operator new does.
  explicit KeptState(OpenKey* key);

  // The key holds again what it held, if that was kept. Throws as operator new
  // does.
  void PutBack();

 private:
  static constexpr int64_t kMostBytes = 4096;

  OpenKey* key_;
  bool kept_ = true;
  std::unique_ptr<Value> value_;  // null: there was none
  int64_t expiry_ = 0;
  const LimitRecord* written_ = nullptr;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_KEPT_STATE_H_
