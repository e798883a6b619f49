#include "weir/memory_store.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "backends/memory/bound_cell.h"
#include "backends/memory/keeper.h"
#include "backends/memory/kept_state.h"
#include "backends/memory/memory_txn.h"
#include "backends/memory/open_key.h"
#include "backends/memory/quick_check.h"
#include "backends/memory/record_map.h"
#include "backends/memory/shared_state.h"
#include "backends/memory/spin_lock.h"
#include "backends/memory/time_source.h"
#include "core/deny_all.h"
#include "core/mutex.h"
#include "core/text.h"
#include "engine_list.h"

namespace weir {
namespace {

// How this store runs an engine.
struct OpsOf {
  const EngineInfo* engine = nullptr;
  RecordMap::Ops ops;
  QuickChecks quick;
  QuickChecks quick_by_users_clock;
  // Null, or for which limits: those of the packed form, which are `packed`.
  bool (*packs)(const void* params) = nullptr;
  const OpsOf* packed = nullptr;
};

template <class E>
constexpr OpsOf kPackedOpsOf = {&kEngine<E>,
                                {&kPackedOps<E>, nullptr},
                                kQuickChecks<PackedEngine<E>, OwnTime>,
                                kQuickChecks<PackedEngine<E>, UsersTime>};

template <class E>
bool Packs(const void* params) {
  return E::Packed::Fits(*static_cast<const typename E::Params*>(params));
}

template <class E>
constexpr OpsOf MakeOps() {
  if constexpr (!kIsWordEngine<E>) {
    return {&kEngine<E>, {nullptr, &kEngineOps<E, MemoryTxn>}, {}, {}};
  } else {
    OpsOf ops = {&kEngine<E>,
                 {&kWordOps<E>, nullptr},
                 kQuickChecks<E, OwnTime>,
                 kQuickChecks<E, UsersTime>};
    if constexpr (kHasPacked<E>) {
      ops.packs = &Packs<E>;
      ops.packed = &kPackedOpsOf<E>;
    }
    return ops;
  }
}

#define WEIR_ENGINE_OPS(Type) MakeOps<Type>(),
constexpr OpsOf kOps[] = {WEIR_FOR_EACH_ENGINE(WEIR_ENGINE_OPS)};
#undef WEIR_ENGINE_OPS

OpsOf FindOps(const CompiledLimit& limit) {
  OpsOf found;
  for (const OpsOf& o : kOps) {
    if (o.engine == limit.engine) found = o;
  }
  if (limit.denies_all) {
    found.ops.general = &kEngineOps<DenyAll, MemoryTxn>;
  } else if (found.packs != nullptr && found.packs(limit.params.get())) {
    found = *found.packed;
  }
  return found;
}

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

const LimitRecord* RecordOf(const Step& step) {
  return static_cast<const LimitRecord*>(step.rule);
}

}  // namespace

struct MemoryStore::Impl final : CellHost {
  explicit Impl(const MemoryStoreOptions& options)
      : time(options.clock),
        share(options.when_full == WhenFull::kShare),
        limits(share),
        keeper(options.stripes, options.max_keys, options.max_bytes) {}

