#include "weir/memory_store.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "backends/memory/hash.h"
#include "backends/memory/keeper.h"
#include "backends/memory/memory_txn.h"
#include "core/deny_all.h"
#include "core/text.h"
#include "engine_list.h"

namespace weir {
namespace {

struct OpsOf {
  const EngineInfo* engine;
  const EngineOps<MemoryTxn>* ops;
};

#define WEIR_ENGINE_OPS(Type) {&kEngine<Type>, &kEngineOps<Type, MemoryTxn>},
constexpr OpsOf kOps[] = {WEIR_FOR_EACH_ENGINE(WEIR_ENGINE_OPS)};
#undef WEIR_ENGINE_OPS

const EngineOps<MemoryTxn>* FindOps(const CompiledLimit& limit) {
  if (limit.denies_all) return &kEngineOps<DenyAll, MemoryTxn>;
  for (const OpsOf& o : kOps) {
    if (o.engine == limit.engine) return o.ops;
  }
  return nullptr;
}

// A limit of 0 has no parameters, but an engine wants a reference.
const void* ParamsOf(const LimitRecord& record) {
  static constexpr DenyAll::Params kNone = {};
  return record.limit.denies_all ? &kNone : record.limit.params.get();
}

StepArgs ArgsOf(const MemoryTxn& txn, const MemoryCall& call, int64_t cost) {
  StepArgs args;
  args.params = ParamsOf(*txn.record());
  const LimitRecord* old = txn.written_under();
  if (old != nullptr && old != txn.record()) args.old_params = ParamsOf(*old);
  args.t = call.now;
  args.cost = cost;
  return args;
}

bool Admits(MemoryTxn& txn, const StepArgs& args) {
  const LimitRecord& r = *txn.record();
  return r.ops != nullptr ? r.ops->admits(txn, args)
                          : r.limit.engine->ops.admits(txn, args);
}

Numbers Apply(MemoryTxn& txn, const StepArgs& args, Action action) {
  const LimitRecord& r = *txn.record();
  return r.ops != nullptr ? r.ops->apply(txn, args, action)
                          : r.limit.engine->ops.apply(txn, args, action);
}

Numbers CheckAlone(MemoryTxn& txn, const StepArgs& args, bool* allowed) {
  const LimitRecord& r = *txn.record();
  const bool counts = r.limit.traits.count_denied;
  return r.ops != nullptr
             ? r.ops->check(txn, args, counts, allowed)
             : r.limit.engine->ops.check(txn, args, counts, allowed);
}

// A refund is made under the limit that the state was written under, so it
// never makes a state smaller than that limit would.
void Refund(MemoryTxn& txn, const MemoryCall& call, int64_t cost) {
  const LimitRecord* record = txn.record();
  const LimitRecord* old = txn.written_under();
  if (old == nullptr || cost == 0) return;
  txn.set_record(old);
  StepArgs args = ArgsOf(txn, call, cost);
  args.wants_wait = false;
  Apply(txn, args, Action::kRefund);
  txn.set_record(record);
}

// Evaluates every step, then charges all or none.
bool Check(MemoryCall& call, const Step* steps,
           absl::Span<MemoryTxn* const> txns, Outcome* outcomes) {
  bool all = true;
  for (size_t i = 0; i < txns.size(); ++i) {
    const StepArgs args = ArgsOf(*txns[i], call, steps[i].cost);
    outcomes[i].allowed = Admits(*txns[i], args);
    if (!steps[i].observe) all = all && outcomes[i].allowed;
  }
  const auto action_of = [&](size_t i) {
    const bool charge = all && outcomes[i].allowed;
    const bool counts = txns[i]->record()->limit.traits.count_denied;
    return CheckAction(charge, counts, steps[i].cost);
  };
  for (size_t i = 0; i < txns.size(); ++i) {
    if (action_of(i) == Action::kCharge && !txns[i]->Reserve()) {
      return false;
    }
  }
  for (size_t i = 0; i < txns.size(); ++i) {
    StepArgs args = ArgsOf(*txns[i], call, steps[i].cost);
    // In a call that passes only a watching rule that denied has a wait.
    args.wants_wait = !all || !outcomes[i].allowed;
    outcomes[i].numbers = Apply(*txns[i], args, action_of(i));
  }
  return true;
}

// Charges ahead of time, if the wait is not too long.
void Reserve(MemoryTxn& txn, const MemoryCall& call, const Step& step,
             Outcome* outcome) {
  const int64_t wait =
      Apply(txn, ArgsOf(txn, call, step.cost), Action::kLook).wait;
  outcome->allowed = wait != kNever && wait <= step.max_wait;
  StepArgs args = ArgsOf(txn, call, step.cost);
  args.wants_wait = false;
  outcome->numbers =
      Apply(txn, args, CheckAction(outcome->allowed, false, step.cost));
  outcome->numbers.wait = wait;
}

// A time, and whether it is of a clock that never jumps.
struct Reading {
  int64_t us;
  bool steady;
};

// False: there is no room for a key, and nothing has changed.
bool RunOp(Op op, MemoryCall& call, const Step* steps,
           absl::Span<MemoryTxn* const> txns, Outcome* outcomes) {
  if (op == Op::kCheck) {
    if (txns.size() > 1 || steps[0].observe) {
      return Check(call, steps, txns, outcomes);
    }
    outcomes[0].numbers = CheckAlone(
        *txns[0], ArgsOf(*txns[0], call, steps[0].cost), &outcomes[0].allowed);
    return !txns[0]->failed();
  }
  if (op == Op::kReserve) {
    Reserve(*txns[0], call, steps[0], outcomes);
    return !txns[0]->failed();
  }
  for (size_t i = 0; i < txns.size(); ++i) {
    if (op == Op::kRefund) Refund(*txns[i], call, steps[i].cost);
    if (op == Op::kReset) txns[i]->DEL();
    const StepArgs args = ArgsOf(*txns[i], call, steps[i].cost);
    outcomes[i].allowed = Admits(*txns[i], args);
    outcomes[i].numbers = Apply(*txns[i], args, Action::kLook);
  }
  return true;
}

}  // namespace

struct MemoryStore::Impl {
  explicit Impl(const MemoryStoreOptions& options)
      : steady(options.clock == nullptr),
        clock(options.clock != nullptr ? options.clock
                                       : std::make_shared<SteadyClock>()),
        keeper(options.stripes, options.max_keys) {}

