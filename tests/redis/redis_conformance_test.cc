// The laws, over the store on Redis.
#include "tests/redis/redis_factory.h"
#include "weir/testing/conformance.h"

WEIR_INSTANTIATE_CONFORMANCE(Redis, weir::testing::RedisFactory());
