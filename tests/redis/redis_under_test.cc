#include "tests/oracle/store_under_test.h"
#include "tests/redis/redis_factory.h"

namespace weir_oracle {

const int64_t kFewerCalls = 2;

weir::testing::StoreFactory StoreUnderTest() {
  weir::testing::StoreFactory factory = weir::testing::RedisFactory();
  factory.name = "Redis";
  return factory;
}

}  // namespace weir_oracle
