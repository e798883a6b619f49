// windowed_token_bucket: a token bucket with the window that headers tell of.
// kDoc says what it promises and costs. In Redis it is one string.
#ifndef WEIR_CORE_ENGINES_WINDOWED_TOKEN_BUCKET_H_
#define WEIR_CORE_ENGINES_WINDOWED_TOKEN_BUCKET_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/math.h"
#include "core/reach.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct WindowedTokenBucket {
  static constexpr std::string_view kName = "windowed_token_bucket";
  static constexpr EngineDoc kDoc = {
      "At most `limit` in a window that the first allowed call opens: `burst` "
      "at once, the rest arriving evenly.",
      "limit in one of its windows; around a window's end 2 * burst at once if "
      "capped, else limit + burst",
      "40 bytes a key; constant time",
      "For a quota with a fixed end that must not be spent all at once.",
      "Token bucket within a fixed window",
      "limit=1000 window=1h burst=50",
  };
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls a window"},
      DurationField("window", "the length of a window"),
      {"burst", FieldType::kCount,
       "tokens at its start, at most the limit; the others arrive evenly"},
      {"capped", FieldType::kBool, "never more than `burst` tokens at once",
       "true"},
  };

  struct Params {
    int64_t limit;
    int64_t window;
    int64_t burst;
    bool capped;
  };

  // Tokens are counted in parts of 1 / window: whole ones, and the rest.
  struct State {
    int64_t start;
    int64_t at;  // the time of the last charge: tokens are as of then
    int64_t tokens;
    int64_t parts;
    int64_t used;
  };

  template <class T>
  using View = WordView<WindowedTokenBucket, T>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    Params p = {f.Count("limit"), f.Duration("window"), f.Count("burst"),
                f.Bool("capped", true)};
    if (p.burst > p.limit) {
      return InvalidArgument("burst: ", p.burst,
                             " is above the limit; allowed: 1 to ", p.limit);
    }
    if (absl::Status s = CheckReach("window", p.window, now); !s.ok()) return s;
    return p;
  }

  static Traits TraitsOf(const Params& p) { return {p.burst, p.window}; }

  static State Fresh(const Params& p, int64_t t) {
    return {t, t, p.burst, 0, 0};
  }
  static int64_t StoredTime(const Params&, const State& s) { return s.at; }
  static int64_t Horizon(const Params& p) { return 2 * p.window; }
  static State Cut(const Params& p, int64_t t) { return {t, t, 0, 0, p.limit}; }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    const State n = Open(p, s, t);
    return cost <= Room(p, n);
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = Open(p, s, t);
    n.tokens -= cost;
    n.used += cost;
    return n;
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    State r = Open(p, s, t);
    if (r.used <= n) return Fresh(p, t);
    r.used -= n;
    return Hold(p, r, Parts(p, r) + Times(n, p.window));
  }

  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    return std::max<int64_t>(0, Room(p, Open(p, s, t)));
  }

  // The token's arrival, if the window has not ended by then; else its end.
  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    const State n = Open(p, s, t);
    if (cost <= Room(p, n)) return 0;
    const int64_t end = n.start + p.window;
    const int64_t rate = p.limit - p.burst;
    const bool fits =
        n.used <= p.limit - cost && (cost <= p.burst || !p.capped);
    if (fits && rate > 0 && n.used > 0) {
      const Wide arrival =
          n.at + CeilDiv(Times(cost, p.window) - Parts(p, n), rate);
      if (arrival < end) return static_cast<int64_t>(arrival) - t;
    }
    return cost <= p.burst ? end - t : kNever;
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    const State n = Open(p, s, t);
    return n.used > 0 ? n.start + p.window : t;
  }

  // An open window keeps its start (or, if the new length would have ended it,
  // opens anew), what was used, and what is missing from a full bucket.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    State n = Open(old, s, t);
    if (n.used == 0) return Fresh(p, t);
    const Wide missing =
        CeilDiv(Times(old.burst, old.window) - Parts(old, n), old.window);
    if (n.at >= n.start + p.window) n.start = n.at;
    return Hold(p, n, (Wide{p.burst} - missing) * p.window);
  }

  // Where several keys share one state, each call may be a key's first, whose
  // window begins now: it must not end earlier than that one.
  static State Shared(const Params&, State s, int64_t t) {
    s.start = std::max(s.start, t);
    return s;
  }
  // Tokens that pile up, one key after the other would find.
  static bool CanShare(const Params& p) { return p.capped; }

  // For lua/windowed_token_bucket.lua.
  static constexpr size_t kScriptBytes = 40;
  static void WriteRecord(const Params& p, RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.window);
    record->Count(p.burst);
    record->Count(p.capped ? 1 : 0);
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t,
                        StepWriter* step) {
    step->Count(cost);
    step->Count(p.limit);
    step->Count(p.window);
    step->Count(p.burst);
    step->Count(p.capped ? 1 : 0);
  }
  static State ReadState(std::string_view bytes) {
    return {ReadCount(bytes, 0), ReadCount(bytes, 8), ReadCount(bytes, 16),
            ReadCount(bytes, 24), ReadCount(bytes, 32)};
  }

 private:
  static Wide Parts(const Params& p, const State& s) {
    return Times(s.tokens, p.window) + s.parts;
  }

  // The state with so many parts, or as many as it may hold.
  static State Hold(const Params& p, State s, Wide parts) {
    if (p.capped) parts = std::min(parts, Times(p.burst, p.window));
    s.tokens = static_cast<int64_t>(FloorDiv(parts, p.window));
    s.parts = static_cast<int64_t>(parts - Times(s.tokens, p.window));
    return s;
  }

  // The window at t, with the tokens that have arrived. A reading from before
  // the last charge counts as made then.
  static State Open(const Params& p, const State& s, int64_t t) {
    if (s.used == 0 || t >= s.start + p.window) return Fresh(p, t);
    if (t <= s.at) return s;
    State n = s;
    n.at = t;
    return Hold(p, n, Parts(p, s) + Times(p.limit - p.burst, t - s.at));
  }

  static int64_t Room(const Params& p, const State& s) {
    return std::min(s.tokens, p.limit - s.used);
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_WINDOWED_TOKEN_BUCKET_H_
