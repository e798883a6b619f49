// The View of every engine that keeps a log: an entry counts for `keep` us
// from its date, and the costs inside may be `limit`.
//
// A check costs O(log n) for n entries held; a charge drops at most
// kDropAtOnce entries that have left, or the whole log at once if all have.
#ifndef WEIR_CORE_ENGINES_LOG_VIEW_H_
#define WEIR_CORE_ENGINES_LOG_VIEW_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/engines/log_entry.h"
#include "core/math.h"
#include "weir/engine.h"

namespace weir::engines {

struct LogParams {
  int64_t limit;
  int64_t window;      // as it was given, us
  int64_t keep;        // an entry has left when it is this old
  int64_t resolution;  // charges of one slot share an entry; 0: none do
  bool count_denied;

  bool alone() const { return resolution == 0; }
};

// What every log's C++ half tells its Lua half, lua/log_view.lua.
struct LogScript {
  static constexpr size_t kScriptBytes = 24;
  static void WriteRecord(const LogParams& p, RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.keep);
    record->Count(p.resolution);
  }
  static void WriteStep(const LogParams& p, int64_t cost, int64_t,
                        StepWriter* step) {
    step->Count(cost);
    step->Count(p.limit);
    step->Count(p.keep);
    step->Count(p.resolution);
  }
  // Used, the newest entry's time, and that of the last one to wait for.
  static Numbers ReadNumbers(const LogParams& p, std::string_view bytes,
                             const StepArgs& a) {
    const int64_t used = ReadCount(bytes, 0);
    const int64_t newest = ReadCount(bytes, 8);
    const int64_t last = ReadCount(bytes, 16);
    Numbers n;
    n.remaining = std::max<int64_t>(0, p.limit - used);
    n.reset_after = used == 0 ? 0 : newest + p.keep - a.t;
    if (!a.wants_wait) return n;
    if (a.cost > p.limit) {
      n.wait = kNever;
    } else if (used > p.limit - a.cost) {
      n.wait = last + p.keep - a.t;
    }
    return n;
  }
};

// Ranks [0, expired_) have left and wait to be dropped; [expired_, held_) are
// inside. Where the whole use counts as one entry that is not stored yet (a
// clock that jumped, a change of the limit), it is the lump.
template <class T, template <class> class Log>
class LogView {
 public:
  static constexpr int64_t kDropAtOnce = 32;

  LogView(T& txn, const LogParams& p, const LogParams* old, int64_t t)
      : txn_(txn), log_(txn), p_(p), t_(t), now_(t) {
    held_ = log_.Size();
    if (held_ == 0) return;
    const LogParams& was = old != nullptr ? *old : p;
    const LogEntry newest = log_.At(held_ - 1);
    if (newest.time - t > 2 * was.keep) {
      cut_ = true;
      SetLump(Date(t), p.limit);
      return;
    }
    now_ = std::max(t, newest.time);
    newest_ = newest.time;
    sum_ = newest.sum;
    expired_ = log_.CountUpTo(now_ - was.keep, held_);
    if (expired_ == held_) return;
    const LogEntry oldest = log_.At(expired_);
    before_ = oldest.sum - oldest.cost;
    used_ = sum_ - before_;
    // What had left the old window stays out of a longer new one; what would
    // leave because the new one is shorter counts as made now.
    drop_all_ = was.keep < p.keep;
    if (was.keep > p.keep || was.resolution != p.resolution) {
      SetLump(Date(now_), used_);
    }
  }

  bool Admits(int64_t cost) const { return used_ <= p_.limit - cost; }

  void Charge(int64_t cost) {
    StoreLump();
    if (used_ == 0) {
      Forget();
    } else if (!MayWait(cost)) {
      Drop(expired_);
    }
    cost = std::min(cost, kMaxExact - used_);
    if (cost == 0) {
      // No room in the sums. The window may be a longer one than before.
      Expire();
      return;
    }
    if (sum_ > kMaxExact - cost) Rebase();
    sum_ += cost;
    used_ += cost;
    LogEntry e = {Date(now_), sum_, cost};
    if (!p_.alone() && held_ > expired_) {
      const LogEntry last = log_.At(held_ - 1);
      if (last.time == e.time) {
        e.cost += last.cost;
        Replace(e);
        return;
      }
    }
    Append(e);
  }

