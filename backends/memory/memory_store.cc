#include "weir/memory_store.h"

#include <algorithm>
#include <utility>

#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "backends/memory/engine_ops.h"
#include "backends/memory/memory_store_impl.h"
#include "core/text.h"

namespace weir {

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
  if (options.slack.count() < 0) {
    return InvalidArgument("slack: ", options.slack.count(),
                           "us; allowed: 0 or more");
  }
  return std::shared_ptr<MemoryStore>(
      new MemoryStore(std::make_unique<Impl>(options)));
}

Time MemoryStore::Now() const {
  return TimeFromMicros(TimeSource::ReadOf(impl_->time.clock()));
}

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
  if (record.check_in_place == nullptr) return {};
  const OpsOf ops = FindOps(record.limit);
  return impl_->time.fast() != nullptr ? ops.quick : ops.quick_by_users_clock;
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

void MemoryStore::Impl::SweepShared(int64_t now) {
  limits.ForEachShared([&](SharedState& s) {
    // A long log takes its time: freed when the lock is not held any more.
    std::unique_ptr<const Value> gone;
    const SpinLockHolder lock(&shared_mutex);
    const LimitRecord* const written = s.written_under();
    if (written == nullptr || s.InUse(now)) return;
    gone = s.Drop();
    if (gone != nullptr) keeper.context().CountBytes(-gone->counted());
    written->uses.Drop();
  });
}

int64_t MemoryStore::Sweep(int64_t budget, std::optional<Time> now) {
  const int64_t us = ToMicros(now.has_value() ? *now : Now());
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
