#include "backends/memory/keeper.h"

#include <new>

#include "absl/algorithm/container.h"

namespace weir {
namespace {

// How much is examined, in entries. A call that inserts examines more than it
// adds, so that a flood of short-lived keys can't outrun the sweep.
constexpr int64_t kEntriesAnInsert = 3;
constexpr int64_t kEntriesAStep = 2;
constexpr int64_t kEntriesForRoom = 64;
// How many of a stripe leave at most when room is looked for: what a call moves
// is bounded.
constexpr int64_t kLeaveForRoom = 4;
// More than any time, and little enough to be subtracted from each.
constexpr int64_t kLongestSlack = int64_t{1} << 54;

}  // namespace

Keeper::Keeper(int stripes, int64_t max_keys, int64_t max_bytes, int64_t slack)
    : stripe_mask_(static_cast<size_t>(stripes) - 1),
      max_keys_(max_keys),
      max_bytes_(max_bytes),
      slack_(std::min(slack, kLongestSlack)),
      stripes_(static_cast<Stripe*>(
          ::operator new (stripe_count() * sizeof(Stripe),
                          std::align_val_t{alignof(Stripe)}))) {
  for (size_t i = 0; i < stripe_count(); ++i)
    new (&stripes_[i]) Stripe(&context_);
}

Keeper::~Keeper() {
  for (size_t i = 0; i < stripe_count(); ++i) stripes_[i].~Stripe();
  ::operator delete (stripes_, std::align_val_t{alignof(Stripe)});
}

bool Keeper::TryReserve() {
  if (out_of_bytes()) return false;
  int64_t keys = context_.keys.load(std::memory_order_relaxed);
  do {
    if (max_keys_ != 0 && keys >= max_keys_) return false;
  } while (!context_.keys.compare_exchange_weak(keys, keys + 1,
                                                std::memory_order_relaxed));
  return true;
}

int64_t Keeper::NotePressed(int64_t now) {
  const SpinLockHolder lock(&pressed_mutex_);
  pressed_.Note(now);
  return pressed_.Earliest();
}

template <class Done>
bool Keeper::MakeRoom(const RoomSeeker& seeker, Done done) {
  const size_t own = seeker.own;
  const int64_t horizon = seeker.steady ? seeker.now : NotePressed(seeker.now);
  // Some other stripes first to last, so that every entry's turn comes.
  int64_t searched = 0;
  for (size_t i = 0; i <= stripe_count() && searched < kEntriesForRoom; ++i) {
    const size_t index =
        i == 0 ? own
               // relaxed: which stripe is next need not be exact.
               : next_.fetch_add(1, std::memory_order_relaxed) & stripe_mask_;
    const bool mine = absl::c_linear_search(seeker.held, index);
    if (i > 0 && index == own) continue;
    // Half of it in the key's own stripe, so that others get their turn.
    const int64_t most =
        i == 0 ? kEntriesForRoom / 2 : kEntriesForRoom - searched;
    searched += Search(stripes_[index], mine, most, horizon);
    if (done()) return true;
  }
  return false;
}

bool Keeper::Reserve(const RoomSeeker& seeker) {
  return TryReserve() || MakeRoom(seeker, [this] { return TryReserve(); });
}

bool Keeper::SearchNear(Stripe* own, int64_t now) {
  Search(*own, true, kEntriesForRoom / 2, now);
  return TryReserve();
}

bool Keeper::ReserveBytes(const RoomSeeker& seeker) {
  return !out_of_bytes() ||
         MakeRoom(seeker, [this] { return !out_of_bytes(); });
}

bool Keeper::SearchForId(const LimitRecord& record, const RoomSeeker& seeker) {
  const auto hold = [&] { return context_.records.Hold(record); };
  if (MakeRoom(seeker, hold)) return true;
  context_.ids_were_out.store(true, std::memory_order_relaxed);
  return false;
}

int64_t Keeper::Search(Stripe& stripe, bool mine, int64_t most,
                       int64_t horizon) {
  // A lock that this call holds is not taken again; another one is not waited
  // for, so the order of locks does not matter here.
  if (!mine && !stripe.mutex.TryLock()) return 1;
  // An empty stripe is a step too: the search is bounded by stripes as well.
  const int64_t entries = std::max<int64_t>(
      1, std::min(most, static_cast<int64_t>(stripe.table.size())));
  int64_t removed = 0;
  Examine(stripe, entries, std::max(horizon, Horizon(stripe, horizon)),
          kLeaveForRoom, &removed);
  stripe.table.FreeSome();
  if (!mine) stripe.mutex.Unlock();
  return entries;
}

void Keeper::Examine(Stripe& stripe, int64_t entries, int64_t now, int64_t most,
                     int64_t* removed) {
  int64_t gone = 0;
  for (int64_t i = 0; i < entries && gone < most; ++i) {
    const Table::Entry e = stripe.table.Next();
    if (!e) break;
    const Slot slot = e.slot();
    if (slot.bound() || slot.held()) continue;
    const LimitRecord& record = stripe.table.RecordOf(slot);
    if (!Table::IsOver(record, e.state(record), now)) continue;
    stripe.table.Remove(e);
    ++gone;
  }
  if (gone == 0) return;
  *removed += gone;
  stripe.expired += gone;
  Release(gone);
}

void Keeper::Work(Stripe& stripe, int64_t now, bool inserted) {
  int64_t entries = inserted ? kEntriesAnInsert : 0;
  if (stripe.calls == 0) {
    stripe.calls = Stripe::kCalls;
    entries += kEntriesAStep;
  }
  int64_t removed = 0;
  Examine(stripe, entries, Horizon(stripe, now) - slack_, entries, &removed);
  // As long as there is something, each call frees a piece.
  if (stripe.table.FreeSome()) stripe.calls = 1;
  // Not needed before the next step is due.
  stripe.table.PrefetchNext();
}

int64_t Keeper::Sweep(int64_t budget, int64_t now) {
  int64_t removed = 0;
  int64_t seen = 0;
  for (size_t i = 0; i < stripe_count(); ++i) {
    // relaxed: which stripe is next need not be exact.
    Stripe& s =
        stripes_[next_.fetch_add(1, std::memory_order_relaxed) & stripe_mask_];
    {
      const SpinLockHolder lock(&s.mutex);
      if (budget == 0) s.table.BeginRound();
      const auto entries = static_cast<int64_t>(s.table.size());
      const int64_t most =
          budget == 0 ? entries : std::min(entries, budget - seen);
      Examine(s, most, now, most, &removed);
      seen += most;
    }
    // Calls may come between the pieces.
    for (; budget == 0 || seen < budget; ++seen) {
      const SpinLockHolder lock(&s.mutex);
      if (!s.table.FreeSome()) break;
    }
    if (budget > 0 && seen >= budget) break;
  }
  return removed;
}

int64_t Keeper::expired() {
  int64_t sum = 0;
  for (size_t i = 0; i < stripe_count(); ++i) {
    const SpinLockHolder lock(&stripes_[i].mutex);
    sum += stripes_[i].expired;
  }
  return sum;
}

}  // namespace weir
