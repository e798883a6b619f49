// Runs a call on keys that are open: decides, makes room and charges.
#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "backends/memory/kept_state.h"
#include "backends/memory/memory_store_impl.h"
#include "backends/memory/memory_txn.h"

namespace weir {
namespace {

// Calls f(txn, steps) with the transaction that the key's engine is run on.
template <class F>
auto WithTxn(OpenKey& key, F f) {
  const LimitRecord& r = *key.record();
  if (r.word != nullptr) {
    WordTxn txn(&key);
    return f(txn, *r.steps);
  }
  MemoryTxn txn(&key);
  if (r.ops != nullptr) return f(txn, *r.ops);
  return f(static_cast<Txn&>(txn), r.limit.engine->ops);
}

// Null if the key has no state.
const LimitRecord* WrittenUnder(OpenKey& key) {
  const LimitRecord* written = key.written_under();
  const bool general = written != nullptr && written->word == nullptr;
  if (general && Table::ExpiryOf(key.state()) <= key.now()) return nullptr;
  return written;
}

StepArgs ArgsOf(OpenKey& key, int64_t cost) {
  StepArgs args;
  args.params = key.record()->params;
  const LimitRecord* old = WrittenUnder(key);
  if (old != nullptr && old->recorded != key.record()->recorded) {
    args.old_params = old->params;
  }
  args.t = key.now();
  args.cost = cost;
  return args;
}

bool Admits(OpenKey& key, const StepArgs& args) {
  return WithTxn(key, [&](auto& txn, const auto& steps) {
    return steps.admits(txn, args);
  });
}

// By its own limit. What an engine from outside the tree makes of a call is not
// known before it has made it.
bool IsDenied(OpenKey& key, int64_t cost) {
  return !key.record()->from_outside() && !Admits(key, ArgsOf(key, cost));
}

Numbers Apply(OpenKey& key, const StepArgs& args, Action action) {
  return WithTxn(key, [&](auto& txn, const auto& steps) {
    return steps.apply(txn, args, action);
  });
}

void CheckAlone(OpenKey& key, int64_t cost, Outcome* outcome) {
  const bool counts = key.record()->limit.traits.count_denied;
  const StepArgs args = ArgsOf(key, cost);
  outcome->numbers = WithTxn(key, [&](auto& txn, const auto& steps) {
    return steps.check(txn, args, counts, &outcome->allowed);
  });
}

// A refund is made in the state's own terms: under the limit that it was
// written under, so that what is used above a lower limit is not forgotten. A
// state that is cut is the new limit's own.
void Refund(OpenKey& key, int64_t cost) {
  // What a key took of a shared state can't be told from what others did.
  if (cost == 0 || key.shared()) return;
  StepArgs args = ArgsOf(key, cost);
  args.wants_wait = false;
  if (args.old_params != nullptr) Apply(key, args, Action::kSettle);
  const LimitRecord* old = WrittenUnder(key);
  if (old == nullptr) return;
  const LimitRecord* asked = key.record();
  key.set_record(old);
  args = ArgsOf(key, cost);
  args.wants_wait = false;
  Apply(key, args, Action::kRefund);
  key.set_record(asked);
}

// Sees to it that a key can be written to as this action does. False: there is
// no room.
bool MakeRoom(OpenKey& key, Action* action) {
  if (*action == Action::kCharge) return key.Reserve();
  // A denied call makes no key, but the cut of a shared state is stored there.
  if (*action == Action::kSettle && key.shared() && !key.ReserveShared()) {
    *action = Action::kLook;
  }
  return true;
}

// Apply, once there is room.
Numbers ApplyWithRoom(OpenKey& key, StepArgs args, Action action) {
  const Numbers numbers = Apply(key, args, action);
  if (action != Action::kCharge || !key.writes_shared()) return numbers;
  // What a charge leaves there is not always what the engine made of it.
  const bool wants_wait = args.wants_wait;
  args = ArgsOf(key, args.cost);
  args.wants_wait = wants_wait;
  return Apply(key, args, Action::kLook);
}

// None of the engines is from outside the tree: they leave no error untaken.
bool AreBuiltIn(absl::Span<OpenKey* const> keys) {
  for (const OpenKey* key : keys) {
    if (__builtin_expect(key->record()->from_outside(), 0)) return false;
  }
  return true;
}

// An engine left an error untaken.
bool IsFaulty(absl::Span<OpenKey* const> keys) {
  for (const OpenKey* key : keys) {
    if (__builtin_expect(key->fault() != nullptr, 0)) return true;
  }
  return false;
}

// Calls f(i) for each key: first for those whose engine is from outside the
// tree and may turn out to be faulty. False: one of them did, and f was not
// called for the others.
template <class F>
bool ForEachKey(absl::Span<OpenKey* const> keys, F f) {
  if (AreBuiltIn(keys)) {
    for (size_t i = 0; i < keys.size(); ++i) f(i);
    return true;
  }
  for (const bool outside : {true, false}) {
    for (size_t i = 0; i < keys.size(); ++i) {
      if (keys[i]->record()->from_outside() == outside) f(i);
    }
    if (IsFaulty(keys)) return false;
  }
  return true;
}

// Evaluates every step, then charges all or none.
bool CheckTogether(const Step* steps, absl::Span<OpenKey* const> keys,
                   Outcome* outcomes) {
  bool all = true;
  for (size_t i = 0; i < keys.size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-*): there are as many steps as keys.
    outcomes[i].allowed = Admits(*keys[i], ArgsOf(*keys[i], steps[i].cost));
    if (!steps[i].observe) all = all && outcomes[i].allowed;
  }
  if (IsFaulty(keys)) return false;
  const auto action_of = [&](size_t i) {
    const bool charge = all && outcomes[i].allowed;
    const bool counts = keys[i]->record()->limit.traits.count_denied;
    return CheckAction(charge, counts, steps[i].cost);
  };
  for (OpenKey* key : keys) key->Keep();
  absl::FixedArray<Action, 4> actions(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    actions[i] = action_of(i);
    if (!MakeRoom(*keys[i], &actions[i])) return false;
  }
  for (OpenKey* key : keys) key->LeaveShared();
  return ForEachKey(keys, [&](size_t i) {
    StepArgs args = ArgsOf(*keys[i], steps[i].cost);
    // In a call that passes only a watching rule that denied has a wait.
    // NOLINTNEXTLINE(clang-analyzer-*): each outcome was written above.
    args.wants_wait = !all || !outcomes[i].allowed;
    outcomes[i].numbers = ApplyWithRoom(*keys[i], args, actions[i]);
  });
}

// Charges ahead of time, if the wait is not too long. Answers like RunOp.
bool ReserveAhead(OpenKey& key, const Step& step, Outcome* outcome) {
  const int64_t wait = Apply(key, ArgsOf(key, step.cost), Action::kLook).wait;
  outcome->allowed = wait != kNever && wait <= step.max_wait;
  Action action = CheckAction(outcome->allowed, false, step.cost);
  if (key.fault() != nullptr || !MakeRoom(key, &action)) return false;
  key.LeaveShared();
  StepArgs args = ArgsOf(key, step.cost);
  args.wants_wait = false;
  outcome->numbers = ApplyWithRoom(key, args, action);
  outcome->numbers.wait = wait;
  return key.fault() == nullptr;
}

// False: there is no room for a key, and nothing has changed; or an engine from
// outside the tree is faulty, and what it has written is to be put back.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool RunOp(Op op, const Step* steps,
                                               absl::Span<OpenKey* const> keys,
                                               Outcome* outcomes) {
  if (op == Op::kCheck) {
    if (keys.size() > 1 || steps[0].observe || keys[0]->shared()) {
      return CheckTogether(steps, keys, outcomes);
    }
    CheckAlone(*keys[0], steps[0].cost, outcomes);
    return !keys[0]->failed() && keys[0]->fault() == nullptr;
  }
  if (op == Op::kReserve) {
    return ReserveAhead(*keys[0], steps[0], outcomes);
  }
  return ForEachKey(keys, [&](size_t i) {
    OpenKey& key = *keys[i];
    if (op == Op::kReset && !key.shared()) {
      key.Drop();
      key.Share();
    }
    if (op == Op::kRefund) Refund(key, steps[i].cost);
    const StepArgs args = ArgsOf(key, steps[i].cost);
    outcomes[i].allowed = Admits(key, args);
    outcomes[i].numbers = Apply(key, args, Action::kLook);
  });
}

}  // namespace

