#include "weir/redis_store.h"

#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/redis/client.h"
#include "backends/redis/errors.h"
#include "backends/redis/key_name.h"
#include "backends/redis/redis_rule.h"
#include "backends/redis/script_set.h"
#include "backends/redis/step_codec.h"
#include "backends/redis/sweep_keys.h"
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
  redis::ClientOptions defaults;
  defaults.connections = options.connections;
  defaults.io_threads = options.io_threads;
  defaults.spin = options.spin;
  defaults.connect_timeout = options.connect_timeout;
  absl::StatusOr<redis::Url> parsed = redis::ParseUrl(url, defaults);
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
        "\" has no Lua half here; RedisStoreOptions::engines takes the script, "
        "and weir/script.h says what its header needs"));
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
  const redis::EncodedCall call(impl_->scripts, op, now, all);
  redis::Reply reply;
  absl::Status status = impl_->client->Run(
      call.call(), std::chrono::steady_clock::now() + impl_->timeout, &reply);
  if (!status.ok()) return status;
  return redis::Decode(reply, op, all, outcomes);
}

void RedisStore::RunEach(Op op, std::optional<Time> now, const Step* steps,
                         Outcome* outcomes, absl::Status* statuses,
                         size_t count) {
  const redis::SteadyTime deadline =
      std::chrono::steady_clock::now() + impl_->timeout;
  std::deque<redis::EncodedCall> encoded;  // they stay where they are
  std::vector<redis::ScriptCall> calls;
  std::vector<size_t> asked;
  calls.reserve(count);
  asked.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const absl::Span<const Step> one(&steps[i], 1);
    statuses[i] = absl::OkStatus();
    if (redis::DecideAlone(op, one, &outcomes[i])) continue;
    calls.push_back(encoded.emplace_back(impl_->scripts, op, now, one).call());
    asked.push_back(i);
  }
  if (calls.empty()) return;
  std::vector<absl::StatusOr<redis::Reply>> replies(calls.size());
  impl_->client->RunMany(calls, deadline, absl::MakeSpan(replies));
  for (size_t n = 0; n < asked.size(); ++n) {
    const size_t i = asked[n];
    statuses[i] = replies[n].ok() ? redis::Decode(*replies[n], op,
                                                  {&steps[i], 1}, &outcomes[i])
                                  : replies[n].status();
  }
}

void RedisStore::RunAsync(Op op, std::optional<Time> now, const Step* steps,
                          Outcome* outcomes, size_t count,
                          std::function<void(absl::Status)> done) {
  const absl::Span<const Step> all(steps, count);
  if (all.empty() || redis::DecideAlone(op, all, outcomes)) {
    return done(absl::OkStatus());
  }
  const redis::EncodedCall encoded(impl_->scripts, op, now, all);
  const redis::ScriptCall call = encoded.call();
  redis::OwnedCall owned;
  owned.script = call.script;
  owned.keys.assign(call.keys.begin(), call.keys.end());
  owned.args.assign(call.args.begin(), call.args.end());
  owned.charging = call.charging;
  impl_->client->RunAsync(
      std::move(owned), std::chrono::steady_clock::now() + impl_->timeout,
      [op, all, outcomes,
       done = std::move(done)](absl::StatusOr<redis::Reply> reply) {
        done(reply.ok() ? redis::Decode(*reply, op, all, outcomes)
                        : reply.status());
      });
}

bool RedisStore::IsOutage(const absl::Status& status) const {
  return redis::IsOutage(status);
}

bool RedisStore::MayHaveCharged(const absl::Status& status) {
  return redis::MayHaveCharged(status);
}

int RedisStore::event_fd() { return impl_->client->event_fd(); }
void RedisStore::Process() { impl_->client->Process(); }

std::string_view RedisStore::name_space() const { return impl_->name_space; }

absl::StatusOr<int64_t> RedisStore::RemoveNamespace() {
  return SweepNamespace(true);
}

absl::StatusOr<bool> RedisStore::NamespaceIsEmpty() {
  const absl::StatusOr<int64_t> found = SweepNamespace(false);
  if (!found.ok()) return found.status();
  return *found == 0;
}

absl::StatusOr<int64_t> RedisStore::SweepNamespace(bool remove) {
  if (impl_->client->options().cluster) {
    return absl::UnimplementedError(
        "redis: the keys of a namespace can't be looked for on a cluster; they "
        "expire");
  }
  return redis::SweepKeys(impl_->client.get(),
                          redis::NamespacePattern(impl_->name_space), remove,
                          impl_->timeout);
}

void RedisStore::VisitCounters(
    const std::function<void(std::string_view, int64_t)>& visit) const {
  impl_->client->counters().ForEach(visit);
}

}  // namespace weir
