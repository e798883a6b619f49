// The laws, over the embedded store.
#include "tests/memory_factory.h"
#include "weir/testing/conformance.h"

// One stripe: every key and rule meets every other under one lock.
WEIR_INSTANTIATE_CONFORMANCE(Memory, weir::MemoryFactory("striped", 64),
                             weir::MemoryFactory("one_stripe", 1));
