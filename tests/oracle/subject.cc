#include "tests/oracle/subject.h"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>
#include <utility>

#include "weir/time.h"

namespace weir_oracle {

weir::Limit ToWeir(const LimitSpec& spec) {
  weir::Limit limit = weir::Limit::Of(spec.algorithm);
  for (const auto& [name, value] : spec.counts) {
    limit = limit.With(name, value);
  }
  for (const auto& [name, value] : spec.durations) {
    limit = limit.With(name, weir::Micros(value));
  }
  for (const auto& [name, value] : spec.words) limit = limit.With(name, value);
  for (const auto& [name, value] : spec.flags) limit = limit.With(name, value);
  for (const auto& [name, value] : spec.reals) limit = limit.With(name, value);
  return limit;
}

namespace {

std::optional<int64_t> Count(const std::optional<weir::Micros>& wait) {
  if (!wait.has_value()) return std::nullopt;
  return wait->count();
}

weir::Op ToWeir(Op op) {
  switch (op) {
    case Op::kCheck:
      return weir::Op::kCheck;
    case Op::kPeek:
      return weir::Op::kPeek;
    case Op::kRefund:
      return weir::Op::kRefund;
    case Op::kReset:
      break;
  }
  return weir::Op::kReset;
}

}  // namespace

Answer FromWeir(const weir::Decision& decision) {
  Answer answer;
  answer.allowed = decision.allowed;
  answer.rule = decision.rule;
  answer.limit = decision.limit;
  answer.remaining = decision.remaining;
  answer.retry_after = Count(decision.retry_after);
  answer.reset_after = decision.reset_after.count();
  for (const weir::RuleVerdict& v : decision.rules()) {
    RuleAnswer r;
    r.name = std::string(v.name);
    r.allowed = v.allowed;
    r.observe = v.observe;
    r.limit = v.limit;
    r.remaining = v.remaining;
    r.retry_after = Count(v.retry_after);
    r.reset_after = v.reset_after.count();
    answer.rules.push_back(std::move(r));
  }
  return answer;
}

absl::StatusOr<Subject> Subject::Make(weir::testing::Harness harness,
                                      const Trace& trace,
                                      const Impostor& impostor) {
  weir::LimiterOptions options;
  options.registry = impostor.registry;
  Subject subject;
  subject.harness_ = std::move(harness);
  subject.tag_ = trace.tag;
  subject.by_clock_ = trace.by_clock && subject.harness_.clock != nullptr;
  for (const std::vector<RuleSpec>& config : trace.configs) {
    std::vector<weir::Rule> rules;
    for (const RuleSpec& spec : config) {
      LimitSpec limit = spec.limit;
      if (impostor.registry != nullptr) limit.algorithm = impostor.algorithm;
      rules.push_back({spec.name, ToWeir(limit), spec.observe, {}});
    }
    absl::StatusOr<weir::Limiter> limiter = weir::Limiter::Create(
        subject.harness_.store, std::move(rules), options);
    if (!limiter.ok()) return limiter.status();
    subject.limiters_.push_back(*std::move(limiter));
    subject.handles_.push_back(std::make_unique<weir::testing::Handles>());
  }
  return subject;
}

absl::StatusOr<weir::Decision> Subject::Decide(const TraceStep& step) {
  const std::vector<std::string_view> keys(step.call.keys.begin(),
                                           step.call.keys.end());
  weir::Call call;
  call.keys = keys;
  call.costs = step.call.costs;
  if (tag_.has_value()) call.tag = *tag_;
  const weir::Time now = weir::TimeFromMicros(step.call.t);
  if (by_clock_) {
    harness_.clock->Set(now);
  } else {
    call.now = now;
  }
  const weir::Limiter& limiter = limiters_[step.config];
  const weir::Op op = ToWeir(step.call.op);
  return harness_.by_handle ? handles_[step.config]->Run(limiter, op, call)
                            : limiter.Run(op, call);
}

absl::StatusOr<Answer> Subject::Run(const TraceStep& step) {
  absl::StatusOr<weir::Decision> decision = Decide(step);
  if (!decision.ok()) return decision.status();
  return FromWeir(*decision);
}

std::optional<Mismatch> Replay(const weir::testing::StoreFactory& factory,
                               const Trace& trace) {
  absl::StatusOr<Subject> subject = Subject::Make(factory.make(), trace);
  if (!subject.ok()) return Mismatch{0, subject.status().ToString()};
  Oracle oracle;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    const Answer expected = oracle.Run(trace.configs[step.config], step.call);
    const absl::StatusOr<Answer> actual = subject->Run(step);
    const std::string what = actual.ok() ? Difference(expected, *actual)
                                         : actual.status().ToString();
    if (!what.empty()) return Mismatch{i, what};
  }
  return std::nullopt;
}

