// What is true of the store on Redis alone: scripts, keys, bytes, expiry, the
// server's time. What it answers is in the conformance and random tests.
#include "weir/redis_store.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/redis/script_set.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/redis/redis_cluster.h"
#include "tests/redis/redis_factory.h"
#include "weir/bound_key.h"
#include "weir/limiter.h"
#include "weir/testing/engine_samples.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::RawReply;
using testing::RedisServer;
using testing::WaitUntil;

class RedisStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    server_ = RedisServer::Start();
    ASSERT_NE(server_, nullptr);
    RedisStoreOptions options;
    options.timeout = seconds(10);
    absl::StatusOr<std::shared_ptr<RedisStore>> store =
        RedisStore::Create(server_->url(), options);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  RawReply Ask(const std::vector<std::string>& words) {
    return server_->Call(words);
  }
  int64_t Keys() { return Ask({"DBSIZE"}).integer; }

  int64_t Info(const std::string& section, const std::string& field) {
    return server_->Info(section, field);
  }
  int64_t CallsOf(const std::string& command) {
    return server_->CallsOf(command);
  }

  Limiter Make(std::vector<Rule> rules) {
    absl::StatusOr<Limiter> limiter = Limiter::Create(store_, std::move(rules));
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }
  Limiter Make(Limit limit) {
    return Make(std::vector<Rule>{{"default", std::move(limit)}});
  }

  // A sample of each algorithm.
  std::vector<Rule> OneOfEach() {
    std::vector<Rule> rules;
    for (const testing::EngineUnderTest& e : testing::BuiltInEngines()) {
      rules.push_back({e.algorithm, e.samples.at(0)});
    }
    return rules;
  }

  std::unique_ptr<RedisServer> server_;
  std::shared_ptr<RedisStore> store_;
};

Decision Decided(absl::StatusOr<Decision> d) {
  EXPECT_TRUE(d.ok()) << d.status();
  return d.ok() ? *std::move(d) : Decision();
}

// `key` is to outlive it.
Call At(const std::string_view& key, Time now) {
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.now = now;
  return call;
}

TEST_F(RedisStoreTest, TheScriptCacheHoldsFewTextsHoweverManyLimits) {
  for (int i = 1; i <= 3; ++i) {
    for (const Rule& rule : OneOfEach()) {
      for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund, Op::kReset}) {
        const std::string_view key = "k";
        Call call;
        call.keys = absl::MakeConstSpan(&key, 1);
        EXPECT_TRUE(Make(rule.limit).Run(op, call).ok());
      }
    }
    Decided(Make(Limit::Gcra(i, seconds(i))).Check("k"));
    Decided(Make(OneOfEach()).Check("k"));
    for (const Rule& rule : OneOfEach()) {
      for (const auto& d : Make(rule.limit).CheckMany({"k", "l", "m"})) {
        Decided(d);
      }
    }
  }
  EXPECT_LE(Info("memory", "number_of_cached_scripts:"), 12);
}

TEST_F(RedisStoreTest, ARefundThatCantReadAKeyGivesNothingBack) {
  const Limiter both = Make({{"first", Limit::Gcra(10, hours(1))},
                             {"second", Limit::Gcra(10, hours(1))}});
  Decided(both.Check("k", 5));
  ASSERT_EQ(Ask({"EVAL",
                 "local n = 0 "
                 "for _, key in ipairs(redis.call('KEYS', '*')) do "
                 "if string.find(key, 'second', 1, true) then "
                 "redis.call('DEL', key) redis.call('SADD', key, 'x') "
                 "n = n + 1 end end return n",
                 "0"})
                .integer,
            1);
  const absl::Status failed = both.Refund("k", 3).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(failed)) << failed;
  const Limiter first =
      Make(std::vector<Rule>{{"first", Limit::Gcra(10, hours(1))}});
  EXPECT_EQ(Decided(first.Peek("k")).remaining, 5);
}

