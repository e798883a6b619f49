// The conformance kit: is a store right, is an engine right?
//
// Each suite is one law of weir, run for every engine over a store that a
// factory makes; those of time, threads, replaced limits and refunds are run
// once more through bound keys. In a test binary that links weir::testing and
// gtest_main:
//
//   #include "weir/testing/conformance.h"
//   WEIR_INSTANTIATE_CONFORMANCE(Memory, MemoryFactory());
//
// and, for engines of your own (weir/testing/engine_samples.h),
//
//   WEIR_INSTANTIATE_ENGINES_CONFORMANCE(Mine, MyEngines(), MemoryFactory());
//
// The macros stand in the global namespace, outside any other; several
// factories may follow one another.
#ifndef WEIR_TESTING_CONFORMANCE_H_
#define WEIR_TESTING_CONFORMANCE_H_

#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/random.h"
#include "weir/testing/store_factory.h"

namespace weir {
namespace testing {

// One engine over one store.
struct ConformanceCase {
  StoreFactory store;
  EngineUnderTest engine;
};

inline std::ostream& operator<<(std::ostream& out, const ConformanceCase& c) {
  return out << c.engine << " on " << c.store;
}

class Law : public ::testing::TestWithParam<ConformanceCase> {
 protected:
  Law() : rng_(TestRng()) {}

  const StoreFactory& factory() const { return GetParam().store; }
  const EngineUnderTest& engine() const { return GetParam().engine; }
  // What a fresh store of the factory's holds in keys; -1 if it can't tell.
  int64_t KeysOf(const Harness& harness) const {
    return factory().keys ? factory().keys(*harness.store) : -1;
  }

  Rng rng_;
};

// Law 1: no span of time holds more than the documented bound.
class BoundLaw : public Law {};
// Law 2: retry_after is true to the microsecond.
class RetryAfterLaw : public Law {};
// Law 3: so are remaining, reset_after and the numbers of a fresh key.
class NumbersLaw : public Law {};
// Law 4: looking, and being denied, changes nothing.
class SilenceLaw : public Law {};
// Law 5: several rules, all or nothing.
class TogetherLaw : public Law {};
// Law 6: the ends of the range of costs and limits.
class EdgeLaw : public Law {};
// Law 7: clocks that run back and clocks that jump.
class TimeLaw : public Law {};
// Law 8: exact at every rate, however long it runs.
class ExactLaw : public Law {};
// Law 9: keys do not touch each other, and are forgotten.
class KeysLaw : public Law {};
// Law 10: however many threads, the capacity is granted exactly.
class ThreadsLaw : public Law {};
// Law 11: a limit that is replaced refills nobody.
class ReplaceLaw : public Law {};
// Law 13: a refund gives back what was used, never more.
class RefundLaw : public Law {};

// Every engine of `engines` over every store.
std::vector<ConformanceCase> Cases(const std::vector<EngineUnderTest>& engines,
                                   const std::vector<StoreFactory>& stores);

// Each store once: asked by key.
std::vector<StoreFactory> ByKey(std::vector<StoreFactory> stores);
// Each store twice: asked by key, and through bound keys.
std::vector<StoreFactory> BothWays(const std::vector<StoreFactory>& stores);

std::string CaseName(const ::testing::TestParamInfo<ConformanceCase>& info);

}  // namespace testing
}  // namespace weir

// The laws, X(law, ways, ...) for each: the only list of them, so that none is
// kept that never runs. `ways`: how its stores are asked.
#define WEIR_FOR_EACH_LAW_(X, ...)     \
  X(BoundLaw, ByKey, __VA_ARGS__)      \
  X(RetryAfterLaw, ByKey, __VA_ARGS__) \
  X(NumbersLaw, ByKey, __VA_ARGS__)    \
  X(SilenceLaw, ByKey, __VA_ARGS__)    \
  X(TogetherLaw, ByKey, __VA_ARGS__)   \
  X(EdgeLaw, ByKey, __VA_ARGS__)       \
  X(TimeLaw, BothWays, __VA_ARGS__)    \
  X(ExactLaw, ByKey, __VA_ARGS__)      \
  X(KeysLaw, ByKey, __VA_ARGS__)       \
  X(ThreadsLaw, BothWays, __VA_ARGS__) \
  X(ReplaceLaw, BothWays, __VA_ARGS__) \
  X(RefundLaw, BothWays, __VA_ARGS__)

#define WEIR_INSTANTIATE_LAW_(law, ways, prefix, engines, ...)               \
  INSTANTIATE_TEST_SUITE_P(                                                  \
      prefix, law, ::testing::ValuesIn(Cases(engines, ways({__VA_ARGS__}))), \
      CaseName);

#define WEIR_INSTANTIATE_LAWS_(prefix, engines, ...)                      \
  namespace weir {                                                        \
  namespace testing {                                                     \
  WEIR_FOR_EACH_LAW_(WEIR_INSTANTIATE_LAW_, prefix, engines, __VA_ARGS__) \
  }                                                                       \
  }                                                                       \
  static_assert(true, "")

// Every engine that weir brings, over each of the factories.
#define WEIR_INSTANTIATE_CONFORMANCE(prefix, ...) \
  WEIR_INSTANTIATE_LAWS_(prefix, BuiltInEngines(), __VA_ARGS__)

// Engines of your own, a std::vector<EngineUnderTest>, over each of the
// factories.
#define WEIR_INSTANTIATE_ENGINES_CONFORMANCE(prefix, engines, ...) \
  WEIR_INSTANTIATE_LAWS_(prefix, engines, __VA_ARGS__)

#endif  // WEIR_TESTING_CONFORMANCE_H_
