// The engine of docs/examples on Redis, taken in as its user would: header and
// script from outside the tree.
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "quiet_time.lua.h"
#include "quiet_time_laws.h"
#include "tests/kit/decision_text.h"
#include "tests/redis/redis_factory.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace {

RedisStoreOptions WithQuietTime() {
  RedisStoreOptions options;
  options.engines = {{"quiet_time", kQuietTimeLua}};
  return options;
}

Limiter Make(std::shared_ptr<Store> store, const Limit& limit) {
  LimiterOptions options;
  options.registry = &MyRegistry();
  auto limiter = Limiter::Create(
      std::move(store),
      std::vector<Rule>{{"mine", limit},
                        {"theirs", Limit::Gcra(7, std::chrono::seconds(3))}},
      options);
  EXPECT_TRUE(limiter.ok()) << limiter.status();
  return *std::move(limiter);
}

TEST(QuietTimeOnRedis, AnswersAsInMemory) {
  WEIR_NEEDS_REDIS_SERVER();
  testing::Rng rng = testing::TestRng();
  const testing::EngineUnderTest engine = MyEngines()[0];
  for (int round = 0; round < testing::Rounds(20, 500); ++round) {
    int64_t t = 1'700'000'000'000'000;
    const Time start = Time(Micros(t));
    Limiter here =
        Make(*MemoryStore::Create(), testing::RandomLimit(engine, rng, start));
    const Limiter there =
        Make(testing::FreshRedisStore(WithQuietTime()), here.rules()[0].limit);
    const int64_t capacity = here.Peek("k")->rules()[0].limit;
    Micros promised(0);
    for (int i = 0; i < 200; ++i) {
      const int64_t jitter = rng.Uniform(-1, 1);
      t +=
          rng.OneIn(3) ? promised.count() + jitter : rng.LogUniform(1, 1 << 20);
      if (rng.OneIn(10)) t -= rng.LogUniform(1, 1 << 24);
      // What is promised must lie before the year 2255.
      if (t > kMaxExact - kMaxWindowUs) break;
      const std::string_view key = "k";
      const int64_t costs[] = {
          rng.OneIn(2) ? 1 : rng.LogUniform(1, capacity + 1), 1};
      Call call;
      call.keys = absl::MakeConstSpan(&key, 1);
      call.costs = costs;
      call.now = Time(Micros(t));
      const Op op = rng.OneIn(4)    ? Op::kPeek
                    : rng.OneIn(5)  ? Op::kRefund
                    : rng.OneIn(50) ? Op::kReset
                                    : Op::kCheck;
      const auto a = here.Run(op, call);
      const auto b = there.Run(op, call);
      ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
      ASSERT_EQ(testing::ToText(*a), testing::ToText(*b))
          << testing::ToText(here.rules()[0].limit) << ", call " << i;
      promised = a->retry_after.value_or(a->reset_after);
    }
  }
}

}  // namespace
}  // namespace weir

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(
    QuietTime, weir::testing::IfThereIsRedis(MyEngines()),
    weir::testing::RedisFactory(weir::WithQuietTime()));
