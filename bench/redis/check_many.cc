#include "bench/redis/check_many.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/redis/key_name.h"
#include "backends/redis/redis_rule.h"
#include "backends/redis/script_set.h"
#include "backends/redis/step_codec.h"
#include "bench/redis/samples.h"
#include "bench/redis/script.h"
#include "core/text.h"
#include "weir/limiter.h"
#include "weir/redis_store.h"
#include "weir/registry.h"

namespace weir::bench {
namespace {

// A string of Lua that holds these bytes.
std::string Literal(std::string_view bytes) {
  std::string text = "'";
  for (const unsigned char c : bytes) {
    absl::StrAppend(&text, "\\", absl::Dec(c, absl::kZeroPad3));
  }
  return text + "'";
}

std::shared_ptr<RedisStore> OpenStore(const Target& target) {
  RedisStoreOptions options;
  options.timeout = std::chrono::seconds(5);
  const bool tls = target.tls_port != 0;
  if (tls) options.tls.ca_file = target.ca_file;
  const auto store = RedisStore::Create(
      absl::StrCat(tls ? "rediss" : "redis",
                   "://127.0.0.1:", tls ? target.tls_port : target.port),
      options);
  return store.ok() ? *store : nullptr;
}

}  // namespace

Speed RunCheckMany(const Target& target, const Limit& limit, int keys) {
  const auto limiter = Limiter::Create(OpenStore(target), limit);
  if (!limiter.ok()) return {};
  Samples samples;
  const auto start = Steady::now();
  const auto end = start + target.time;
  uint64_t n = 0;
  std::vector<std::string_view> views(static_cast<size_t>(keys));
  for (auto before = start; before < end;) {
    for (std::string_view& view : views) view = KeyOf(n++);
    for (const auto& decision : limiter->CheckMany(views)) {
      if (!decision.ok()) return {};
    }
    const auto after = Steady::now();
    samples.Add(after - before);
    before = after;
  }
  Speed speed = samples.Take(Steady::now() - start);
  speed.per_second *= keys;
  return speed;
}

Target OneKeyScript(Target target, const Limit& limit) {
  const auto scripts = redis::ScriptSet::Make({});
  const auto compiled = Registry::BuiltIn().Compile(limit, TimeFromMicros(0));
  if (!scripts.ok() || !compiled.ok()) return target;
  const std::string prefix =
      redis::KeyPrefix("weir", "default", limit.algorithm());
  const redis::RedisRule rule(prefix, *compiled,
                              *scripts->Find(*compiled->engine));
  Step step;
  step.rule = &rule;
  const redis::EncodedCall encoded(Op::kCheck, std::nullopt,
                                   absl::MakeConstSpan(&step, 1));
  const redis::ScriptCall call = encoded.call();
  target.script = LoadText(
      target.port,
      absl::StrCat("local ARGV = {", Literal(call.args[0]), ", ",
                   Literal(call.args[1]), "}\n", Sv(call.script->text)));
  target.key = absl::StrCat(prefix, "{key:__rand_int__}");
  return target;
}

}  // namespace weir::bench
