// The permissions that docs/redis.md publishes: enough for all that is sent,
// and nothing is in the list for nothing.
#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/slot.h"
#include "engine_scripts.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/redis/redis_cluster.h"
#include "tests/redis/redis_server.h"
#include "weir/limiter.h"
#include "weir/redis_store.h"
#include "weir/testing/engine_samples.h"

namespace weir::redis {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::IsSubsetOf;
using ::testing::UnorderedElementsAreArray;

// The command of docs/redis.md, word by word.
std::vector<std::string> PublishedAcl() {
  std::ostringstream text;
  text << std::ifstream(WEIR_REDIS_DOC).rdbuf();
  const std::string doc = text.str();
  const size_t at = doc.find("ACL SETUSER");
  if (at == std::string::npos) return {};
  std::istringstream block(doc.substr(at, doc.find("```", at) - at));
  return {std::istream_iterator<std::string>(block), {}};
}

// The commands that a script's text names, in lower case.
std::set<std::string> CommandsOf(const Script& script) {
  constexpr std::string_view kCall = "call('";
  std::set<std::string> names;
  for (size_t at = 0;
       (at = script.text.find(kCall, at)) != std::string_view::npos;) {
    at += kCall.size();
    std::string name(script.text.substr(at, script.text.find('\'', at) - at));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    names.insert(std::move(name));
  }
  return names;
}

std::vector<Script> AllScripts() {
  std::vector<Script> all(std::begin(kEngineScripts), std::end(kEngineScripts));
  all.push_back(kSeveralScript);
  return all;
}

size_t CountIn(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos;) {
    at += part.size();
    ++count;
  }
  return count;
}

TEST(Permissions, AreThoseThatTheScriptsNameAndAFewMore) {
  std::set<std::string> named = {"evalsha", "eval",          "select",
                                 "info",    "cluster|slots", "asking"};
  for (const Script& script : AllScripts()) {
    // A command is called in no other form.
    EXPECT_EQ(CountIn(script.text, "redis."), 1u) << script.name;
    EXPECT_EQ(CountIn(script.text, "call(") - CountIn(script.text, "pcall("),
              CountIn(script.text, "call('"))
        << script.name;
    named.merge(CommandsOf(script));
  }
  std::vector<std::string> published;
  for (const std::string& word : PublishedAcl()) {
    if (word[0] == '+') published.push_back(word.substr(1));
  }
  EXPECT_THAT(published, UnorderedElementsAreArray(named));
}

// Makes calls of every kind, so that a script goes every way it has: by the
// server's time and by times that run on, stand and jump back; few and many
// entries, which leave together and one by one; under one limit after the
// other.
void CallInEveryWay(const std::shared_ptr<RedisStore>& store,
                    const std::vector<std::vector<Rule>>& configurations) {
  const std::string_view key = "k";
  const Time start = store->Now();
  for (const std::vector<Rule>& rules : configurations) {
    const auto limiter = Limiter::Create(store, rules);
    ASSERT_TRUE(limiter.ok()) << limiter.status();
    Call call;
    call.keys = absl::MakeConstSpan(&key, 1);
    for (const int64_t hours_on : {-1, 0, 1, 90'000, 2}) {
      for (int i = 0; i < 20; ++i) {
        if (hours_on >= 0) call.now = start + hours(hours_on);
        for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund}) {
          if (op == Op::kRefund && i % 5 != 0) continue;
          const auto d = limiter->Run(op, call);
          ASSERT_TRUE(d.ok()) << rules[0].name << ": " << d.status();
        }
      }
    }
    call.now = start + hours(90'000);
    for (int i = 0; i < 90; ++i) {
      const auto d = limiter->Run(Op::kCheck, call);
      ASSERT_TRUE(d.ok()) << rules[0].name << ": " << d.status();
      // Far apart, close together, and leaps that leave the last ones there.
      const int twentieths = i < 20 ? 5 : i % 30 == 29 ? 15 : 1;
      const Micros step = d->reset_after / 20 * twentieths + Micros(1);
      *call.now += std::min(step, Micros(hours(24)));
    }
  }
  const auto limiter = Limiter::Create(store, configurations.front());
  EXPECT_TRUE(limiter->Reset("k").ok());
}