  // The time of a call, as far as it is known before its keys are open. What
  // the caller did not give is read once the locks of all its keys are held: an
  // older reading could be of before a wait for them that was longer than the
  // states reach, and they would look as if a clock that jumped had left them.
  // It is read while memory is fetched.
  struct Reading {
    int64_t us;
    bool steady;  // of the store's own clock
    bool open;    // to be read
  };
  Reading Known(const Time* now) const {
    if (now != nullptr) return {ToMicros(*now), false, false};
    return {0, time.fast() != nullptr, true};
  }
  Reading Known(const std::optional<Time>& now) const {
    return Known(now.has_value() ? &*now : nullptr);
  }
  MemoryCall CallAt(const Reading& known, absl::Span<const size_t> held) {
    return {&keeper, known.us, known.steady, held};
  }
  void ReadClock(const Reading& known, MemoryCall* call) const {
    call->now = Read(known);
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE int64_t Read(const Reading& known) const {
    return known.open ? time.Read() : known.us;
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE uint64_t HashOf(const LimitRecord& record,
                                               std::string_view key) {
    return keeper.context().hash(record.seed, key);
  }

  // Why a call was not decided: there was no room, or an engine was faulty.
  struct Refusal {
    const LimitRecord* faulty = nullptr;
    const char* error = nullptr;
  };
  // False: the call was not decided, and nothing was charged.
  bool RunOne(Op op, const Reading& known, const Step& step, uint64_t hash,
              Outcome* outcome, Refusal* refusal);
  // RunOne for a check of a state that is there and can be used as it is, which
  // is the usual case. False: it is another, and nothing is done. The stripe is
  // locked, and record.hot is not null. `steady`: t is a reading of the store's
  // own clock.
  bool CheckAtHand(Stripe& stripe, const LimitRecord& record,
                   std::string_view key, uint64_t hash, int64_t cost, int64_t t,
                   bool steady, Outcome* outcome)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex);
  // In every case. The stripe is locked.
  ABSL_ATTRIBUTE_NOINLINE bool RunLocked(Op op, const Reading& known,
                                         const Step& step, uint64_t hash,
                                         Outcome* outcome, Refusal* refusal);
  bool RunSeveral(Op op, const Reading& known, const Step* steps,
                  Outcome* outcomes, size_t count, Refusal* refusal);
  // The stripes of the call are locked. Runs the op on keys that are open, and
  // pays for the sweep. Answers like RunOne.
  bool RunOpen(Op op, const MemoryCall& call, const Step* steps,
               absl::Span<OpenKey* const> keys, Outcome* outcomes,
               Refusal* refusal) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // RunOp with engines from outside the tree among those of the keys; leaves
  // nothing behind if one of them is faulty.
  ABSL_ATTRIBUTE_NOINLINE static bool RunOutside(
      Op op, const Step* steps, absl::Span<OpenKey* const> keys,
      Outcome* outcomes, Refusal* refusal);
  // Counts a call that went by a shared state.
  void CountShared(Op op, const Step* steps, absl::Span<OpenKey* const> keys);
  // States that were written under other limits can be written under those of
  // this call. False: there is no room for one more limit, or for another form.
  static bool HoldLimits(absl::Span<OpenKey* const> keys);
  // max_bytes is reached. May this call go on?
  bool HasBytes(Op op, const MemoryCall& call, const Step* steps,
                absl::Span<OpenKey* const> keys);
  // Holds stripes locked, also when a clock or an engine throws.
  class StripesHolder {
   public:
    StripesHolder(Keeper* k,
                  absl::Span<const size_t> held) ABSL_NO_THREAD_SAFETY_ANALYSIS
        : keeper_(*k),
          held_(held) {
      for (size_t i : held_) keeper_.stripe(i).mutex.Lock();
    }
    ~StripesHolder() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      for (size_t i : held_) keeper_.stripe(i).mutex.Unlock();
    }
    StripesHolder(const StripesHolder&) = delete;
    StripesHolder& operator=(const StripesHolder&) = delete;

   private:
    Keeper& keeper_;
    const absl::Span<const size_t> held_;
  };

  // Lets the open keys of a call that have no entry go by what such keys share,
  // and holds the lock of that for as long. It is taken after the locks of the
  // call's stripes and cells, and whoever has it waits for none of those: the
  // search for room passes by a stripe that another call has locked.
  class SharedHolder {
   public:
    SharedHolder(Impl* impl, Op op, absl::Span<OpenKey* const> keys)
        ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (__builtin_expect(!impl->share, 1)) return;
      // A key that is reset has no entry left.
      bool needed = op == Op::kReset;
      for (OpenKey* key : keys) needed = needed || !key->known();
      if (!needed) return;
      mutex_ = &impl->shared_mutex;
      mutex_->Lock();
      for (OpenKey* key : keys) key->Share();
    }
    ~SharedHolder() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      if (__builtin_expect(mutex_ != nullptr, 0)) mutex_->Unlock();
    }
    SharedHolder(const SharedHolder&) = delete;
    SharedHolder& operator=(const SharedHolder&) = delete;

