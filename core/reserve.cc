// Reservations: a turn that is taken ahead of time.
#include <string>
#include <string_view>
#include <utility>

#include "core/duration_text.h"
#include "core/limiter_state.h"
#include "core/max_wait.h"
#include "core/rule_set.h"
#include "core/text.h"
#include "weir/limiter.h"

namespace weir {
namespace {

constexpr char kReserving[] = "gcra, token_bucket, leaky_bucket";

// A reservation could be made of a rule with that limit.
absl::Status CanReserve(const Rule& rule, const CompiledLimit& limit,
                        Micros max_wait) {
  if (limit.unlimited() || limit.denies_all) return absl::OkStatus();
  if (limit.traits.max_wait_us == kNever) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rule \"", rule.name, "\": ", limit.algorithm,
        " takes no reservations; ", kReserving, " and uniform do"));
  }
  if (max_wait.count() > limit.traits.max_wait_us) {
    return InvalidArgument("max_wait: ", DurationText(max_wait.count()),
                           " is above the limit's own; allowed: at most ",
                           DurationText(limit.traits.max_wait_us));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Decision> RuleSet::Reserve(Store& store, const Call& call,
                                          Micros max_wait, int64_t* wait,
                                          const AttachedLimit** limit) const {
  if (absl::Status s = CheckMaxWait(max_wait); !s.ok()) return s;
  if (!EnforcesOne()) {
    const size_t n = rules_.size();
    return absl::FailedPreconditionError(absl::StrCat(
        "reserve: ",
        n > 1 ? absl::StrCat("a limiter of ", n, " rules")
              : absl::StrCat("rule \"", rules_[0].name, "\" only observes"),
        "; allowed: one rule, enforced, of ", kReserving, " or uniform"));
  }
  if (absl::Status s = CheckCall(call); !s.ok()) return s;
  Step step;
  const size_t count = LayOut(call, max_wait.count(), limit, &step);
  if (absl::Status s = CanReserve(rules_[0], (*limit)->limit, max_wait);
      !s.ok()) {
    return s;
  }
  return Ask(store, Op::kReserve, call, limit, &step, count, max_wait.count(),
             wait);
}

absl::StatusOr<Reservation> Limiter::Reserve(std::string_view key, int64_t cost,
                                             Micros max_wait) const {
  return ReserveFor(state_, state_->rules(), CallOf(key, cost), max_wait);
}

absl::StatusOr<Reservation> Limiter::ReserveFor(
    const std::shared_ptr<State>& state, const RuleSet& rules, const Call& call,
    Micros max_wait) {
  int64_t wait = 0;
  const AttachedLimit* limit = nullptr;
  absl::StatusOr<Decision> d =
      rules.Reserve(*state->store, call, max_wait, &wait, &limit);
  if (!d.ok()) return d.status();
  Reservation r;
  r.state_ = state;
  r.key_ = std::string(call.keys[0]);
  if (call.tag.has_value()) r.tag_ = std::string(*call.tag);
  r.algorithm_ = limit->limit.algorithm;
  r.cost_ = rules.CostOf(call, 0);
  r.wait_ = WaitOf(wait);
  r.decision_ = *std::move(d);
  return r;
}

Reservation::Reservation() {
  decision_.allowed = false;
  decision_.retry_after = std::nullopt;
}
Reservation::Reservation(Reservation&& other) noexcept : Reservation() {
  Swap(other);
}
Reservation& Reservation::operator=(Reservation&& other) noexcept {
  Reservation taken(std::move(other));
  Swap(taken);
  return *this;
}
Reservation::~Reservation() = default;

void Reservation::Swap(Reservation& other) noexcept {
  std::swap(state_, other.state_);
  std::swap(key_, other.key_);
  std::swap(tag_, other.tag_);
  std::swap(algorithm_, other.algorithm_);
  std::swap(cost_, other.cost_);
  std::swap(wait_, other.wait_);
  std::swap(decision_, other.decision_);
}

absl::Status Reservation::Cancel() { return CancelAt(std::nullopt); }

absl::Status Reservation::CancelAt(std::optional<Time> now) {
  if (!reserved() || cost_ == 0) return absl::OkStatus();
  const std::string_view key = key_;
  const RuleSet& rules = state_->rules();
  const AttachedLimit& limit = rules.LimitOf(0, key);
  // The state of another algorithm was never charged for it.
  if (limit.limit.algorithm != algorithm_) {
    cost_ = 0;
    return absl::OkStatus();
  }
  const int64_t cost = cost_;
  Call call = CallOf(key, cost);
  if (tag_.has_value()) call.tag = *tag_;
  call.now = now;
  absl::Status s =
      rules.GiveBack(*state_->store, call, limit, decision_.source);
  // What surely stands can be given back another time.
  if (s.ok() || state_->store->MayHaveRun(s)) cost_ = 0;
  rules.ForgetDenials(call);
  return s;
}

}  // namespace weir
