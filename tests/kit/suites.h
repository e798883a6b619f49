// A linker takes from a static library only what is asked for by name, and
// nobody names a TEST_P. So each suite has a function of its own, and Cases()
// calls those of all laws that conformance.h lists.
#ifndef WEIR_TESTS_KIT_SUITES_H_
#define WEIR_TESTS_KIT_SUITES_H_

#include <string_view>

#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

constexpr bool IsListed(std::string_view law) {
#define WEIR_IS_LAW(name, ...) \
  if (law == #name) return true;
  WEIR_FOR_EACH_LAW_(WEIR_IS_LAW, )
#undef WEIR_IS_LAW
  return false;
}

}  // namespace testing
}  // namespace weir

// Stands once in the file of the suite, in namespace weir::testing. A binary
// may run only some of the suites, so gtest does not tell of one that is not
// listed, and this has to.
#define WEIR_KEEP_SUITE(law)                                            \
  static_assert(IsListed(#law), "a law that WEIR_FOR_EACH_LAW_ lacks"); \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(law);                   \
  void Keep##law();                                                     \
  void Keep##law() {}

#endif  // WEIR_TESTS_KIT_SUITES_H_