// Those that it ran since its statistics were reset.
std::set<std::string> CommandsRunBy(testing::RedisServer& server) {
  std::set<std::string> names;
  std::istringstream lines(server.Call({"INFO", "commandstats"}).text);
  const std::string before = "cmdstat_";
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(before, 0) != 0 || line.find(":calls=0,") != line.npos) {
      continue;
    }
    names.insert(line.substr(before.size(), line.find(':') - before.size()));
  }
  return names;
}

TEST(Permissions, AreEnoughForEveryCommandOfEveryScript) {
  WEIR_NEEDS_REDIS_SERVER();
  const auto server = testing::RedisServer::Start();
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(server->Call(PublishedAcl()).ok());
  RedisStoreOptions options;
  options.timeout = seconds(10);
  const auto store = *RedisStore::Create(
      "redis://weir:password@127.0.0.1:" + std::to_string(server->port()) +
          "/1",
      options);
  // Texts share functions that only some of them use, so those of calls of one
  // rule are taken together.
  std::set<std::string> named;
  for (const Script& script : kEngineScripts) named.merge(CommandsOf(script));
  std::vector<std::vector<Rule>> of_all;
  ASSERT_TRUE(server->Call({"CONFIG", "RESETSTAT"}).ok());
  for (const testing::EngineUnderTest& e : testing::BuiltInEngines()) {
    std::vector<std::vector<Rule>> of_one;
    for (size_t i = 0; i < e.samples.size(); ++i) {
      of_one.push_back({{e.algorithm, e.samples[i]}});
      if (of_all.size() <= i) of_all.emplace_back();
      of_all[i].push_back(of_one.back().front());
    }
    CallInEveryWay(store, of_one);
  }
  EXPECT_THAT(named, IsSubsetOf(CommandsRunBy(*server)));
  ASSERT_TRUE(server->Call({"CONFIG", "RESETSTAT"}).ok());
  CallInEveryWay(store, of_all);
  EXPECT_THAT(CommandsOf(kSeveralScript), IsSubsetOf(CommandsRunBy(*server)));
}

TEST(Permissions, AreEnoughOnACluster) {
  WEIR_NEEDS_REDIS_SERVER();
  const auto cluster = testing::RedisCluster::Start();
  ASSERT_NE(cluster, nullptr);
  for (int i = 0; i < cluster->size(); ++i) {
    ASSERT_TRUE(cluster->node(i).Call(PublishedAcl()).ok());
  }
  RedisStoreOptions options;
  options.timeout = seconds(10);
  std::string url = cluster->url();
  url.insert(url.find("//") + 2, "weir:password@");
  const auto store = *RedisStore::Create(url, options);
  const auto limiter = Limiter::Create(store, Limit::FixedWindow(1, hours(1)));
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  for (int i = 0; i < 20; ++i) {
    const auto d = limiter->Check(std::to_string(i));
    ASSERT_TRUE(d.ok()) << d.status();
  }
  // A slot that is moving: its new keys are asked for with ASKING.
  const int slot = SlotOf("k");
  const int from = cluster->MasterOf(slot);
  ASSERT_TRUE(cluster->BeginMove(slot, from, (from + 1) % 3));
  for (const bool allowed : {true, false}) {
    const auto d = limiter->Check("k");
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->allowed, allowed);
  }
  std::map<std::string, int64_t, std::less<>> counted;
  store->VisitCounters([&](std::string_view name, int64_t value) {
    counted.emplace(name, value);
  });
  EXPECT_EQ(counted.at("met_no_permission"), 0);
  EXPECT_GE(counted.at("met_ask"), 1);
  EXPECT_GE(counted.at("map_refreshes"), 1);
}

}  // namespace
}  // namespace weir::redis
