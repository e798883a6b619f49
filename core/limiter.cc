#include "weir/limiter.h"

#include <algorithm>
#include <utility>

#include "core/duration_text.h"
#include "core/limiter_state.h"
#include "core/rule_set.h"
#include "core/text.h"

namespace weir {

Limiter::Limiter(std::shared_ptr<State> state) : state_(std::move(state)) {}
Limiter::Limiter(Limiter&&) noexcept = default;
Limiter& Limiter::operator=(Limiter&& other) noexcept {
  if (this != &other) {
    if (state_ != nullptr) Shutdown();
    state_ = std::move(other.state_);
  }
  return *this;
}
Limiter::~Limiter() {
  if (state_ != nullptr) Shutdown();
}

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        Limit limit,
                                        const LimiterOptions& options) {
  std::vector<Rule> rules;
  rules.push_back({"default", std::move(limit)});
  return Create(std::move(store), std::move(rules), options);
}

absl::StatusOr<Limiter> Limiter::Create(std::shared_ptr<Store> store,
                                        std::vector<Rule> rules,
                                        const LimiterOptions& options) {
  if (store == nullptr) return InvalidArgument("store: is null");
  constexpr size_t kMostDenials = 10'000'000;
  if (options.denial_cache_keys > kMostDenials) {
    return InvalidArgument("denial_cache_keys: ", options.denial_cache_keys,
                           "; allowed: 0 to ", kMostDenials);
  }
  auto state = std::make_shared<State>();
  if (options.denial_cache_keys > 0) {
    state->denials = std::make_shared<DenialCache>(options.denial_cache_keys);
  }
  auto set = RuleSet::Make(*store, std::move(rules), options, state->denials);
  if (!set.ok()) return set.status();
  state->store = std::move(store);
  state->options = options;
  state->Replace(*std::move(set));
  return Limiter(std::move(state));
}

absl::StatusOr<std::vector<std::string>> Limiter::Update(
    std::vector<Rule> rules) {
  const std::lock_guard<std::mutex> lock(state_->update_mutex);
  const std::vector<Rule>& old = state_->rules().rules();
  if (rules.size() != old.size()) {
    return InvalidArgument("rules: ", rules.size(), " of them replace ",
                           old.size(), "; allowed: the same rules");
  }
  std::vector<std::string> afresh;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].name != old[i].name) {
      return InvalidArgument("rule \"", rules[i].name, "\" replaces \"",
                             old[i].name,
                             "\"; allowed: the same names in the same order");
    }
    if (rules[i].limit.algorithm() != old[i].limit.algorithm()) {
      afresh.push_back(rules[i].name);
    }
  }
  auto set = RuleSet::Make(*state_->store, std::move(rules), state_->options,
                           state_->denials);
  if (!set.ok()) return set.status();
  state_->Replace(*std::move(set));
  if (state_->denials != nullptr) state_->denials->ForgetAll();
  state_->room.WakeAll();
  return afresh;
}

absl::StatusOr<std::vector<std::string>> Limiter::Update(Limit limit) {
  std::vector<Rule> rules = state_->rules().rules();
  if (rules.size() != 1) {
    return InvalidArgument("limit: one for ", rules.size(),
                           " rules; allowed: a limiter with one rule");
  }
  rules[0].limit = std::move(limit);
  return Update(std::move(rules));
}

void Limiter::Shutdown() { state_->room.Close(); }

absl::Span<const Rule> Limiter::rules() const {
  return state_->rules().rules();
}

absl::StatusOr<Decision> Limiter::Run(Op op, const Call& call) const {
  if (op == Op::kReserve) {
    return InvalidArgument("op: reservations are made with Reserve");
  }
  return state_->Run(op, call);
}