   private:
    SpinLock* mutex_ = nullptr;
  };

  // The state of a bound key that is new, and the cell's hold of what it was
  // written under, if keys without an entry share one. False: they don't.
  bool FillFromShared(const LimitRecord& record, int64_t now, BoundCell* cell);
  // Forgets the shared states that are over.
  void SweepShared(int64_t now);

  // The status of a call that was not decided.
  absl::Status NotDecided(const Refusal& refusal);
  // Of one that found no room.
  absl::Status NoRoom();

  // Asks for the memory that the calls will need, each step for all of them.
  void Fetch(const uint64_t* hashes, size_t count);

  // Takes a key's state out of its entry, into a cell, which holds what it was
  // written under; the entry holds the record that it names. The binding gets a
  // handle of its record, to be given back by Unbind. Null: no room.
  BoundCell* BindCell(const LimitRecord& record, std::string_view key);
  const FastClock* fast_clock() const override { return time.fast(); }
  const Clock& clock() const override { return time.clock(); }
  absl::Status CheckByKey(const LimitRecord& record, std::string_view key,
                          const Time* now, int64_t cost,
                          BoundOutcome* outcome) override;
  void Unbind(const LimitRecord& record, std::string_view key,
              BoundCell* cell) override;

  const TimeSource time;
  const bool share;
  SpinLock shared_mutex;  // guards the shared states
  RecordMap limits;       // made before the keeper: entries use them to the end
  Keeper keeper;
  std::atomic<int64_t> refused{0};
  std::atomic<int64_t> shared{0};
};

MemoryStore::MemoryStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryStore::~MemoryStore() = default;

absl::StatusOr<std::shared_ptr<MemoryStore>> MemoryStore::Create(
    const MemoryStoreOptions& options) {
  const int stripes = options.stripes;
  if (stripes < 1 || stripes > 65536 || (stripes & (stripes - 1)) != 0) {
    return InvalidArgument("stripes: ", stripes,
                           "; allowed: a power of two from 1 to 65536");
  }
  if (options.max_keys < 0) {
    return InvalidArgument("max_keys: ", options.max_keys,
                           "; allowed: 1 or more, or 0 for no bound");
  }
  if (options.max_bytes < 0) {
    return InvalidArgument("max_bytes: ", options.max_bytes,
                           "; allowed: 1 or more, or 0 for no bound");
  }
  return std::shared_ptr<MemoryStore>(
      new MemoryStore(std::make_unique<Impl>(options)));
}

Time MemoryStore::Now() const { return impl_->time.clock().Now(); }

void MemoryStore::SetMostLimits(uint32_t most) {
  impl_->keeper.context().records.set_most(most);
}

const Clock& MemoryStore::WaitingClock() const { return impl_->time.clock(); }

absl::StatusOr<std::shared_ptr<const StoreRule>> MemoryStore::Attach(
    std::string_view rule_name, const CompiledLimit& limit) {
  return impl_->limits.Attach(rule_name, limit, FindOps(limit).ops,
                              &impl_->keeper.context(),
                              {&impl_->keeper, &impl_->time});
}

absl::Status MemoryStore::Impl::NotDecided(const Refusal& refusal) {
  if (refusal.faulty == nullptr) return NoRoom();
  return absl::FailedPreconditionError(
      absl::StrCat("engine \"", refusal.faulty->limit.algorithm,
                   "\" leaves an error of a command untaken: ", refusal.error,
                   "; the call was not decided"));
}

