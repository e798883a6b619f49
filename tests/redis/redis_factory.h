// The store on Redis, for the suites that run over any store: one server for
// the whole program, a namespace for each store.
#ifndef WEIR_TESTS_REDIS_REDIS_FACTORY_H_
#define WEIR_TESTS_REDIS_REDIS_FACTORY_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/redis/redis_server.h"
#include "weir/redis_store.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/store_factory.h"

namespace weir::testing {

// Started when it is first asked for, stopped when the program ends. Null if
// there is no redis-server.
inline RedisServer* SharedRedis() {
  static const std::unique_ptr<RedisServer> server =
      RedisServerProgram().empty() ? nullptr : RedisServer::Start();
  return server.get();
}

// A store that shares no key with any other of this program.
inline std::shared_ptr<RedisStore> FreshRedisStore(
    RedisStoreOptions options = {}) {
  static std::atomic<int> made{0};
  options.name_space = "t" + std::to_string(++made);
  options.timeout = std::chrono::seconds(10);
  if (SharedRedis() == nullptr) {
    if (!RedisServerProgram().empty() || RedisIsRequired()) {
      ADD_FAILURE() << "no redis-server";
    }
    return nullptr;
  }
  absl::StatusOr<std::shared_ptr<RedisStore>> store =
      RedisStore::Create(SharedRedis()->url(), options);
  if (!store.ok()) {
    ADD_FAILURE() << store.status();
    return nullptr;
  }
  return *std::move(store);
}

// Nothing where there is no redis-server and none is required.
inline std::vector<EngineUnderTest> IfThereIsRedis(
    std::vector<EngineUnderTest> engines) {
  if (RedisServerProgram().empty() && !RedisIsRequired()) return {};
  return engines;
}

// Times come with the calls: a server's clock can't be set.
inline StoreFactory RedisFactory(RedisStoreOptions options = {}) {
  StoreFactory factory;
  factory.name = "redis";
  factory.make = [options] {
    return Harness{FreshRedisStore(options), nullptr};
  };
  return factory;
}

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_REDIS_FACTORY_H_
