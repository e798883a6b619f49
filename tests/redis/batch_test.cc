// Checks of many keys that go as few commands: how few, and that each key ends
// as if it had gone alone, whatever the server says or does.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "gtest/gtest.h"
#include "tests/kit/decision_text.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/limiter_fixture.h"
#include "weir/testing/engine_samples.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Counted;
using testing::FakeServer;
using Answer = FakeServer::Answer;
using Command = FakeServer::Command;
using Decisions = std::vector<absl::StatusOr<Decision>>;

// "0", "1" ... Views into it last as long as the program.
std::vector<std::string_view> Keys(size_t count, std::string_view before = "") {
  static auto* const kept = new std::deque<std::string>;
  std::vector<std::string_view> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(kept->emplace_back(absl::StrCat(Sv(before), i)));
  }
  return keys;
}

class BatchTest : public testing::LimiterOnRedis {
 protected:
  // How many commands CheckMany of so many keys sends.
  int64_t CommandsFor(const Limiter& limiter, size_t keys) {
    EXPECT_TRUE(limiter.Check("warm").ok());
    EXPECT_TRUE(server_->Call({"CONFIG", "RESETSTAT"}).ok());
    for (const auto& d : limiter.CheckMany(Keys(keys))) {
      EXPECT_TRUE(d.ok()) << d.status();
    }
    EXPECT_EQ(server_->CallsOf("eval"), 0);
    return server_->CallsOf("evalsha");
  }
  // What a fixed window's keys have used, by their names.
  int64_t Used(const Limiter& limiter, std::string_view key) {
    const auto d = limiter.Peek(key);
    EXPECT_TRUE(d.ok()) << d.status();
    return d.ok() ? d->limit - d->remaining : -1;
  }
  void ExpectUsed(const Limiter& limiter,
                  const std::vector<std::string_view>& keys, int64_t used) {
    for (const std::string_view key : keys) {
      EXPECT_EQ(Used(limiter, key), used) << key;
    }
  }
};

TEST_F(BatchTest, ThirtyTwoKeysOfOneRuleAreOneCommand) {
  Open();
  const Limiter limiter = Make(Limit::Gcra(9, hours(1)));
  for (const auto& [keys, commands] : std::vector<std::pair<size_t, int64_t>>{
           {1, 1}, {2, 1}, {32, 1}, {33, 2}, {64, 2}, {65, 3}, {1000, 32}}) {
    EXPECT_EQ(CommandsFor(limiter, keys), commands) << keys;
    // The time is read once for a command.
    EXPECT_EQ(server_->CallsOf("time"), commands) << keys;
  }
}

TEST_F(BatchTest, TheOptionSaysHowManyKeysAreOneCommand) {
  options_.batch = 10;
  Open();
  EXPECT_EQ(CommandsFor(Make(Limit::Gcra(9, hours(1))), 64), 7);
  Open("?batch=1");
  EXPECT_EQ(CommandsFor(Make(Limit::Gcra(9, hours(1))), 64), 64);
}

TEST_F(BatchTest, CallsThatDifferInMoreThanTheirKeyAreNotOneCommand) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
  const std::vector<std::string_view> keys = Keys(6);
  const std::vector<int64_t> costs = {1, 1, 2, 2, 2, 1};
  std::vector<Call> calls(6);
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].keys = absl::MakeConstSpan(&keys[i], 1);
    calls[i].costs = absl::MakeConstSpan(&costs[i], 1);
  }
  ASSERT_TRUE(limiter.Check("warm").ok());
  server_->Call({"CONFIG", "RESETSTAT"});
  const Decisions all = limiter.CheckMany(calls);
  EXPECT_EQ(server_->CallsOf("evalsha"), 3);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->remaining, 9 - costs[i]);
  }
  // Those of several rules are a command each.
  const auto two = Limiter::Create(
      store_, std::vector<Rule>{{"a", Limit::FixedWindow(9, hours(1))},
                                {"b", Limit::Gcra(9, hours(1))}});
  EXPECT_EQ(CommandsFor(*two, 64), 64);
}

