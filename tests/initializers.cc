// Every public struct can be made of some of its fields, by place or by name,
// and a compiler that asks for all of them (-Wextra) is silent. Only compiled.
#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "weir/clock.h"
#include "weir/engine.h"
#include "weir/http.h"
#include "weir/keys.h"
#include "weir/limiter.h"
#include "weir/limits_json.h"
#include "weir/memory_store.h"
#include "weir/redis_store.h"
#include "weir/store.h"
#include "weir/txn.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

[[maybe_unused]] void Calls(const Limiter& limiter, const HttpWriter& http) {
  const std::string_view keys[] = {"a"};
  const int64_t costs[] = {1};
  const auto d = limiter.Check({keys});
  limiter.Check(Call{keys, costs}).IgnoreError();
  limiter.Check({.keys = keys, .costs = costs}).IgnoreError();
  limiter.Check({.keys = keys, .tag = "a"}).IgnoreError();
  http.Fields(*d, {keys});
  http.Fields(*d, {.jitter_seed = 5});
  AddressKey("::1", {24}).IgnoreError();
  AddressKey("::1", {.ipv6 = 48}).IgnoreError();
}

[[maybe_unused]] void Options() {
  const Limit limit = Limit::Gcra(1, seconds(1));
  [[maybe_unused]] const Rule rules[] = {
      {"a", limit}, {"b", limit, true}, {.name = "c", .limit = limit}};
  [[maybe_unused]] const LimiterOptions limiters[] = {
      {.trust_tags = true},
      {.outage = OutagePolicy::Open()},
      {.denial_cache_keys = 5}};
  [[maybe_unused]] const MemoryStoreOptions stores[] = {
      {std::make_shared<ManualClock>()}, {.max_keys = 5}, {.stripes = 1}};
  [[maybe_unused]] const ScriptedEngine engine = {.algorithm = "mine"};
  [[maybe_unused]] const RedisTls tls[] = {
      {"ca.pem"}, {.server_name = "redis"}, {.verify = false}};
  [[maybe_unused]] const RedisStoreOptions redis[] = {
      {"shop"},
      {.timeout = milliseconds(50)},
      {.tls = {.ca_file = "ca.pem"}},
      {.engines = {{"mine", ""}}}};
  [[maybe_unused]] const LimitsJsonOptions text[] = {
      {.name = "text"}, {.now = TimeFromMicros(0)}};
  [[maybe_unused]] const CallKeys keys = {{"a"}};
  [[maybe_unused]] const HttpOptions http[] = {
      {.x_rate_limit = true},
      {.jitter = {0.1}, .names = {.retry_after = "Wait"}},
      {.rules = {{"a"}, {.name = "b", .hidden = true}}}};
  [[maybe_unused]] const HttpProblem problem = {.status = 503};
  [[maybe_unused]] const HttpField field = {"name"};
}

[[maybe_unused]] void Stores() {
  [[maybe_unused]] const Step step = {.key = "a"};
  [[maybe_unused]] const Outcome outcome = {.allowed = false};
  [[maybe_unused]] const BatchedCall call = {&step};
  [[maybe_unused]] const CompiledLimit limit = {.algorithm = "gcra"};
  [[maybe_unused]] const EngineDoc doc = {.summary = "what it promises"};
  [[maybe_unused]] const Field field = {.name = "limit"};
  [[maybe_unused]] const ScoredMember member = {.score = 1};
  [[maybe_unused]] const HashField hash = {"field"};
  [[maybe_unused]] const SetOptions set = {.keep_ttl = true};
  [[maybe_unused]] const QuickChecks none = {.check = nullptr};
}

}  // namespace
}  // namespace weir
