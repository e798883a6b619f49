// What quiet_time documents of itself, for the conformance kit.
#ifndef QUIET_TIME_LAWS_H_
#define QUIET_TIME_LAWS_H_

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "quiet_time.h"
#include "weir/limit.h"
#include "weir/registry.h"
#include "weir/testing/engine_samples.h"

inline const weir::Registry& MyRegistry() {
  static const weir::Registry* const registry = [] {
    auto* made = new weir::Registry(weir::Registry::BuiltIn());
    EXPECT_TRUE(made->Add(weir::kEngine<QuietTime>).ok());
    return made;
  }();
  return *registry;
}

inline weir::Limit MyLimit(int64_t limit, int64_t pause_us) {
  return weir::Limit::Of("quiet_time")
      .With("limit", limit)
      .With("pause", weir::Micros(pause_us));
}

inline std::vector<weir::testing::EngineUnderTest> MyEngines() {
  weir::testing::EngineUnderTest engine;
  engine.algorithm = "quiet_time";
  engine.registry = &MyRegistry();
  engine.samples = {MyLimit(5, 10'000'000), MyLimit(1, 1), MyLimit(1'000, 333),
                    MyLimit(3, int64_t{100} * 365 * 86'400'000'000),
                    MyLimit(1'000'000'000'000, 1'000'003)};
  engine.at_most = [](const weir::Limit& limit, int64_t us) {
    const weir::Fields fields(limit);
    const int64_t pauses = us / fields.Duration("pause");
    const int64_t count = fields.Count("limit");
    if (pauses >= INT64_MAX / count - 1) return INT64_MAX;
    return count * (pauses + 1);
  };
  // All at once, and again after each pause: that is the bound.
  engine.taken_greedily = engine.at_most;
  return {engine};
}

#endif  // QUIET_TIME_LAWS_H_
