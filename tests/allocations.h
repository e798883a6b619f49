// Allocations of the whole program, counted, and made to fail. Linking this
// replaces operator new and delete.
#ifndef WEIR_TESTS_ALLOCATIONS_H_
#define WEIR_TESTS_ALLOCATIONS_H_

#include <cstdint>

namespace weir {

// Blocks that were allocated and not yet freed.
int64_t LiveAllocations();
// How many this thread has made so far.
int64_t Allocations();

// While it is there, the nth allocation of this thread (from 1) throws
// std::bad_alloc.
class FailingAllocation {
 public:
  explicit FailingAllocation(int64_t nth);
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;

  // It came to that.
  bool failed() const;
};

}  // namespace weir

#endif  // WEIR_TESTS_ALLOCATIONS_H_
