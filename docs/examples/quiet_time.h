// quiet_time: `limit` calls, and no more until it has been quiet for `pause`.
// An engine of the user's own, with nothing but weir's public headers.
//
// Promises: between the first of `limit` more calls and the last one before
//   them lies at least `pause`; in any span s at most
//   limit * (1 + floor(s / pause)).
// Giving back the last call in its own instant undoes it, its pause included.
// Cost: 32 bytes a key; constant time. In Redis one string: quiet_time.lua.
// Choose it: for attempts to log in. Five wrong ones, then a pause; who tries
//   now and then starts the pause anew each time.
#ifndef QUIET_TIME_H_
#define QUIET_TIME_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weir/engine.h"

struct QuietTime {
  static constexpr std::string_view kName = "quiet_time";
  static constexpr weir::EngineDoc kDoc = {
      "`limit` calls, and no more until it has been quiet for `pause`.",
      "limit * (1 + floor(s / pause)) in any span s",
      "32 bytes a key; constant time",
      "For attempts to log in.",
      "docs/examples/quiet_time.h",
      "limit=5 pause=10m",
  };
  static constexpr weir::Field kFields[] = {
      {"limit", weir::FieldType::kCount, "calls without a pause"},
      weir::DurationField("pause", "how long it must be quiet"),
  };

  struct Params {
    int64_t limit;
    int64_t pause;
  };

  // The last call that passed and its cost, when the one before it passed, and
  // how much was used since the last pause.
  struct State {
    int64_t last;
    int64_t before;
    int64_t cost;
    int64_t used;
  };

  template <class T>
  using View = weir::WordView<QuietTime, T>;

  static absl::StatusOr<Params> Compile(const weir::Fields& f, int64_t now) {
    const Params p = {f.Count("limit"), f.Duration("pause")};
    if (p.pause > weir::kMaxExact - now) {
      return absl::InvalidArgumentError("pause: ends after the year 2255");
    }
    return p;
  }

  static weir::Traits TraitsOf(const Params& p) { return {p.limit, p.pause}; }

  static State Fresh(const Params&, int64_t t) { return {t, t, 0, 0}; }
  static int64_t StoredTime(const Params&, const State& s) { return s.last; }
  static int64_t Horizon(const Params& p) { return 2 * p.pause; }
  static State Cut(const Params& p, int64_t t) { return {t, t, 0, p.limit}; }

  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return At(p, s, t).used <= p.limit - cost;
  }

  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    const State now = At(p, s, t);
    // Sums of counts stop at what every store keeps exactly. A reading from
    // before the last call does not move it back.
    return {std::max(now.last, t), now.last, cost,
            std::min(now.used + cost, weir::kMaxExact)};
  }

  static State Refund(const Params& p, const State& s, int64_t t, int64_t n) {
    const State now = At(p, s, t);
    if (now.used <= n) return Fresh(p, t);
    const bool undone = n == now.cost && t == now.last;
    const int64_t last = undone ? now.before : now.last;
    return {last, last, 0, now.used - n};
  }

  static int64_t Remaining(const Params& p, const State& s, int64_t t) {
    return std::max<int64_t>(0, p.limit - At(p, s, t).used);
  }

  static int64_t Wait(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    if (cost > p.limit) return weir::kNever;
    return Admits(p, s, t, cost) ? 0 : s.last + p.pause - t;
  }

  static int64_t FreshAt(const Params& p, const State& s, int64_t t) {
    return At(p, s, t).used > 0 ? s.last + p.pause : t;
  }

  // What is used stays used. If the new pause would be over already, it begins
  // now: a change refills nobody.
  static State Carry(const Params& old, const Params& p, const State& s,
                     int64_t t) {
    if (t >= s.last + old.pause) return Fresh(p, t);
    if (t < s.last + p.pause) return s;
    return {t, t, 0, s.used};
  }

  // For quiet_time.lua.
  static constexpr size_t kScriptBytes = 32;
  static void WriteRecord(const Params& p, weir::RecordWriter* record) {
    record->Count(p.limit);
    record->Count(p.pause);
  }
  static void WriteStep(const Params& p, int64_t cost, int64_t,
                        weir::StepWriter* step) {
    step->Count(cost);
    step->Count(p.limit);
    step->Count(p.pause);
  }
  static State ReadState(std::string_view bytes) {
    return {weir::ReadCount(bytes, 0), weir::ReadCount(bytes, 8),
            weir::ReadCount(bytes, 16), weir::ReadCount(bytes, 24)};
  }

 private:
  // The state as of t.
  static State At(const Params& p, const State& s, int64_t t) {
    return t < s.last + p.pause ? s : Fresh(p, t);
  }
};

#endif  // QUIET_TIME_H_
