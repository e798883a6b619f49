// A linker takes from a static library only what is asked for by name, and
// nobody names a TEST_P. So each suite has a function of its own, and Cases()
// calls them all.
#ifndef WEIR_TESTS_KIT_SUITES_H_
#define WEIR_TESTS_KIT_SUITES_H_

#include "weir/testing/conformance.h"

#define WEIR_FOR_EACH_LAW(X) \
  X(Bound)                   \
  X(RetryAfter)              \
  X(Numbers)                 \
  X(Silence)                 \
  X(Together)                \
  X(Edge)                    \
  X(Time)                    \
  X(Exact)                   \
  X(Keys)                    \
  X(Threads)                 \
  X(Replace)                 \
  X(Refund)

// Stands once in the file of the suite, in namespace weir::testing. A binary
// may run only some of the suites.
#define WEIR_KEEP_SUITE(law)                               \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(law##Law); \
  void Keep##law##Suite();                                 \
  void Keep##law##Suite() {}

#endif  // WEIR_TESTS_KIT_SUITES_H_
