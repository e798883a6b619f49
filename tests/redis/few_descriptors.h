// While it lives the process can open few descriptors more, if any.
#ifndef WEIR_TESTS_REDIS_FEW_DESCRIPTORS_H_
#define WEIR_TESTS_REDIS_FEW_DESCRIPTORS_H_

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gtest/gtest.h"

namespace weir::testing {

class FewDescriptors {
 public:
  // At most `room` of them.
  explicit FewDescriptors(int room = 0) {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(LowestFree() + room);
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  }
  ~FewDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

  // The number that the next descriptor gets.
  static int LowestFree() {
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    EXPECT_GE(fd, 0);
    close(fd);
    return fd;
  }

 private:
  rlimit before_{};
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_FEW_DESCRIPTORS_H_