// What may stand before several servers, each with some of the keys.
TEST_F(BatchTest, WhoDoesNotSayThatItIsAServerIsAskedKeyByKey) {
  ASSERT_TRUE(server_
                  ->Call({"ACL", "SETUSER", "app", "on", ">secret", "~*",
                          "+@all", "-info"})
                  .ok());
  for (const bool says : {false, true}) {
    const auto store =
        RedisStore::Create(absl::StrCat("redis://", says ? "" : "app:secret@",
                                        "127.0.0.1:", server_->port()),
                           options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *store;
    EXPECT_EQ(CommandsFor(Make(Limit::Gcra(9, hours(1))), 64), says ? 2 : 64);
  }
}

// One that has every slot also answers a client that knows nothing of clusters;
// but it runs no script whose keys lie in different slots.
TEST_F(BatchTest, AServerWithSlotsIsAskedKeyByKey) {
  server_ = testing::RedisServer::Start({"--cluster-enabled", "yes"});
  ASSERT_NE(server_, nullptr);
  ASSERT_TRUE(server_->TakeEverySlot());
  const std::vector<std::string_view> keys = Keys(64);
  int64_t used = 0;
  for (const bool is_told : {false, true}) {
    const auto store =
        RedisStore::Create(absl::StrCat(is_told ? "redis+cluster" : "redis",
                                        "://127.0.0.1:", server_->port()),
                           options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *store;
    const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
    ASSERT_TRUE(testing::WaitUntil([&] { return limiter.Check("k").ok(); }));
    // The first time it has to say so.
    for (const int64_t sends : {is_told ? 1 : 2, 1}) {
      const int64_t before = Counted("sends");
      server_->Call({"CONFIG", "RESETSTAT"});
      for (const auto& d : limiter.CheckMany(keys)) {
        ASSERT_TRUE(d.ok()) << d.status();
      }
      EXPECT_EQ(server_->CallsOf("evalsha"), 64);
      EXPECT_EQ(Counted("sends") - before, sends);
      ++used;
    }
    ExpectUsed(limiter, keys, used);
  }
}

TEST_F(BatchTest, AKeyThatStandsTwiceCountsTwiceInItsOrder) {
  Open();
  for (const Limit& limit :
       {Limit::FixedWindow(5, hours(1)), Limit::Gcra(5, hours(1)),
        Limit::SlidingLog(5, hours(1)), Limit::SlidingLogList(5, hours(1))}) {
    const Limiter limiter = Make(limit);
    std::vector<std::string_view> keys;
    for (int i = 0; i < 8; ++i) {
      for (const std::string_view key : {"a", "b", "c"}) keys.push_back(key);
    }
    const Decisions all = limiter.CheckMany(keys);
    for (size_t i = 0; i < all.size(); ++i) {
      ASSERT_TRUE(all[i].ok()) << all[i].status();
      EXPECT_EQ(all[i]->allowed, i / 3 < 5) << limit.algorithm() << i;
      EXPECT_EQ(all[i]->remaining,
                i / 3 < 5 ? 4 - static_cast<int64_t>(i / 3) : 0);
    }
  }
}

TEST_F(BatchTest, KeysOfACommandHaveOneTimeOfTheServer) {
  Open();
  const Limiter limiter = Make(Limit::Gcra(10, hours(1)));
  ASSERT_TRUE(limiter.Check("warm").ok());
  const Time before = store_->Now();
  const Decisions first = limiter.CheckMany(Keys(32));
  const Decisions again = limiter.CheckMany(Keys(32));
  const auto passed = store_->Now() - before;
  for (const auto& d : first) {
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->reset_after, minutes(6));
  }
  for (const auto& d : again) {
    ASSERT_TRUE(d.ok()) << d.status();
    // The same for all, and less than before by the time between.
    EXPECT_EQ(testing::ToText(*d), testing::ToText(*again[0]));
    EXPECT_LE(d->reset_after, minutes(12));
    EXPECT_GE(d->reset_after, minutes(12) - passed);
  }
}

TEST_F(BatchTest, ThreadsThatAskForTheSameKeysGrantTheCapacity) {
  Open();
  const Limiter limiter = Make(Limit::SlidingLogList(100, hours(1)));
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const std::vector<std::string_view> keys = {"a", "b", "a", "c", "b"};
      for (int i = 0; i < 60; ++i) {
        for (const auto& d : limiter.CheckMany(keys)) {
          ASSERT_TRUE(d.ok()) << d.status();
          granted += d->allowed ? 1 : 0;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 300);
}

TEST_F(BatchTest, AnErrorOfAKeyIsThatKeysAlone) {
  Open();
  for (const testing::EngineUnderTest& e : testing::BuiltInEngines()) {
    const Limiter limiter = Make(e.samples.at(0));
    const auto name = [&](std::string_view key) {
      return absl::StrCat("weir:default:", e.algorithm, ":{", Sv(key), "}");
    };
    // Of another type, and a value that weir did not write.
    server_->Call({"SADD", name("set"), "x"});
    server_->Call({"SET", name("junk"), "something else"});
    const std::vector<std::string_view> keys = {"set", "a",    "junk", "set",
                                                "b",   "junk", "c",    "set"};
    const int64_t types = Counted("met_wrong_type");
    const Decisions all = limiter.CheckMany(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      const absl::Status status = all[i].status();
      const bool good = keys[i].size() == 1;
      ASSERT_EQ(status.ok(), good) << e.algorithm << keys[i] << status;
      if (good) {
        const Decision fresh =
            limiter.Peek(absl::StrCat("n", Sv(keys[i]))).value();
        EXPECT_EQ(all[i]->remaining, fresh.remaining - 1) << e.algorithm;
        continue;
      }
      // As one call says it.
      EXPECT_EQ(status.code(), limiter.Check(keys[i]).status().code());
      const std::string words(status.message());
      const auto says = [&](const char* code) {
        return words.find(code) != std::string::npos;
      };
      // To a log, a string is of another type.
      EXPECT_TRUE(says(": WRONGTYPE ") ||
                  (keys[i] == "junk" && says(": WEIRSTATE ")))
          << words;
      EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
      EXPECT_FALSE(store_->IsOutage(status)) << status;
      EXPECT_FALSE(RedisStore::MayHaveCharged(status)) << status;
    }
    EXPECT_GE(Counted("met_wrong_type") - types, 3) << e.algorithm;
    EXPECT_EQ(server_->Call({"SCARD", name("set")}).integer, 1);
    EXPECT_EQ(server_->Call({"GET", name("junk")}).text, "something else");
  }
}

TEST_F(BatchTest, AServerThatIsFullRefusesTheKeysThatHaveToBeWritten) {
  Open();
  for (const char* option : {"maxmemory", "min-replicas-to-write"}) {
    const Limiter limiter =
        Make(Limit::FixedWindow(2, hours(1)), OutagePolicy::Error());
    const Limiter closed =
        Make(Limit::FixedWindow(2, hours(1)), OutagePolicy::Closed());
    ASSERT_TRUE(limiter.Reset("full").ok());
    ASSERT_TRUE(limiter.Check("full", 2).ok());
    ASSERT_TRUE(limiter.Check("used").ok());
    server_->Call({"CONFIG", "SET", option, "1"});
    const std::vector<std::string_view> keys = {"full", "new", "used", "full",
                                                "used"};
    const Decisions all = limiter.CheckMany(keys);
    const Decisions told = closed.CheckMany(keys);
    for (size_t i = 0; i < keys.size(); ++i) {
      const absl::Status status = all[i].status();
      ASSERT_TRUE(told[i].ok()) << told[i].status();
      EXPECT_FALSE(told[i]->allowed);
      if (keys[i] == "full") {
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_FALSE(all[i]->allowed);
        EXPECT_EQ(told[i]->source, Source::kStore);
        continue;
      }
      EXPECT_TRUE(store_->IsOutage(status)) << status;
      EXPECT_FALSE(RedisStore::MayHaveCharged(status)) << status;
      EXPECT_EQ(told[i]->source, Source::kPolicy);
    }
    server_->Call({"CONFIG", "SET", option, "0"});
    EXPECT_EQ(Used(limiter, "used"), 1);
    EXPECT_EQ(Used(limiter, "new"), 0);
    ASSERT_TRUE(limiter.Reset("used").ok());
  }
  EXPECT_EQ(Counted("met_out_of_memory"), 6);
  EXPECT_EQ(Counted("met_no_replicas"), 6);
}

// The server looks at a command's first write alone.
TEST_F(BatchTest, AFullServerLetsACommandGoOnThatFreedMemoryFirst) {
  Open();
  const Limiter limiter = Make(Limit::SlidingLog(5, seconds(10)));
  const Time start = store_->Now();
  const std::vector<std::string_view> keys = {"new", "old", "other"};
  std::vector<Call> calls(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    calls[i].keys = absl::MakeConstSpan(&keys[i], 1);
    calls[i].now = start;
  }
  ASSERT_TRUE(limiter.Check(calls[1]).ok());
  server_->Call({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_TRUE(store_->IsOutage(limiter.Check(calls[2]).status()));
  // By then the one call of the old key has left.
  for (Call& call : calls) call.now = start + seconds(30);
  const Decisions all = limiter.CheckMany(calls);
  EXPECT_TRUE(store_->IsOutage(all[0].status())) << all[0].status();
  for (const size_t i : {1, 2}) {
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_TRUE(all[i]->allowed);
    EXPECT_EQ(all[i]->remaining, 4);
  }
  server_->Call({"CONFIG", "SET", "maxmemory", "0"});
  for (const size_t i : {0, 1, 2}) {
    const auto d = limiter.Run(Op::kPeek, calls[i]);
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->remaining, i == 0 ? 5 : 4);
  }
}

TEST_F(BatchTest, AReplicaRefusesKeyByKeyAndIsMetAgain) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(2, hours(1)));
  ASSERT_TRUE(limiter.Check("full", 2).ok());
  server_->Call({"REPLICAOF", "127.0.0.1", "1"});
  const Decisions all = limiter.CheckMany({"a", "full", "b"});
  EXPECT_EQ(Counted("met_read_only"), 4);  // each of two is asked twice
  for (const size_t i : {0, 2}) {
    EXPECT_TRUE(store_->IsOutage(all[i].status())) << all[i].status();
    EXPECT_FALSE(RedisStore::MayHaveCharged(all[i].status()));
  }
  ASSERT_TRUE(all[1].ok()) << all[1].status();
  EXPECT_FALSE(all[1]->allowed);
  server_->Call({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(testing::WaitUntil([&] {
    const Decisions now = limiter.CheckMany({"a", "b"});
    return now[0].ok() && now[1].ok();
  }));
  ExpectUsed(limiter, {"a", "b"}, 1);
}

TEST_F(BatchTest, AFlushedScriptIsSentOnceAndNothingIsChargedTwice) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
  const std::vector<std::string_view> keys = Keys(80);
  for (int round = 1; round <= 3; ++round) {
    for (const auto& d : limiter.CheckMany(keys)) {
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_EQ(d->remaining, 9 - round);
    }
    EXPECT_EQ(Counted("evals"), round);
    EXPECT_EQ(Counted("met_no_script"), 80 * round);
    server_->Call({"SCRIPT", "FLUSH"});
  }
}

TEST_F(BatchTest, AKeyThatTheUserMayNotTouchIsRefusedAlone) {
  server_->Call({"ACL", "SETUSER", "app", "on", ">p", "+@all",
                 "~weir:default:fixed_window:{good*"});
  const auto store = RedisStore::Create(
      "redis://app:p@127.0.0.1:" + std::to_string(server_->port()), options_);
  ASSERT_TRUE(store.ok()) << store.status();
  store_ = *store;
  const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
  std::vector<std::string_view> keys = Keys(40, "good");
  keys[7] = keys[35] = "bad";
  const Decisions all = limiter.CheckMany(keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == "bad") {
      EXPECT_TRUE(absl::IsPermissionDenied(all[i].status())) << all[i].status();
      continue;
    }
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->remaining, 8);
    EXPECT_EQ(Used(limiter, keys[i]), 1);
  }
  EXPECT_EQ(Counted("met_no_permission"), 2);
}