absl::Status MemoryStore::Impl::NoRoom() {
  refused.fetch_add(1, std::memory_order_relaxed);  // a bare count
  const bool bytes = keeper.out_of_bytes();
  const bool below =
      keeper.max_keys() == 0 || keeper.keys() < keeper.max_keys();
  // relaxed, twice: only for the wording.
  if (!bytes && below &&
      keeper.context().ids_were_out.load(std::memory_order_relaxed)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "capacity: keys are held under ", keeper.context().records.most(),
        " different limits, which is the most; the call was not decided"));
  }
  if (!bytes && below &&
      keeper.context().size_was_full.load(std::memory_order_relaxed)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "capacity: a stripe holds ", keeper.context().most_of_a_size,
        " keys of one size, which is the most; the call was not decided; "
        "allowed: more stripes"));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "capacity: the store holds ", bytes ? "max_bytes = " : "max_keys = ",
      bytes ? keeper.max_bytes() : keeper.max_keys(),
      bytes ? " bytes" : " keys",
      " and found no key that could leave; the call was not decided"));
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool MemoryStore::Impl::CheckAtHand(
    Stripe& stripe, const LimitRecord& record, std::string_view key,
    uint64_t hash, int64_t cost, int64_t t, bool steady, Outcome* outcome) {
  const Table::Entry entry = stripe.table.FindPlain(hash, record, key);
  if (__builtin_expect(!entry, 0) ||
      __builtin_expect(!record.hot(record.params, entry.state(record), t, cost,
                                   record.counts_denied, outcome),
                       0)) {
    return false;
  }
  if (cost > 0) keeper.Tick(stripe, t, steady, false);
  return true;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool MemoryStore::Impl::RunOne(
    Op op, const Reading& known, const Step& step, uint64_t hash,
    Outcome* outcome, Refusal* refusal) {
  Stripe& s = keeper.stripe(keeper.StripeOf(hash));
  s.Glimpse(hash);
  const SpinLockHolder lock(&s.mutex);
  if (op == Op::kCheck && !step.observe && RecordOf(step)->hot != nullptr) {
    if (CheckAtHand(s, *RecordOf(step), step.key, hash, step.cost, Read(known),
                    known.steady, outcome)) {
      return true;
    }
  }
  return RunLocked(op, known, step, hash, outcome, refusal);
}

absl::Status MemoryStore::Run(Op op, std::optional<Time> now, const Step* steps,
                              Outcome* outcomes, size_t count) {
  if (count == 0) return absl::OkStatus();
  const Impl::Reading known = impl_->Known(now);
  Impl::Refusal refusal;
  const bool decided =
      count == 1
          ? impl_->RunOne(op, known, steps[0],
                          impl_->HashOf(*RecordOf(steps[0]), steps[0].key),
                          outcomes, &refusal)
          : impl_->RunSeveral(op, known, steps, outcomes, count, &refusal);
  return decided ? absl::OkStatus() : impl_->NotDecided(refusal);
}

QuickChecks MemoryStore::QuickChecksOf(const StoreRule& rule) const {
  const auto& record = static_cast<const LimitRecord&>(rule);
  // A limit of 0 keeps no state.
  if (record.hot == nullptr) return {};
  const OpsOf ops = FindOps(record.limit);
  return impl_->time.fast() != nullptr ? ops.quick : ops.quick_by_users_clock;
}

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
    return keeper.ReserveBytes(keys[i]->stripe(), call.held, call.now,
                               call.steady);
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

bool MemoryStore::Impl::RunLocked(Op op, const Reading& known, const Step& step,
                                  uint64_t hash, Outcome* outcome,
                                  Refusal* refusal) {
  const size_t stripe = keeper.StripeOf(hash);
  MemoryCall call = CallAt(known, absl::MakeConstSpan(&stripe, 1));
  OpenKey key(&call, stripe, RecordOf(step), hash, step.key);
  OpenKey* const keys[] = {&key};
  const SharedHolder shared_holder(this, op, keys);
  ReadClock(known, &call);
  return RunOpen(op, call, &step, keys, outcome, refusal);
}

bool MemoryStore::Impl::RunSeveral(Op op, const Reading& known,
                                   const Step* steps, Outcome* outcomes,
                                   size_t count, Refusal* refusal) {
  absl::FixedArray<uint64_t, 8> hashes(count);
  absl::InlinedVector<size_t, 8> held(count);
  for (size_t i = 0; i < count; ++i) {
    hashes[i] = HashOf(*RecordOf(steps[i]), steps[i].key);
    held[i] = keeper.StripeOf(hashes[i]);
  }
  // Several locks are taken in ascending order, here and nowhere else. The
  // lock of a cell is taken under that of its stripe, so their order is kept.
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  MemoryCall call = CallAt(known, held);
  const StripesHolder lock(&keeper, held);
  absl::FixedArray<std::optional<OpenKey>, 4> open(count);
  absl::FixedArray<OpenKey*, 4> keys(count);
  for (size_t i = 0; i < count; ++i) {
    open[i].emplace(&call, keeper.StripeOf(hashes[i]), RecordOf(steps[i]),
                    hashes[i], steps[i].key);
    keys[i] = &*open[i];
  }
  const SharedHolder shared_holder(this, op, keys);
  ReadClock(known, &call);
  return RunOpen(op, call, steps, keys, outcomes, refusal);
}

void MemoryStore::Impl::Fetch(const uint64_t* hashes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    keeper.stripe(keeper.StripeOf(hashes[i])).Glimpse(hashes[i]);
  }
  for (size_t i = 0; i < count; ++i) {
    Stripe& s = keeper.stripe(keeper.StripeOf(hashes[i]));
    const SpinLockHolder lock(&s.mutex);
    // Only to ask for the entry; the call looks for it anew.
    s.table.Guess(s.table.Glimpse(hashes[i]), hashes[i]);
  }
}

