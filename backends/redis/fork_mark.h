// Tells a child made by fork() from the process that made the mark.
#ifndef WEIR_BACKENDS_REDIS_FORK_MARK_H_
#define WEIR_BACKENDS_REDIS_FORK_MARK_H_

#include <atomic>

namespace weir::redis {

// A page that the kernel empties in every child; where it can't do that, the
// process id. Asking is one load, or one getpid().
class ForkMark {
 public:
  ForkMark();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  bool SameProcess() const {
    // Relaxed: a child starts with what its only thread saw.
    return page_ != nullptr ? page_->load(std::memory_order_relaxed) != 0
                            : SamePid();
  }

 private:
  bool SamePid() const;

  std::atomic<int>* page_ = nullptr;
  int pid_ = 0;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_FORK_MARK_H_
