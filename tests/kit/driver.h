// What the suites share: a limiter that is asked at times of the test's own
// choosing, and a demand that looks for trouble.
#ifndef WEIR_TESTS_KIT_DRIVER_H_
#define WEIR_TESTS_KIT_DRIVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/kit/decision_text.h"
#include "weir/limiter.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/handles.h"
#include "weir/testing/random.h"
#include "weir/testing/store_factory.h"

namespace weir {
namespace testing {

// A call with keys and costs for each rule, or one for all of them.
struct Asked {
  std::vector<std::string> keys;
  std::vector<int64_t> costs;
  int64_t t = 0;
};

// A limiter under test. A call that is not decided is a failure of the test,
// unless it is made with Try. Thread safe.
class Driver {
 public:
  Driver(const Harness& harness, std::vector<Rule> rules,
         const Registry* registry);
  // One rule.
  Driver(const Harness& harness, const Limit& limit, const Registry* registry);

  // One key and one cost for every rule.
  Decision Check(std::string_view key, int64_t cost, int64_t t);
  Decision Peek(std::string_view key, int64_t cost, int64_t t);
  Decision Refund(std::string_view key, int64_t n, int64_t t);
  Decision Reset(std::string_view key, int64_t t);
  // By the store's own clock.
  Decision CheckNow(std::string_view key, int64_t cost);

  // A key and a cost for each rule; the empty tag is a part of every key.
  Decision Run(Op op, const std::vector<std::string>& keys,
               const std::vector<int64_t>& costs, int64_t t);
  // Checks, handed over together.
  std::vector<Decision> CheckMany(const std::vector<Asked>& calls);
  absl::StatusOr<Decision> Try(Op op, std::string_view key, int64_t cost,
                               int64_t t);

 private:
  Decision Answer(absl::StatusOr<Decision> d);
  // One key and one cost. `now`: nothing, or the time.
  absl::StatusOr<Decision> Ask(Op op, std::string_view key, int64_t cost,
                               std::optional<Time> now);

  std::optional<Limiter> limiter_;
  const bool by_handle_;
  Handles handles_;
};

// What a test has to know of a limit before it can ask about it, found out by
// asking a store of its own.
struct Setting {
  int64_t capacity = 0;
  // From drained to fresh.
  int64_t reset = 0;
  // The same, and at least the window.
  int64_t longest = 0;
  // The time at which the test begins.
  int64_t start = 0;
  // No call may come later, for times end at 2^53 us.
  int64_t end = 0;
  // Denied calls are charged too: they change what comes after them.
  bool counts_denied = false;
};

// Makes a setting for a limit, at one of many starting times.
Setting Explore(const StoreFactory& factory, const EngineUnderTest& engine,
                const Limit& limit, Rng& rng);

// Calls `body` for each sample of the engine and for some random limits, until
// one fails. An engine without samples is a failure.
void ForEachLimit(
    const StoreFactory& factory, const EngineUnderTest& engine, Rng& rng,
    const std::function<void(const Limit&, const Setting&)>& body);

// A demand with a liking for the instants at which something happens: the
// promised ones, and 1 us before and after them.
class Demand {
 public:
  Demand(const Setting& setting, Rng& rng)
      : setting_(setting), rng_(rng), t_(setting.start) {}

  int64_t t() const { return t_; }
  bool over() const { return t_ >= setting_.end; }
  void Forward(int64_t us);
  // Goes on, given the last answer.
  void Next(const Decision& last);
  // A cost from 0 to a little over the capacity.
  int64_t Cost(int64_t remaining);
  // A cost from 1 to the capacity.
  int64_t OrdinaryCost();

 private:
  const Setting& setting_;
  Rng& rng_;
  int64_t t_;
};

// Uses up what a key has left.
void Drain(Driver& driver, std::string_view key, int64_t t);

// Every field of what a key answers from now on: looks at many times and
// costs, then a run of checks. Two keys in the same state give the same text
// if they are given the same seed; both change alike.
std::string LaterDecisions(Driver& driver, std::string_view key,
                           const Setting& setting, int64_t t, uint64_t seed);

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_DRIVER_H_
