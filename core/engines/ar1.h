// ar1: the sum of all costs, each divided by decay_factor once for every slot
// since. kDoc says what it promises and costs. In Redis it is one string.
//
// The value is a double, made by the same operations in the same order in C++
// and in Lua (repeated squaring for the power, no libm), so that both stores
// agree to the last bit.
#ifndef WEIR_CORE_ENGINES_AR1_H_
#define WEIR_CORE_ENGINES_AR1_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "absl/base/attributes.h"
#include "core/duration_text.h"
#include "core/math.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct Ar1 {
  static constexpr std::string_view kName = "ar1";
  static constexpr EngineDoc kDoc = {
      "What was used fades, divided by `decay_factor` with every slot of "
      "`resolution`; at most `limit` of it. Denied calls count too, unless "
      "told otherwise.",
      "limit at once; limit * (1 - 1 / decay_factor) a slot in the long run",
      "16 bytes a key; constant time",
      "To forgive slowly those who have just been busy.",
      "First-order autoregression, AR(1)",
      "limit=100 decay_factor=2 resolution=10s",
  };
  static constexpr double kMost = 1e12;

  static constexpr Field kFields[] = {
      RealField("limit", "what may be in use; may have a fraction", 0, kMost),
      RealField("decay_factor", "what the value is divided by with every slot",
                1, kMost),
      DurationField("resolution", "the length of a slot"),
      {"count_denied", FieldType::kBool, "denied calls count too", "true"},
  };

  struct Params {
    double limit;
    double decay;
    int64_t resolution;
    bool count_denied;
    int64_t longest;  // from `limit` to fresh, us
  };

  struct State {
    int64_t slot;
    double value;
  };

  template <class T>
  using View = WordView<Ar1, T>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    Params p = {f.Real("limit"), f.Real("decay_factor"),
                f.Duration("resolution"), f.Bool("count_denied", true), 0};
    const Wide longest = Wide{SlotsUntilFresh(p, p.limit)} * p.resolution;
    if (longest > kMaxWindowUs || longest + now > kMaxExact) {
      return InvalidArgument("decay_factor: ", p.decay, " a slot of ",
                             DurationText(p.resolution),
                             " fades for more than 100 years; allowed: a "
                             "larger factor or a shorter resolution");
    }
    p.longest = static_cast<int64_t>(longest);
    return p;
  }

  static Traits TraitsOf(const Params& p) {
    return {static_cast<int64_t>(std::floor(p.limit)), p.longest,
            p.count_denied};
  }

  static State Fresh(const Params& p, int64_t t) { return {Slot(p, t), 0}; }
  static int64_t StoredTime(const Params& p, const State& s) {
    return s.slot * p.resolution;
  }
  static int64_t Horizon(const Params& p) { return 2 * p.longest; }
  static State Cut(const Params& p, int64_t t) { return {Slot(p, t), p.limit}; }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return Fade(p, s, t).value + static_cast<double>(cost) <= p.limit;
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = Fade(p, s, t);
    n.value = std::min(n.value + static_cast<double>(cost),
                       static_cast<double>(kMaxExact));
    return n;
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    State r = Fade(p, s, t);
    r.value -= static_cast<double>(n);
    if (r.value < kTrace) r.value = 0;
    return r;
  }

  // How many calls of cost 1 pass one after another: each sum is rounded, and
  // the next one goes on from there.
  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    const double value = Fade(p, s, t).value;
    if (!(value + 1 <= p.limit)) return 0;
    // Sums of whole numbers are exact.
    if (value == std::floor(value)) {
      return static_cast<int64_t>(std::floor(p.limit) - value);
    }
    // All that rounding adds up to is less than the limit's last two bits.
    const double left = p.limit - value;
    const double whole = std::floor(left);
    const double near = p.limit * 0x1p-50;
    if (left - whole > near && left - whole < 1 - near) {
      return static_cast<int64_t>(whole);
    }
    return OneByOne(p.limit, value);
  }

  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    const double c = static_cast<double>(cost);
    if (c > p.limit) return kNever;
    if (Fade(p, s, t).value + c <= p.limit) return 0;
    // From the stored value on, as later calls will: two quotients round twice.
    return StartOf(p, s.slot + Slots(p, s.value, c, p.limit, false), t) - t;
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    if (Fade(p, s, t).value == 0) return t;
    return StartOf(p, s.slot + SlotsUntilFresh(p, s.value), t);
  }

  // The value is kept.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    if (old.resolution == p.resolution && old.decay == p.decay) return s;
    return {Slot(p, std::max(t, s.slot * old.resolution)),
            Fade(old, s, t).value};
  }

  // For lua/ar1.lua.
  static constexpr size_t kScriptBytes = 16;
  static void WriteRecord(const Params& p, RecordWriter* record) {
    record->Number(p.limit);
    record->Number(p.decay);
    record->Count(p.resolution);
    record->Count(p.longest);
    record->Count(p.count_denied ? 1 : 0);
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t,
                        StepWriter* step) {
    step->Count(cost);
    step->Number(p.limit);
    step->Number(p.decay);
    step->Count(p.resolution);
    step->Count(p.longest);
  }
  static State ReadState(std::string_view bytes) {
    return {ReadCount(bytes, 0), ReadNumber(bytes, 8)};
  }

 private:
  // A value below this can no longer change a sum with one call.
  static constexpr double kTrace = 1.0 / 9007199254740992.0;  // 2^-53

  // From one power of two to the next only the first sum is rounded: after that
  // the value has no bits to lose.
  ABSL_ATTRIBUTE_NOINLINE static int64_t OneByOne(double limit, double value) {
    int64_t n = 0;
    while (value + 1 <= limit) {
      value = value + 1;
      int exponent;
      std::frexp(value, &exponent);
      const double top = std::min(std::ldexp(1.0, exponent), limit);
      const double more = std::floor(top - value);
      value = value + more;
      n += 1 + static_cast<int64_t>(more);
    }
    return n;
  }

  static int64_t Slot(const Params& p, int64_t t) {
    return static_cast<int64_t>(FloorDiv(t, p.resolution));
  }

  // Of a slot that begins after t. What denied calls add may take longer to
  // fade than any limit: the last time there is, then, or the one after t.
  static int64_t StartOf(const Params& p, int64_t slot, int64_t t) {
    return std::max(static_cast<int64_t>(
                        std::min<Wide>(Times(slot, p.resolution), kMaxExact)),
                    t + 1);
  }

  // base^n, by repeated squaring.
  static double Power(double base, int64_t n) {
    double power = 1;
    while (n > 0) {
      if (n % 2 == 1) power = power * base;
      base = base * base;
      n = n / 2;
    }
    return power;
  }

  static double After(const Params& p, double value, int64_t slots) {
    value = value / Power(p.decay, slots);
    return value < kTrace ? 0 : value;
  }

  // The state as of the slot of t; a slot before the last one counts as it.
  static State Fade(const Params& p, const State& s, int64_t t) {
    const int64_t slot = Slot(p, t);
    if (slot <= s.slot) return s;
    return {slot, After(p, s.value, slot - s.slot)};
  }

  // The first number of slots after which nothing is left.
  static int64_t SlotsUntilFresh(const Params& p, double value) {
    return Slots(p, value, 0, kTrace, true);
  }

  // The first number of slots after which value + cost is at most `bound` (or,
  // with `below`, below it).
  static int64_t Slots(const Params& p, double value, double cost, double bound,
                       bool below) {
    const auto done = [&](int64_t slots) {
      const double sum = After(p, value, slots) + cost;
      return below ? sum < bound : sum <= bound;
    };
    int64_t high = 1;
    while (!done(high) && high < kMaxExact / 2) high *= 2;
    int64_t low = 0;  // not done
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      if (done(middle)) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high;
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_AR1_H_