TEST_F(BatchTest, AMissingPermissionIsToldOfEachKey) {
  for (const char* without : {"-evalsha", "-time", "-get"}) {
    ASSERT_TRUE(server_
                    ->Call({"ACL", "SETUSER", "app", "reset", "on", ">p",
                            "+@all", "~*", without})
                    .ok());
    const auto store = RedisStore::Create(
        "redis://app:p@127.0.0.1:" + std::to_string(server_->port()), options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *store;
    const Limiter limiter =
        Make(Limit::FixedWindow(9, hours(1)), OutagePolicy::Open());
    for (const auto& d : limiter.CheckMany(Keys(40))) {
      EXPECT_TRUE(absl::IsPermissionDenied(d.status()))
          << without << d.status();
    }
    EXPECT_EQ(Counted("met_no_permission"), 40) << without;
  }
}

TEST_F(BatchTest,
       EveryKeyOfAStoppedServerHasTheDeadlinesErrorAndIsChargedOnce) {
  Open();
  const Limiter warm = Make(Limit::FixedWindow(9, hours(1)));
  ASSERT_TRUE(warm.Check("warm").ok());
  for (const char* key : {"0", "1"}) ASSERT_TRUE(warm.Check(key).ok());
  options_.timeout = milliseconds(100);
  const auto patient = store_;
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
  const Limiter closed =
      Make(Limit::FixedWindow(9, hours(1)), OutagePolicy::Closed());
  EXPECT_TRUE(testing::WaitUntil([&] { return limiter.Check("warm").ok(); }));
  const std::vector<std::string_view> keys = Keys(40);
  server_->Pause();
  const Decisions all = limiter.CheckMany(keys);
  const Decisions told = closed.CheckMany(keys);
  server_->Resume();
  for (size_t i = 0; i < keys.size(); ++i) {
    const absl::Status status = all[i].status();
    EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
    EXPECT_TRUE(store_->IsOutage(status)) << status;
    EXPECT_TRUE(RedisStore::MayHaveCharged(status)) << status;
    EXPECT_EQ(status, all[0].status());
    ASSERT_TRUE(told[i].ok()) << told[i].status();
    EXPECT_EQ(told[i]->source, Source::kPolicy);
  }
  EXPECT_EQ(Counted("met_timeout"), 80);
  // It runs what was sent, once.
  const auto limiter_again =
      Limiter::Create(patient, Limit::FixedWindow(9, hours(1)));
  ASSERT_TRUE(limiter_again.ok());
  EXPECT_TRUE(testing::WaitUntil(
      [&] { return limiter_again->Peek(keys[39]).value().remaining == 7; }));
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(limiter_again->Peek(keys[i]).value().remaining, i < 2 ? 6 : 7);
  }
}