absl::StatusOr<Decision> Limiter::Check(std::string_view key,
                                        int64_t cost) const {
  const RuleSet::Quick& quick = state_->rules().quick();
  return quick.checks.check(quick, key, cost);
}
absl::StatusOr<Decision> Limiter::Check(const Call& call) const {
  const RuleSet& rules = state_->rules();
  if (call.keys.size() != 1 || call.costs.size() > 1 || call.tag.has_value()) {
    return rules.Run(*state_->store, Op::kCheck, call);
  }
  const RuleSet::Quick& quick = rules.quick();
  const int64_t cost = rules.CostOf(call, 0);
  return call.now.has_value()
             ? quick.checks.check_at(quick, call.keys[0], cost, *call.now)
             : quick.checks.check(quick, call.keys[0], cost);
}
absl::StatusOr<Decision> Limiter::Peek(std::string_view key,
                                       int64_t cost) const {
  return state_->Run(Op::kPeek, CallOf(key, cost));
}
absl::StatusOr<Decision> Limiter::Peek(const Call& call) const {
  return state_->Run(Op::kPeek, call);
}
absl::StatusOr<Decision> Limiter::Refund(std::string_view key,
                                         int64_t cost) const {
  return state_->Run(Op::kRefund, CallOf(key, cost));
}
absl::StatusOr<Decision> Limiter::Refund(const Call& call) const {
  return state_->Run(Op::kRefund, call);
}
absl::StatusOr<Decision> Limiter::Reset(std::string_view key) const {
  return state_->Run(Op::kReset, CallOf(key, 1));
}
absl::StatusOr<Decision> Limiter::Reset(const Call& call) const {
  return state_->Run(Op::kReset, call);
}

std::vector<absl::StatusOr<Decision>> Limiter::CheckMany(
    absl::Span<const std::string_view> keys, int64_t cost) const {
  const RuleSet::Quick& quick = state_->rules().quick();
  std::vector<absl::StatusOr<Decision>> decisions;
  decisions.reserve(keys.size());
  quick.checks.check_many(quick, keys, cost, &decisions);
  return decisions;
}

std::vector<absl::StatusOr<Decision>> Limiter::CheckMany(
    absl::Span<const Call> calls) const {
  return state_->rules().CheckMany(*state_->store, calls);
}

void Limiter::CheckAsync(std::string_view key, int64_t cost,
                         DecisionCallback done) const {
  CheckAsync(CallOf(key, cost), std::move(done));
}
void Limiter::CheckAsync(const Call& call, DecisionCallback done) const {
  state_->rules().CheckAsync(*state_->store, call, std::move(done));
}

