// The memory of a store's tables: blocks of whole pages, taken from the system
// a region at a time and handed out one by one, close together. Pages become
// memory when they are first touched, and go back to the system when their
// block is given back.
#ifndef WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_
#define WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/memory/spin_lock.h"

namespace weir {

// Thread safe.
class BlockPool {
 public:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kMostPages = 16;  // of one block

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of so many pages, 1 to kMostPages, all zero. At most one mapping,
  // whatever the number of blocks that one call takes (up to 64). Throws
  // std::bad_alloc as operator new does.
  void* Take(size_t pages);
  // Its pages go back to the system; the address space stays for the next block
  // of as many.
  void Give(void* block, size_t pages);

  // How often the system was asked for address space.
  int64_t maps() const { return maps_.load(std::memory_order_relaxed); }

 private:
  // Blocks of one size.
  struct Size {
    size_t made = 0;
    std::vector<void*> free;  // has room for all that were made
  };

  SpinLock lock_;
  std::array<Size, kMostPages> sizes_ ABSL_GUARDED_BY(lock_);
  std::vector<void*> regions_ ABSL_GUARDED_BY(lock_);
  char* next_ ABSL_GUARDED_BY(lock_) = nullptr;
  size_t left_ ABSL_GUARDED_BY(lock_) = 0;  // pages
  std::atomic<int64_t> maps_{0};            // relaxed everywhere: a bare count
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_BLOCK_POOL_H_
