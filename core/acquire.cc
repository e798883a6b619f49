// Calls that wait: by a reservation where the limit takes one, else in a line
// of those who ask for the same keys.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/limiter_state.h"
#include "core/max_wait.h"
#include "core/rule_set.h"
#include "core/text.h"
#include "core/waiting_room.h"
#include "weir/limiter.h"

namespace weir {

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
  try {
    taken->Cancel().IgnoreError();
    return;
  } catch (...) {
    // The store's clock throws still, before anything has changed.
  }
  try {
    // At an earlier reading the arrival time goes back just as far.
    taken->CancelAt(before).IgnoreError();
  } catch (...) {
    // Nothing more can be done; what is on its way to the caller tells why.
  }
}

absl::StatusOr<Decision> Limiter::State::WaitByReservation(
    const std::shared_ptr<State>& state, const RuleSet& set, const Call& call,
    Micros max_wait, Cancellation* cancel) {
  WaitingRoom::Ticket ticket({set.CostOf(call, 0)});
  WaitingRoom::Stay stay(&state->room, &ticket, cancel);
  if (absl::Status s = WaitingRoom::StillWaits(&ticket); !s.ok()) return s;
  const Clock& clock = state->store->WaitingClock();
  const Time before = clock.Now();
  absl::StatusOr<Reservation> r = ReserveFor(state, set, call, max_wait);
  if (!r.ok()) return r.status();
  if (!r->reserved()) return r->decision();
  try {
    if (absl::Status s = state->WaitForTurn(clock, &ticket, &*r); !s.ok()) {
      return s;
    }
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
  // Who was called off while the store answered is not charged.
  const auto check = [&]() -> absl::StatusOr<Decision> {
    if (absl::Status s = WaitingRoom::StillWaits(ticket); !s.ok()) return s;
    return Run(Op::kCheck, call);
  };
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
        absl::StatusOr<Decision> d = check();
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
      if (!d->allowed && CountsDenied(rules(), call)) return check();
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
  if (absl::Status s = WaitingRoom::StillWaits(&ticket); !s.ok()) return s;
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
  if (absl::Status s = CheckMaxWait(max_wait); !s.ok()) return s;
  if (call.now.has_value()) {
    return InvalidArgument("now: a call that waits has no time of its own");
  }
  // Held to the end: the limiter can be gone before this has left the room.
  const std::shared_ptr<State> state = state_;
  const RuleSet& set = state->rules();
  if (absl::Status s = set.CheckCall(call); !s.ok()) return s;
  const bool reserves =
      set.EnforcesOne() &&
      set.LimitOf(0, set.KeyOf(call, 0)).limit.traits.max_wait_us != kNever;
  return reserves ? State::WaitByReservation(state, set, call, max_wait, cancel)
                  : state->WaitInLine(call, max_wait, cancel);
}

absl::StatusOr<Decision> Limiter::Acquire(std::string_view key, int64_t cost,
                                          Micros max_wait,
                                          Cancellation* cancel) const {
  return Acquire(CallOf(key, cost), max_wait, cancel);
}

}  // namespace weir
