// What tests of limiters on a Redis share: a server of their own for each.
#ifndef WEIR_TESTS_REDIS_LIMITER_FIXTURE_H_
#define WEIR_TESTS_REDIS_LIMITER_FIXTURE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/redis/redis_server.h"
#include "weir/limiter.h"
#include "weir/redis_store.h"

namespace weir::testing {

// One of the store's counters; -1, and a failure, if there is none of the name.
inline int64_t Counted(const RedisStore& store, std::string_view name) {
  int64_t found = -1;
  store.VisitCounters([&](std::string_view n, int64_t value) {
    if (n == name) found = value;
  });
  EXPECT_GE(found, 0) << name;
  return found;
}

class LimiterOnRedis : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    server_ = RedisServer::Start();
    ASSERT_NE(server_, nullptr);
    options_.timeout = std::chrono::seconds(10);
  }

  void Open(const std::string& parameters = "") {
    auto store = RedisStore::Create(server_->url() + parameters, options_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  Limiter Make(Limit limit, OutagePolicy policy = {}) {
    LimiterOptions options;
    options.outage = std::move(policy);
    return Make(std::move(limit), options);
  }
  Limiter Make(Limit limit, const LimiterOptions& options) {
    auto limiter = Limiter::Create(store_, std::move(limit), options);
    EXPECT_TRUE(limiter.ok()) << limiter.status();
    return *std::move(limiter);
  }
  int64_t Counted(std::string_view name) {
    return testing::Counted(*store_, name);
  }

  std::unique_ptr<RedisServer> server_;
  RedisStoreOptions options_;
  std::shared_ptr<RedisStore> store_;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_LIMITER_FIXTURE_H_
