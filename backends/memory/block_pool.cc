#include "backends/memory/block_pool.h"

#include <sys/mman.h>

#include <new>

namespace weir {
namespace {

constexpr size_t kRegionPages = 1024;
constexpr size_t kRegionBytes = kRegionPages * BlockPool::kPage;

void* MapRegion() {
  void* region = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (region == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_NOHUGEPAGE
  // The first touch of a huge page zeroes two megabytes: a pause.
  madvise(region, kRegionBytes, MADV_NOHUGEPAGE);
#endif
  return region;
}

}  // namespace

BlockPool::~BlockPool() {
  for (void* region : regions_) munmap(region, kRegionBytes);
}

void* BlockPool::Take(size_t pages) {
  const SpinLockHolder lock(&lock_);
  Size& size = sizes_[pages - 1];
  if (!size.free.empty()) {
    void* block = size.free.back();
    size.free.pop_back();
    return block;
  }
  // Room for the bookkeeping first: giving a block back never throws.
  if (size.free.capacity() <= size.made) size.free.reserve(2 * size.made + 8);
  if (left_ < pages) {
    // What is left of the last region stays unused: address space, no memory.
    if (regions_.capacity() == regions_.size()) {
      regions_.reserve(2 * regions_.size() + 8);
    }
    regions_.push_back(MapRegion());
    maps_.fetch_add(1, std::memory_order_relaxed);
    next_ = static_cast<char*>(regions_.back());
    left_ = kRegionPages;
  }
  void* block = next_;
  next_ += pages * kPage;
  left_ -= pages;
  ++size.made;
  return block;
}

void BlockPool::Give(void* block, size_t pages) {
  madvise(block, pages * kPage, MADV_DONTNEED);
  const SpinLockHolder lock(&lock_);
  sizes_[pages - 1].free.push_back(block);
}

}  // namespace weir
