// sliding_log: at most `limit` in every window, wherever it is laid.
//
// Promises: exactly that: no window of length `window` ever holds more. Calls
//   never merge, however many share a microsecond.
// Cost: about 8 bytes for each call that is inside (12 more if its cost is not
//   1); a check reads O(log n), a charge drops at most kDropAtOnce old entries.
//   In Redis one sorted set.
// Source: the log of recent calls, kept as a sorted set of (time, cost).
// Choose it: where no window may ever hold more, and the limit is small;
//   gcra and sliding_window_counter need constant memory.
#ifndef WEIR_CORE_ENGINES_SLIDING_LOG_H_
#define WEIR_CORE_ENGINES_SLIDING_LOG_H_

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/engines/log_entry.h"
#include "core/math.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct SlidingLog {
  static constexpr std::string_view kName = "sliding_log";
  static constexpr int64_t kMaxLimit = 10'000'000;
  static constexpr int64_t kDropAtOnce = 32;
  static constexpr EngineDoc kDoc = {
      "At most `limit` in every window, wherever it is laid.",
      "limit in every window",
      "8 bytes for each call inside (12 more if its cost is not 1); time "
      "logarithmic in their number",
      "Where no window may ever hold more and the limit is small.",
      "Sliding window log",
  };
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls in any window"},
      DurationField("window", "how long a call counts"),
  };

  struct Params {
    int64_t limit;
    int64_t window;
  };

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    Params p = {f.Count("limit"), f.Duration("window")};
    if (p.limit > kMaxLimit) {
      return InvalidArgument(
          "limit: ", p.limit, " is too much for a log, which keeps every call; "
          "allowed: 0 to ", kMaxLimit,
          "; gcra, fixed_window and sliding_window_counter take constant "
          "memory at any limit");
    }
    if (now > kMaxExact - p.window) {
      return InvalidArgument("window: ", p.window,
                             " us would end after the year 2255 (2^53 us)");
    }
    return p;
  }

  static Traits TraitsOf(const Params& p) { return {p.limit, p.window}; }

  // One key's log. Ranks [0, expired_) have left and wait to be dropped;
  // [expired_, held_) are inside. An entry carries the sum of all costs up to
  // and including its own, so what is inside is a difference of two.
  template <class T>
  class View {
   public:
    View(T& txn, const Params& p, const Params* old, int64_t t)
        : txn_(txn), p_(p), t_(t), now_(t) {
      held_ = txn.ZCARD();
      if (held_ == 0) return;
      const LogEntry newest = At(held_ - 1);
      const int64_t old_window = old != nullptr ? old->window : p.window;
      if (newest.time - t > 2 * old_window) {
        cut_ = true;
        newest_ = t;
        used_ = p.limit;
        return;
      }
      now_ = std::max(t, newest.time);
      newest_ = newest.time;
      sum_ = newest.sum;
      // What had left the old window stays out of a longer new one.
      drop_all_ = old_window < p.window;
      const int64_t gone = now_ - std::min(old_window, p.window);
      expired_ = txn.ZCOUNT(ScoreBound::Lowest(),
                            {static_cast<double>(gone), false});
      if (expired_ == held_) return;
      const LogEntry oldest = At(expired_);
      before_ = oldest.sum - oldest.cost;
      used_ = sum_ - before_;
    }

    bool Admits(int64_t cost) const { return used_ <= p_.limit - cost; }

    void Charge(int64_t cost) {
      StoreCut();
      if (used_ == 0) {
        Forget();
      } else {
        Drop();
      }
      if (sum_ > kMaxExact - cost) Rebase();
      sum_ += cost;
      used_ += cost;
      newest_ = now_;
      Append({now_, sum_, cost});
    }

    // Newest first; an entry that is given back in part stays where it is.
    void Refund(int64_t n) {
      if (used_ == 0 || n == 0) return;
      StoreCut();
      Drop();
      if (n >= used_) {
        Forget();
        return;
      }
      const int64_t keep = sum_ - n;
      const int64_t rank = FirstAbove(keep);
      const LogEntry part = At(rank);
      txn_.ZREMRANGEBYRANK(rank, -1);
      held_ = rank;
      const int64_t cost = keep - (part.sum - part.cost);
      newest_ = cost > 0 ? part.time : At(rank - 1).time;
      sum_ = keep;
      used_ -= n;
      if (cost > 0) {
        Append({part.time, keep, cost});
      } else {
        Expire();
      }
    }

    void Settle() { StoreCut(); }

    int64_t Remaining() const { return std::max<int64_t>(0, p_.limit - used_); }

    int64_t Wait(int64_t cost) const {
      if (cost > p_.limit) return kNever;
      if (Admits(cost)) return 0;
      if (cut_) return p_.window;
      // The first instant at which enough has left.
      const int64_t leave = used_ + cost - p_.limit;
      return At(FirstAbove(before_ + leave - 1)).time + p_.window - t_;
    }

    int64_t ResetAfter() const {
      return used_ == 0 ? 0 : newest_ + p_.window - t_;
    }

   private:
    LogEntry At(int64_t rank) const {
      ScoredMember m;
      txn_.ZRANGE(rank, rank, absl::MakeSpan(&m, 1));
      return LogEntry::Decode(m);
    }

    // The first rank inside whose sum is above `sum`.
    int64_t FirstAbove(int64_t sum) const {
      int64_t low = expired_;
      int64_t high = held_ - 1;
      while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (At(middle).sum > sum) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      return low;
    }

    void Append(const LogEntry& e) {
      txn_.ZADD(static_cast<double>(e.time), e.Member());
      ++held_;
      Expire();
    }

    void Expire() { txn_.PEXPIRE((newest_ + p_.window - t_ + 999) / 1000); }

    // Nothing is inside: the sums begin again.
    void Forget() {
      if (held_ > 0) txn_.DEL();
      held_ = expired_ = sum_ = before_ = used_ = 0;
      cut_ = false;
    }

    void Drop() {
      const int64_t n = drop_all_ ? expired_ : std::min(expired_, kDropAtOnce);
      if (n == 0) return;
      txn_.ZREMRANGEBYRANK(0, n - 1);
      held_ -= n;
      expired_ -= n;
    }

    // The cut of a clock that jumped: one entry (t, limit).
    void StoreCut() {
      if (!cut_) return;
      Forget();
      sum_ = used_ = p_.limit;
      Append({t_, sum_, p_.limit});
    }

    // The sums have reached 2^53: count anew from the oldest entry. Comes once
    // in at least 2^53 / kMaxLimit charges without a pause.
    void Rebase() {
      const int64_t inside = held_ - expired_;
      std::vector<LogEntry> entries;
      entries.reserve(static_cast<size_t>(inside));
      for (int64_t i = 0; i < inside; ++i) entries.push_back(At(expired_ + i));
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
    const Params& p_;
    const int64_t t_;
    int64_t now_;  // max(t, the time of the last charge)
    int64_t held_ = 0;
    int64_t expired_ = 0;
    int64_t newest_ = 0;
    int64_t sum_ = 0;     // of all costs up to the newest entry
    int64_t before_ = 0;  // of all costs before the oldest entry inside
    int64_t used_ = 0;
    bool cut_ = false;
    bool drop_all_ = false;
  };
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_SLIDING_LOG_H_
