// Law 5: several rules are asked together, all or nothing, in any order; the
// overall numbers follow from those of the rules.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kit/driver.h"
#include "tests/kit/suites.h"
#include "weir/testing/conformance.h"

namespace weir {
namespace testing {

WEIR_KEEP_SUITE(TogetherLaw)

namespace {

// Never is greater than any wait.
int64_t Rank(const std::optional<Micros>& wait) {
  return wait ? wait->count() : INT64_MAX;
}

// What the whole decision must be, from its verdicts, by the words of the
// design.
Decision Overall(const Decision& d) {
  Decision want = d;
  want.allowed = true;
  want.soft = false;
  want.rule = 0;
  want.remaining = kMaxExact;
  want.limit = kMaxExact;
  want.retry_after = Micros(0);
  want.reset_after = Micros(0);
  bool any = false;
  for (const RuleVerdict& v : d.rules()) {
    want.soft = want.soft || v.soft;
    if (v.observe) continue;
    any = true;
    want.allowed = want.allowed && v.allowed;
    want.remaining = std::min(want.remaining, v.remaining);
    want.reset_after = std::max(want.reset_after, v.reset_after);
    if (Rank(v.retry_after) > Rank(want.retry_after)) {
      want.retry_after = v.retry_after;
    }
  }
  if (!any) return want;
  int binding = -1;
  for (int i = 0; i < static_cast<int>(d.rules().size()); ++i) {
    const RuleVerdict& v = d.rules()[i];
    if (v.observe || (!want.allowed && v.allowed)) continue;
    if (binding < 0) {
      binding = i;
      continue;
    }
    const RuleVerdict& best = d.rules()[binding];
    const bool better = want.allowed
                            ? v.remaining < best.remaining
                            : Rank(v.retry_after) > Rank(best.retry_after);
    if (better) binding = i;
  }
  want.rule = binding;
  want.limit = d.rules()[binding].limit;
  return want;
}

// A mix of rules: the engine under test first, then any others.
struct Mix {
  std::vector<Rule> rules;
  std::vector<Setting> settings;
  Setting setting;  // fits all of them

  std::string Text() const {
    std::string text;
    for (const Rule& rule : rules) {
      text += (text.empty() ? "" : "; ") + ToText(rule.limit) +
              (rule.observe ? " observe" : "");
    }
    return text;
  }
};

Mix DrawMix(const StoreFactory& factory, const EngineUnderTest& engine,
            Rng& rng, bool observe) {
  std::vector<EngineUnderTest> others;
  for (const EngineUnderTest& e : BuiltInEngines()) {
    if (engine.registry->Find(e.algorithm) != nullptr && !e.samples.empty()) {
      others.push_back(e);
    }
  }
  others.push_back(engine);
  const Time now = factory.make().store->Now();
  Mix mix;
  const int64_t count = rng.Uniform(2, 4);
  for (int64_t i = 0; i < count; ++i) {
    EngineUnderTest e = i == 0
                            ? engine
                            : others[static_cast<size_t>(rng.Uniform(
                                  0, static_cast<int64_t>(others.size()) - 1))];
    e.registry = engine.registry;
    const Limit limit =
        rng.OneIn(2) ? RandomLimit(e, rng, now)
                     : e.samples[static_cast<size_t>(rng.Uniform(
                           0, static_cast<int64_t>(e.samples.size()) - 1))];
    mix.rules.push_back(Rule{"rule" + std::to_string(i), limit,
                             observe && rng.OneIn(3), std::nullopt});
    mix.settings.push_back(Explore(factory, e, limit, rng));
  }
  // The narrowest times, and the costs and steps of any one of them.
  mix.setting = mix.settings[static_cast<size_t>(rng.Uniform(0, count - 1))];
  mix.setting.start = mix.settings[0].start;
  for (const Setting& s : mix.settings) {
    mix.setting.end = std::min(mix.setting.end, s.end);
    mix.setting.start = std::min(mix.setting.start, s.start);
  }
  return mix;
}

std::vector<int64_t> Costs(const Mix& mix, const Decision& last, Demand& demand,
                           Rng& rng) {
  if (rng.OneIn(3)) return {demand.Cost(last.remaining)};
  std::vector<int64_t> costs;
  for (size_t i = 0; i < mix.rules.size(); ++i) {
    const int64_t capacity = mix.settings[i].capacity;
    int64_t cost = rng.LogUniform(1, capacity);
    if (rng.OneIn(4)) cost = last.rules()[i].remaining + rng.Uniform(0, 1);
    if (rng.OneIn(8)) cost = 0;
    if (rng.OneIn(16)) cost = capacity + 1;
    costs.push_back(cost);
  }
  return costs;
}

std::vector<std::string> KeysFor(const Mix& mix, Rng& rng) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < mix.rules.size(); ++i) {
    keys.push_back(rng.OneIn(3) ? "shared" : "own" + std::to_string(i));
  }
  return keys;
}

// What one rule says if it is asked alone, after the same charges. The call
// was charged to it iff `charged`.
RuleVerdict Alone(Driver& solo, const RuleVerdict& told, bool charged,
                  bool counts_denied, const std::string& key, int64_t cost,
                  int64_t t) {
  Decision d;
  bool allowed = false;
  if (charged || (counts_denied && cost > 0)) {
    allowed = solo.Check(key, cost, t).allowed;
    d = solo.Peek(key, cost, t);
  } else {
    d = solo.Peek(key, cost, t);
    allowed = d.allowed;
  }
  RuleVerdict v = d.rules()[0];
  v.name = told.name;
  v.observe = told.observe;
  v.allowed = allowed;
  if (charged) v.retry_after = Micros(0);
  return v;
}

bool CountsDenied(const Registry& registry, const Limit& limit, int64_t t) {
  const absl::StatusOr<CompiledLimit> compiled =
      registry.Compile(limit, TimeFromMicros(t));
  return compiled.ok() && compiled->traits.count_denied;
}

}  // namespace

