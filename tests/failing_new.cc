#include "tests/failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int left_over = -1;  // below 0: as many as there is memory for

void* Allocate(std::size_t size, std::size_t align) {
  if (left_over == 0) throw std::bad_alloc();
  if (left_over > 0) --left_over;
  void* p = nullptr;
  if (posix_memalign(&p, align, size) != 0) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t size) {
  return Allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t align) {
  return Allocate(size, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace weir {

FailingNew::FailingNew(int left) { left_over = left; }
FailingNew::~FailingNew() { left_over = -1; }

}  // namespace weir
