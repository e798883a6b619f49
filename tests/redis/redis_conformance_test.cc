// The laws, over the store on Redis.
#include <vector>

#include "tests/redis/redis_factory.h"
#include "weir/testing/conformance.h"

namespace weir::testing {
namespace {

// leaky_bucket and uniform run gcra's script, as token_bucket does: they have
// their turn where time allows it.
std::vector<EngineUnderTest> Engines() {
  std::vector<EngineUnderTest> engines;
  for (const EngineUnderTest& e : BuiltInEngines()) {
    const bool again =
        e.algorithm == "leaky_bucket" || e.algorithm == "uniform";
    if (FullRun() || !again) engines.push_back(e);
  }
  return IfThereIsRedis(engines);
}

TEST(RedisConformance, HasAServer) { WEIR_NEEDS_REDIS_SERVER(); }

}  // namespace
}  // namespace weir::testing

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(Redis, weir::testing::Engines(),
                                     weir::testing::RedisFactory());