TEST_F(BatchTest, ADenialThatIsRepeatedIsNotSent) {
  Open();
  LimiterOptions options;
  options.denial_cache_keys = 100;
  const Limiter limiter = Make(Limit::FixedWindow(1, hours(1)), options);
  const std::vector<std::string_view> keys = Keys(10);
  for (const bool allowed : {true, false}) {
    for (const auto& d : limiter.CheckMany(keys)) {
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_EQ(d->allowed, allowed);
      EXPECT_EQ(d->source, Source::kStore);
    }
  }
  const int64_t calls = Counted("calls");
  std::vector<std::string_view> more = keys;
  more.insert(more.begin() + 5, "new");
  const Decisions all = limiter.CheckMany(more);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->source, i == 5 ? Source::kStore : Source::kDenialCache);
  }
  EXPECT_EQ(Counted("calls") - calls, 1);
}

TEST_F(BatchTest, OddKeysAreKeysLikeAnyOther) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(2, hours(1)));
  const std::string long_key(64 * 1024, 'x'), too_long(70'000, 'x');
  const std::string bytes("\0\r\n$3\r\n\xff", 8);
  const std::vector<std::string_view> keys = {
      "", "{}", too_long, "}", "{", long_key, bytes, "%", "", "{}", bytes};
  const Decisions all = limiter.CheckMany(keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i == 2) {
      EXPECT_TRUE(absl::IsInvalidArgument(all[i].status()));
      continue;
    }
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->remaining, i < 8 ? 1 : 0) << i;
    // One call finds what many have left.
    EXPECT_EQ(Used(limiter, keys[i]),
              std::count(keys.begin(), keys.end(), keys[i]));
  }
}

