#include "weir/redis_store.h"

#include <algorithm>
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

  void RunBatch(Op op, std::optional<Time> now, absl::Span<BatchedCall> calls,
                redis::SteadyTime deadline);
};

// One batch to each node.
void RedisStore::Impl::RunBatch(Op op, std::optional<Time> now,
                                absl::Span<BatchedCall> calls,
                                redis::SteadyTime deadline) {
  std::deque<redis::EncodedCall> encoded;  // they stay where they are
  std::vector<redis::ScriptCall> sent;
  std::vector<BatchedCall*> asked;
  sent.reserve(calls.size());
  asked.reserve(calls.size());
  // The last that has args of its own, and its steps.
  const redis::EncodedCall* like = nullptr;
  absl::Span<const Step> its_steps;
  for (BatchedCall& call : calls) {
    const absl::Span<const Step> steps(call.steps, call.count);
    call.status = absl::OkStatus();
    if (steps.empty() || redis::DecideAlone(op, steps, call.outcomes)) continue;
    if (like != nullptr && redis::DifferInKeyAlone(its_steps, steps)) {
      encoded.emplace_back(*like, steps[0]);
    } else {
      like = &encoded.emplace_back(op, now, steps);
      its_steps = steps;
    }
    sent.push_back(encoded.back().call());
    asked.push_back(&call);
  }
  if (sent.empty()) return;
  std::vector<absl::StatusOr<redis::Reply>> replies(sent.size());
  client->RunMany(sent, deadline, absl::MakeSpan(replies));
  for (size_t i = 0; i < asked.size(); ++i) {
    BatchedCall& call = *asked[i];
    call.status = replies[i].ok()
                      ? redis::Decode(*replies[i], op, {call.steps, call.count},
                                      call.outcomes)
                      : replies[i].status();
  }
}

RedisStore::RedisStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RedisStore::~RedisStore() = default;

absl::StatusOr<std::shared_ptr<RedisStore>> RedisStore::Create(
    std::string_view url, const RedisStoreOptions& options) {
  redis::ClientOptions defaults;
  defaults.connections = options.connections;
  defaults.io_threads = options.io_threads;
  defaults.spin = options.spin;
  defaults.batch = options.batch;
  defaults.connect_timeout = options.connect_timeout;
  absl::StatusOr<redis::Url> parsed = redis::ParseUrl(
      url, defaults,
      {options.tls.ca_file, options.tls.cert_file, options.tls.key_file,
       options.tls.server_name, options.tls.verify});
  if (!parsed.ok()) return parsed.status();
  if (parsed->tls.has_value()) {
    absl::StatusOr<std::shared_ptr<const redis::TlsContext>> context =
        redis::TlsContext::Create(*parsed->tls);
    if (!context.ok()) return context.status();
    parsed->client.tls = *std::move(context);
  }
  const Micros timeout = parsed->timeout.value_or(options.timeout);
  constexpr Micros kLongest = std::chrono::hours(1);
  if (timeout.count() <= 0 || timeout > kLongest) {
    return InvalidArgument("timeout: ", timeout.count(), "us; allowed: 1us to ",
                           kLongest.count(), "us");
  }
  // A server may take as long as its callers do.
  parsed->client.max_call_age = std::max(parsed->client.max_call_age, timeout);
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

void RedisStore::RunEach(Op op, std::optional<Time> now, const Step* steps,
                         Outcome* outcomes, absl::Status* statuses,
                         size_t count) {
  std::vector<BatchedCall> calls(count);
  for (size_t i = 0; i < count; ++i) {
    calls[i].steps = &steps[i];
    calls[i].outcomes = &outcomes[i];
    calls[i].count = 1;
  }
  RunMany(op, now, absl::MakeSpan(calls));
  for (size_t i = 0; i < count; ++i) statuses[i] = std::move(calls[i].status);
}

void RedisStore::RunMany(Op op, std::optional<Time> now,
                         absl::Span<BatchedCall> calls) {
  const redis::SteadyTime deadline =
      std::chrono::steady_clock::now() + impl_->timeout;
  // Some thousands at once: more would only wait, in memory, and hold up others
  // on the same socket.
  constexpr size_t kAtOnce = 4096;
  for (size_t first = 0; first < calls.size(); first += kAtOnce) {
    impl_->RunBatch(op, now, calls.subspan(first, kAtOnce), deadline);
  }
}

void RedisStore::RunAsync(Op op, std::optional<Time> now, const Step* steps,
                          Outcome* outcomes, size_t count,
                          std::function<void(absl::Status)> done) {
  const absl::Span<const Step> all(steps, count);
  if (all.empty() || redis::DecideAlone(op, all, outcomes)) {
    return done(absl::OkStatus());
  }
  const redis::EncodedCall encoded(op, now, all);
  const redis::ScriptCall call = encoded.call();
  redis::OwnedCall owned;
  owned.script = call.script;
  owned.keys.assign(call.keys.begin(), call.keys.end());
  owned.args.assign(call.args.begin(), call.args.end());
  owned.charging = call.charging;
  owned.reply_bytes = call.reply_bytes;
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

bool RedisStore::MayHaveRun(const absl::Status& status) const {
  return MayHaveCharged(status);
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
  return redis::SweepKeys(impl_->client.get(), impl_->name_space, remove,
                          impl_->timeout);
}

void RedisStore::VisitCounters(
    const std::function<void(std::string_view, int64_t)>& visit) const {
  impl_->client->counters().ForEach(visit);
}

}  // namespace weir
