#include "backends/redis/client.h"

#include <utility>
#include <vector>

#include "backends/redis/cluster_map.h"
#include "backends/redis/router.h"
#include "backends/redis/tally.h"

namespace weir::redis {

struct Client::Impl {
  explicit Impl(const ClientOptions& o)
      : options(o), map(options, &tally), router(options, &map, &tally) {}

  const ClientOptions options;
  Tally tally;
  ClusterMap map;
  Router router;
};

absl::StatusOr<std::shared_ptr<Client>> Client::Create(
    const ClientOptions& options) {
  absl::Status status = Validate(options);
  if (!status.ok()) return status;
  return std::shared_ptr<Client>(new Client(std::make_unique<Impl>(options)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::Status Client::Run(const ScriptCall& call, SteadyTime deadline,
                         Reply* reply) {
  Leg leg(call, reply);
  impl_->router.Run(absl::MakeSpan(&leg, 1), deadline);
  return leg.course.status();
}

void Client::RunMany(absl::Span<const ScriptCall> calls, SteadyTime deadline,
                     absl::Span<absl::StatusOr<Reply>> out) {
  std::vector<Reply> replies(calls.size());
  std::vector<Leg> legs;
  legs.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    legs.emplace_back(calls[i], &replies[i]);
  }
  impl_->router.Run(absl::MakeSpan(legs), deadline);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (legs[i].course.status().ok()) {
      out[i] = std::move(replies[i]);
    } else {
      out[i] = legs[i].course.status();
    }
  }
}

void Client::RunAsync(OwnedCall, SteadyTime, Callback done) {
  done(absl::UnimplementedError("redis: RunAsync"));
}
int Client::event_fd() { return -1; }
void Client::Process() {}

Counters Client::counters() const { return impl_->tally.Read(); }
const ClientOptions& Client::options() const { return impl_->options; }

}  // namespace weir::redis
