#include "tests/oracle/generator.h"

#include <algorithm>

#include "tests/oracle/draw_limit.h"

namespace weir_oracle {
namespace {

constexpr int64_t kToday = 1'700'000'000'000'000;
constexpr int64_t kYear = int64_t{365} * 86'400 * 1'000'000;

int64_t SomeDuration(const LimitSpec& spec) {
  if (spec.durations.count("window") != 0) return spec.Duration("window");
  return spec.Duration("interval", 1'000'000);
}

}  // namespace

Generator::Generator(const Mix& mix, bool wild, weir::testing::Rng& rng)
    : mix_(mix), wild_(wild), rng_(rng) {
  DrawRules();
  DrawKeys();
  DrawTimes();
  trace_.by_clock = rng_.OneIn(2);
  const int64_t rules = static_cast<int64_t>(trace_.configs.front().size());
  length_ = wild_ ? rng_.Uniform(20, 240 / rules) : rng_.Uniform(200, 2000);
}

void Generator::DrawRules() {
  const int64_t rules = rng_.Uniform(mix_.min_rules, mix_.max_rules);
  const int64_t configs = rng_.OneIn(2) ? 1 : rng_.Uniform(2, 3);
  trace_.configs.resize(configs);
  for (int64_t r = 0; r < rules; ++r) {
    const int64_t last = static_cast<int64_t>(mix_.algorithms.size()) - 1;
    const std::string& algorithm = mix_.algorithms[rng_.Uniform(0, last)];
    std::vector<LimitSpec> limits;
    int64_t reset = 0;
    do {
      limits.clear();
      limits.push_back(DrawLimit(algorithm, rng_));
      while (static_cast<int64_t>(limits.size()) < configs) {
        limits.push_back(DrawVariant(limits.front(), rng_));
      }
    } while (!FitsTogether(limits, &reset));
    longest_reset_ = std::max(longest_reset_, reset);
    if (r == 0 || rng_.OneIn(2)) scale_ = SomeDuration(limits.front());
    const bool observe = rules > 1 && rng_.OneIn(6);
    for (int64_t c = 0; c < configs; ++c) {
      trace_.configs[c].push_back(
          {"r" + std::to_string(r), limits[c], observe});
    }
  }
  // Now and then a limiter that denies everything, or a rule without a bound.
  if (configs > 1 && rng_.OneIn(8)) {
    LimitSpec& limit = trace_.configs.back().back().limit;
    if (limit.counts.count("limit") != 0) limit.counts["limit"] = 0;
  }
  if (mix_.max_rules > 1 && rng_.OneIn(10)) {
    for (auto& config : trace_.configs) {
      config.push_back({"free", {"unlimited", {}, {}, {}, {}, {}}, false});
    }
  }
}

void Generator::DrawKeys() {
  static const auto* const kEndings =
      new std::vector<std::string>{"",
                                   "a",
                                   "user:42",
                                   std::string("\0", 1),
                                   std::string("a\0b", 3),
                                   "\xff\xfe",
                                   "{x}",
                                   "a "};
  const bool several = trace_.configs.front().size() > 1;
  if (several && rng_.OneIn(2)) {
    static const auto* const kTags = new std::vector<std::string>{
        "", "host/", std::string("\0\x80", 2), "{t}"};
    trace_.tag = (*kTags)[rng_.Uniform(0, 3)];
  }
  const int64_t count = rng_.Uniform(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    keys_.push_back(trace_.tag.value_or("") + (*kEndings)[rng_.Uniform(0, 7)]);
  }
}

// What a state written at the latest reading reaches must stay below 2^53.
void Generator::DrawTimes() {
  latest_ = kMaxExact - longest_reset_ - 2;
  earliest_ = std::max<int64_t>(-kMaxExact + kMaxWindow, -4 * kToday);
  switch (rng_.Uniform(0, 9)) {
    case 0:
      now_ = 0;
      break;
    case 1:
      now_ = -kToday;
      break;
    case 2:
      now_ = latest_ - rng_.LogUniform(1, 1'000'000);
      break;
    case 3:
      now_ = rng_.Uniform(earliest_, latest_);
      break;
    default:
      now_ = kToday + rng_.Uniform(0, kYear);
      break;
  }
  now_ = std::clamp(now_, earliest_, latest_);
}

bool Generator::Fits(int64_t t) const {
  return t >= earliest_ && t <= latest_ && (wild_ || t >= now_);
}

int64_t Generator::DrawTime() {
  int64_t t = now_;
  const int64_t kind = rng_.Uniform(0, 99);
  if (kind < 35) return t;
  if (kind < 55) {
    t += rng_.LogUniform(1, scale_);
  } else if (kind < 70) {
    t += rng_.Uniform(0, 3);
  } else if (kind < 80) {
    t += rng_.LogUniform(1, longest_reset_);
  } else if (kind < 90) {
    // Jitter: `now_` stays where it was.
    t -= rng_.LogUniform(1, rng_.OneIn(2) ? 1'000 : scale_);
    return Fits(t) ? t : now_;
  } else if (kind < 92) {
    t += 10 * kYear;
  } else if (kind < 95) {
    t -= 10 * kYear;
  } else if (kind < 96) {
    t += rng_.Uniform(1, 3 * kYear);
  } else if (kind < 98) {
    t -= rng_.LogUniform(1, 4 * scale_);
  }
  if (Fits(t)) now_ = t;
  return now_;
}

int64_t Generator::DrawCost(const RuleSpec& rule) {
  const int64_t capacity = rule.limit.zero() || rule.limit.unlimited()
                               ? 1
                               : MakeModel(rule.limit)->Capacity();
  switch (rng_.Uniform(0, 15)) {
    case 0:
      return 0;
    case 1:
      return capacity;
    case 2:
      return capacity - 1;
    case 3:
      return capacity + 1;
    case 4:
      return remaining_;
    case 5:
      return std::min(remaining_ + 1, kMaxExact);
    case 6:
      return rng_.LogUniform(1, capacity);
    case 7:
      return rng_.OneIn(4) ? rng_.LogUniform(1, kMaxExact) : kMaxExact;
    case 8:
    case 9:
      return rng_.Uniform(1, 5);
    case 10:
      return std::max<int64_t>(1, capacity / rng_.Uniform(2, 9));
    default:
      return 1;
  }
}

OracleCall Generator::DrawCall() {
  OracleCall call;
  const int64_t kind = rng_.Uniform(0, 99);
  call.op = kind < 76   ? Op::kCheck
            : kind < 86 ? Op::kPeek
            : kind < 97 ? Op::kRefund
                        : Op::kReset;
  const std::vector<RuleSpec>& rules = trace_.configs.front();
  const bool one_cost = rng_.OneIn(2);
  for (size_t i = 0; i < rules.size(); ++i) {
    const bool again = i > 0 && !trace_.tag;
    const int64_t last = static_cast<int64_t>(keys_.size()) - 1;
    call.keys.push_back(again ? call.keys[0] : keys_[rng_.Uniform(0, last)]);
    call.costs.push_back(i > 0 && one_cost ? call.costs[0]
                                           : DrawCost(rules[i]));
  }
  return call;
}

TraceStep Generator::Next(Aim* aim) {
  *aim = Aim::kNothing;
  TraceStep step;
  step.config =
      rng_.Uniform(0, static_cast<int64_t>(trace_.configs.size()) - 1);
  if (!promises_.empty() && rng_.OneIn(3)) {
    const int64_t last = static_cast<int64_t>(promises_.size()) - 1;
    const Promise& p = promises_[rng_.Uniform(0, last)];
    const int64_t off = rng_.OneIn(2) ? 0 : rng_.OneIn(3) ? 1 : -1;
    if (Fits(p.t + off)) {
      const bool same = rng_.OneIn(2);
      if (same) step.config = p.step.config;
      step.call = same ? p.step.call : DrawCall();
      step.call.t = p.t + off;
      if (p.aim != Aim::kAtRetry) {
        *aim = p.aim;
      } else if (same && p.changes == changes_) {
        *aim = off == 0  ? Aim::kAtRetry
               : off < 0 ? Aim::kBeforeRetry
                         : Aim::kAfterRetry;
      }
      // Time goes on from there, or was only looked at.
      if (!wild_ || rng_.OneIn(2)) now_ = step.call.t;
      return step;
    }
  }
  step.call = DrawCall();
  step.call.t = DrawTime();
  return step;
}

void Generator::Keep(int64_t t, Aim aim, const TraceStep& step) {
  promises_.push_back({t, aim, step, changes_});
  if (promises_.size() > 6) promises_.pop_front();
}

void Generator::Learn(const TraceStep& step, const Answer& answer,
                      const Oracle& oracle) {
  bool reported_only = false;
  for (const Happened& h : oracle.happened()) {
    reported_only |= h.cut && !h.cut_stored;
    if (h.charged || h.cut_stored || h.forgotten ||
        step.call.op == Op::kRefund || step.call.op == Op::kReset) {
      ++changes_;
    }
  }
  remaining_ = answer.remaining;
  if (!answer.allowed && answer.retry_after) {
    // The wait of a cut that is not stored is no promise: a later reading may
    // find the state beyond the edge once more.
    Keep(step.call.t + *answer.retry_after,
         reported_only ? Aim::kAfterRetry : Aim::kAtRetry, step);
  }
  if (answer.reset_after > 0 && rng_.OneIn(3)) {
    Keep(step.call.t + answer.reset_after, Aim::kReset, step);
  }
  if (wild_ && rng_.OneIn(8)) {
    const RuleSpec& rule = trace_.configs[step.config].front();
    if (const auto t = oracle.EarliestUncut(rule, step.call.keys.front())) {
      Keep(*t, Aim::kCut, step);
    }
  }
}

}  // namespace weir_oracle
