#include "backends/memory/block_pool.h"

#include <sys/mman.h>

#include <new>

namespace weir {
namespace {

constexpr size_t kRegionBytes =
    BlockPool::kBlockBytes * BlockPool::kBlocksARegion;

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

void* BlockPool::Take() {
  SpinLockHolder lock(&lock_);
  if (!free_.empty()) {
    void* block = free_.back();
    free_.pop_back();
    return block;
  }
  if (left_ == 0) {
    // Room for the bookkeeping first: giving a block back never throws.
    const size_t regions = regions_.size() + 1;
    if (regions_.capacity() < regions) regions_.reserve(2 * regions);
    const size_t blocks = regions_.capacity() * kBlocksARegion;
    if (free_.capacity() < blocks) free_.reserve(blocks);
    regions_.push_back(MapRegion());
    maps_.fetch_add(1, std::memory_order_relaxed);
    next_ = static_cast<char*>(regions_.back());
    left_ = kBlocksARegion;
  }
  void* block = next_;
  next_ += kBlockBytes;
  --left_;
  return block;
}

void BlockPool::Give(void* block) {
  madvise(block, kBlockBytes, MADV_DONTNEED);
  SpinLockHolder lock(&lock_);
  free_.push_back(block);
}

}  // namespace weir