namespace {

// Leaves out runs of steps, long ones first, for as long as that helps.
void DropSteps(const weir::testing::StoreFactory& factory, Trace& trace) {
  for (size_t run = trace.steps.size() / 2 + 1; run > 0; run /= 2) {
    for (size_t from = 0; from < trace.steps.size();) {
      Trace shorter = trace;
      const size_t to = std::min(from + run, shorter.steps.size());
      shorter.steps.erase(shorter.steps.begin() + from,
                          shorter.steps.begin() + to);
      if (const auto mismatch = Replay(factory, shorter)) {
        shorter.steps.resize(mismatch->step + 1);
        trace = std::move(shorter);
      } else {
        from += run;
      }
    }
  }
}

void DropRules(const weir::testing::StoreFactory& factory, Trace& trace) {
  for (size_t r = 0; r < trace.configs.front().size();) {
    if (trace.configs.front().size() == 1) return;
    Trace smaller = trace;
    for (auto& config : smaller.configs) config.erase(config.begin() + r);
    for (TraceStep& step : smaller.steps) {
      step.call.keys.erase(step.call.keys.begin() + r);
      step.call.costs.erase(step.call.costs.begin() + r);
    }
    if (Replay(factory, smaller)) {
      trace = std::move(smaller);
    } else {
      ++r;
    }
  }
}

void DropConfigs(const weir::testing::StoreFactory& factory, Trace& trace) {
  for (size_t c = 0; c < trace.configs.size();) {
    Trace smaller = trace;
    smaller.configs.erase(smaller.configs.begin() + c);
    bool used = false;
    for (TraceStep& step : smaller.steps) {
      used |= step.config == c;
      if (step.config > c) --step.config;
    }
    if (!used && Replay(factory, smaller)) {
      trace = std::move(smaller);
    } else {
      ++c;
    }
  }
}

}  // namespace

Trace Shrink(const weir::testing::StoreFactory& factory, Trace trace) {
  const auto mismatch = Replay(factory, trace);
  if (!mismatch) return trace;
  trace.steps.resize(std::min(trace.steps.size(), mismatch->step + 1));
  DropSteps(factory, trace);
  DropRules(factory, trace);
  DropSteps(factory, trace);
  DropConfigs(factory, trace);
  return trace;
}

std::string Report(const weir::testing::StoreFactory& factory,
                   const Trace& trace) {
  std::ostringstream out;
  out << ToCsv(trace);
  const auto mismatch = Replay(factory, trace);
  if (!mismatch) {
    out << "(not seen again when replayed alone)\n";
    return out.str();
  }
  absl::StatusOr<Subject> subject = Subject::Make(factory.make(), trace);
  Oracle oracle;
  for (size_t i = 0; subject.ok() && i < trace.steps.size(); ++i) {
    const TraceStep& step = trace.steps[i];
    const Answer expected = oracle.Run(trace.configs[step.config], step.call);
    const absl::StatusOr<Answer> actual = subject->Run(step);
    out << "# " << i << " oracle:  " << ToText(expected) << "\n";
    if (!actual.ok() || !Difference(expected, *actual).empty()) {
      out << "# " << i << " limiter: "
          << (actual.ok() ? ToText(*actual) : actual.status().ToString())
          << "\n";
    }
  }
  out << "at step " << mismatch->step << ":\n" << mismatch->what;
  return out.str();
}

}  // namespace weir_oracle
