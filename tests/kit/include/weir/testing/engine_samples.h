// The engines that the suites run over, each with limits to try and with what
// it documents of itself.
//
// The engines that weir brings are all here by their names in the registry:
// one that has no samples fails the suites. An engine of your own is described
// with the same struct and handed to WEIR_INSTANTIATE_ENGINES_CONFORMANCE.
#ifndef WEIR_TESTING_ENGINE_SAMPLES_H_
#define WEIR_TESTING_ENGINE_SAMPLES_H_

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limit.h"
#include "weir/registry.h"
#include "weir/testing/random.h"

namespace weir {
namespace testing {

struct EngineUnderTest {
  std::string algorithm;
  // Where it is looked up. Must outlive the tests.
  const Registry* registry = nullptr;
  // Limits to try, small and huge, slow and fast, even and coprime.
  std::vector<Limit> samples;
  // The documented bound: the most that is admitted within any span of `us`
  // microseconds, both ends included. INT64_MAX where that is less than it.
  std::function<int64_t(const Limit&, int64_t us)> at_most;
  // What a caller who takes all it can, as soon as it can, has been admitted
  // `us` after its first call. Negative, or no function: there is no closed
  // form for this limit (from then on), and nothing to compare with.
  std::function<int64_t(const Limit&, int64_t us)> taken_greedily;
  // Who wants to come near the bound asks for this first, from t on. No
  // function: all that remains, at once.
  struct Ask {
    int64_t t = 0;
    int64_t cost = 0;  // 0: all that remains
  };
  std::function<std::vector<Ask>(const Limit&, int64_t t)> worst_case;
  // Sums and differences are exact; what is in doubles is not.
  bool exact = true;
  // What remains is the capacity less what is used, to the unit.
  bool remains_what_is_not_used = true;
  // A key that a clock's jump has emptied equals one whose capacity was used.
  bool cut_equals_drained = true;
  // More than the capacity may pass on a key that is in use. No function: for
  // no limit.
  std::function<bool(const Limit&)> piles_up;
};

inline std::ostream& operator<<(std::ostream& out, const EngineUnderTest& e) {
  return out << e.algorithm;
}

// Limits to try for an algorithm that weir brings; none if it is not known
// here, which the suites report as a failure.
std::vector<Limit> SampleLimits(std::string_view algorithm);

// One for each engine of Registry::BuiltIn(), in its order.
std::vector<EngineUnderTest> BuiltInEngines();

// A limit drawn from all that the engine's fields accept: counts and durations
// log-uniform, a third of the limits coprime with their window and above 2^53
// in product. Whatever it is, Registry::Compile takes it at `now`.
Limit RandomLimit(const EngineUnderTest& engine, Rng& rng, Time now);

// The samples, and after them `random` drawn ones.
std::vector<Limit> LimitsToTry(const EngineUnderTest& engine, int random,
                               Rng& rng, Time now);

// "gcra burst=3 limit=7 window=3000000us", for messages.
std::string ToText(const Limit& limit);

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTING_ENGINE_SAMPLES_H_
