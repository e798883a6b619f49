// sliding_window_counter: the weighted pair of fixed windows that large proxies
// use. With even traffic, very nearly `limit` in every window. kDoc says what
// it promises and costs. In Redis it is one string.
#ifndef WEIR_CORE_ENGINES_SLIDING_WINDOW_COUNTER_H_
#define WEIR_CORE_ENGINES_SLIDING_WINDOW_COUNTER_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/math.h"
#include "core/reach.h"
#include "weir/engine.h"

namespace weir::engines {

struct SlidingWindowCounter {
  static constexpr std::string_view kName = "sliding_window_counter";
  static constexpr EngineDoc kDoc = {
      "About `limit` in every window: the window before counts in proportion "
      "to what is still covered of it.",
      "under 2 * limit in a window",
      "24 bytes a key; constant time",
      "Where a log would be too long and the jump at a fixed window's border "
      "too high.",
      "Sliding window over two counters",
      "limit=1000 window=1h",
  };
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls a window"},
      DurationField("window", "the length of a window"),
  };

  struct Params {
    int64_t limit;
    int64_t window;
  };

  // Windows are numbered from the Unix epoch.
  struct State {
    int64_t number;
    int64_t previous;  // used in the window before
    int64_t current;   // used in this one
  };

  template <class T>
  using View = WordView<SlidingWindowCounter, T>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    Params p = {f.Count("limit"), f.Duration("window")};
    // A key is fresh two windows after its last call.
    if (absl::Status s = CheckReach("window", 2 * p.window, now); !s.ok()) {
      return s;
    }
    return p;
  }

  static Traits TraitsOf(const Params& p) { return {p.limit, p.window}; }

  static State Fresh(const Params& p, int64_t t) {
    return {Number(p, t), 0, 0};
  }
  static int64_t StoredTime(const Params& p, const State& s) {
    return s.number * p.window;
  }
  static int64_t Horizon(const Params& p) { return 4 * p.window; }
  static State Cut(const Params& p, int64_t t) {
    return {Number(p, t), 0, p.limit};
  }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return Used(p, Roll(p, s, t), t) + Times(cost, p.window) <=
           Times(p.limit, p.window);
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = Roll(p, s, t);
    n.current = Saturate(Wide{n.current} + cost);
    return n;
  }

  // From the current window first, then from the one before.
  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    State r = Roll(p, s, t);
    const int64_t from_current = std::min(n, r.current);
    r.current -= from_current;
    r.previous -= std::min(n - from_current, r.previous);
    return r;
  }

  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    const Wide room = Times(p.limit, p.window) - Used(p, Roll(p, s, t), t);
    return room <= 0 ? 0 : static_cast<int64_t>(FloorDiv(room, p.window));
  }

  // What is used only falls while nothing comes: by `previous` in this window,
  // by `current` in the next.
  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    if (cost > p.limit) return kNever;
    if (Admits(p, s, t, cost)) return 0;
    const State r = Roll(p, s, t);
    const int64_t start = r.number * p.window;
    const int64_t room = p.limit - cost;
    if (room >= r.current) {
      return start + Into(p, r.previous, room - r.current) - t;
    }
    return start + p.window + Into(p, r.current, room) - t;
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    const State r = Roll(p, s, t);
    if (r.current > 0) return (r.number + 2) * p.window;
    if (r.previous > 0) return (r.number + 1) * p.window;
    return t;
  }

  // In windows of another length all that is used counts as current. A reading
  // from before the window moves nothing back.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    if (old.window == p.window) return s;
    const Wide used = CeilDiv(Used(old, Roll(old, s, t), t), old.window);
    const int64_t now = std::max(t, s.number * old.window);
    return {Number(p, now), 0, Saturate(used)};
  }

  // For lua/sliding_window_counter.lua.
  static constexpr size_t kScriptBytes = 24;
  static void WriteRecord(const Params& p, RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.window);
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t,
                        StepWriter* step) {
    step->Count(cost);
    step->Count(p.limit);
    step->Count(p.window);
  }
  static State ReadState(std::string_view bytes) {
    return {ReadCount(bytes, 0), ReadCount(bytes, 8), ReadCount(bytes, 16)};
  }

 private:
  static int64_t Number(const Params& p, int64_t t) {
    return static_cast<int64_t>(FloorDiv(t, p.window));
  }

  // The two windows at t; a reading from before them belongs to them too.
  static State Roll(const Params& p, const State& s, int64_t t) {
    const int64_t number = Number(p, t);
    if (number <= s.number) return s;
    return {number, number == s.number + 1 ? s.current : 0, 0};
  }

  // What is used at t, times the window.
  static Wide Used(const Params& p, const State& s, int64_t t) {
    const int64_t into = std::max<int64_t>(0, t - s.number * p.window);
    return Times(s.previous, p.window - into) + Times(s.current, p.window);
  }

  // How far into a window `fading`, used in the one before, has come down to
  // `room`.
  static int64_t Into(const Params& p, int64_t fading, int64_t room) {
    if (fading <= room) return 0;
    return p.window -
           static_cast<int64_t>(FloorDiv(Times(room, p.window), fading));
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_SLIDING_WINDOW_COUNTER_H_