// Replies to two keys that no script has.
TEST(LyingServerOfBatches, IsNotHeardAnyFurther) {
  const std::string one = "$25\r\n" + std::string(25, '\0') + "\r\n";
  const std::string good = "*2\r\n" + one + one;
  for (const std::string& bad :
       {one, "*1\r\n" + one, "*3\r\n" + one + one + one, std::string("*0\r\n"),
        std::string("*-1\r\n"), std::string("$-1\r\n"), std::string(":1\r\n"),
        "*2\r\n" + one + ":1\r\n", "*2\r\n$-1\r\n" + one,
        "*2\r\n" + one + "$5\r\nhello\r\n", "*2\r\n" + one + "*1\r\n" + one,
        "*2\r\n*2\r\n" + one + one + one, std::string("*70000\r\n"),
        "*2\r\n" + one + "$2000000\r\n" + std::string(1'500'000, 'x')}) {
    std::atomic<int> calls{0};
    FakeServer server([&](const Command&) {
      const int call = calls++;
      return Answer{call == 0 ? one : call == 1 ? bad : good, false};
    });
    RedisStoreOptions options;
    options.timeout = seconds(10);
    const auto store = *RedisStore::Create(server.url(), options);
    const auto limiter =
        Limiter::Create(store, Limit::FixedWindow(5, hours(1)));
    const std::string_view shown = std::string_view(bad).substr(0, 60);
    ASSERT_TRUE(limiter->Check("connects").ok());
    for (const auto& d : limiter->CheckMany({"a", "b"})) {
      const absl::Status& status = d.status();
      EXPECT_TRUE(absl::IsUnavailable(status)) << shown << status;
      EXPECT_TRUE(store->IsOutage(status)) << shown << status;
      EXPECT_TRUE(RedisStore::MayHaveCharged(status)) << shown << status;
    }
    EXPECT_EQ(calls, 2) << shown;
    EXPECT_EQ(Counted(*store, "met_protocol"), 2) << shown;
    for (const auto& d : limiter->CheckMany({"a", "b"})) {
      EXPECT_TRUE(d.ok()) << shown << d.status();
    }
    EXPECT_EQ(server.connections(), 2) << shown;
  }
}

