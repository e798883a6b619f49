#include "backends/redis/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace weir::redis {
namespace {

size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

ForkMark::ForkMark() : pid_(getpid()) {
#ifdef MADV_WIPEONFORK
  void* const page = mmap(nullptr, PageSize(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, PageSize(), MADV_WIPEONFORK) != 0) {
    munmap(page, PageSize());
    return;
  }
  page_ = new (page) std::atomic<int>(1);
#endif
}

ForkMark::~ForkMark() {
  if (page_ != nullptr) munmap(page_, PageSize());
}

bool ForkMark::SamePid() const { return pid_ == getpid(); }

}  // namespace weir::redis
