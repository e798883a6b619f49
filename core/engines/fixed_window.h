// fixed_window: one counter. At a border all of the limit comes back at once.
// kDoc says what it promises and costs. In Redis it is one string.
#ifndef WEIR_CORE_ENGINES_FIXED_WINDOW_H_
#define WEIR_CORE_ENGINES_FIXED_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/duration_text.h"
#include "core/math.h"
#include "core/reach.h"
#include "core/text.h"
#include "weir/engine.h"

namespace weir::engines {

struct FixedWindow {
  static constexpr std::string_view kName = "fixed_window";
  static constexpr EngineDoc kDoc = {
      "At most `limit` in each window. The first allowed call opens one, or "
      "windows stand fast on the clock.",
      "limit in one of its windows; 2 * limit in one window's length",
      "16 bytes a key; constant time",
      "For quotas that people know as a day or an hour.",
      "Fixed window counter",
      "limit=1000 window=1h align=epoch",
  };
  static constexpr Field kFields[] = {
      {"limit", FieldType::kCount, "calls a window"},
      DurationField("window", "the length of a window"),
      {"align", FieldType::kWord,
       "`first`: a window opens with the first allowed call; `epoch`: windows "
       "begin at multiples of `window` since the Unix epoch",
       "first", 0, 0, "first|epoch"},
      DurationField("offset",
                    "how much later than that epoch windows begin; only with "
                    "align `epoch`",
                    "0s", -kMaxWindowUs),
  };

  struct Params {
    int64_t limit;
    int64_t window;
    bool epoch;
    int64_t offset;
  };

  // The window that was open last, and what was used in it.
  struct State {
    int64_t start;
    int64_t used;
  };

  template <class T>
  using View = WordView<FixedWindow, T>;

  static absl::StatusOr<Params> Compile(const Fields& f, int64_t now) {
    Params p = {f.Count("limit"), f.Duration("window"),
                f.Word("align", Limit::kFirst) == Limit::kEpoch,
                f.Duration("offset")};
    if (p.offset != 0 && !p.epoch) {
      return InvalidArgument("offset: ", DurationText(p.offset),
                             " has no meaning where windows open with the "
                             "first call; allowed: 0, or align \"epoch\"");
    }
    if (absl::Status s = CheckReach("window", p.window, now); !s.ok()) return s;
    return p;
  }

  static Traits TraitsOf(const Params& p) { return {p.limit, p.window}; }

  static State Fresh(const Params& p, int64_t t) {
    if (!p.epoch) return {t, 0};
    const int64_t n =
        static_cast<int64_t>(FloorDiv(Wide{t} - p.offset, p.window));
    return {n * p.window + p.offset, 0};
  }
  static int64_t StoredTime(const Params&, const State& s) { return s.start; }
  static int64_t Horizon(const Params& p) { return 2 * p.window; }
  static State Cut(const Params& p, int64_t t) {
    return {Fresh(p, t).start, p.limit};
  }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return Open(p, s, t).used <= p.limit - cost;
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = Open(p, s, t);
    n.used = Saturate(Wide{n.used} + cost);
    return n;
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    State open = Open(p, s, t);
    if (open.used <= n) return Fresh(p, t);
    open.used -= n;
    return open;
  }

  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    return std::max<int64_t>(0, p.limit - Open(p, s, t).used);
  }

  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    if (cost > p.limit) return kNever;
    return Admits(p, s, t, cost) ? 0 : s.start + p.window - t;
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    return Open(p, s, t).used > 0 ? s.start + p.window : t;
  }

  // An open window keeps its start and what was used. If the new length would
  // have ended it already, it opens anew with what was used: a change of the
  // limit refills nobody.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    if (t >= s.start + old.window) return Fresh(p, t);
    if (t < s.start + p.window) return s;
    return {Fresh(p, t).start, s.used};
  }

  // Where several keys share one state, each call may be a key's first, whose
  // window begins now: it must not end earlier than that one.
  static State Shared(const Params& p, State s, int64_t t) {
    if (!p.epoch) s.start = std::max(s.start, t);
    return s;
  }

  // For lua/fixed_window.lua.
  static constexpr size_t kScriptBytes = 16;
  static void WriteRecord(const Params& p, RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.window);
    record->Count(p.epoch ? 1 : 0);
    record->Count(Offset(p));
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t,
                        StepWriter* step) {
    step->Count(cost);
    step->Count(p.limit);
    step->Count(p.window);
    step->Count(p.epoch ? 1 : 0);
    step->Count(Offset(p));
  }
  static State ReadState(std::string_view bytes) {
    return {ReadCount(bytes, 0), ReadCount(bytes, 8)};
  }

 private:
  // The same windows, with an offset in [0, window).
  static int64_t Offset(const Params& p) {
    return p.offset -
           static_cast<int64_t>(FloorDiv(p.offset, p.window)) * p.window;
  }

  // The window at t: a reading from before its start belongs to it too.
  static State Open(const Params& p, const State& s, int64_t t) {
    return t < s.start + p.window ? s : Fresh(p, t);
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_FIXED_WINDOW_H_
