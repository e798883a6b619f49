#include "weir/redis_store.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/client.h"
#include "backends/redis/key_name.h"
#include "backends/redis/redis_rule.h"
#include "backends/redis/script_set.h"
#include "backends/redis/step_codec.h"
#include "backends/redis/url.h"
#include "core/text.h"

namespace weir {

struct RedisStore::Impl {
  std::shared_ptr<redis::Client> client;
  redis::ScriptSet scripts;
  std::string name_space;
  Micros timeout;
};

RedisStore::RedisStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RedisStore::~RedisStore() = default;

absl::StatusOr<std::shared_ptr<RedisStore>> RedisStore::Create(
    std::string_view url, const RedisStoreOptions& options) {
  absl::StatusOr<redis::Url> parsed = redis::ParseUrl(url);
  if (!parsed.ok()) return parsed.status();
  const Micros timeout = parsed->timeout.value_or(options.timeout);
  if (timeout.count() <= 0) {
    return InvalidArgument("timeout: ", timeout.count(),
                           "us; allowed: more than 0");
  }
  absl::StatusOr<redis::ScriptSet> scripts =
      redis::ScriptSet::Make(options.engines);
  if (!scripts.ok()) return scripts.status();
  absl::StatusOr<std::shared_ptr<redis::Client>> client =
      redis::Client::Create(parsed->client);
  if (!client.ok()) return client.status();
  return std::shared_ptr<RedisStore>(new RedisStore(std::make_unique<Impl>(
      Impl{*std::move(client), *std::move(scripts),
           parsed->name_space.value_or(options.name_space), timeout})));
}

Time RedisStore::Now() const {
  return std::chrono::time_point_cast<Micros>(std::chrono::system_clock::now());
}

absl::StatusOr<std::shared_ptr<const StoreRule>> RedisStore::Attach(
    std::string_view rule_name, const CompiledLimit& limit) {
  const redis::ScriptSet::Half* half = impl_->scripts.Find(*limit.engine);
  if (half == nullptr || limit.engine->script == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rule \"", Sv(rule_name), "\": algorithm \"", limit.algorithm,
        "\" cannot decide on Redis: ",
        limit.engine->script == nullptr
            ? "its header has no kScriptBytes, WriteRecord, WriteStep and "
              "ReadState (weir/script.h)"
            : impl_->scripts.Missing()));
  }
  return std::make_shared<const redis::RedisRule>(
      redis::KeyPrefix(impl_->name_space, rule_name, limit.algorithm), limit,
      *half);
}

absl::Status RedisStore::Run(Op op, std::optional<Time> now, const Step* steps,
                             Outcome* outcomes, size_t count) {
  const absl::Span<const Step> all(steps, count);
  if (all.empty() || redis::DecideAlone(op, all, outcomes)) {
    return absl::OkStatus();
  }
  const redis::EncodedCall call(op, now, all);
  redis::Reply reply;
  absl::Status status = impl_->client->Run(
      call.call(), std::chrono::steady_clock::now() + impl_->timeout, &reply);
  if (!status.ok()) return status;
  return redis::Decode(reply, op, all, outcomes);
}

}  // namespace weir