void MemoryStore::RunEach(Op op, std::optional<Time> now, const Step* steps,
                          Outcome* outcomes, absl::Status* statuses,
                          size_t count) {
  constexpr size_t kAtOnce = 64;
  uint64_t hashes[kAtOnce];
  // What fits a core's cache is there already.
  constexpr int64_t kCacheBytes = 1 << 20;
  const bool large = impl_->keeper.context().bytes.load(
                         std::memory_order_relaxed) > kCacheBytes;
  const Impl::Reading known = impl_->Known(now);
  Impl::Refusal refusal;
  for (size_t first = 0; first < count; first += kAtOnce) {
    const size_t n = std::min(count - first, kAtOnce);
    for (size_t i = 0; i < n; ++i) {
      const Step& step = steps[first + i];
      hashes[i] = impl_->HashOf(*RecordOf(step), step.key);
    }
    if (large) impl_->Fetch(hashes, n);
    for (size_t i = 0; i < n; ++i) {
      const bool decided = impl_->RunOne(op, known, steps[first + i], hashes[i],
                                         &outcomes[first + i], &refusal);
      statuses[first + i] =
          decided ? absl::OkStatus() : impl_->NotDecided(refusal);
    }
  }
}

absl::StatusOr<std::unique_ptr<Binding>> MemoryStore::Bind(
    const StoreRule& rule, std::string_view key) {
  const auto& record = static_cast<const LimitRecord&>(rule);
  // A limit of 0 keeps no state.
  if (record.hot == nullptr) return nullptr;
  BoundCell* cell = impl_->BindCell(record, key);
  if (cell == nullptr) {
    // Its calls go by key, and so by what keys without room share.
    if (impl_->share) return nullptr;
    return impl_->NoRoom();
  }
  // The cell is the binding's, if that is made.
  auto unbind = absl::MakeCleanup([&] { impl_->Unbind(record, key, cell); });
  std::unique_ptr<Binding> binding = record.word->bind(
      impl_.get(), &record,
      {record.params, record.limit.traits.capacity, record.counts_denied}, key,
      cell);
  std::move(unbind).Cancel();
  return binding;
}

BoundCell* MemoryStore::Impl::BindCell(const LimitRecord& record,
                                       std::string_view key) {
  const uint64_t hash = HashOf(record, key);
  const size_t index = keeper.StripeOf(hash);
  const Reading known = Known(nullptr);
  MemoryCall call = CallAt(known, absl::MakeConstSpan(&index, 1));
  ReadClock(known, &call);
  // Made first: nothing has to be undone if there is no memory.
  auto fresh = std::make_unique<BoundCell>(&record);
  Stripe& s = keeper.stripe(index);
  const SpinLockHolder lock(&s.mutex);
  // The call's own, as long as it lasts.
  if (!keeper.Hold(record, index, call.held, call.now, call.steady)) {
    return nullptr;
  }
  const absl::Cleanup let_go = [&] { record.uses.Drop(); };
  Table::Entry e = s.table.Find(hash, record, key);
  if (!e) {
    if (!s.table.HasRoom(record, key)) return nullptr;
    if (!keeper.Reserve(index, call.held, call.now, call.steady)) {
      return nullptr;
    }
    auto release = absl::MakeCleanup([&] { keeper.Release(1); });
    e = s.table.Insert(hash, record, key);
    record.uses.Add();
    std::move(release).Cancel();
    if (!share || !FillFromShared(record, call.now, fresh.get())) {
      record.uses.Add();
    }
  } else if (e.slot().bound()) {
    auto* cell = LoadPointer<BoundCell>(e.state(s.table.RecordOf(e.slot())));
    ++cell->handles;
    record.uses.AddHandle();
    return cell;
  } else {
    // Room for the cell; what leaves for it may move this entry.
    e.slot().set_held(true);
    const bool room =
        keeper.ReserveBytes(index, call.held, call.now, call.steady);
    e = s.table.Find(hash, record, key);
    if (!e) return nullptr;  // never: what is held does not leave
    e.slot().set_held(false);
    if (!room) return nullptr;
    const LimitRecord& written = s.table.RecordOf(e.slot());
    written.uses.Add();
    fresh->Fill(&written, e.state(written), written.state_bytes);
  }
  StorePointer(e.state(s.table.RecordOf(e.slot())), fresh.get());
  e.slot().set_bound(true);
  keeper.context().CountBytes(sizeof(BoundCell));
  BoundCell* cell = fresh.release();
  ++cell->handles;
  record.uses.AddHandle();
  return cell;
}

