// The keeper: the stripes of a store, how many keys they may hold, and who has
// to leave. Only an entry that equals a fresh key ever leaves.
#ifndef WEIR_BACKENDS_MEMORY_KEEPER_H_
#define WEIR_BACKENDS_MEMORY_KEEPER_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "backends/memory/spin_lock.h"
#include "backends/memory/table.h"

namespace weir {

// The earliest of the last kEpoch to 2 * kEpoch readings of the clock. What is
// over at this time is over even if the clock has just jumped ahead and will be
// set back.
template <int kEpoch>
class RecentReadings {
 public:
  void Note(int64_t t) {
    current_ = std::min(current_, t);
    if (++count_ < kEpoch) return;
    count_ = 0;
    previous_ = current_;
    current_ = std::numeric_limits<int64_t>::max();
  }
  int64_t Earliest() const { return std::min(previous_, current_); }

 private:
  int count_ = 0;
  int64_t current_ = std::numeric_limits<int64_t>::max();
  // Before every time, and far enough from all of them to be subtracted.
  int64_t previous_ = std::numeric_limits<int64_t>::min() / 2;
};

struct alignas(64) Stripe {
  explicit Stripe(TableContext* context) : table(context) {}

  static constexpr uint8_t kCalls = 16;  // between two steps of the sweep

  // What every call reads comes first, and all of it is on one line: this, and
  // of the table where its index lies.
  SpinLock mutex;
  // Calls until the next step of the sweep.
  uint8_t calls ABSL_GUARDED_BY(mutex) = kCalls;
  // A call came whose time is not of the store's own steady clock.
  bool foreign ABSL_GUARDED_BY(mutex) = false;
  Table table ABSL_GUARDED_BY(mutex);
  int64_t expired ABSL_GUARDED_BY(mutex) = 0;
  RecentReadings<256> readings ABSL_GUARDED_BY(mutex);

  // Where a search for this hash begins, and asks for it, before the lock is
  // taken: its swap waits for the last call's loads, and this need not.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Index::Spot Glimpse(uint64_t hash) const
      ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return table.Glimpse(hash);
  }
};

// A call that looks for room, and the time it goes by.
struct RoomSeeker {
  size_t own;                     // the stripe of its key
  absl::Span<const size_t> held;  // those it has locked, `own` among them
  int64_t now;
  bool steady;  // `now` is a reading that never jumps
};

class Keeper {
 public:
  // `stripes` is a power of two; 0 is no bound. `slack`: how long, in
  // microseconds, the calls' own sweep leaves an entry that is over.
  Keeper(int stripes, int64_t max_keys, int64_t max_bytes, int64_t slack);
  ~Keeper();

  TableContext& context() { return context_; }
  int64_t max_keys() const { return max_keys_; }
  int64_t max_bytes() const { return max_bytes_; }
  // max_bytes is reached: a bound that calls under way may pass by what they
  // add.
  bool out_of_bytes() const {
    return max_bytes_ != 0 &&
           context_.bytes.load(std::memory_order_relaxed) >= max_bytes_;
  }
  Stripe& stripe(size_t i) { return stripes_[i]; }
  // The table uses the lower bits of a hash, the stripe the high ones.
  size_t StripeOf(uint64_t hash) const {
    return static_cast<size_t>(hash >> 48) & stripe_mask_;
  }

  // Room for one more key, found if need be by removing entries that are over:
  // at most 64 are examined, in at most as many stripes. They are over if they
  // are at `now`, where that is steady; else at the recent readings of their
  // stripe, or of the calls that found no room. No other stripe's lock is
  // waited for.
  bool Reserve(const RoomSeeker& seeker);
  // The same in the key's own stripe alone, which is locked: at most half as
  // many are examined, and none if `now` might be of a jump.
  bool ReserveNear(Stripe* own, int64_t now, bool steady) {
    return TryReserve() || (steady && SearchNear(own, now));
  }
  // The same for a value that grows: bytes, but not a key.
  bool ReserveBytes(const RoomSeeker& seeker);
  // A hold of a record that the caller has a handle of. The same again: if
  // there is no id for it, the search may make some other record's free.
  bool Hold(const LimitRecord& record, const RoomSeeker& seeker) {
    return context_.records.Hold(record) || SearchForId(record, seeker);
  }
  void Release(int64_t keys) {
    context_.keys.fetch_sub(keys, std::memory_order_relaxed);
  }

  // A call's own share of the sweep, paid at its end. `steady`: see RoomSeeker.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void Tick(Stripe& stripe, int64_t now,
                                         bool steady, bool inserted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex) {
    if (!steady && !stripe.foreign) {
      stripe.foreign = true;
      stripe.readings = RecentReadings<256>();
    }
    if (stripe.foreign) stripe.readings.Note(now);
    if (__builtin_expect(--stripe.calls != 0 && !inserted, 1)) return;
    Work(stripe, now, inserted);
  }

  // Removes what is over at `now`, examining at most `budget` entries.
  int64_t Sweep(int64_t budget, int64_t now);

  int64_t keys() const { return context_.keys.load(std::memory_order_relaxed); }
  int64_t expired();

 private:
  bool TryReserve();
  bool SearchNear(Stripe* own, int64_t now);
  bool SearchForId(const LimitRecord& record, const RoomSeeker& seeker);
  template <class Done>
  bool MakeRoom(const RoomSeeker& seeker, Done done);
  int64_t NotePressed(int64_t now);
  void Work(Stripe& stripe, int64_t now, bool inserted)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex);
  // The time at which an entry of this stripe must be over in order to leave.
  static int64_t Horizon(const Stripe& stripe, int64_t now)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex) {
    return stripe.foreign ? stripe.readings.Earliest() : now;
  }
  // Examines up to `most` entries of a stripe, unless another call has it;
  // returns how many. `mine`: this call has locked it.
  int64_t Search(Stripe& stripe, bool mine, int64_t most,
                 int64_t horizon) ABSL_NO_THREAD_SAFETY_ANALYSIS;
  // Examines the next entries of a stripe, and removes those that are over, at
  // most so many.
  void Examine(Stripe& stripe, int64_t entries, int64_t now, int64_t most,
               int64_t* removed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(stripe.mutex);

  size_t stripe_count() const { return stripe_mask_ + 1; }

  const size_t stripe_mask_;  // their number, a power of two, less one
  const int64_t max_keys_;
  const int64_t max_bytes_;
  const int64_t slack_;
  TableContext context_;
  Stripe* stripes_;  // stripe_count() of them
  // What only some calls change, on a line of its own, as the counts are. The
  // lock is never held while another one is waited for.
  alignas(64) SpinLock pressed_mutex_;
  // Of calls that found no room.
  RecentReadings<16> pressed_ ABSL_GUARDED_BY(pressed_mutex_);
  std::atomic<size_t> next_{0};  // the stripe that is searched next for room
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_KEEPER_H_