  bool RunOne(Op op, Reading now, const Step& step, Outcome* outcome);
  bool RunSeveral(Op op, Reading now, const Step* steps, Outcome* outcomes,
                  size_t count);
  // The stripes of the call are locked. These answer like RunOp.
  bool RunOpen(Op op, MemoryCall& call, const Step* steps,
               absl::Span<MemoryTxn* const> txns,
               Outcome* outcomes) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  void LockAll(absl::Span<const size_t> held) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (size_t i : held) keeper.stripe(i).mutex.Lock();
  }
  void UnlockAll(absl::Span<const size_t> held) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    for (size_t i : held) keeper.stripe(i).mutex.Unlock();
  }

  const bool steady;
  const std::shared_ptr<const Clock> clock;
  const KeyHash hash;
  Keeper keeper;
  std::atomic<int64_t> refused{0};

  Mutex mutex;
  // (rule name, algorithm, engine) -> state id.
  std::map<std::tuple<std::string, std::string, const EngineInfo*>, uint32_t>
      state_ids ABSL_GUARDED_BY(mutex);
  // (state id, limit as text) -> its record, for the life of the store.
  std::map<std::pair<uint32_t, std::string>, std::shared_ptr<LimitRecord>>
      records ABSL_GUARDED_BY(mutex);
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
  return std::shared_ptr<MemoryStore>(
      new MemoryStore(std::make_unique<Impl>(options)));
}

Time MemoryStore::Now() const { return impl_->clock->Now(); }

const Clock& MemoryStore::WaitingClock() const { return *impl_->clock; }

absl::StatusOr<std::shared_ptr<const StoreRule>> MemoryStore::Attach(
    std::string_view rule_name, const CompiledLimit& limit) {
  MutexLock lock(&impl_->mutex);
  const auto [id, is_new] = impl_->state_ids.try_emplace(
      {std::string(rule_name), limit.algorithm, limit.engine},
      static_cast<uint32_t>(impl_->state_ids.size()));
  std::shared_ptr<LimitRecord>& record =
      impl_->records[{id->second, limit.text}];
  if (record == nullptr) {
    record = std::make_shared<LimitRecord>(id->second, limit, FindOps(limit));
  }
  return record;
}

