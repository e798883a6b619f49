// Limiters on Redis: batches, asynchronous calls, outages, counters.
#include <poll.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/few_descriptors.h"
#include "tests/redis/limiter_fixture.h"
#include "tests/redis/redis_server.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/redis_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::RedisServer;

class RedisLimiterTest : public testing::LimiterOnRedis {};

TEST_F(RedisLimiterTest, ManyChecksAreSentAtOnce) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(2, hours(1)));
  ASSERT_TRUE(limiter.Check("warm").ok());
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) names.push_back(std::to_string(i % 16));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const int64_t before = Counted("sends");
  int granted = 0;
  const auto all = limiter.CheckMany(keys);
  ASSERT_EQ(all.size(), 64u);
  for (size_t i = 0; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->allowed, i < 32) << i;  // in the order of the keys
    granted += all[i]->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 32);
  EXPECT_EQ(Counted("sends") - before, 1);
}

TEST_F(RedisLimiterTest, ManyChecksOfSeveralRulesAreSentAtOnce) {
  Open();
  const auto limiter = Limiter::Create(
      store_, std::vector<Rule>{{"wide", Limit::SlidingLog(100, hours(1))},
                                {"narrow", Limit::FixedWindow(2, hours(1))},
                                {"none", Limit::Unlimited()}});
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  ASSERT_TRUE(limiter->Check("warm").ok());
  std::vector<std::string> names;
  for (int i = 0; i < 63; ++i) names.push_back(std::to_string(i % 21));
  names.emplace_back(70'000, 'x');
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const int64_t before = Counted("sends");
  const auto all = limiter->CheckMany(keys);
  EXPECT_EQ(Counted("sends") - before, 1);
  ASSERT_EQ(all.size(), 64u);
  for (size_t i = 0; i < 63; ++i) {
    ASSERT_TRUE(all[i].ok()) << all[i].status();
    EXPECT_EQ(all[i]->allowed, i < 42) << i;
    EXPECT_EQ(all[i]->rules()[0].remaining, i < 21 ? 99 : 98) << i;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(all[63].status()));
}

TEST_F(RedisLimiterTest, ManyMoreThanFitIntoOneBatch) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(5'000, hours(1)));
  const std::vector<std::string_view> keys(10'000, "k");
  int64_t granted = 0;
  for (const auto& d : limiter.CheckMany(keys)) {
    ASSERT_TRUE(d.ok()) << d.status();
    granted += d->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 5'000);
}

TEST_F(RedisLimiterTest, ManyChecksFailOneByOne) {
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(2, hours(1)));
  server_->Call({"SADD", "weir:default:fixed_window:{bad}", "x"});
  const auto all = limiter.CheckMany({"a", "bad", "b"});
  EXPECT_TRUE(all[0].ok());
  EXPECT_FALSE(all[1].ok());
  EXPECT_FALSE(store_->IsOutage(all[1].status())) << all[1].status();
  EXPECT_TRUE(all[2].ok());
}

TEST_F(RedisLimiterTest, AsynchronousChecksOnTheStoresThread) {
  options_.io_threads = 1;
  Open();
  EXPECT_EQ(store_->event_fd(), -1);
  const Limiter limiter = Make(Limit::SlidingLog(40, hours(1)));
  constexpr int kCalls = 10'000;
  std::promise<void> all_told;
  std::atomic<int> granted{0}, told{0};
  server_->Pause();  // nobody waits for the server here
  for (int i = 0; i < kCalls; ++i) {
    limiter.CheckAsync(std::string("k"), 1, [&](absl::StatusOr<Decision> d) {
      EXPECT_TRUE(d.ok()) << d.status();
      if (d.ok() && d->allowed) ++granted;
      if (++told == kCalls) all_told.set_value();
    });
  }
  EXPECT_EQ(told, 0);
  server_->Resume();
  ASSERT_EQ(all_told.get_future().wait_for(seconds(20)),
            std::future_status::ready);
  EXPECT_EQ(granted, 40);
}

TEST_F(RedisLimiterTest, AsynchronousChecksInTheCallersLoop) {
  Open();
  const Limiter limiter = Make(Limit::Gcra(3, hours(1)));
  int granted = 0, told = 0;
  for (int i = 0; i < 10; ++i) {
    limiter.CheckAsync("k", 1, [&](absl::StatusOr<Decision> d) {
      ASSERT_TRUE(d.ok()) << d.status();
      ++told;
      granted += d->allowed ? 1 : 0;
    });
  }
  pollfd watched{store_->event_fd(), POLLIN, 0};
  ASSERT_GE(watched.fd, 0);
  while (told < 10) {
    ASSERT_EQ(poll(&watched, 1, 10'000), 1);
    store_->Process();
  }
  EXPECT_EQ(granted, 3);
}

TEST_F(RedisLimiterTest, CallsThatAreOpenWhenTheStoreGoesAreTold) {
  for (const int io_threads : {0, 1}) {
    options_.io_threads = io_threads;
    Open();
    absl::Status status;
    int told = 0;
    {
      const Limiter limiter =
          Make(Limit::Gcra(3, hours(1)), OutagePolicy::Open());
      server_->Pause();
      limiter.CheckAsync("k", 1, [&](absl::StatusOr<Decision> d) {
        status = d.status();
        ++told;
      });
    }
    store_.reset();
    server_->Resume();
    EXPECT_EQ(told, 1);
    EXPECT_TRUE(absl::IsCancelled(status)) << status;
  }
}

TEST_F(RedisLimiterTest, APolicyAnswersWhileTheServerIsDown) {
  options_.timeout = seconds(2);
  options_.io_threads = 1;
  Open();
  const Limiter error = Make(Limit::Gcra(8, hours(1)));
  const Limiter open = Make(Limit::Gcra(8, hours(1)), OutagePolicy::Open());
  const Limiter closed = Make(Limit::Gcra(8, hours(1)), OutagePolicy::Closed());
  const Limiter local = Make(Limit::Gcra(8, hours(1)),
                             OutagePolicy::Local(*MemoryStore::Create(), 4));
  ASSERT_TRUE(error.Check("k").ok());
  server_->Kill();

  const absl::Status failed = error.Check("k").status();
  EXPECT_TRUE(store_->IsOutage(failed)) << failed;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(open.Check("k").value().allowed);
    EXPECT_FALSE(closed.Check("k").value().allowed);
    EXPECT_EQ(local.Check("k").value().allowed, i < 2);
    for (const auto& d : open.CheckMany({"k", "l"})) {
      EXPECT_EQ(d.value().source, Source::kPolicy);
    }
  }
  std::promise<absl::StatusOr<Decision>> told;
  open.CheckAsync("k", 1, [&](auto d) { told.set_value(std::move(d)); });
  const auto d = told.get_future().get();
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->source, Source::kPolicy);
  EXPECT_GT(Counted("met_breaker_open") + Counted("met_unreachable"), 0);

  ASSERT_TRUE(server_->Restart());
  EXPECT_TRUE(testing::WaitUntil([&] {
    const auto now = closed.Peek("k");
    return now.ok() && now->source == Source::kStore;
  }));
}

TEST_F(RedisLimiterTest, APolicyAnswersWhileThereAreNoDescriptors) {
  Open();
  const Limiter limiter = Make(Limit::Gcra(8, hours(1)), OutagePolicy::Open());
  const auto check = [&] {
    absl::StatusOr<Decision> decision;
    bool told = false;
    limiter.CheckAsync("k", 1, [&](absl::StatusOr<Decision> d) {
      decision = std::move(d);
      told = true;
    });
    EXPECT_TRUE(testing::WaitUntil([&] {
      store_->Process();
      return told;
    }));
    return decision;
  };
  {
    const testing::FewDescriptors none;
    const absl::StatusOr<Decision> d = check();
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->source, Source::kPolicy);
    options_.io_threads = 1;
    EXPECT_FALSE(RedisStore::Create(server_->url(), options_).ok());
  }
  const absl::StatusOr<Decision> d = check();
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(d->source, Source::kStore);
  EXPECT_TRUE(RedisStore::Create(server_->url(), options_).ok());
}

// A server that answers, and can't decide.
class RedisUnreadyTest : public RedisLimiterTest {
 protected:
  // What docs/redis.md says of it, and that it passes when the server is
  // mended: nothing here has to be made anew.
  void ExpectOutageUntil(const std::function<void()>& mend,
                         std::string_view counter) {
    const Limiter error = Make(Limit::FixedWindow(100, hours(1)));
    const Limiter closed =
        Make(Limit::FixedWindow(100, hours(1)), OutagePolicy::Closed());
    const absl::Status status = error.Check("k").status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_TRUE(store_->IsOutage(status)) << status;
    EXPECT_FALSE(RedisStore::MayHaveCharged(status)) << status;
    EXPECT_GE(Counted(counter), 1);
    for (int i = 0; i < 8; ++i) {
      const absl::StatusOr<Decision> d = closed.Check("k");
      ASSERT_TRUE(d.ok()) << d.status();
      EXPECT_FALSE(d->allowed);
      EXPECT_EQ(d->source, Source::kPolicy);
    }
    mend();
    absl::StatusOr<Decision> d;
    EXPECT_TRUE(testing::WaitUntil([&] {
      d = error.Check("k");
      return d.ok();
    })) << d.status();
    ASSERT_TRUE(d.ok()) << d.status();
    EXPECT_EQ(d->source, Source::kStore);
    EXPECT_EQ(d->remaining, 99);
  }
};

TEST_F(RedisUnreadyTest, ItCannotSaveToItsDisk) {
  const std::string folder = server_->folder() + "/gone";
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  auto server = RedisServer::Start({"--dir", folder});
  ASSERT_NE(server, nullptr);
  ASSERT_TRUE(std::filesystem::remove(folder));
  server->Call({"CONFIG", "SET", "save", "3600 1"});
  server->Call({"BGSAVE"});
  ASSERT_TRUE(testing::WaitUntil([&] {
    return server->Call({"INFO", "persistence"})
               .text.find("rdb_last_bgsave_status:err") != std::string::npos;
  }));
  std::swap(server_, server);
  Open();
  ExpectOutageUntil(
      [&] {
        server_->Call({"CONFIG", "SET", "save", ""});
      },
      "met_misconf");
}

TEST_F(RedisUnreadyTest, ItIsLoading) {
  const std::string interval = "loading-process-events-interval-bytes";
  if (server_->Call({"CONFIG", "GET", interval}).elements.empty()) {
    GTEST_SKIP() << "this server does not answer while it loads so little";
  }
  auto slow =
      RedisServer::Start({"--key-load-delay", "1000", "--" + interval, "1024"});
  ASSERT_NE(slow, nullptr);
  slow->Call({"EVAL",
              "for i = 1, 20000 do redis.call('SET', 'key' .. i, i) end", "0"});
  ASSERT_TRUE(slow->Call({"SAVE"}).ok());
  ASSERT_TRUE(slow->Restart());
  std::swap(server_, slow);
  Open();
  ExpectOutageUntil(
      [&] {
        server_->Call({"CONFIG", "SET", "key-load-delay", "0"});
      },
      "met_loading");
  EXPECT_GE(Counted("met_breaker_open"), 1);
}

TEST_F(RedisUnreadyTest, ItHasNoRoomForClients) {
  server_->Call({"CONFIG", "SET", "maxclients", "1"});
  Open();
  ExpectOutageUntil(
      [&] {
        server_->Call({"CONFIG", "SET", "maxclients", "100"});
      },
      "met_max_clients");
}

TEST_F(RedisLimiterTest, WhatTheServerCannotTakeBackIsKeptForAnotherTry) {
  Open();
  for (const OutagePolicy& policy :
       {OutagePolicy::Error(), OutagePolicy::Open(), OutagePolicy::Closed(),
        OutagePolicy::Local(*MemoryStore::Create(), 1)}) {
    const Limiter limiter = Make(Limit::Gcra(10, hours(10)), policy);
    ASSERT_TRUE(limiter.Reset("k").ok());
    ASSERT_TRUE(limiter.Check("k", 4).ok());
    auto taken = limiter.Reserve("k", 3, Micros(0));
    ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
    server_->Call({"CONFIG", "SET", "maxmemory", "1"});
    const absl::Status failed = taken->Cancel();
    EXPECT_TRUE(store_->IsOutage(failed)) << failed;
    EXPECT_FALSE(RedisStore::MayHaveCharged(failed)) << failed;
    server_->Call({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_EQ(limiter.Peek("k")->remaining, 3);
    EXPECT_TRUE(taken->Cancel().ok());
    EXPECT_EQ(limiter.Peek("k")->remaining, 6);
  }
}

TEST_F(RedisLimiterTest, WhatTheServerMayHaveTakenBackIsNotSentAgain) {
  options_.timeout = milliseconds(300);
  Open();
  const Limiter limiter = Make(Limit::Gcra(10, hours(10)));
  ASSERT_TRUE(limiter.Check("k", 4).ok());
  auto taken = limiter.Reserve("k", 3, Micros(0));
  ASSERT_TRUE(taken.ok() && taken->reserved()) << taken.status();
  server_->Pause();
  const absl::Status failed = taken->Cancel();
  server_->Resume();
  EXPECT_TRUE(RedisStore::MayHaveCharged(failed)) << failed;
  const auto remaining = [&] {
    const auto d = limiter.Peek("k");
    return d.ok() ? d->remaining : -1;
  };
  EXPECT_TRUE(testing::WaitUntil([&] { return remaining() == 6; }));
  EXPECT_TRUE(taken->Cancel().ok());
  EXPECT_EQ(remaining(), 6);
}

TEST_F(RedisLimiterTest, AStoreCanBeMadeWhileItsServerIsDown) {
  Open();
  server_->Kill();
  const Limiter limiter = Make(Limit::Gcra(1, hours(1)), OutagePolicy::Open());
  EXPECT_EQ(limiter.Check("k").value().source, Source::kPolicy);
  ASSERT_TRUE(server_->Restart());
  EXPECT_TRUE(testing::WaitUntil([&] {
    const auto now = limiter.Peek("k");
    return now.ok() && now->source == Source::kStore;
  }));
}

TEST_F(RedisLimiterTest, AServerMayTakeAsLongAsItsCallersDo) {
  options_.io_threads = 1;
  Open();
  const Limiter limiter = Make(Limit::FixedWindow(9, hours(1)));
  std::promise<bool> warm;
  limiter.CheckAsync("k", 1, [&](auto d) { warm.set_value(d.ok()); });
  EXPECT_TRUE(warm.get_future().get());
  EXPECT_TRUE(limiter.Check("k").ok());
  server_->Call({"CLIENT", "PAUSE", "2300"});
  std::promise<absl::Status> later;
  limiter.CheckAsync("k", 1, [&](auto d) { later.set_value(d.status()); });
  const absl::Status status = limiter.Check("k").status();
  EXPECT_TRUE(status.ok()) << status;
  const absl::Status async_status = later.get_future().get();
  EXPECT_TRUE(async_status.ok()) << async_status;
}

TEST_F(RedisLimiterTest, AServerThatRefusesWritesChargesNoRule) {
  Open();
  const auto limiter = Limiter::Create(
      store_, std::vector<Rule>{{"log", Limit::SlidingLogList(9, hours(1))},
                                {"window", Limit::FixedWindow(9, hours(1))}});
  ASSERT_TRUE(limiter.ok()) << limiter.status();
  ASSERT_TRUE(limiter->Check("k").ok());
  for (const char* option : {"maxmemory", "min-replicas-to-write"}) {
    server_->Call({"CONFIG", "SET", option, "1"});
    const absl::Status status = limiter->Check("k").status();
    EXPECT_TRUE(store_->IsOutage(status)) << status;
    EXPECT_FALSE(RedisStore::MayHaveCharged(status)) << status;
    for (const auto& d : limiter->CheckMany({"k", "new"})) {
      EXPECT_TRUE(store_->IsOutage(d.status())) << d.status();
    }
    // What only looks is answered all the same.
    EXPECT_EQ(limiter->Peek("k").value().remaining, 8);
    server_->Call({"CONFIG", "SET", option, "0"});
    for (const char* key : {"k", "new"}) {
      const Decision d = limiter->Peek(key).value();
      const int64_t used = std::string_view(key) == "k" ? 1 : 0;
      EXPECT_EQ(d.rules()[0].remaining, 9 - used);
      EXPECT_EQ(d.rules()[1].remaining, 9 - used);
    }
  }
}

TEST_F(RedisLimiterTest, AMisconfigurationIsNoOutage) {
  Open();
  const Limiter limiter = Make(Limit::Gcra(1, hours(1)), OutagePolicy::Open());
  server_->Call({"ACL", "SETUSER", "default", "-@all"});
  const auto d = limiter.Check("k");
  EXPECT_TRUE(absl::IsPermissionDenied(d.status())) << d.status();
  EXPECT_EQ(Counted("met_no_permission"), 1);
}

// A server that answers one call in a form that no script has.
TEST(LyingServer, IsNotHeardAnyFurther) {
  const std::string good = "$22\r\n" + std::string(22, '\0') + "\r\n";
  for (const std::string& bad :
       {std::string(":1\r\n"), std::string("$-1\r\n"),
        std::string("$5\r\nhello\r\n"), std::string("*1\r\n:1\r\n")}) {
    for (const bool asynchronous : {false, true}) {
      std::atomic<int> calls{0};
      testing::FakeServer server([&](const testing::FakeServer::Command&) {
        return testing::FakeServer::Answer{calls++ == 0 ? bad : good, false};
      });
      RedisStoreOptions options;
      options.io_threads = 1;
      options.timeout = seconds(10);
      const auto store = *RedisStore::Create(server.url(), options);
      const auto limiter = Limiter::Create(store, Limit::Gcra(5, hours(1)));
      const auto check = [&] {
        if (!asynchronous) return limiter->Check("k");
        std::promise<absl::StatusOr<Decision>> told;
        limiter->CheckAsync(std::string("k"), 1,
                            [&](auto d) { told.set_value(std::move(d)); });
        return told.get_future().get();
      };
      const absl::Status status = check().status();
      EXPECT_TRUE(store->IsOutage(status)) << status;
      EXPECT_TRUE(RedisStore::MayHaveCharged(status)) << status;
      EXPECT_EQ(calls, 1);
      EXPECT_TRUE(check().ok());
      EXPECT_EQ(server.connections(), 2) << bad;
    }
  }
}

// The arrival time of the denied call would pass 2^53 and be odd.
TEST_F(RedisLimiterTest, AChecksWaitOfAHundredYearsIsExact) {
  Open();
  constexpr int64_t kFirst = 3'000'000'000'000'001;
  constexpr int64_t kCentury = 3'153'600'000'000'000;
  const Limiter limiter = Make(Limit::Gcra(1, Micros(kCentury)));
  const auto allowed = [&](int64_t t) {
    const std::string_view key = "k";
    Call call;
    call.keys = {&key, 1};
    call.now = TimeFromMicros(t);
    const absl::StatusOr<Decision> d = limiter.Run(Op::kCheck, call);
    EXPECT_TRUE(d.ok()) << d.status();
    return d.ok() && d->allowed;
  };
  EXPECT_TRUE(allowed(kFirst));
  EXPECT_FALSE(allowed(kFirst + kCentury - 1));
  EXPECT_TRUE(allowed(kFirst + kCentury));
}

TEST(RedisStoreOptions, AreChecked) {
  const auto message = [](const RedisStoreOptions& options) {
    return std::string(
        RedisStore::Create("redis://127.0.0.1", options).status().message());
  };
  RedisStoreOptions options;
  options.io_threads = 2;
  EXPECT_NE(message(options).find("io_threads"), std::string::npos);
  options = {};
  options.connections = 0;
  EXPECT_NE(message(options).find("connections"), std::string::npos);
  // The URL goes before them.
  options.batch = 0;
  EXPECT_TRUE(
      RedisStore::Create("redis://127.0.0.1?connections=2&batch=1", options)
          .ok());
  options.connections = 1;
  EXPECT_NE(message(options).find("batch"), std::string::npos);
}

}  // namespace
}  // namespace weir
