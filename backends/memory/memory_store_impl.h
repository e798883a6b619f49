// What is behind a MemoryStore. What every call by key goes through is inline,
// for all that ask: Run, RunEach and a handle whose cell does not do.
#ifndef WEIR_BACKENDS_MEMORY_MEMORY_STORE_IMPL_H_
#define WEIR_BACKENDS_MEMORY_MEMORY_STORE_IMPL_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/memory/bound_cell.h"
#include "backends/memory/bound_check.h"
#include "backends/memory/keeper.h"
#include "backends/memory/open_key.h"
#include "backends/memory/record_map.h"
#include "backends/memory/spin_lock.h"
#include "backends/memory/time_source.h"
#include "weir/memory_store.h"

namespace weir {

inline const LimitRecord* RecordOf(const Step& step) {
  return static_cast<const LimitRecord*>(step.rule);
}

struct MemoryStore::Impl final : CellHost {
  explicit Impl(const MemoryStoreOptions& options)
      : time(options.clock),
        share(options.when_full == WhenFull::kShare),
        limits(share),
        keeper(options.stripes, options.max_keys, options.max_bytes,
               options.slack.count()) {}

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
  // locked, and the record's check_in_place is not null. `steady`: t is a
  // reading of the store's own clock.
  bool CheckInPlace(Stripe& stripe, const LimitRecord& record,
                    std::string_view key, uint64_t hash, int64_t cost,
                    int64_t t, bool steady, Outcome* outcome)
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

ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool MemoryStore::Impl::CheckInPlace(
    Stripe& stripe, const LimitRecord& record, std::string_view key,
    uint64_t hash, int64_t cost, int64_t t, bool steady, Outcome* outcome) {
  const Table::Entry entry = stripe.table.FindPlain(hash, record, key);
  if (__builtin_expect(!entry, 0) ||
      __builtin_expect(
          !record.check_in_place(record.params, entry.state(record), t, cost,
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
  if (op == Op::kCheck && !step.observe &&
      RecordOf(step)->check_in_place != nullptr) {
    if (CheckInPlace(s, *RecordOf(step), step.key, hash, step.cost, Read(known),
                     known.steady, outcome)) {
      return true;
    }
  }
  return RunLocked(op, known, step, hash, outcome, refusal);
}

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_MEMORY_STORE_IMPL_H_