  // Newest first; an entry that is given back in part stays where it is.
  void Refund(int64_t n) {
    if (used_ == 0 || n == 0) return;
    StoreLump();
    Drop(expired_);
    if (n >= used_) {
      Forget();
      return;
    }
    const int64_t keep = sum_ - n;
    const int64_t rank = FirstAbove(keep);
    const LogEntry part = log_.At(rank);
    const int64_t cost = keep - (part.sum - part.cost);
    const int64_t left = cost > 0 ? rank + 1 : rank;
    if (left < held_) log_.RemoveFrom(left);
    held_ = left;
    sum_ = keep;
    used_ -= n;
    if (cost > 0) {
      Replace({part.time, keep, cost});
    } else {
      newest_ = log_.At(rank - 1).time;
      Expire();
    }
  }

  void Settle() {
    if (cut_) StoreLump();
  }

  int64_t Remaining() const { return std::max<int64_t>(0, p_.limit - used_); }

  int64_t Wait(int64_t cost) const {
    if (cost > p_.limit) return kNever;
    if (Admits(cost)) return 0;
    // The first instant at which enough has left.
    const int64_t leave = used_ + cost - p_.limit;
    const int64_t last =
        lump_ ? newest_ : log_.At(FirstAbove(before_ + leave - 1)).time;
    return last + p_.keep - t_;
  }

  int64_t ResetAfter() const { return used_ == 0 ? 0 : newest_ + p_.keep - t_; }

 private:
  // When a charge at `time` counts as made: at the start of its slot.
  int64_t Date(int64_t time) const {
    if (p_.alone()) return time;
    return static_cast<int64_t>(FloorDiv(time, p_.resolution)) * p_.resolution;
  }

  void SetLump(int64_t date, int64_t used) {
    lump_ = true;
    newest_ = date;
    used_ = used;
  }

  void StoreLump() {
    if (!lump_) return;
    const int64_t used = used_;
    Forget();
    sum_ = used_ = used;
    Append({newest_, used, used});
  }

  // The first rank inside whose sum is above `sum`.
  int64_t FirstAbove(int64_t sum) const {
    int64_t low = expired_;
    int64_t high = held_ - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (log_.At(middle).sum > sum) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  // The expiry is set with each entry, and not once at the end as in Lua: a
  // later entry of the same step may find no memory, and a key without an
  // expiry would never leave.
  void Append(const LogEntry& e) {
    newest_ = e.time;
    log_.Append(e);
    ++held_;
    Expire();
  }

  // The newest entry becomes this one, in place: where there is no memory for
  // it, nothing that was used is forgotten.
  void Replace(const LogEntry& e) {
    newest_ = e.time;
    log_.ReplaceNewest(held_ - 1, e);
    Expire();
  }

  void Expire() {
    txn_.PEXPIRE(std::max<int64_t>(1, (newest_ + p_.keep - t_ + 999) / 1000));
  }

  // Nothing is inside: the sums begin again.
  void Forget() {
    if (held_ > 0) txn_.DEL();
    held_ = expired_ = sum_ = before_ = used_ = 0;
    cut_ = lump_ = false;
  }

  // Do those that have left wait for others? By slots they must not: a reading
  // may go back within the newest one. Never more than `limit` are held.
  bool MayWait(int64_t cost) const {
    return Log<T>::kDropsLate && p_.alone() && !drop_all_ && expired_ < 3 &&
           used_ + cost + expired_ <= p_.limit;
  }

  void Drop(int64_t most) {
    const int64_t n = drop_all_ ? most : std::min(most, kDropAtOnce);
    if (n == 0) return;
    log_.RemoveOldest(n);
    held_ -= n;
    expired_ -= n;
  }

  // The sums have reached 2^53: they count anew from the oldest entry inside.
  // A log of costs up to 10^7 comes here once in 9 * 10^8 charges at most.
  void Rebase() {
    const int64_t inside = held_ - expired_;
    std::vector<LogEntry> entries;
    entries.reserve(static_cast<size_t>(inside));
    for (int64_t i = 0; i < inside; ++i) {
      entries.push_back(log_.At(expired_ + i));
    }
    txn_.DEL();
    held_ = expired_ = 0;
    for (LogEntry e : entries) {
      e.sum -= before_;
      Append(e);
    }
    sum_ -= before_;
    before_ = 0;
  }

  T& txn_;
  Log<T> log_;
  const LogParams& p_;
  const int64_t t_;
  int64_t now_;  // max(t, the date of the newest entry)
  int64_t held_ = 0;
  int64_t expired_ = 0;
  int64_t newest_ = 0;  // the date of the newest entry
  int64_t sum_ = 0;     // of all costs up to the newest entry
  int64_t before_ = 0;  // of all costs before the oldest entry inside
  int64_t used_ = 0;
  bool cut_ = false;
  bool lump_ = false;
  bool drop_all_ = false;
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_LOG_VIEW_H_
