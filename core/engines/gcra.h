// gcra as a virtual scheduler: the state is the arrival time, the instant at
// which a bucket that drips one call each window / limit would be empty. kDoc
// says what it promises and costs.
//
// Exact to the unit, at every rate and after any idle time; denied calls cost
// nothing. A state takes 8 bytes, or 16 where a call's share of the window is a
// fraction of a microsecond finer than 1 / 255; in Redis it is one string.
// token_bucket, leaky_bucket and uniform are the same under the names that
// people look for.
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
      "8 to 16 bytes a key; constant time",
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
    int64_t longest;      // the longest reset_after, us
    // See IsNear, in microseconds and in ticks; less than any time if the burst
    // does not fit.
    int64_t near;
    int64_t near_ticks;
    int64_t full;  // ticks for the burst, if it fits
    Divisor by_window;
    Divisor by_limit;
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
    p.near = fits ? std::min(kNarrow / p.limit, Horizon(p) - 1) : kNoTime;
    p.near_ticks = fits ? p.near * p.limit : kNoTime;
    p.full = fits ? static_cast<int64_t>(full) : 0;
    p.by_window = Divisor(p.window);
    p.by_limit = Divisor(p.limit);
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

  // How far a state lies ahead of a time, counted in integers of one width, and
  // what that says.
  template <class Ticks>
  class AheadBy {
   public:
    AheadBy(const Params& p, Ticks ahead) : p_(p), ahead_(ahead) {}

    bool Admits(int64_t cost) const {
      return cost <= p_.burst && ahead_ + Share(cost) <= Full(p_, Ticks{});
    }
    int64_t Remaining() const {
      const Ticks room = Full(p_, Ticks{}) - ahead_;
      return room <= 0 ? 0 : FloorBy(p_.by_window, p_.window, room);
    }
    int64_t Wait(int64_t cost) const {
      if (cost > p_.burst) return kNever;
      const Ticks over = ahead_ - (Full(p_, Ticks{}) - Share(cost));
      return over <= 0 ? 0 : CeilBy(p_.by_limit, p_.limit, over);
    }

   protected:
    Ticks Share(int64_t cost) const { return Ticks{cost} * p_.window; }

    const Params& p_;
    Ticks ahead_;
  };

  // A state at a time: the steps of a check. What they have in common is worked
  // out once.
  template <class Ticks>
  class Steps : public AheadBy<Ticks> {
   public:
    Steps(const Params& p, const State& s, int64_t t)
        : AheadBy<Ticks>(p, AheadIn<Ticks>(p, s, t)), s_(s), t_(t) {}

    void Charge(int64_t cost) {
      const Ticks share = this->Share(cost);
      const int64_t us = FloorBy(p_.by_limit, p_.limit, share);
      const auto rest = static_cast<int64_t>(share - Ticks{us} * p_.limit);
      ahead_ += share;
      if (s_.tat < t_) {
        s_ = {t_ + us, rest};
        return;
      }
      s_.tat += us;
      s_.ticks += rest;
      if (s_.ticks >= p_.limit) {
        s_.ticks -= p_.limit;
        ++s_.tat;
      }
    }
    const State& state() const { return s_; }
    int64_t ResetAfter() const {
      return internal::ResetAfter<Gcra>(p_, s_, t_);
    }

   private:
    using AheadBy<Ticks>::p_;
    using AheadBy<Ticks>::ahead_;

    State s_;
    const int64_t t_;
  };
  // 64 bits do for a state that is near, and what an admitted call makes of it
  // is near too: it is at most the burst ahead. Near::Charge is for such calls.
  // What is near has not jumped.
  using Near = Steps<int64_t>;
  static bool IsNear(const Params& p, const State& s, int64_t t) {
    return s.tat - t <= p.near;
  }

  // The state in one word, the arrival time in ticks, for limits whose
  // microsecond has few of them. It has one wherever a call's share is a whole
  // number of microseconds.
  struct Packed {
    struct State {
      int64_t ticks;
    };

    // Times are at most 2^53 us, and an arrival time is ahead of its own by a
    // burst and a wait, less than 2^54: so what is subtracted fits 63 bits.
    static constexpr int64_t kMostTicks = 255;
    static bool Fits(const Params& p) { return p.limit <= kMostTicks; }

    static State Pack(const Params& p, const Gcra::State& s) {
      return {s.tat * p.limit + s.ticks};
    }
    static Gcra::State Unpack(const Params& p, const State& s) {
      const bool divides = s.ticks >= 0 && s.ticks < Divisor::kEnd;
      const int64_t tat =
          divides ? p.by_limit.Floor(s.ticks)
                  : static_cast<int64_t>(FloorDiv(s.ticks, p.limit));
      return {tat, s.ticks - tat * p.limit};
    }

    static State Fresh(const Params& p, int64_t t) { return {t * p.limit}; }
    // As those of the state that is not packed.
    static bool IsNear(const Params& p, const State& s, int64_t t) {
      return s.ticks - t * p.limit <= p.near_ticks;
    }
    class Near : public AheadBy<int64_t> {
     public:
      Near(const Params& p, const State& s, int64_t t)
          : Near(p, s, TicksAt{t * p.limit}) {}

      void Charge(int64_t cost) {
        ahead_ += Share(cost);
        s_.ticks = base_ + ahead_;
      }
      const State& state() const { return s_; }
      int64_t ResetAfter() const {
        return ahead_ == 0 ? 0 : CeilBy(p_.by_limit, p_.limit, ahead_);
      }

     private:
      struct TicksAt {
        int64_t ticks;
      };
      Near(const Params& p, const State& s, TicksAt t)
          : AheadBy(p, std::max<int64_t>(0, s.ticks - t.ticks)),
            s_(s),
            base_(t.ticks) {}

      State s_;
      const int64_t base_;  // the time, in ticks
    };
  };

 private:
  using Far = Steps<Wide>;
  // Apart, and by value, so that the usual way keeps its numbers in registers.
  template <class F>
  ABSL_ATTRIBUTE_NOINLINE static auto Apart(const Params& p, State s, int64_t t,
                                            F f) {
    return f(Far(p, s, t));
  }
  template <class F>
  static auto Look(const Params& p, const State& s, int64_t t, F f) {
    return IsNear(p, s, t) ? f(Near(p, s, t)) : Apart(p, s, t, f);
  }

 public:
  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return Look(p, s, t, [cost](auto steps) { return steps.Admits(cost); });
  }
  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    const auto charge = [cost](auto steps) {
      steps.Charge(cost);
      return steps.state();
    };
    return cost <= p.burst ? Look(p, s, t, charge) : Apart(p, s, t, charge);
  }
  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    return Look(p, s, t, [](auto steps) { return steps.Remaining(); });
  }
  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    return Look(p, s, t, [cost](auto steps) { return steps.Wait(cost); });
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    const Wide left = std::max<Wide>(0, Ahead(p, s, t) - Times(n, p.window));
    return {static_cast<int64_t>(t + left / p.limit),
            static_cast<int64_t>(left % p.limit)};
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t) {
    return StoredTime(p, s);
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
  // The burst is below this in ticks, and what is near at most this and less
  // than two microseconds more (a limit, at most 10^12): less than kEnd, which
  // a Divisor bears, and the sum of two fits 64 bits.
  static constexpr int64_t kNarrow = Divisor::kEnd / 2;
  static constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

  static int64_t Full(const Params& p, int64_t) { return p.full; }
  static Wide Full(const Params& p, Wide) { return Times(p.burst, p.window); }
  // a / b, rounded down and up; a >= 0, and a > 0.
  static int64_t FloorBy(const Divisor& by_b, int64_t, int64_t a) {
    return by_b.Floor(a);
  }
  static int64_t FloorBy(const Divisor&, int64_t b, Wide a) {
    return static_cast<int64_t>(FloorDiv(a, b));
  }
  static int64_t CeilBy(const Divisor& by_b, int64_t b, int64_t a) {
    return b == 1 ? a : by_b.Ceil(a);
  }
  static int64_t CeilBy(const Divisor&, int64_t b, Wide a) {
    return static_cast<int64_t>(CeilDiv(a, b));
  }

  // How far the arrival time lies ahead of t, in ticks.
  template <class Ticks>
  static Ticks AheadIn(const Params& p, const State& s, int64_t t) {
    return s.tat < t ? Ticks{0} : Ticks{s.tat - t} * p.limit + s.ticks;
  }
  static Wide Ahead(const Params& p, const State& s, int64_t t) {
    return AheadIn<Wide>(p, s, t);
  }

  static State At(const Params& p, int64_t t, Wide ahead) {
    const Wide tat = t + ahead / p.limit;
    if (tat > kMaxExact) return {kMaxExact, 0};
    return {static_cast<int64_t>(tat), static_cast<int64_t>(ahead % p.limit)};
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_GCRA_H_
