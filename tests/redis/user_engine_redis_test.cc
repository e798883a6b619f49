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

// No server is asked.
std::string WhyNot(const Registry& registry, const Limit& limit,
                   RedisStoreOptions store_options) {
  auto store = RedisStore::Create("redis://127.0.0.1", store_options);
  EXPECT_TRUE(store.ok()) << store.status();
  LimiterOptions options;
  options.registry = &registry;
  const absl::Status status =
      Limiter::Create(*std::move(store), limit, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  return std::string(status.message());
}

TEST(UserEngineOnRedis, WithoutALuaHalfIsRefusedByName) {
  const Limit limit = Renamed(Limit::Uniform(Micros(5)), "my_uniform");
  EXPECT_EQ(WhyNot(UserRegistry(), limit, {}),
            "rule \"default\": algorithm \"my_uniform\" cannot decide on "
            "Redis: its Lua half is missing in RedisStoreOptions::engines, "
            "which has none");
  RedisStoreOptions options;
  options.engines = {{"my_unifrom", LuaOf("uniform")},
                     {"my_gcra", LuaOf("gcra")}};
  EXPECT_EQ(WhyNot(UserRegistry(), limit, options),
            "rule \"default\": algorithm \"my_uniform\" cannot decide on "
            "Redis: its Lua half is missing in RedisStoreOptions::engines, "
            "which has \"my_gcra\", \"my_unifrom\"");
}

TEST(UserEngineOnRedis, WithAHeaderForMemoryOnlyIsRefusedByName) {
  EngineInfo info = *Registry::BuiltIn().Find("gcra");
  info.name = "half";
  info.script = nullptr;
  Registry registry = Registry::BuiltIn();
  ASSERT_TRUE(registry.Add(info).ok());
  RedisStoreOptions options;
  options.engines = {{"half", LuaOf("gcra")}};
  EXPECT_EQ(
      WhyNot(registry, Renamed(Limit::Gcra(1, std::chrono::hours(1)), "half"),
             options),
      "rule \"default\": algorithm \"half\" cannot decide on Redis: its "
      "header has no kScriptBytes, WriteRecord, WriteStep and ReadState "
      "(weir/script.h)");
}

TEST(UserEngineOnRedis, ErrorsInItsScriptAreToldAndHurtNobodyElse) {
  WEIR_NEEDS_REDIS_SERVER();
  const Limit mine =
      Renamed(Limit::FixedWindow(3, std::chrono::hours(1)), "my_fixed_window");
  const Limit theirs = Limit::Gcra(2, std::chrono::hours(1));
  LimiterOptions options;
  options.registry = &UserRegistry();
  for (const char* lua : {"return nonsense(", "return nonsense()"}) {
    RedisStoreOptions store_options;
    store_options.engines = {{"my_fixed_window", lua}};
    const auto store = testing::FreshRedisStore(store_options);
    for (const std::vector<Rule>& rules :
         {std::vector<Rule>{{"mine", mine}},
          std::vector<Rule>{{"mine", mine}, {"theirs", theirs}}}) {
      const absl::Status told =
          Limiter::Create(store, rules, options)->Check("k").status();
      EXPECT_EQ(told.code(), absl::StatusCode::kFailedPrecondition) << told;
      EXPECT_NE(told.message().find("user_script:"), std::string_view::npos)
          << told;
    }
    const auto both = Limiter::Create(
        store, std::vector<Rule>{{"a", theirs}, {"b", theirs}}, options);
    EXPECT_TRUE(both->Check("k").ok()) << both->Check("k").status();
  }
}

TEST(UserEngineOnRedis, DecidesManyKeysInOneCommand) {
  WEIR_NEEDS_REDIS_SERVER();
  LimiterOptions options;
  options.registry = &UserRegistry();
  const auto store = testing::FreshRedisStore(WithUserEngines());
  const auto limiter = Limiter::Create(
      store,
      Renamed(Limit::FixedWindow(3, std::chrono::hours(1)), "my_fixed_window"),
      options);
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  ASSERT_TRUE(limiter->Check("warm").ok());
  testing::RedisServer& server = *testing::SharedRedis();
  // Of another type: that key's error.
  server.Call(
      {"SADD",
       std::string(store->name_space()) + ":default:my_fixed_window:{bad}",
       "x"});
  server.Call({"CONFIG", "RESETSTAT"});
  const std::vector<std::string_view> keys = {"a", "b", "a", "bad", "a", "a"};
  const auto all = limiter->CheckMany(keys);
  EXPECT_EQ(server.CallsOf("evalsha"), 1);
  const int64_t remaining[] = {2, 2, 1, 0, 0, 0};
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(all[i].ok(), i != 3) << all[i].status();
    if (i == 3) continue;
    EXPECT_EQ(all[i]->allowed, i < 5);
    EXPECT_EQ(all[i]->remaining, remaining[i]);
  }
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
