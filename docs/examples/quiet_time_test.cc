// An engine of one's own through the conformance kit: every law that weir's
// own engines keep.
#include "quiet_time.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "weir/clock.h"
#include "weir/memory_store.h"
#include "weir/registry.h"
#include "weir/testing/conformance.h"
#include "weir/testing/store_factory.h"

namespace {

using weir::Fields;
using weir::Limit;
using weir::Micros;

const weir::Registry& MyRegistry() {
  static const weir::Registry* const registry = [] {
    auto* made = new weir::Registry(weir::Registry::BuiltIn());
    EXPECT_TRUE(made->Add(weir::kEngine<QuietTime>).ok());
    return made;
  }();
  return *registry;
}

Limit Make(int64_t limit, int64_t pause_us) {
  return Limit::Of("quiet_time")
      .With("limit", limit)
      .With("pause", Micros(pause_us));
}

// What the engine documents of itself.
std::vector<weir::testing::EngineUnderTest> MyEngines() {
  weir::testing::EngineUnderTest engine;
  engine.algorithm = "quiet_time";
  engine.registry = &MyRegistry();
  engine.samples = {Make(5, 10'000'000), Make(1, 1), Make(1'000, 333),
                    Make(3, int64_t{100} * 365 * 86'400'000'000),
                    Make(1'000'000'000'000, 1'000'003)};
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t pauses = us / fields.Duration("pause");
    const int64_t count = fields.Count("limit");
    if (pauses >= INT64_MAX / count - 1) return INT64_MAX;
    return count * (pauses + 1);
  };
  // All at once, and again after each pause: that is the bound.
  engine.taken_greedily = engine.at_most;
  return {engine};
}

weir::testing::StoreFactory Memory() {
  weir::testing::StoreFactory factory;
  factory.name = "memory";
  factory.make = [] {
    weir::testing::Harness harness;
    harness.clock = std::make_shared<weir::ManualClock>();
    weir::MemoryStoreOptions options;
    options.clock = harness.clock;
    auto store = weir::MemoryStore::Create(std::move(options));
    if (store.ok()) harness.store = *std::move(store);
    return harness;
  };
  factory.keys = [](weir::Store& store) {
    return static_cast<weir::MemoryStore&>(store).counters().keys;
  };
  factory.sweep = [](weir::Store& store, weir::Time now) {
    static_cast<weir::MemoryStore&>(store).Sweep(0, now);
  };
  factory.slack = Micros(1000);  // times to live are whole milliseconds
  return factory;
}

}  // namespace

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(QuietTime, MyEngines(), Memory());
