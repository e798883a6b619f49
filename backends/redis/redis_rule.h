// A rule as the store on Redis knows it: how its keys begin, what runs it, and
// what of a step is always the same.
#ifndef WEIR_BACKENDS_REDIS_REDIS_RULE_H_
#define WEIR_BACKENDS_REDIS_REDIS_RULE_H_

#include <string>
#include <utility>

#include "backends/redis/script_set.h"
#include "weir/registry.h"
#include "weir/script.h"
#include "weir/store.h"

namespace weir::redis {

class RedisRule final : public StoreRule {
 public:
  RedisRule(std::string key_prefix, CompiledLimit l, const ScriptSet::Half& h)
      : prefix(std::move(key_prefix)),
        limit(std::move(l)),
        half(h),
        script(limit.engine->script) {
    if (!limit.denies_all) {
      script->write_record(limit.params.get(), &record);
      record.push_back(kVersion);
    }
  }

  // What a step of this rule adds to a reply: a verdict and a state.
  size_t reply_bytes() const {
    return 1 + (limit.denies_all ? 0 : script->state_bytes);
  }

  // Of the form in which states are stored: kVersion of lua/head.lua.
  static constexpr char kVersion = 1;

  const std::string prefix;
  const CompiledLimit limit;
  const ScriptSet::Half half;
  const EngineScript* const script;
  std::string record;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_REDIS_RULE_H_