bool MemoryStore::Impl::FillFromShared(const LimitRecord& record, int64_t now,
                                       BoundCell* cell) {
  SharedState& from = *record.shared;
  const SpinLockHolder lock(&shared_mutex);
  if (!from.InUse(now)) return false;
  const LimitRecord& written = *from.written_under();
  written.uses.Add();
  alignas(8) char state[BoundCell::kBytes];
  std::memcpy(state, from.state(), written.state_bytes);
  SharedState::OpenWindow(written, now, state);
  cell->Fill(&written, state, written.state_bytes);
  return true;
}

void MemoryStore::Impl::SweepShared(int64_t now) {
  limits.ForEachShared([&](SharedState& s) {
    const SpinLockHolder lock(&shared_mutex);
    const LimitRecord* const written = s.written_under();
    if (written == nullptr || s.InUse(now)) return;
    keeper.context().CountBytes(-s.Drop());
    written->uses.Drop();
  });
}

absl::Status MemoryStore::Impl::CheckByKey(const LimitRecord& record,
                                           std::string_view key,
                                           const Time* now, int64_t cost,
                                           BoundOutcome* outcome) {
  Step step;
  step.rule = &record;
  step.key = key;
  step.cost = cost;
  Outcome o;
  const Reading known = Known(now);
  Refusal refusal;
  if (!RunOne(Op::kCheck, known, step, HashOf(record, key), &o, &refusal)) {
    return NotDecided(refusal);
  }
  outcome->of = nullptr;
  outcome->known = {o.numbers, record.limit.traits.capacity};
  outcome->allowed = o.allowed;
  outcome->source = Source::kStore;
  return absl::OkStatus();
}

void MemoryStore::Impl::Unbind(const LimitRecord& record, std::string_view key,
                               BoundCell* cell) {
  const uint64_t hash = HashOf(record, key);
  Stripe& s = keeper.stripe(keeper.StripeOf(hash));
  // Last of all.
  const absl::Cleanup let_go = [&] { record.uses.DropHandle(); };
  const SpinLockHolder lock(&s.mutex);
  if (--cell->handles > 0) return;
  // No handle is left, and the stripe is locked: nobody else uses the cell.
  Table::Entry e = s.table.Find(hash, record, key);
  if (!e) return;  // never: an entry with a cell does not leave
  char state[BoundCell::kBytes];
  const LimitRecord& written = *cell->record();
  if (cell->Load<sizeof(state)>(state)) {
    const LimitRecord& named = s.table.RecordOf(e.slot());
    if (written.state_bytes != named.state_bytes) {
      try {
        s.table.Book(written, key.size());
      } catch (const std::bad_alloc&) {
        // The state stays in its cell until the next handle of this key goes.
        return;
      }
      e = s.table.Refit(hash, e, named.state_bytes, written.state_bytes);
      s.table.Unbook(written, key.size());
    }
    // The cell's hold becomes the entry's.
    e.slot().set_bound(false);
    e.slot().set_record_id(written.id);
    named.uses.Drop();
    std::memcpy(e.state(written), state, written.state_bytes);
  } else {
    s.table.Remove(hash, e);
    keeper.Release(1);
    written.uses.Drop();
  }
  keeper.context().CountBytes(-static_cast<int64_t>(sizeof(BoundCell)));
  delete cell;
}

int64_t MemoryStore::Sweep(int64_t budget, std::optional<Time> now) {
  const int64_t us =
      ToMicros(now.has_value() ? *now : impl_->time.clock().Now());
  impl_->SweepShared(us);
  return impl_->keeper.Sweep(budget, us);
}

MemoryStore::Counters MemoryStore::counters() const {
  Counters c;
  c.keys = impl_->keeper.keys();
  c.bytes = impl_->keeper.context().bytes.load(std::memory_order_relaxed);
  c.expired = impl_->keeper.expired();
  c.shared = impl_->shared.load(std::memory_order_relaxed);
  c.limits = impl_->limits.size();
  c.refused = impl_->refused.load(std::memory_order_relaxed);
  return c;
}

}  // namespace weir