TEST_P(TogetherLaw, EachRuleAnswersAsIfItHadSeenOnlyWhatWasCharged) {
  for (int round = 0; round < Rounds(15, 1'000); ++round) {
    const Mix mix = DrawMix(factory(), engine(), rng_, true);
    SCOPED_TRACE(mix.Text() + ", WEIR_TEST_SEED=" + std::to_string(Seed()));
    const Harness harness = factory().make();
    Driver joint(harness, mix.rules, engine().registry);
    std::vector<std::unique_ptr<Driver>> solos;
    for (const Rule& rule : mix.rules) {
      solos.push_back(std::make_unique<Driver>(factory().make(), rule.limit,
                                               engine().registry));
    }
    const std::vector<std::string> keys = KeysFor(mix, rng_);
    Demand demand(mix.setting, rng_);
    Decision last = joint.Run(Op::kPeek, keys, {1}, demand.t());
    for (int i = 0; i < 80 && !demand.over() && !HasFailure(); ++i) {
      const std::vector<int64_t> costs = Costs(mix, last, demand, rng_);
      last = joint.Run(Op::kCheck, keys, costs, demand.t());
      ASSERT_EQ(last.rules().size(), mix.rules.size());
      EXPECT_EQ(ToText(last), ToText(Overall(last)));
      for (size_t r = 0; r < mix.rules.size(); ++r) {
        const RuleVerdict& told = last.rules()[r];
        const int64_t cost = costs.size() == 1 ? costs[0] : costs[r];
        const bool charged = last.allowed && told.allowed;
        const RuleVerdict want =
            Alone(*solos[r], told, charged,
                  CountsDenied(*engine().registry, mix.rules[r].limit,
                               mix.setting.start),
                  keys[r], cost, demand.t());
        EXPECT_EQ(ToText(told), ToText(want))
            << "call " << i << " cost " << cost << " at " << demand.t() << " "
            << ToText(last);
      }
      demand.Next(last);
    }
    if (HasFailure()) return;
  }
}

TEST_P(TogetherLaw, TheOrderOfTheRulesDoesNotMatter) {
  for (int round = 0; round < Rounds(15, 1'000); ++round) {
    const Mix mix = DrawMix(factory(), engine(), rng_, false);
    SCOPED_TRACE(mix.Text() + ", WEIR_TEST_SEED=" + std::to_string(Seed()));
    const auto reversed = [](auto list) {
      std::reverse(list.begin(), list.end());
      return list;
    };
    Driver forth(factory().make(), mix.rules, engine().registry);
    Driver back(factory().make(), reversed(mix.rules), engine().registry);
    const std::vector<std::string> keys = KeysFor(mix, rng_);
    Demand demand(mix.setting, rng_);
    Decision last = forth.Run(Op::kPeek, keys, {1}, demand.t());
    for (int i = 0; i < 60 && !demand.over(); ++i) {
      const std::vector<int64_t> costs = Costs(mix, last, demand, rng_);
      const Op op = rng_.OneIn(6) ? Op::kRefund : Op::kCheck;
      last = forth.Run(op, keys, costs, demand.t());
      const Decision other =
          back.Run(op, reversed(keys), reversed(costs), demand.t());
      EXPECT_EQ(last.allowed, other.allowed);
      EXPECT_EQ(last.remaining, other.remaining);
      EXPECT_EQ(last.retry_after, other.retry_after);
      EXPECT_EQ(last.reset_after, other.reset_after);
      const size_t count = mix.rules.size();
      for (size_t r = 0; r < count; ++r) {
        ASSERT_EQ(ToText(last.rules()[r]), ToText(other.rules()[count - 1 - r]))
            << "call " << i;
      }
      demand.Next(last);
    }
  }
}

TEST_P(TogetherLaw, ManyCallsAtOnceAnswerAsOneAfterTheOther) {
  for (int round = 0; round < Rounds(6, 500); ++round) {
    const Mix mix = DrawMix(factory(), engine(), rng_, true);
    SCOPED_TRACE(mix.Text() + ", WEIR_TEST_SEED=" + std::to_string(Seed()));
    Driver one_by_one(factory().make(), mix.rules, engine().registry);
    Driver together(factory().make(), mix.rules, engine().registry);
    const std::vector<std::string> keys = KeysFor(mix, rng_);
    Demand demand(mix.setting, rng_);
    Decision last = one_by_one.Run(Op::kPeek, keys, {1}, demand.t());
    while (!demand.over() && !HasFailure() && !rng_.OneIn(8)) {
      std::vector<Asked> calls;
      std::vector<std::string> want;
      const int64_t count = rng_.Uniform(1, 12);
      while (static_cast<int64_t>(calls.size()) < count && !demand.over()) {
        calls.push_back({rng_.OneIn(4) ? KeysFor(mix, rng_) : keys,
                         Costs(mix, last, demand, rng_), demand.t()});
        const Asked& call = calls.back();
        last = one_by_one.Run(Op::kCheck, call.keys, call.costs, call.t);
        want.push_back(ToText(last));
        if (rng_.OneIn(2)) demand.Next(last);
      }
      std::vector<std::string> got;
      for (const Decision& d : together.CheckMany(calls)) {
        got.push_back(ToText(d));
      }
      EXPECT_EQ(got, want);
    }
    if (HasFailure()) return;
  }
}

TEST_P(TogetherLaw, RulesOfOneKeyKeepApartAndStopTogether) {
  ForEachLimit(factory(), engine(), rng_,
               [&](const Limit& limit, const Setting& setting) {
                 // Twice the same limit on the same key, under two names: each
                 // has a state of its own, and both are charged.
                 std::vector<Rule> rules;
                 rules.push_back(Rule{"one", limit, false, std::nullopt});
                 rules.push_back(Rule{"two", limit, false, std::nullopt});
                 const Harness harness = factory().make();
                 Driver both(harness, rules, engine().registry);
                 rules.pop_back();
                 Driver one(harness, rules, engine().registry);
                 const int64_t t = setting.start;
                 one.Check("k", setting.capacity, t);
                 const Decision d = both.Check("k", 1, t);
                 EXPECT_FALSE(d.allowed);
                 EXPECT_FALSE(d.rules()[0].allowed);
                 EXPECT_TRUE(d.rules()[1].allowed);
                 EXPECT_EQ(d.rule, 0);
                 if (CountsDenied(*engine().registry, limit, t)) return;
                 EXPECT_EQ(d.rules()[1].remaining, setting.capacity);
                 EXPECT_EQ(d.rules()[1].retry_after, Micros(0));
                 EXPECT_EQ(d.rules()[1].reset_after, Micros(0));
               });
}

}  // namespace testing
}  // namespace weir
