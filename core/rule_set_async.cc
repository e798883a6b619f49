// Calls that nobody waits for.
#include <string>
#include <utility>
#include <vector>

#include "core/cached_call.h"
#include "core/rule_set.h"

namespace weir {
namespace {

// A call that outlives its caller's views.
struct KeptCall {
  explicit KeptCall(const Call& c)
      : keys(c.keys.begin(), c.keys.end()),
        views(keys.begin(), keys.end()),
        costs(c.costs.begin(), c.costs.end()),
        tag(c.tag.value_or("")) {
    call.keys = views;
    call.costs = costs;
    if (c.tag.has_value()) call.tag = tag;
    call.now = c.now;
  }

  const std::vector<std::string> keys;
  const std::vector<std::string_view> views;
  const std::vector<int64_t> costs;
  const std::string tag;
  Call call;
};

struct Pending {
  explicit Pending(const Call& c) : kept(c) {}

  // Not the store: the last call to end must not be what destroys it, on a
  // thread of its own.
  std::shared_ptr<const RuleSet> set;
  KeptCall kept;
  std::vector<const AttachedLimit*> limits;
  std::vector<Step> steps;
  std::vector<Outcome> outcomes;
  CachedCall cached;
  DecisionCallback done;
};

}  // namespace

void RuleSet::CheckAsync(Store& store, const Call& call,
                         DecisionCallback done) const {
  if (done == nullptr) return;
  if (absl::Status s = CheckCall(call); !s.ok()) return done(std::move(s));
  auto pending = std::make_shared<Pending>(call);
  Pending& p = *pending;
  p.set = shared_from_this();
  p.done = std::move(done);
  p.limits.resize(rules_.size());
  p.steps.resize(rules_.size());
  p.outcomes.resize(rules_.size());
  const size_t count = LayOut(p.kept.call, 0, p.limits.data(), p.steps.data());
  if (count == 0) {
    return p.done(Decide(Op::kCheck, p.limits.data(), p.outcomes.data()));
  }
  p.cached.Open(*this, p.kept.call, p.limits.data(), store.WaitingClock(),
                denials_.get());
  Decision denied;
  if (p.cached.Repeats(&denied)) return p.done(std::move(denied));
  store.RunAsync(Op::kCheck, p.kept.call.now, p.steps.data(), p.outcomes.data(),
                 count, [pending, &store](absl::Status status) {
                   absl::StatusOr<Decision> d = pending->set->DecideCheck(
                       store, std::move(status), pending->kept.call,
                       pending->limits.data(), pending->outcomes.data());
                   pending->cached.Learn(d);
                   pending->done(std::move(d));
                 });
}

}  // namespace weir
