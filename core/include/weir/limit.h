// A limit: an algorithm and its parameters.
//
//   weir::Limit::Gcra(100, 1s).Burst(20)
//   weir::Limit::SlidingLog(5, 10s)
//   weir::Limit::FixedWindow(1000, 1h).Align(weir::Limit::kEpoch)
//
// A Limit is a description and may hold anything. It is checked once, when a
// Limiter is created with it (or by Registry::Compile): a bad one is an
// InvalidArgument that names the field, the value and what is allowed.
// What each algorithm answers is told in its header in core/engines and by
// `weir list`.
//
// A limit of 0 is valid whatever the other fields say, and denies every call.
// Thread safety: a value; as safe as a std::string.
#ifndef WEIR_LIMIT_H_
#define WEIR_LIMIT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "weir/time.h"

namespace weir {

// What a parameter may be. Durations are Micros; words are for choices such
// as align = "epoch".
using FieldValue = std::variant<int64_t, double, bool, Micros, std::string>;

class Limit {
 public:
  inline static constexpr std::string_view kFirst = "first";
  inline static constexpr std::string_view kEpoch = "epoch";

  // At most `limit` a `window` on average, and `burst` at once (default:
  // `limit`). Spacing is exact to the microsecond. The generic cell rate
  // algorithm (ITU-T I.371), which is a token bucket kept as one time.
  static Limit Gcra(int64_t limit, Micros window);

  // A bucket of `capacity` tokens, `refill` of which come back, evenly, in
  // each `interval`.
  static Limit TokenBucket(int64_t capacity, int64_t refill, Micros interval);

  // A bucket that holds `capacity` and leaks `leak` in each `interval`; a call
  // that would make it overflow is denied (the bucket as a meter).
  static Limit LeakyBucket(int64_t capacity, int64_t leak, Micros interval);

  // One call, then none for `interval`.
  static Limit Uniform(Micros interval);

  // At most `limit` in each window; the first allowed call opens one, or
  // windows stand fast on the clock with Align(kEpoch). Up to 2 * limit can
  // pass within one window's length.
  static Limit FixedWindow(int64_t limit, Micros window);

  // At most `limit` in every window, wherever it is laid: exact, and paid with
  // about 8 bytes for each call that is still inside.
  static Limit SlidingLog(int64_t limit, Micros window);

  // The same, but a call of age exactly `window` still counts.
  static Limit SlidingLogList(int64_t limit, Micros window);

  // At most `limit` in a window that moves in steps of `resolution`. Denied
  // calls count too, unless CountDenied(false).
  static Limit BucketedWindow(int64_t limit, Micros window, Micros resolution);

  // About `limit` in every window: two counters, weighted. Under 2 * limit.
  static Limit SlidingWindowCounter(int64_t limit, Micros window);

  // At most `limit` in a window that the first allowed call opens: `burst` at
  // once, the rest arriving evenly.
  static Limit WindowedTokenBucket(int64_t limit, Micros window, int64_t burst);

  // What was used fades, divided by `decay_factor` with every slot of
  // `resolution`; at most `limit` of it. Denied calls count too, unless
  // CountDenied(false).
  static Limit Ar1(double limit, double decay_factor, Micros resolution);

  // No bound; the store is not asked.
  static Limit Unlimited();

  // Any algorithm by its name, one of the user's own too.
  static Limit Of(std::string_view algorithm);

  // Sets a parameter by its name (the names are those of limits.json). Setting
  // one twice keeps the later value.
  Limit With(std::string_view field, FieldValue value) const&;
  Limit With(std::string_view field, FieldValue value) &&;

  // gcra: how much may come at once (>= 1; default `limit`; may exceed it).
  Limit Burst(int64_t burst) const;
  // gcra and its other names: the longest wait that may be reserved.
  Limit MaxWait(Micros max_wait) const;
  // fixed_window: kFirst or kEpoch, and where epoch windows begin.
  Limit Align(std::string_view align) const;
  Limit Offset(Micros offset) const;

  // bucketed_window and ar1: whether denied calls count.
  Limit CountDenied(bool count_denied) const;
  // windowed_token_bucket: whether more than `burst` tokens may pile up.
  Limit Capped(bool capped) const;

  const std::string& algorithm() const { return algorithm_; }
  // In the order in which they were set.
  const std::vector<std::pair<std::string, FieldValue>>& fields() const {
    return fields_;
  }

 private:
  explicit Limit(std::string_view algorithm) : algorithm_(algorithm) {}

  std::string algorithm_;
  std::vector<std::pair<std::string, FieldValue>> fields_;
};

}  // namespace weir

#endif  // WEIR_LIMIT_H_