TEST_F(RedisStoreTest, AListHoldsNoMoreThanItsLimit) {
  const Limiter limiter = Make(Limit::SlidingLogList(3, seconds(10)));
  const std::string_view key = "k";
  const int64_t start = 1'700'000'000'000'000;
  for (const int64_t ms : {0, 100, 5'000, 12'000, 12'500}) {
    const Call call = At(key, TimeFromMicros(start + ms * 1000));
    EXPECT_TRUE(Decided(limiter.Check(call)).allowed) << ms;
    // The record is an element too.
    EXPECT_LE(
        Ask({"EVAL", "return redis.call('LLEN', redis.call('KEYS', '*')[1])",
             "0"})
            .integer,
        4)
        << ms;
  }
}

TEST_F(RedisStoreTest, EmbeddedHashesAreThoseOfTheServer) {
  const auto scripts = redis::ScriptSet::Make({});
  ASSERT_TRUE(scripts.ok());
  for (const EngineInfo* engine : Registry::BuiltIn().engines()) {
    const redis::Script& script = *scripts->Find(*engine)->alone;
    EXPECT_EQ(Ask({"SCRIPT", "LOAD", std::string(script.text)}).text,
              script.sha1);
  }
  const redis::Script& several =
      *scripts->Find(*Registry::BuiltIn().Find("gcra"))->together;
  EXPECT_EQ(Ask({"SCRIPT", "LOAD", std::string(several.text)}).text,
            several.sha1);
}

TEST_F(RedisStoreTest, ACallOfManyRulesIsOneCommand) {
  const Limiter limiter = Make(OneOfEach());
  Decided(limiter.Check("k"));
  Ask({"CONFIG", "RESETSTAT"});
  EXPECT_EQ(Decided(limiter.Check("k")).rules().size(), 11u);
  EXPECT_EQ(CallsOf("evalsha"), 1);
  EXPECT_EQ(CallsOf("eval"), 0);
  EXPECT_EQ(CallsOf("time"), 1);
}

TEST_F(RedisStoreTest, ALimitOfZeroAsksNobody) {
  const Limiter limiter = Make(Limit::Gcra(0, seconds(1)));
  EXPECT_TRUE(Decided(limiter.Check("k")).never());
  EXPECT_EQ(CallsOf("eval") + CallsOf("evalsha"), 0);
}

TEST_F(RedisStoreTest, AGcraKeyTakesFewBytes) {
  const Limiter limiter = Make(Limit::Gcra(100, seconds(1)).Burst(100'000));
  constexpr int64_t kKeys = 20'000;
  const auto used = [&] {
    // Tables that grow are rehashed a little by every call and by the clock.
    int64_t last = -1;
    WaitUntil([&] {
      const int64_t now = Info("memory", "used_memory:");
      const bool still = now == last;
      last = now;
      return still;
    });
    return last;
  };
  Decided(limiter.Check("warm", 90'000));
  const int64_t before = used();
  for (int64_t i = 0; i < kKeys; ++i) {
    const std::string key = std::to_string(1'000'000'000 + i);
    ASSERT_TRUE(Decided(limiter.Check(key, 90'000)).allowed);
  }
  ASSERT_EQ(Keys(), kKeys + 1);
  // 161 at sizes that fill the tables; here a table may be half empty, which
  // is 16 bytes a key at most.
  EXPECT_LE((used() - before) / kKeys, 161 + 16);
  const std::string name = "weir:default:gcra:{1000000000}";
  EXPECT_LE(name.size(), 30u);                   // 32 with its head
  EXPECT_LE(Ask({"STRLEN", name}).integer, 28);  // 48 with its head
}

TEST_F(RedisStoreTest, NoKeyIsLeftOnceEveryWindowHasPassed) {
  // By the server's own time.
  std::vector<Rule> rules;
  const auto w = milliseconds(20);
  for (const Limit& limit :
       {Limit::Gcra(5, w), Limit::FixedWindow(5, w), Limit::SlidingLog(5, w),
        Limit::SlidingLogList(5, w), Limit::BucketedWindow(5, w, w / 4),
        Limit::SlidingWindowCounter(5, w), Limit::WindowedTokenBucket(5, w, 2),
        Limit::Ar1(5, 100, w / 10)}) {
    rules.push_back({limit.algorithm(), limit});
  }
  for (const Rule& rule : rules) Decided(Make({rule}).Check("alone"));
  Decided(Make(rules).Check("together"));
  EXPECT_GT(Keys(), 0);
  EXPECT_TRUE(WaitUntil([&] { return Keys() == 0; }, seconds(5)));
}

TEST_F(RedisStoreTest, EveryKeyExpiresAlsoOneThatLostItsExpiry) {
  std::vector<Rule> rules = OneOfEach();
  const Time now = store_->Now();
  const std::string_view key = "k";
  for (const Rule& rule : rules) {
    const Limiter limiter = Make({rule});
    const std::string name =
        absl::StrCat("weir:", rule.name, ":", rule.name, ":{k}");
    for (int i = 0; i < 2; ++i) {
      const Decision d = Decided(limiter.Check(At(key, now + Micros(i))));
      const int64_t life = Ask({"PTTL", name}).integer;
      // The caller gave the time, so an hour is added.
      const int64_t least = d.reset_after.count() / 1000 + 3'590'000;
      EXPECT_GE(life, least) << name;
      EXPECT_LE(life, least + 12'000) << name;
      if (i == 0) {
        ASSERT_EQ(Ask({"PERSIST", name}).integer, 1) << name;
        Decided(limiter.Reset(key));
        Decided(limiter.Check(At(key, now)));
        ASSERT_EQ(Ask({"PERSIST", name}).integer, 1) << name;
        Decided(limiter.Refund(key, 0));
        Decided(limiter.Peek(key));
        EXPECT_EQ(Ask({"PTTL", name}).integer, -1) << name;
      }
    }
  }
}

TEST_F(RedisStoreTest, AKeyGetsALostExpiryBackByTheServersTimeToo) {
  for (const Rule& rule : OneOfEach()) {
    const Limiter limiter = Make({rule});
    const std::string name =
        absl::StrCat("weir:", rule.name, ":", rule.name, ":{k}");
    ASSERT_TRUE(Decided(limiter.Check("k")).allowed) << name;
    ASSERT_EQ(Ask({"PERSIST", name}).integer, 1) << name;
    ASSERT_TRUE(Decided(limiter.Check("k")).allowed) << name;
    EXPECT_GT(Ask({"PTTL", name}).integer, 0) << name;
  }
}

TEST_F(RedisStoreTest, AStateThatNobodyCanReadIsAnErrorAndStays) {
  for (const Rule& rule : OneOfEach()) {
    const std::string name =
        absl::StrCat("weir:", rule.name, ":", rule.name, ":{k}");
    const Limiter limiter = Make({rule});
    for (const std::string& value :
         {std::string("something else"), std::string(60, '\2')}) {
      Ask({"SET", name, value});
      const absl::StatusOr<Decision> d = limiter.Check("k");
      EXPECT_FALSE(d.ok()) << name;
      EXPECT_EQ(Ask({"GET", name}).text, value);
    }
  }
}

// Entries of a sorted set without their time: 7 bytes, or 14 with a cost. Two
// versions on one key leave both forms in turns.
TEST_F(RedisStoreTest, NumbersWithoutEndDoNotKeepTheServerBusy) {
  constexpr double kEndless = std::numeric_limits<double>::infinity();
  const Limiter limiter = Make(Limit::Ar1(5, 2.0, seconds(1)));
  Decided(limiter.Check("k"));
  const std::string key = "weir:default:ar1:{k}";
  for (const double slot : {-kEndless, kEndless, std::nan("")}) {
    std::string bytes(sizeof slot, '\0');
    std::memcpy(bytes.data(), &slot, sizeof slot);
    Ask({"SETRANGE", key, "0", bytes});
    const absl::Status status = limiter.Peek("k").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                ::testing::HasSubstr("WEIRSTATE"));
  }
}

TEST_F(RedisStoreTest, ALogWhoseEntriesLackTheirTimeIsReadAlike) {
  constexpr char kLeaveOutTimes[] = R"(
local all = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = ARGV[1], #all, 4 do
  local sum, cost = struct.unpack('>I7I7', all[i])
  local short = cost == 1 and 7 or 14
  redis.call('ZREM', KEYS[1], all[i])
  redis.call('ZADD', KEYS[1], all[i + 1], string.sub(all[i], 1, short))
end
return #all / 2 - 1)";
  const Limiter limiter = Make(Limit::SlidingLog(9, seconds(10)));
  const Time start = store_->Now();
  // `rewritten`: after so many of the calls.
  const auto decide = [&](std::string_view key, size_t rewritten) {
    std::vector<std::string> told;
    for (size_t i = 0; i < 24; ++i) {
      if (i == rewritten) {
        const std::string name =
            "weir:default:sliding_log:{" + std::string(key) + "}";
        const std::string first = key[0] == 'o' ? "3" : "5";
        EXPECT_GT(Ask({"EVAL", kLeaveOutTimes, "1", name, first}).integer, 1);
      }
      Call call = At(key, start + seconds(i));
      const int64_t cost = 1 + static_cast<int64_t>(i % 3);
      call.costs = absl::MakeConstSpan(&cost, 1);
      const Decision d = Decided(limiter.Check(call));
      told.push_back(absl::StrCat(d.allowed, " ", d.remaining, " ",
                                  d.retry_after.value_or(Micros(-1)).count(),
                                  " ", d.reset_after.count()));
    }
    return told;
  };
  const std::vector<std::string> plain = decide("plain", 99);
  for (const size_t n : {2, 3, 5, 8, 12}) {
    for (const char* const which : {"odd", "even"}) {
      EXPECT_EQ(decide(absl::StrCat(which, n), n), plain) << which << n;
    }
  }
}

TEST_F(RedisStoreTest, AnErrorInOneRuleChargesNone) {
  std::vector<Rule> rules = OneOfEach();
  for (size_t i = 0; i < rules.size(); ++i) {
    Ask({"FLUSHALL"});
    const std::string name =
        absl::StrCat("weir:", rules[i].name, ":", rules[i].name, ":{k}");
    Ask({"SADD", name, "of another type"});
    EXPECT_FALSE(Make(rules).Check("k").ok()) << name;
    EXPECT_EQ(Keys(), 1) << name;
  }
}

TEST_F(RedisStoreTest, ScriptsComeBackAfterTheCacheWasEmptied) {
  const Limiter limiter = Make(Limit::FixedWindow(3, hours(1)));
  Decided(limiter.Check("k"));
  Ask({"SCRIPT", "FLUSH"});
  EXPECT_EQ(Decided(limiter.Check("k")).remaining, 1);
}

TEST_F(RedisStoreTest, TheServersTimeRules) {
  const Limiter limiter = Make(Limit::Gcra(10, hours(1)));
  const int64_t before = ToMicros(store_->Now());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Decided(limiter.Check("k")).allowed);
  const Decision denied = Decided(limiter.Check("k"));
  const int64_t passed = ToMicros(store_->Now()) - before;
  EXPECT_FALSE(denied.allowed);
  const int64_t full = Micros(hours(1)).count();
  EXPECT_LE(denied.reset_after.count(), full);
  EXPECT_GE(denied.reset_after.count(), full - passed - 1);
  EXPECT_LE(denied.retry_after->count(), full / 10);
  EXPECT_GE(denied.retry_after->count(), full / 10 - passed - 1);
}

TEST_F(RedisStoreTest, AReservationLiesAheadAndIsGivenBack) {
  const Limiter limiter = Make(Limit::Gcra(1, seconds(10)));
  const auto first = limiter.Reserve("k", 1, seconds(0));
  ASSERT_TRUE(first.ok() && first->reserved());
  EXPECT_EQ(first->wait(), Micros(0));
  auto second = limiter.Reserve("k", 1, seconds(20));
  ASSERT_TRUE(second.ok() && second->reserved());
  EXPECT_GT(*second->wait(), seconds(9));
  EXPECT_LE(*second->wait(), seconds(10));
  const auto third = limiter.Reserve("k", 1, seconds(15));
  ASSERT_TRUE(third.ok());
  EXPECT_FALSE(third->reserved());
  EXPECT_GT(*third->wait(), seconds(19));
  ASSERT_TRUE(second->Cancel().ok());
  EXPECT_LE(*Decided(limiter.Peek("k")).retry_after, seconds(10));
}

TEST(RedisStoreOnACluster, DecidesCallsWhoseKeysShareATag) {
  WEIR_NEEDS_REDIS_SERVER();
  auto cluster = testing::RedisCluster::Start();
  ASSERT_NE(cluster, nullptr);
  RedisStoreOptions options;
  options.timeout = seconds(10);
  const auto store = RedisStore::Create(
      absl::StrCat("redis+cluster://127.0.0.1:", cluster->node(0).port()),
      options);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto limiter = Limiter::Create(
      *store, std::vector<Rule>{{"host", Limit::SlidingLog(2, hours(1))},
                                {"client", Limit::Gcra(1, hours(1))}});
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  for (const std::string tag : {"a", "", "}", "{b}", "%", "c{d"}) {
    int granted = 0;
    for (const char* client : {"/x", "/x", "/y", "/z"}) {
      const std::string key = tag + client;
      const std::vector<std::string_view> keys = {tag, key};
      Call call;
      call.keys = keys;
      call.tag = tag;
      granted += Decided(limiter->Check(call)).allowed ? 1 : 0;
    }
    EXPECT_EQ(granted, 2) << tag;
  }
}

TEST(RedisStoreOnACluster, KnowsTheTagOfAKeyHoweverItIsAsked) {
  WEIR_NEEDS_REDIS_SERVER();
  const auto cluster = testing::RedisCluster::Start(1, 0);
  ASSERT_NE(cluster, nullptr);
  RedisStoreOptions patient;
  patient.timeout = seconds(10);
  absl::StatusOr<std::shared_ptr<RedisStore>> store =
      RedisStore::Create(cluster->url(), patient);
  ASSERT_TRUE(store.ok()) << store.status();
  LimiterOptions options;
  options.tag_of = [](std::string_view key) {
    return key.substr(0, key.find('|'));
  };
  const Rule host = {"host", Limit::SlidingLog(100, hours(1))};
  const Rule client = {"client", Limit::Gcra(100, hours(1))};
  const Limiter both =
      *Limiter::Create(*store, std::vector<Rule>{host, client}, options);
  const Limiter clients =
      *Limiter::Create(*store, std::vector<Rule>{client}, options);
  for (const std::string tag : {"a", "", "}", "{b}", "%", "c{d"}) {
    const std::string key = tag + "|x";
    const std::string_view keys[] = {tag, key};
    Call call;
    call.keys = keys;
    // Each of these takes one more of the same state.
    Decided(both.Check(call));
    Decided(clients.Check(key));
    EXPECT_TRUE(clients.Bind(key)->Check().ok());
    const std::string_view twice[] = {key, key};
    for (const auto& d : clients.CheckMany(twice)) Decided(d);
    Decided(clients.Reserve(key, 1, seconds(0))->decision());
    EXPECT_EQ(Decided(clients.Peek(key)).remaining, 94) << tag;
    Decided(clients.Refund(key, 2));
    EXPECT_EQ(Decided(both.Peek(call)).rules()[1].remaining, 96) << tag;
    Decided(clients.Reset(key));
    EXPECT_EQ(Decided(both.Peek(call)).rules()[1].remaining, 100) << tag;
  }
}

TEST(RedisStore, RefusesWhatItCannotUse) {
  const auto message = [](std::string_view url, RedisStoreOptions options) {
    return std::string(RedisStore::Create(url, options).status().message());
  };
  EXPECT_NE(message("http://somewhere", {}), "");
  RedisStoreOptions options;
  options.timeout = Micros(0);
  EXPECT_EQ(message("redis://127.0.0.1", options),
            "timeout: 0us; allowed: 1us to 3600000000us");
  options = {};
  options.engines = {{"mine", ""}};
  EXPECT_EQ(message("redis://127.0.0.1", options),
            "engines: \"mine\" has no Lua half");
  options.engines = {{"mine", "return"}, {"mine", "return"}};
  EXPECT_EQ(message("redis://127.0.0.1", options),
            "engines: \"mine\" stands twice");
  options.engines = {{"gcra", "return"}};
  EXPECT_EQ(message("redis://127.0.0.1", options),
            "engines: \"gcra\" is weir's own; allowed: another name");
}

}  // namespace
}  // namespace weir
