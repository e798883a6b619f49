#include "backends/memory/keeper.h"

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"

namespace weir {
namespace {

// How much is examined, in buckets (about one entry each). A call that inserts
// examines more than it adds, so that a flood of short-lived keys can't outrun
// the sweep.
constexpr size_t kBucketsAnInsert = 3;
constexpr int kCallsATick = 8;
constexpr size_t kBucketsATick = 2;
constexpr size_t kBucketsForRoom = 64;

}  // namespace

bool Keeper::TryReserve() {
  // relaxed: see Release.
  const int64_t before = keys_.fetch_add(1, std::memory_order_relaxed);
  if (max_keys_ == 0 || before < max_keys_) return true;
  keys_.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

int64_t Keeper::NotePressed(int64_t now) {
  MutexLock lock(&pressed_mutex_);
  pressed_.Note(now);
  return pressed_.Earliest();
}

bool Keeper::Reserve(size_t own, absl::Span<const size_t> held, int64_t now,
                     bool steady) {
  if (TryReserve()) return true;
  const int64_t horizon = steady ? now : NotePressed(now);
  // Some other stripes first to last, so that every entry's turn comes.
  size_t searched = 0;
  for (size_t i = 0; i <= stripe_count_ && searched < kBucketsForRoom; ++i) {
    const size_t index = i == 0
                             ? own
                             // relaxed: which stripe is next need not be exact.
                             : next_.fetch_add(1, std::memory_order_relaxed) &
                                   (stripe_count_ - 1);
    const bool mine = absl::c_linear_search(held, index);
    if (i > 0 && index == own) continue;
    Stripe& s = stripes_[index];
    // Locks that this call holds are not taken again; others are not waited
    // for, so the order of locks does not matter here.
    if (!mine && !s.mutex.TryLock()) continue;
    [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      const size_t buckets = std::min(
          i == 0 ? kBucketsForRoom / 2 : kBucketsForRoom, s.table.buckets());
      int64_t removed = 0;
      Examine(s, buckets, std::max(horizon, s.readings.Earliest()), &removed);
      searched += buckets;
    }();
    if (!mine) {
      [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { s.mutex.Unlock(); }();
    }
    if (TryReserve()) return true;
  }
  return false;
}

int64_t Keeper::Examine(Stripe& stripe, size_t buckets, int64_t now,
                        int64_t* removed) {
  absl::InlinedVector<Entry*, 16> over;
  int64_t seen = 0;
  for (size_t i = 0; i < buckets; ++i) {
    over.clear();
    stripe.table.VisitNextBucket([&](Entry* e) {
      ++seen;
      if (e->expire_us <= now && !e->in_use) {
        over.push_back(e);
      }
    });
    for (Entry* e : over) stripe.table.Remove(e);
    *removed += static_cast<int64_t>(over.size());
    stripe.expired += static_cast<int64_t>(over.size());
    Release(static_cast<int64_t>(over.size()));
  }
  return seen;
}

void Keeper::Tick(Stripe& stripe, int64_t now, bool inserted) {
  stripe.readings.Note(now);
  size_t buckets = inserted ? kBucketsAnInsert : 0;
  if (++stripe.calls >= kCallsATick) {
    stripe.calls = 0;
    buckets += kBucketsATick;
  }
  if (buckets == 0) return;
  int64_t removed = 0;
  Examine(stripe, buckets, stripe.readings.Earliest(), &removed);
}

int64_t Keeper::Sweep(int64_t budget, int64_t now) {
  int64_t removed = 0;
  int64_t seen = 0;
  for (size_t i = 0; i < stripe_count_; ++i) {
    // relaxed: which stripe is next need not be exact.
    Stripe& s = stripes_[next_.fetch_add(1, std::memory_order_relaxed) &
                         (stripe_count_ - 1)];
    MutexLock lock(&s.mutex);
    if (budget == 0) s.table.BeginRound();
    const size_t buckets = s.table.buckets();
    for (size_t b = 0; b < buckets; ++b) {
      if (budget > 0 && seen >= budget) return removed;
      seen += Examine(s, 1, now, &removed);
    }
  }
  return removed;
}

int64_t Keeper::expired() {
  int64_t sum = 0;
  for (size_t i = 0; i < stripe_count_; ++i) {
    MutexLock lock(&stripes_[i].mutex);
    sum += stripes_[i].expired;
  }
  return sum;
}

}  // namespace weir