absl::Status MemoryStore::Run(Op op, std::optional<Time> now, const Step* steps,
                              Outcome* outcomes, size_t count) {
  if (count == 0) return absl::OkStatus();
  const Reading t = {ToMicros(now.has_value() ? *now : impl_->clock->Now()),
                     !now.has_value() && impl_->steady};
  const bool decided = count == 1
                           ? impl_->RunOne(op, t, steps[0], outcomes)
                           : impl_->RunSeveral(op, t, steps, outcomes, count);
  if (decided) return absl::OkStatus();
  impl_->refused.fetch_add(1, std::memory_order_relaxed);  // a bare count
  return absl::ResourceExhaustedError(absl::StrCat(
      "capacity: the store holds max_keys = ", impl_->keeper.max_keys(),
      " keys and found none that could leave; the call was not decided"));
}

// Runs the op on transactions that are open, and pays for the sweep.
bool MemoryStore::Impl::RunOpen(Op op, MemoryCall& call, const Step* steps,
                                absl::Span<MemoryTxn* const> txns,
                                Outcome* outcomes) {
  const bool decided = RunOp(op, call, steps, txns, outcomes);
  if (op == Op::kPeek || op == Op::kReset) return decided;
  for (size_t i = 0; i < txns.size(); ++i) {
    if (steps[i].cost == 0) continue;
    keeper.Tick(keeper.stripe(txns[i]->stripe()), call.now,
                txns[i]->inserted());
  }
  return decided;
}

bool MemoryStore::Impl::RunOne(Op op, Reading now, const Step& step,
                               Outcome* outcome) {
  const auto* record = static_cast<const LimitRecord*>(step.rule);
  const uint64_t h = hash(record->state_id, step.key);
  const size_t stripe = keeper.StripeOf(h);
  MemoryCall call = {&keeper, now.us, now.steady,
                     absl::MakeConstSpan(&stripe, 1)};
  MutexLock lock(&keeper.stripe(stripe).mutex);
  MemoryTxn txn(&call, stripe, record, h, step.key);
  MemoryTxn* const txns[] = {&txn};
  return RunOpen(op, call, &step, txns, outcome);
}

bool MemoryStore::Impl::RunSeveral(Op op, Reading now, const Step* steps,
                                   Outcome* outcomes, size_t count) {
  absl::FixedArray<uint64_t, 8> hashes(count);
  absl::InlinedVector<size_t, 8> held(count);
  for (size_t i = 0; i < count; ++i) {
    const auto* record = static_cast<const LimitRecord*>(steps[i].rule);
    hashes[i] = hash(record->state_id, steps[i].key);
    held[i] = keeper.StripeOf(hashes[i]);
  }
  // Several locks are taken in ascending order, here and nowhere else.
  std::sort(held.begin(), held.end());
  held.erase(std::unique(held.begin(), held.end()), held.end());
  MemoryCall call = {&keeper, now.us, now.steady, held};
  LockAll(held);
  bool decided;
  {
    absl::FixedArray<std::optional<MemoryTxn>, 4> open(count);
    absl::FixedArray<MemoryTxn*, 4> txns(count);
    for (size_t i = 0; i < count; ++i) {
      open[i].emplace(&call, keeper.StripeOf(hashes[i]),
                      static_cast<const LimitRecord*>(steps[i].rule), hashes[i],
                      steps[i].key);
      txns[i] = &*open[i];
    }
    decided = RunOpen(op, call, steps, txns, outcomes);
  }
  UnlockAll(held);
  return decided;
}

int64_t MemoryStore::Sweep(int64_t budget, std::optional<Time> now) {
  return impl_->keeper.Sweep(
      budget, ToMicros(now.has_value() ? *now : impl_->clock->Now()));
}

MemoryStore::Counters MemoryStore::counters() const {
  Counters c;
  c.keys = impl_->keeper.keys();
  c.expired = impl_->keeper.expired();
  c.refused = impl_->refused.load(std::memory_order_relaxed);
  return c;
}

}  // namespace weir
