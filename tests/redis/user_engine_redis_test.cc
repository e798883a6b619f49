// The laws for engines from outside the tree on Redis: the store is given their
// Lua halves. They are those of the engines that weir brings, so that what is
// tested is how they are taken in.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/redis/redis_factory.h"
#include "tests/user_engines.h"
#include "weir/limiter.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace {

// The Lua half of a built-in engine, which may be another one's.
std::string LuaOf(const std::string& name) {
  const bool family =
      name == "token_bucket" || name == "leaky_bucket" || name == "uniform";
  std::ifstream in(std::string(WEIR_LUA_DIR) + "/" + (family ? "gcra" : name) +
                   ".lua");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

RedisStoreOptions WithUserEngines() {
  RedisStoreOptions options;
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    const std::string name(engine->name);
    options.engines.push_back({"my_" + name, LuaOf(name)});
  }
  return options;
}

// One of each kind; the whole kit where time allows it.
std::vector<testing::EngineUnderTest> Chosen() {
  std::vector<testing::EngineUnderTest> all = UserEngines();
  if (testing::FullRun()) return testing::IfThereIsRedis(all);
  std::vector<testing::EngineUnderTest> few;
  for (const testing::EngineUnderTest& e : all) {
    if (e.algorithm == "my_gcra" || e.algorithm == "my_bucketed_window") {
      few.push_back(e);
    }
  }
  return testing::IfThereIsRedis(few);
}

TEST(UserEngineOnRedis, WithoutALuaHalfIsRefusedByName) {
  WEIR_NEEDS_REDIS_SERVER();
  LimiterOptions options;
  options.registry = &UserRegistry();
  const absl::Status status =
      Limiter::Create(testing::FreshRedisStore(),
                      Renamed(Limit::Uniform(Micros(5)), "my_uniform"), options)
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("\"my_uniform\" has no Lua half"),
            std::string_view::npos)
      << status;
}

TEST(UserEngineOnRedis, StandsBesideTheOthersInOneCall) {
  WEIR_NEEDS_REDIS_SERVER();
  LimiterOptions options;
  options.registry = &UserRegistry();
  const auto limiter = Limiter::Create(
      testing::FreshRedisStore(WithUserEngines()),
      std::vector<Rule>{
          {"mine", Renamed(Limit::FixedWindow(3, std::chrono::hours(1)),
                           "my_fixed_window")},
          {"theirs", Limit::Gcra(2, std::chrono::hours(1))}},
      options);
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  for (const bool allowed : {true, true, false}) {
    const auto d = limiter->Check("k");
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->allowed, allowed);
  }
  EXPECT_EQ(limiter->Peek("k")->rules()[0].remaining, 1);
}

}  // namespace
}  // namespace weir

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(
    User, weir::Chosen(), weir::testing::RedisFactory(weir::WithUserEngines()));
