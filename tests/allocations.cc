#include "tests/allocations.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace weir {
namespace {

std::atomic<int64_t> allocations_alive{0};
thread_local int64_t fails_in = 0;  // 0: none fails
thread_local int64_t made_here = 0;

void* Allocate(std::size_t size, std::size_t alignment) {
  if (fails_in > 0 && --fails_in == 0) throw std::bad_alloc();
  // A multiple of the alignment, as aligned_alloc wants it.
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment +
                              (size == 0 ? alignment : 0);
  void* p = std::aligned_alloc(alignment, rounded);
  if (p == nullptr) throw std::bad_alloc();
  allocations_alive.fetch_add(1, std::memory_order_relaxed);
  ++made_here;
  return p;
}

void Free(void* p) {
  if (p != nullptr) allocations_alive.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

}  // namespace

int64_t LiveAllocations() { return allocations_alive.load(); }
int64_t Allocations() { return made_here; }

FailingAllocation::FailingAllocation(int64_t nth) { fails_in = nth; }
FailingAllocation::~FailingAllocation() { fails_in = 0; }
bool FailingAllocation::failed() const { return fails_in == 0; }

}  // namespace weir

void* operator new(std::size_t size) {
  return weir::Allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return weir::Allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { weir::Free(p); }
void operator delete(void* p, std::size_t) noexcept { weir::Free(p); }
void operator delete(void* p, std::align_val_t) noexcept { weir::Free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  weir::Free(p);
}
