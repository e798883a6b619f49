// The store that a program's traces are played on. Each program links one file
// that says which.
#ifndef WEIR_TESTS_ORACLE_STORE_UNDER_TEST_H_
#define WEIR_TESTS_ORACLE_STORE_UNDER_TEST_H_

#include <cstdint>

#include "weir/testing/store_factory.h"

namespace weir_oracle {

weir::testing::StoreFactory StoreUnderTest();

// Random calls are divided by this: a store across a network takes longer.
extern const int64_t kFewerCalls;

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_STORE_UNDER_TEST_H_