bool MemoryStore::Impl::HasBytes(Op op, const MemoryCall& call,
                                 const Step* steps,
                                 absl::Span<OpenKey* const> keys) {
  if (op != Op::kCheck) return true;
  bool denied = false;
  for (size_t i = 0; i < keys.size() && !denied; ++i) {
    denied = !steps[i].observe && IsDenied(*keys[i], steps[i].cost);
  }
  for (size_t i = 0; i < keys.size(); ++i) {
    const LimitRecord& record = *keys[i]->record();
    // A state of one small struct does not grow.
    // NOLINTNEXTLINE(clang-analyzer-*): there are as many steps as keys.
    if (record.word != nullptr || steps[i].cost == 0) continue;
    // Looks for room when it needs it.
    if (keys[i]->shared()) continue;
    // Denied calls are added where they count, and nowhere else. Of what is
    // enforced, nothing denies here if the call as a whole is not denied.
    const bool left_out =
        denied || (steps[i].observe && IsDenied(*keys[i], steps[i].cost));
    if (!record.counts_denied && left_out) continue;
    for (OpenKey* key : keys) key->Keep();
    return keeper.ReserveBytes(call.SeekerAt(keys[i]->stripe()));
  }
  return true;
}

bool MemoryStore::Impl::HoldLimits(absl::Span<OpenKey* const> keys) {
  for (OpenKey* key : keys) {
    if (__builtin_expect(!key->carried_over(), 1)) continue;
    // The search for room may come by.
    for (OpenKey* k : keys) k->Keep();
    if (!key->HoldOwn() || !key->Book()) return false;
  }
  return true;
}