namespace {

// A reservation of this call could be made.
absl::Status CanReserve(const RuleSet& rules, std::string_view key,
                        Micros max_wait) {
  if (max_wait.count() < 0) {
    return InvalidArgument("max_wait: ", DurationText(max_wait.count()),
                           "; allowed: 0 or more");
  }
  if (rules.rules().size() != 1 || rules.rules()[0].observe) {
    return absl::FailedPreconditionError(
        "reserve: needs a limiter with one rule, which is enforced");
  }
  const CompiledLimit& limit = rules.LimitOf(0, key).limit;
  if (limit.unlimited() || limit.denies_all) return absl::OkStatus();
  if (limit.traits.max_wait_us == kNever) {
    return absl::FailedPreconditionError(absl::StrCat(
        "rule \"", rules.rules()[0].name, "\": ", limit.algorithm,
        " takes no reservations; gcra, token_bucket, leaky_bucket and uniform "
        "do"));
  }
  if (max_wait.count() > limit.traits.max_wait_us) {
    return InvalidArgument("max_wait: ", DurationText(max_wait.count()),
                           " is above the limit's own; allowed: at most ",
                           DurationText(limit.traits.max_wait_us));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Reservation> Limiter::Reserve(std::string_view key, int64_t cost,
                                             Micros max_wait) const {
  return ReserveFor(CallOf(key, cost), max_wait);
}

absl::StatusOr<Reservation> Limiter::ReserveFor(const Call& call,
                                                Micros max_wait) const {
  const RuleSet& rules = state_->rules();
  const std::string_view key = call.keys[0];
  if (absl::Status s = CanReserve(rules, key, max_wait); !s.ok()) return s;
  int64_t wait = 0;
  absl::StatusOr<Decision> d =
      rules.Run(*state_->store, Op::kReserve, call, max_wait.count(), &wait);
  if (!d.ok()) return d.status();
  Reservation r;
  r.state_ = state_;
  r.key_ = std::string(key);
  if (call.tag.has_value()) r.tag_ = std::string(*call.tag);
  r.cost_ = rules.CostOf(call, 0);
  r.wait_ = WaitOf(wait);
  r.decision_ = *std::move(d);
  return r;
}

absl::Status Reservation::Cancel() { return CancelAt(std::nullopt); }

absl::Status Reservation::CancelAt(std::optional<Time> now) {
  if (!reserved() || cost_ == 0) return absl::OkStatus();
  const int64_t cost = std::exchange(cost_, 0);
  const std::string_view key = key_;
  Call call = CallOf(key, cost);
  if (tag_.has_value()) call.tag = *tag_;
  call.now = now;
  // The store never heard of it.
  if (decision_.source == Source::kPolicy) {
    return state_->rules().RefundLocally(call);
  }
  return state_->Run(Op::kRefund, call).status();
}

absl::Status Limiter::State::WaitForTurn(const Clock& clock,
                                         WaitingRoom::Ticket* ticket,
                                         Reservation* taken) {
  // The wait counts from the store's reading, which is over by now: nobody
  // acts before its turn.
  const Time turn = clock.Now() + *taken->wait();
  do {
    if (absl::Status s = room.Wait(clock, turn, ticket); !s.ok()) {
      if (absl::Status back = taken->Cancel(); !back.ok()) return back;
      return s;
    }
  } while (clock.Now() < turn);
  return absl::OkStatus();
}

void Limiter::State::GiveBack(Reservation* taken, Time before) {
  const int64_t cost = taken->cost_;
  try {
    taken->Cancel().IgnoreError();
    return;
  } catch (...) {
    // The store's clock throws still, before anything has changed.
    taken->cost_ = cost;
  }
  try {
    // At an earlier reading the arrival time goes back just as far.
    taken->CancelAt(before).IgnoreError();
  } catch (...) {
    // Nothing more can be done; what is on its way to the caller tells why.
    taken->cost_ = 0;
  }
}

absl::StatusOr<Decision> Limiter::State::WaitByReservation(
    const Limiter& limiter, const Call& call, Micros max_wait,
    Cancellation* cancel) {
  const RuleSet& set = rules();
  WaitingRoom::Ticket ticket({set.CostOf(call, 0)});
  WaitingRoom::Stay stay(&room, &ticket, cancel);
  const Clock& clock = store->WaitingClock();
  const Time before = clock.Now();
  absl::StatusOr<Reservation> r = limiter.ReserveFor(call, max_wait);
  if (!r.ok()) return r.status();
  if (!r->reserved()) return r->decision();
  try {
    if (absl::Status s = WaitForTurn(clock, &ticket, &*r); !s.ok()) return s;
  } catch (...) {
    GiveBack(&*r, before);
    throw;
  }
  return r->decision();
}

namespace {

bool CountsDenied(const RuleSet& rules, const Call& call) {
  for (size_t i = 0; i < rules.rules().size(); ++i) {
    const AttachedLimit& limit = rules.LimitOf(i, rules.KeyOf(call, i));
    if (limit.limit.traits.count_denied) return true;
  }
  return false;
}

}  // namespace

// The caller stands first in its line, or comes to.
absl::StatusOr<Decision> Limiter::State::WaitByPeek(const Call& call,
                                                    Time deadline,
                                                    WaitingRoom::Ticket* ticket,
                                                    const std::string& line) {
  const Clock& clock = store->WaitingClock();
  for (;;) {
    Time next = deadline;
    // From before the store's reading: who wakes too early asks again.
    const Time now = clock.Now();
    const bool last = now >= deadline;
    if (room.First(line, ticket)) {
      absl::StatusOr<Decision> peek = Run(Op::kPeek, call);
      if (!peek.ok()) return peek;
      const bool in_time =
          !peek->never() && now + *peek->retry_after <= deadline;
      // A call that passes, or gives up, is the one that is made and counted.
      if (peek->allowed || !in_time) {
        absl::StatusOr<Decision> d = Run(Op::kCheck, call);
        if (!d.ok() || d->allowed || !in_time) return d;
        // Somebody else was faster; or the store knows better than the cache.
        if (d->source == Source::kDenialCache) rules().ForgetDenials(call);
        continue;
      }
      next = now + *peek->retry_after;
    } else if (last) {
      absl::StatusOr<Decision> d = Run(Op::kPeek, call);
      if (!d.ok()) return d;
      // What its limits deny is counted where that counts. What they do not
      // would have passed before those who stand ahead of it.
      if (!d->allowed && CountsDenied(rules(), call)) {
        return Run(Op::kCheck, call);
      }
      d->allowed = false;
      return d;
    }
    if (absl::Status s = room.Wait(clock, next, ticket); !s.ok()) return s;
  }
}

absl::StatusOr<Decision> Limiter::State::WaitInLine(const Call& call,
                                                    Micros max_wait,
                                                    Cancellation* cancel) {
  const RuleSet& set = rules();
  if (absl::Status s = set.CheckCall(call); !s.ok()) return s;
  std::vector<int64_t> costs;
  std::string line;
  for (size_t i = 0; i < set.rules().size(); ++i) {
    costs.push_back(set.CostOf(call, i));
    const std::string_view key = set.KeyOf(call, i);
    absl::StrAppend(&line, key.size(), ":", Sv(key));
  }
  // Every wait is over by then, and sums of it do not overflow.
  constexpr Micros kLongest(2 * kMaxWindowUs);
  const Time deadline =
      store->WaitingClock().Now() + std::min(max_wait, kLongest);
  WaitingRoom::Ticket ticket(costs);
  WaitingRoom::Stay stay(&room, &ticket, cancel);
  const std::vector<int64_t> ahead = room.Join(line, &ticket);
  struct Place {
    ~Place() { room.Leave(line, ticket); }
    WaitingRoom& room;
    const std::string& line;
    WaitingRoom::Ticket* ticket;
  } place{room, line, &ticket};

  // All who stand before, and this one: when could they have passed together?
  if (*std::max_element(ahead.begin(), ahead.end()) > 0) {
    std::vector<int64_t> together = costs;
    for (size_t i = 0; i < costs.size(); ++i) {
      const int64_t capacity =
          set.LimitOf(i, set.KeyOf(call, i)).limit.traits.capacity;
      together[i] = std::max(costs[i], std::min(capacity, costs[i] + ahead[i]));
    }
    Call all = call;
    all.costs = together;
    absl::StatusOr<Decision> d = Run(Op::kPeek, all);
    if (!d.ok()) return d;
    if (!d->allowed && (d->never() || *d->retry_after > max_wait)) return d;
  }
  return WaitByPeek(call, deadline, &ticket, line);
}

absl::StatusOr<Decision> Limiter::Acquire(const Call& call, Micros max_wait,
                                          Cancellation* cancel) const {
  if (max_wait.count() < 0) {
    return InvalidArgument("max_wait: ", DurationText(max_wait.count()),
                           "; allowed: 0 or more");
  }
  if (call.now.has_value()) {
    return InvalidArgument("now: a call that waits has no time of its own");
  }
  const RuleSet& set = state_->rules();
  if (absl::Status s = set.CheckCall(call); !s.ok()) return s;
  const bool reserves =
      set.rules().size() == 1 && !set.rules()[0].observe &&
      set.LimitOf(0, set.KeyOf(call, 0)).limit.traits.max_wait_us != kNever;
  return reserves ? state_->WaitByReservation(*this, call, max_wait, cancel)
                  : state_->WaitInLine(call, max_wait, cancel);
}

absl::StatusOr<Decision> Limiter::Acquire(std::string_view key, int64_t cost,
                                          Micros max_wait,
                                          Cancellation* cancel) const {
  return Acquire(CallOf(key, cost), max_wait, cancel);
}

}  // namespace weir