// What a server says of a command, and of a key in it.
class RefusingServer : public ::testing::Test {
 protected:
  static std::string Good(size_t keys) {
    std::string bytes;
    if (keys > 1) bytes = absl::StrCat("*", keys, "\r\n");
    for (size_t i = 0; i < keys; ++i) {
      bytes += "$25\r\n" + std::string(25, '\0') + "\r\n";
    }
    return bytes;
  }
  // CheckMany of a, b and c of a server that is connected to, and answers as
  // `answer` says to the number of the command, from 0 on, and its keys.
  Decisions Ask(
      const std::function<std::string(int call, size_t keys)>& answer) {
    bool connected = false;
    const FakeServer server([&](const Command& command) {
      const size_t keys = std::stoul(command[2]);
      if (!std::exchange(connected, true)) return Answer{Good(keys), false};
      asked_.push_back(keys);
      return Answer{answer(static_cast<int>(asked_.size()) - 1, keys), false};
    });
    RedisStoreOptions options;
    options.timeout = seconds(10);
    store_ = *RedisStore::Create(server.url(), options);
    const auto limiter =
        Limiter::Create(store_, Limit::FixedWindow(5, hours(1)));
    EXPECT_TRUE(limiter->Check("connects").ok());
    return limiter->CheckMany({"a", "b", "c"});
  }

