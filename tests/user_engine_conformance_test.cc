// The laws for engines from outside the tree: a store that has never heard of
// them runs them over the abstract Txn.
#include "tests/memory_factory.h"
#include "tests/user_engines.h"
#include "weir/testing/conformance.h"

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(User, weir::UserEngines(),
                                     weir::MemoryFactory("memory", 64));
