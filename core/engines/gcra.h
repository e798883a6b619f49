// gcra: at most `limit` a `window` on average and `burst` at once.
//
// Promises: in any span s, never more than burst + limit * s / window, to the
//   unit, at every rate and after any idle time; refused calls cost nothing.
// Cost: 16 bytes a key and constant time in memory; in Redis one string.
// Source: the generic cell rate algorithm, ITU-T I.371, as a virtual scheduler:
//   the state is the arrival time, the instant at which a bucket that drips
//   one call each window / limit would be empty.
// Choose it: first. Smooth, small, exact; token_bucket, leaky_bucket and
//   uniform are the same under the names that people look for.
#ifndef WEIR_CORE_ENGINES_GCRA_H_
#define WEIR_CORE_ENGINES_GCRA_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string_view>

#include "absl/base/attributes.h"
#include "core/math.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct Gcra {
  static constexpr std::string_view kName = "gcra";
  static constexpr EngineDoc kDoc = {
      "At most `limit` a `window` on average, evenly, and `burst` at once.",
      "burst + limit * s / window in any span s",
      "16 bytes a key; constant time",
      "The first choice: smooth, small, exact. Also known as a token bucket.",
      "Generic cell rate algorithm, ITU-T I.371",
      "limit=100 window=1s burst=20",
  };
  static constexpr int64_t kDefaultMaxWaitUs = 60'000'000;
  static constexpr Field kMaxWaitField =
      DurationField("max_wait", "the longest wait that may be reserved", "60s",
                    /*min_us=*/0);
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls a window, on average"},
      DurationField("window", "the time in which `limit` come back"),
      {"burst", FieldType::kCount, "how much may come at once", "limit"},
      kMaxWaitField,
  };

  // Time is counted in ticks of 1 / limit us (limit and window reduced by
  // their gcd), so a call's share, window / limit, is a whole number of ticks.
  struct Params {
    int64_t limit;   // ticks in a microsecond
    int64_t window;  // ticks for a cost of 1
    int64_t burst;
    int64_t max_wait;
    int64_t full_window;  // as it was given, us
    int64_t one_us;       // window / limit: whole microseconds
    int64_t one_ticks;    // and the rest
    int64_t longest;      // the longest reset_after, us
    // An arrival time that lies at most so many us ahead is counted in 64 bits;
    // less than any if the burst does not fit.
    int64_t near;
    int64_t full;  // ticks for the burst, if it fits
  };

  // The arrival time: microseconds, and ticks in [0, limit).
  struct State {
    int64_t tat;
    int64_t ticks;
  };

  template <class T>
  using View = WordView<Gcra, T>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    const int64_t limit = f.Count("limit");
    return Make(limit, f.Duration("window"), f.Count("burst", limit),
                f.Duration("max_wait", kDefaultMaxWaitUs), now, "burst");
  }

  // `burst_name`: what the user called the burst.
  static absl::StatusOr<Params> Make(int64_t limit, int64_t window,
                                     int64_t burst, int64_t max_wait,
                                     int64_t now, std::string_view burst_name) {
    const int64_t gcd = std::gcd(limit, window);
    Params p;
    p.limit = limit / gcd;
    p.window = window / gcd;
    p.burst = burst;
    p.max_wait = max_wait;
    p.full_window = window;
    p.one_us = p.window / p.limit;
    p.one_ticks = p.window % p.limit;
    const Wide longest = CeilDiv(Times(burst, p.window), p.limit);
    if (longest + now > kMaxExact) {
      return InvalidArgument(
          Sv(burst_name), ": ", burst, " at ", limit, " each ", window,
          " us would take until after the year 2255 (2^53 us) to come back; "
          "allowed: at most ",
          Saturate(FloorDiv(Wide{kMaxExact - now} * p.limit, p.window)));
    }
    p.longest = static_cast<int64_t>(longest);
    const Wide full = Times(burst, p.window);
    const bool fits = full < kNarrow;
    p.near = fits ? kNarrow / p.limit - 1 : std::numeric_limits<int64_t>::min();
    p.full = fits ? static_cast<int64_t>(full) : 0;
    return p;
  }

  static Traits TraitsOf(const Params& p) {
    return {p.burst, p.full_window, false, p.max_wait};
  }

  static State Fresh(const Params&, int64_t t) { return {t, 0}; }
  // Rounded up: the horizon is whole, so this compares as the exact time does.
  static int64_t StoredTime(const Params&, const State& s) {
    return s.tat + (s.ticks > 0 ? 1 : 0);
  }
  static int64_t Horizon(const Params& p) { return 2 * p.longest + p.max_wait; }
  static State Cut(const Params& p, int64_t t) {
    return At(p, t, Times(p.burst, p.window));
  }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    if (__builtin_expect(IsNear(p, s, t), 1)) {
      return cost <= p.burst && AheadNear(p, s, t) + cost * p.window <= p.full;
    }
    return AdmitsFar(p, s, t, cost);
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = s.tat < t ? State{t, 0} : s;
    if (__builtin_expect(cost == 1, 1)) {
      n.tat += p.one_us;
      n.ticks += p.one_ticks;
    } else {
      n = AddShare(p, n, cost);
    }
    if (n.ticks >= p.limit) {
      n.ticks -= p.limit;
      ++n.tat;
    }
    return n;
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    return At(p, t, std::max<Wide>(0, Ahead(p, s, t) - Times(n, p.window)));
  }

  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    if (__builtin_expect(IsNear(p, s, t), 1)) {
      const int64_t room = p.full - AheadNear(p, s, t);
      return room <= 0 ? 0 : room / p.window;
    }
    return RemainingFar(p, s, t);
  }

  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    if (cost > p.burst) return kNever;
    if (__builtin_expect(IsNear(p, s, t), 1)) {
      const int64_t over = AheadNear(p, s, t) - (p.full - cost * p.window);
      return over <= 0 ? 0 : over / p.limit + (over % p.limit != 0 ? 1 : 0);
    }
    return WaitFar(p, s, t, cost);
  }

  static int64_t FreshAt(const Params&, const State& s, int64_t) {
    return s.tat + (s.ticks > 0 ? 1 : 0);
  }

  // What is used, rounded up to whole calls, stays used.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    if (old.limit == p.limit && old.window == p.window &&
        old.burst == p.burst && old.max_wait == p.max_wait) {
      return s;
    }
    const int64_t used = Saturate(CeilDiv(Ahead(old, s, t), old.window));
    return At(p, t, Times(used, p.window));
  }

  // For lua/gcra.lua.
  static constexpr size_t kScriptBytes = 13;
  static void WriteRecord(const Params& p, RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.window);
    record->Count(p.burst);
    record->Count(p.max_wait);
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t max_wait,
                        StepWriter* step) {
    const Wide share = Times(cost, p.window);
    const Wide full = Times(p.burst, p.window);
    step->Count(cost);
    // Above the burst: past every reservation too.
    step->Count(cost > p.burst ? 4 * kMaxExact : Saturate(share / p.limit));
    step->Count(static_cast<int64_t>(share % p.limit));
    step->Count(static_cast<int64_t>(full / p.limit) + max_wait);
    step->Count(p.limit);
    step->Count(static_cast<int64_t>(full % p.limit));
    step->Count(p.longest + p.max_wait);
    step->Count(p.longest);
    step->Count(p.window);
    step->Count(static_cast<int64_t>(full / p.limit));
  }
  static State ReadState(std::string_view bytes) {
    return {ReadCount(bytes, 0), static_cast<int64_t>(ReadUint(bytes, 8, 5))};
  }

 private:
  // What is near stays below this in ticks, so sums of two fit 64 bits.
  static constexpr int64_t kNarrow = int64_t{1} << 61;
  static bool IsNear(const Params& p, const State& s, int64_t t) {
    return s.tat - t <= p.near;
  }
  static int64_t AheadNear(const Params& p, const State& s, int64_t t) {
    return s.tat < t ? 0 : (s.tat - t) * p.limit + s.ticks;
  }

  // The same where 64 bits may not do. Apart, and by value, so that the usual
  // way keeps its numbers in registers.
  ABSL_ATTRIBUTE_NOINLINE static bool AdmitsFar(const Params& p, State s,
                                                int64_t t, int64_t cost) {
    return Ahead(p, s, t) + Times(cost, p.window) <= Times(p.burst, p.window);
  }
  ABSL_ATTRIBUTE_NOINLINE static State AddShare(const Params& p, State s,
                                                int64_t cost) {
    const Wide share = Times(cost, p.window);
    return {s.tat + static_cast<int64_t>(share / p.limit),
            s.ticks + static_cast<int64_t>(share % p.limit)};
  }
  ABSL_ATTRIBUTE_NOINLINE static int64_t RemainingFar(const Params& p, State s,
                                                      int64_t t) {
    const Wide room = Times(p.burst, p.window) - Ahead(p, s, t);
    return room <= 0 ? 0 : static_cast<int64_t>(FloorDiv(room, p.window));
  }
  ABSL_ATTRIBUTE_NOINLINE static int64_t WaitFar(const Params& p, State s,
                                                 int64_t t, int64_t cost) {
    const Wide over = Ahead(p, s, t) - Times(p.burst - cost, p.window);
    return over <= 0 ? 0 : static_cast<int64_t>(CeilDiv(over, p.limit));
  }

  // How far the arrival time lies ahead of t, in ticks.
  static Wide Ahead(const Params& p, const State& s, int64_t t) {
    return s.tat < t ? 0 : Times(s.tat - t, p.limit) + s.ticks;
  }

  static State At(const Params& p, int64_t t, Wide ahead) {
    const Wide tat = t + ahead / p.limit;
    if (tat > kMaxExact) return {kMaxExact, 0};
    return {static_cast<int64_t>(tat), static_cast<int64_t>(ahead % p.limit)};
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_GCRA_H_