  std::vector<size_t> asked_;  // the server's thread
  std::shared_ptr<RedisStore> store_;
};

TEST_F(RefusingServer, OfAKeyIsAskedAgainForThatKeyAlone) {
  const Decisions all = Ask([&](int call, size_t keys) {
    const std::string one = Good(1);
    return call == 0 ? "*3\r\n" + one + "-READONLY You can't write\r\n" + one
                     : Good(keys);
  });
  for (const auto& d : all) EXPECT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(asked_, (std::vector<size_t>{3, 1}));
  EXPECT_EQ(Counted(*store_, "met_read_only"), 1);
}

TEST_F(RefusingServer, OfACommandForAKeysSakeIsAskedAgainKeyByKey) {
  for (const char* words :
       {"-CROSSSLOT Keys in request don't hash to the same slot\r\n",
        "-NOPERM this user has no permissions to access one of the keys\r\n"}) {
    asked_.clear();
    const Decisions all = Ask([&](int, size_t keys) {
      return keys > 1 ? std::string(words) : Good(1);
    });
    for (const auto& d : all) EXPECT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(asked_, (std::vector<size_t>{3, 1, 1, 1})) << words;
  }
}

TEST_F(RefusingServer, OfAllKeysIsOneFailure) {
  for (const auto& d : Ask([](int, size_t) {
         return "-BUSY Redis is busy running a script\r\n";
       })) {
    EXPECT_TRUE(store_->IsOutage(d.status())) << d.status();
  }
  // Two are not three.
  const auto limiter = Limiter::Create(store_, Limit::FixedWindow(5, hours(1)));
  EXPECT_FALSE(limiter->Check("a").ok());
  EXPECT_EQ(Counted(*store_, "met_breaker_open"), 0);
}

TEST_F(RefusingServer, OfACommandIsHeardForAllItsKeys) {
  const Decisions all = Ask([&](int, size_t) {
    return std::string("-ERR command keys must be in the same slot\r\n");
  });
  for (const auto& d : all) {
    EXPECT_TRUE(absl::IsFailedPrecondition(d.status())) << d.status();
  }
  EXPECT_EQ(asked_, (std::vector<size_t>{3}));
  EXPECT_EQ(Counted(*store_, "met_script_error"), 3);
}

TEST_F(RefusingServer, ThatIsLoadingIsWaitedForByAllTogether) {
  const Decisions all = Ask([&](int call, size_t keys) {
    return call < 2 ? "-LOADING Redis is loading the dataset in memory\r\n"
                    : Good(keys);
  });
  for (const auto& d : all) EXPECT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(asked_, (std::vector<size_t>{3, 3, 3}));
  EXPECT_EQ(Counted(*store_, "met_loading"), 6);
}

}  // namespace
}  // namespace weir
