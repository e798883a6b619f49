#include "backends/redis/node.h"

#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"

namespace weir::redis {
namespace {

using Steady = std::chrono::steady_clock;

// A server that has owed a reply for this long counts as not answering.
constexpr std::chrono::milliseconds kStall(50);

uint64_t SeedFor(const void* node) {
  const auto now =
      static_cast<uint64_t>(Steady::now().time_since_epoch().count());
  return now * 0x9e3779b97f4a7c15u ^ reinterpret_cast<uintptr_t>(node);
}

}  // namespace

Node::Node(Address address, const ClientOptions& options, Tally* tally)
    : address_(std::move(address)),
      name_(address_.ToString()),
      between_reconnects_(options.max_retry_interval),
      tally_(tally),
      breaker_(options, SeedFor(this)) {
  for (int i = 0; i < options.connections; ++i) {
    links_.push_back(std::make_unique<Link>(
        address_, options, tally,
        [this](const absl::Status& status) { NoteFailure(status); }));
  }
}

Link& Node::Choose() {
  Link* best = links_.front().get();
  if (links_.size() == 1) return *best;
  size_t least = best->load();
  for (size_t i = 1; i < links_.size() && least > 0; ++i) {
    const size_t load = links_[i]->load();
    if (load >= least) continue;
    least = load;
    best = links_[i].get();
  }
  return *best;
}

bool Node::IsOneServer() const {
  return absl::c_any_of(links_,
                        [](const auto& link) { return link->knows_version(); });
}

void Node::Refuse(Batch* batch, absl::Status status) {
  const Reason reason = ReasonOf(status);
  for (Ticket& ticket : batch->tickets) ticket.failed = reason;
  batch->status = std::move(status);
}

bool Node::RefuseIfOverloaded(Batch* batch) {
  if (batch->tickets.front().failed != Reason::kOverloaded) return false;
  Refuse(batch, MakeError(Reason::kOverloaded, name_, batch->words));
  return true;
}

std::shared_ptr<SharedStream> Node::Begin(Batch* batch, SteadyTime now,
                                          SteadyTime deadline, bool* refused) {
  *refused = false;
  const Breaker::Verdict verdict = breaker_.Ask(now, deadline);
  if (verdict == Breaker::Verdict::kNo) {
    Refuse(batch, breaker_.Why());
    *refused = true;
    return nullptr;
  }
  if (verdict == Breaker::Verdict::kProbe) tally_->probes.Add();
  Link& link = Choose();
  std::shared_ptr<SharedStream> stream = link.Current();
  if (stream == nullptr || stream->Start(batch, now, deadline)) return stream;
  *refused = RefuseIfOverloaded(batch);
  // An old connection turned out to be closed.
  if (!*refused) link.Drop(stream.get());
  return nullptr;
}

std::shared_ptr<SharedStream> Node::Connect(Batch* batch, SteadyTime now,
                                            SteadyTime deadline) {
  Link& link = Choose();
  for (int attempt = 0;; ++attempt) {
    absl::StatusOr<std::shared_ptr<SharedStream>> stream = link.Get(deadline);
    if (!stream.ok()) {
      if (ReasonOf(stream.status()) == Reason::kTimeout) {
        NoteTimeout(link.Silence(Steady::now()), stream.status());
      }
      Refuse(batch, stream.status());
      return nullptr;
    }
    if ((*stream)->Start(batch, now, deadline)) return *std::move(stream);
    if (RefuseIfOverloaded(batch)) return nullptr;
    link.Drop(stream->get());
    // It may have been somebody else's, and be closed by now.
    if (attempt == 0) continue;
    Refuse(batch,
           MakeError(batch->tickets.front().failed, name_, batch->words));
    return nullptr;
  }
}

void Node::Finish(SharedStream* stream, Batch* batch, SteadyTime deadline) {
  stream->Wait(batch, deadline);
  Reason failed = Reason::kNone;
  for (const Ticket& ticket : batch->tickets) {
    const bool refused = ticket.answered && ticket.reply != nullptr &&
                         CannotServe(*ticket.reply);
    if (ticket.answered && !refused) return breaker_.Succeed();
    failed = ticket.failed;
  }
  if (failed == Reason::kNone) return;
  if (failed == Reason::kTimeout) {
    return NoteTimeout(stream->Silence(Steady::now()),
                       MakeError(Reason::kTimeout, name_, kNoAnswer));
  }
  NoteBreak(stream->made(), failed, batch->words);
}

void Node::NoteBreak(SteadyTime made, Reason reason, std::string_view words) {
  int64_t last = last_break_.load(std::memory_order_relaxed);
  const int64_t now = Steady::now().time_since_epoch().count();
  if (made.time_since_epoch().count() <= last ||
      !last_break_.compare_exchange_strong(last, now,
                                           std::memory_order_relaxed)) {
    return;
  }
  NoteFailure(MakeError(reason, name_, words));
}

void Node::NoteTimeout(std::chrono::microseconds silence,
                       const absl::Status& status) {
  if (silence >= kStall) NoteFailure(status);
}

void Node::NoteFailure(const absl::Status& status) {
  // What is no outage must not look like one to those who are turned away.
  breaker_.Fail(Steady::now(),
                IsOutage(status)
                    ? MakeError(Reason::kBreakerOpen, name_,
                                absl::StrCat("not asked for a while, after: ",
                                             status.message()))
                    : status);
}

void Node::Reconnect() {
  const int64_t now = Steady::now().time_since_epoch().count();
  int64_t next = next_reconnect_.load(std::memory_order_relaxed);
  if (now < next ||
      !next_reconnect_.compare_exchange_strong(
          next, now + between_reconnects_.count(), std::memory_order_relaxed)) {
    return;
  }
  generation_.fetch_add(1, std::memory_order_relaxed);
  for (const auto& link : links_) link->Reset();
}

}  // namespace weir::redis