void MemoryStore::Impl::CountShared(Op op, const Step* steps,
                                    absl::Span<OpenKey* const> keys) {
  if (op != Op::kCheck && op != Op::kReserve) return;
  for (size_t i = 0; i < keys.size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-*): there are as many steps as keys.
    if (steps[i].cost == 0 || !keys[i]->shared()) continue;
    if (keys[i]->state() == nullptr) continue;
    shared.fetch_add(1, std::memory_order_relaxed);  // a bare count
    return;
  }
}

bool MemoryStore::Impl::RunOpen(Op op, const MemoryCall& call,
                                const Step* steps,
                                absl::Span<OpenKey* const> keys,
                                Outcome* outcomes, Refusal* refusal) {
  *refusal = {};
  if (__builtin_expect(keeper.out_of_bytes(), 0) &&
      !HasBytes(op, call, steps, keys)) {
    return false;
  }
  if (op != Op::kPeek && !HoldLimits(keys)) return false;
  bool decided;
  if (__builtin_expect(AreBuiltIn(keys), 1)) {
    decided = RunOp(op, steps, keys, outcomes);
  } else {
    decided = RunOutside(op, steps, keys, outcomes, refusal);
    if (refusal->faulty != nullptr) return false;
  }
  if (__builtin_expect(share, 0) && decided) CountShared(op, steps, keys);
  if (op == Op::kPeek || op == Op::kReset) return decided;
  for (size_t i = 0; i < keys.size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-*): there are as many steps as keys.
    if (steps[i].cost == 0) continue;
    keeper.Tick(keeper.stripe(keys[i]->stripe()), call.now, call.steady,
                keys[i]->inserted());
  }
  return decided;
}

bool MemoryStore::Impl::RunOutside(Op op, const Step* steps,
                                   absl::Span<OpenKey* const> keys,
                                   Outcome* outcomes, Refusal* refusal) {
  absl::InlinedVector<KeptState, 1> kept;
  for (size_t i = 0; i < keys.size(); ++i) {
    // NOLINTNEXTLINE(clang-analyzer-*): there are as many steps as keys.
    const bool writes = op == Op::kReset || steps[i].cost > 0;
    if (writes && op != Op::kPeek && keys[i]->record()->from_outside()) {
      kept.emplace_back(keys[i]);
    }
  }
  const bool decided = RunOp(op, steps, keys, outcomes);
  if (__builtin_expect(decided || !IsFaulty(keys), 1)) return decided;
  for (const OpenKey* key : keys) {
    if (key->fault() == nullptr || refusal->faulty != nullptr) continue;
    *refusal = {key->record(), key->fault()};
  }
  for (KeptState& state : kept) state.PutBack();
  return false;
}

}  // namespace weir
