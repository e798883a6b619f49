#include "backends/redis/client.h"

#include <atomic>
#include <utility>
#include <vector>

#include "backends/redis/cluster_map.h"
#include "backends/redis/fork_mark.h"
#include "backends/redis/reactor.h"
#include "backends/redis/router.h"
#include "backends/redis/tally.h"

namespace weir::redis {
namespace {

// All that belongs to one process. Locks may be held, and sockets are shared,
// in what a child inherits: it never touches that again.
struct Core {
  Core(const ClientOptions& options, Tally* tally, const Core* inherited_core)
      : map(options, tally),
        router(options, &map, tally),
        inherited(inherited_core) {}

  Reactor* reactor(const ClientOptions& options, Tally* tally) {
    MutexLock lock(&mutex);
    if (made == nullptr) made = std::make_unique<Reactor>(options, &map, tally);
    return made.get();
  }

  ForkMark mark;
  ClusterMap map;
  Router router;
  Mutex mutex;
  std::unique_ptr<Reactor> made ABSL_GUARDED_BY(mutex);
  // Kept only so that it is not lost.
  const Core* const inherited;
};

}  // namespace

struct Client::Impl {
  explicit Impl(const ClientOptions& o)
      : options(o), core(new Core(options, &tally, nullptr)) {}
  ~Impl() {
    Core* const last = core.load(std::memory_order_acquire);
    if (last->mark.SameProcess()) delete last;
  }

  // Acquire pairs with the release of whoever made it.
  Core* Get() {
    Core* now = core.load(std::memory_order_acquire);
    return now->mark.SameProcess() ? now : Renew(now);
  }

  Core* Renew(Core* old) {
    Core* const fresh = new Core(options, &tally, old);
    if (core.compare_exchange_strong(old, fresh, std::memory_order_acq_rel)) {
      return fresh;
    }
    delete fresh;  // another thread of this child was first
    return old;
  }

  Reactor* reactor() { return Get()->reactor(options, &tally); }

  const ClientOptions options;
  Tally tally;
  std::atomic<Core*> core;
};

absl::StatusOr<std::shared_ptr<Client>> Client::Create(
    const ClientOptions& options) {
  absl::Status status = Validate(options);
  if (!status.ok()) return status;
  auto impl = std::make_unique<Impl>(options);
  // Without a thread it is opened when somebody first asks for it.
  if (options.io_threads > 0) status = impl->reactor()->Open();
  if (!status.ok()) return status;
  return std::shared_ptr<Client>(new Client(std::move(impl)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

absl::Status Client::Run(const ScriptCall& call, SteadyTime deadline,
                         Reply* reply) {
  Leg leg(call, reply, impl_->options.cluster);
  impl_->Get()->router.Run(absl::MakeSpan(&leg, 1), deadline);
  return leg.course.status();
}

void Client::RunMany(absl::Span<const ScriptCall> calls, SteadyTime deadline,
                     absl::Span<absl::StatusOr<Reply>> out) {
  std::vector<Leg> legs;
  legs.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) {
    legs.emplace_back(calls[i], &out[i].emplace(), impl_->options.cluster);
  }
  impl_->Get()->router.Run(absl::MakeSpan(legs), deadline);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!legs[i].course.status().ok()) out[i] = legs[i].course.status();
  }
}

void Client::RunAsync(OwnedCall call, SteadyTime deadline, ReplyCallback done) {
  impl_->reactor()->Submit(std::make_unique<AsyncCall>(
      std::move(call), deadline, std::move(done), impl_->options.cluster));
}

int Client::event_fd() {
  return impl_->options.io_threads > 0 ? -1 : impl_->reactor()->fd();
}

void Client::Process() {
  if (impl_->options.io_threads == 0) impl_->reactor()->Process(false);
}

std::vector<int> Client::SlotOfEachMaster() const {
  if (!impl_->options.cluster) return {-1};
  return impl_->Get()->map.SlotOfEachMaster();
}

Counters Client::counters() const { return impl_->tally.Read(); }

}  // namespace weir::redis
