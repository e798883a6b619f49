// The memory of a store's tables: blocks of address space, taken from the
// system a region at a time and handed out one by one. Pages become memory
// when they are first touched, and go back to the system when their block is
// given back.
#ifndef WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_
#define WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/memory/spin_lock.h"

namespace weir {

// Thread safe.
class BlockPool {
 public:
  static constexpr size_t kBlockBytes = 64 * 1024;
  static constexpr size_t kBlocksARegion = 64;

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // kBlockBytes, aligned to pages, all zero. At most one mapping, whatever the
  // number of blocks that one call takes (up to kBlocksARegion). Throws
  // std::bad_alloc as operator new does.
  void* Take();
  // Its pages go back to the system; the address space stays for the next one.
  void Give(void* block);

  // How often the system was asked for address space.
  int64_t maps() const { return maps_.load(std::memory_order_relaxed); }

 private:
  SpinLock lock_;
  std::vector<void*> free_ ABSL_GUARDED_BY(lock_);
  std::vector<void*> regions_ ABSL_GUARDED_BY(lock_);
  char* next_ ABSL_GUARDED_BY(lock_) = nullptr;
  size_t left_ ABSL_GUARDED_BY(lock_) = 0;
  std::atomic<int64_t> maps_{0};  // relaxed everywhere: a bare count
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_
