#include "tests/oracle/draw_limit.h"

#include <algorithm>
#include <numeric>

#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

using weir::testing::Rng;

struct Rate {
  int64_t limit;
  int64_t window;
};

Rate DrawRate(Rng& rng, int64_t max_limit) {
  switch (rng.Uniform(0, 2)) {
    case 0:  // what people write
      return {rng.Uniform(1, std::min<int64_t>(max_limit, 20)),
              rng.LogUniform(1, 3'600'000'000)};
    case 1:  // coprime, and the product above what a double holds
      for (;;) {
        Rate r{rng.LogUniform(1, max_limit), rng.LogUniform(1, kMaxWindow)};
        if (std::gcd(r.limit, r.window) == 1 &&
            Wide(r.limit) * r.window > Wide(kMaxExact)) {
          return r;
        }
      }
    default:
      return {rng.LogUniform(1, max_limit), rng.LogUniform(1, kMaxWindow)};
  }
}

int64_t DrawBurst(Rng& rng) {
  return rng.OneIn(2) ? rng.Uniform(1, 20) : rng.LogUniform(1, kMaxCount);
}

void DrawMaxWait(LimitSpec& spec, Rng& rng) {
  if (rng.OneIn(3)) {
    spec.durations["max_wait"] = rng.LogUniform(1, 1'000'000'000'000);
  }
}

LimitSpec Draw(const std::string& algorithm, Rng& rng) {
  LimitSpec spec;
  spec.algorithm = algorithm;
  const bool log = algorithm.rfind("sliding_log", 0) == 0;
  const Rate rate = DrawRate(rng, !log           ? kMaxCount
                                  : rng.OneIn(4) ? kMaxLog
                                                 : 50);
  if (algorithm == "gcra") {
    spec.counts["limit"] = rate.limit;
    spec.durations["window"] = rate.window;
    if (rng.OneIn(2)) spec.counts["burst"] = DrawBurst(rng);
    DrawMaxWait(spec, rng);
  } else if (algorithm == "token_bucket" || algorithm == "leaky_bucket") {
    spec.counts["capacity"] = rng.OneIn(2) ? rate.limit : DrawBurst(rng);
    spec.counts[algorithm == "token_bucket" ? "refill" : "leak"] = rate.limit;
    spec.durations["interval"] = rate.window;
    DrawMaxWait(spec, rng);
  } else if (algorithm == "uniform") {
    spec.durations["interval"] = rate.window;
    DrawMaxWait(spec, rng);
  } else {
    spec.counts["limit"] = rate.limit;
    spec.durations["window"] = rate.window;
    if (algorithm == "fixed_window" && rng.OneIn(2)) {
      spec.words["align"] = "epoch";
      if (rng.OneIn(2)) {
        spec.durations["offset"] = rng.Uniform(0, rate.window - 1);
      }
    }
  }
  return spec;
}

// What is used comes from one limit and is spread in time by another.
Wide LongestReset(const LimitSpec& spec, int64_t used) {
  if (spec.algorithm == "gcra") {
    return (Wide(used) * spec.Duration("window")).CeilDiv(spec.Count("limit"));
  }
  if (spec.algorithm == "token_bucket" || spec.algorithm == "leaky_bucket") {
    const int64_t rate =
        spec.Count(spec.algorithm == "token_bucket" ? "refill" : "leak");
    return (Wide(used) * spec.Duration("interval")).CeilDiv(rate);
  }
  if (spec.algorithm == "uniform") {
    return Wide(used) * spec.Duration("interval");
  }
  return spec.Duration("window");
}

// The most that a state of this limit can hold as used: a clock that goes back
// is believed up to twice the limit's reset_after and its max_wait.
Wide MostCarried(const LimitSpec& spec) {
  const Wide capacity = MakeModel(spec)->Capacity();
  Wide limit = 1;
  int64_t window = 0;
  if (spec.algorithm == "gcra") {
    limit = spec.Count("limit");
    window = spec.Duration("window");
  } else if (spec.algorithm == "token_bucket") {
    limit = spec.Count("refill");
    window = spec.Duration("interval");
  } else if (spec.algorithm == "leaky_bucket") {
    limit = spec.Count("leak");
    window = spec.Duration("interval");
  } else if (spec.algorithm == "uniform") {
    window = spec.Duration("interval");
  } else {
    return capacity;
  }
  // 2 for each of the roundings up.
  const Wide more = spec.Duration("max_wait", 60'000'000) + 2;
  return Wide(2) * capacity + (more * limit).CeilDiv(window) + 2;
}

bool Accepted(const LimitSpec& spec) {
  if (spec.zero() || spec.unlimited()) return true;
  return LongestReset(spec, MakeModel(spec)->Capacity()) <= kMaxReset;
}

}  // namespace

LimitSpec DrawLimit(const std::string& algorithm, Rng& rng) {
  for (;;) {
    LimitSpec spec = Draw(algorithm, rng);
    if (Accepted(spec)) return spec;
  }
}

LimitSpec DrawVariant(const LimitSpec& spec, Rng& rng) {
  for (;;) {
    LimitSpec other = rng.OneIn(3) ? DrawLimit(spec.algorithm, rng) : spec;
    if (spec.algorithm == "sliding_log") other = spec;
    for (auto& [name, count] : other.counts) {
      switch (rng.Uniform(0, 4)) {
        case 0:
          count = std::max<int64_t>(1, count / rng.Uniform(2, 10));
          break;
        case 1:
          count = std::min(count * rng.Uniform(2, 10), kMaxCount);
          break;
        case 2:
          count = std::max<int64_t>(1, count + rng.Uniform(-1, 1));
          break;
        default:
          break;
      }
    }
    if (spec.algorithm == "sliding_log") {
      other.counts["limit"] = std::min(other.counts["limit"], kMaxLog);
    } else if (rng.OneIn(3)) {
      for (auto& [name, duration] : other.durations) {
        const int64_t factor = rng.Uniform(2, 10);
        duration = rng.OneIn(2) ? std::min(duration * factor, kMaxWindow)
                                : std::max<int64_t>(1, duration / factor);
      }
    }
    if (other.durations.count("offset") != 0) {
      other.durations["offset"] %= other.durations["window"];
    }
    if (Accepted(other)) return other;
  }
}

bool FitsTogether(const std::vector<LimitSpec>& specs, int64_t* longest_reset) {
  Wide most = 0;
  for (const LimitSpec& spec : specs) {
    if (spec.zero() || spec.unlimited()) continue;
    most = Max(most, specs.size() == 1 ? MakeModel(spec)->Capacity()
                                       : MostCarried(spec));
  }
  if (most > kMaxExact) return false;
  Wide longest = 0;
  for (const LimitSpec& spec : specs) {
    if (spec.zero() || spec.unlimited()) continue;
    longest = Max(longest, LongestReset(spec, most.Narrow()));
  }
  if (longest > kMaxReset) return false;
  *longest_reset = longest.Narrow();
  return true;
}

}  // namespace weir_oracle
