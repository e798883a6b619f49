#include "tests/kit/driver.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"

namespace weir {
namespace testing {
namespace {

std::vector<Rule> OneRule(const Limit& limit) {
  std::vector<Rule> rules;
  rules.push_back(Rule{"rule", limit, false, std::nullopt});
  return rules;
}

}  // namespace

Driver::Driver(const Harness& harness, std::vector<Rule> rules,
               const Registry* registry)
    : by_handle_(harness.by_handle) {
  LimiterOptions options;
  options.registry = registry;
  absl::StatusOr<Limiter> made =
      Limiter::Create(harness.store, std::move(rules), options);
  if (made.ok()) {
    limiter_.emplace(*std::move(made));
  } else {
    ADD_FAILURE() << "no limiter: " << made.status();
  }
}

Driver::Driver(const Harness& harness, const Limit& limit,
               const Registry* registry)
    : Driver(harness, OneRule(limit), registry) {}

Decision Driver::Answer(absl::StatusOr<Decision> d) {
  if (d.ok()) return *std::move(d);
  ADD_FAILURE() << "not decided: " << d.status();
  return Decision();
}

absl::StatusOr<Decision> Driver::Ask(Op op, std::string_view key, int64_t cost,
                                     std::optional<Time> now) {
  if (!limiter_) return absl::FailedPreconditionError("no limiter");
  Call call;
  call.keys = absl::Span<const std::string_view>(&key, 1);
  call.costs = absl::Span<const int64_t>(&cost, 1);
  call.now = now;
  return by_handle_ ? handles_.Run(*limiter_, op, call)
                    : limiter_->Run(op, call);
}

absl::StatusOr<Decision> Driver::Try(Op op, std::string_view key, int64_t cost,
                                     int64_t t) {
  return Ask(op, key, cost, TimeFromMicros(t));
}

Decision Driver::Check(std::string_view key, int64_t cost, int64_t t) {
  return Answer(Try(Op::kCheck, key, cost, t));
}

Decision Driver::Peek(std::string_view key, int64_t cost, int64_t t) {
  return Answer(Try(Op::kPeek, key, cost, t));
}

Decision Driver::Refund(std::string_view key, int64_t n, int64_t t) {
  return Answer(Try(Op::kRefund, key, n, t));
}

Decision Driver::Reset(std::string_view key, int64_t t) {
  return Answer(Try(Op::kReset, key, 1, t));
}

Decision Driver::CheckNow(std::string_view key, int64_t cost) {
  if (limiter_ && !by_handle_) return Answer(limiter_->Check(key, cost));
  return Answer(Ask(Op::kCheck, key, cost, std::nullopt));
}

Decision Driver::Run(Op op, const std::vector<std::string>& keys,
                     const std::vector<int64_t>& costs, int64_t t) {
  if (!limiter_) return Answer(absl::FailedPreconditionError("no limiter"));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  Call call;
  call.keys = views;
  call.costs = costs;
  call.tag = "";
  call.now = TimeFromMicros(t);
  return Answer(limiter_->Run(op, call));
}

std::vector<Decision> Driver::CheckMany(const std::vector<Asked>& asked) {
  std::vector<std::vector<std::string_view>> views;
  std::vector<Call> calls;
  for (const Asked& one : asked) {
    views.emplace_back(one.keys.begin(), one.keys.end());
    Call& call = calls.emplace_back();
    call.keys = views.back();
    call.costs = one.costs;
    call.tag = "";
    call.now = TimeFromMicros(one.t);
  }
  std::vector<Decision> decisions;
  if (!limiter_) return decisions;
  for (absl::StatusOr<Decision>& d : limiter_->CheckMany(calls)) {
    decisions.push_back(Answer(std::move(d)));
  }
  return decisions;
}

Setting Explore(const StoreFactory& factory, const EngineUnderTest& engine,
                const Limit& limit, Rng& rng) {
  Setting setting;
  const Harness harness = factory.make();
  Driver driver(harness, limit, engine.registry);
  const int64_t now = ToMicros(harness.store->Now());
  setting.capacity = driver.Peek("k", 1, now).limit;
  setting.reset = driver.Check("k", setting.capacity, now).reset_after.count();
  // Windows on a grid take longest where one has just begun.
  const int64_t begin = now + setting.reset;
  setting.longest =
      std::max(setting.reset,
               driver.Check("k", setting.capacity, begin).reset_after.count());
  absl::StatusOr<CompiledLimit> compiled =
      engine.registry->Compile(limit, TimeFromMicros(now));
  if (compiled.ok()) {
    setting.longest = std::max(setting.longest, compiled->traits.window_us);
    setting.counts_denied = compiled->traits.count_denied;
  }
  setting.start = now + rng.Uniform(0, 1'000'000'000'000);
  if (rng.OneIn(8)) setting.start = 0;
  if (rng.OneIn(8)) setting.start = -rng.LogUniform(1, 1'000'000'000'000'000);
  // A state may reach `longest` past the last call, and a look goes that far.
  setting.end = kMaxExact - 2 - setting.longest;
  // However slow the limit is, there is time for something to happen, and room
  // for a clock that runs back and for a window that began before it.
  const int64_t room = std::min(4 * setting.longest,
                                setting.end - (setting.longest - kMaxExact));
  setting.start = std::min(setting.start, setting.end - room);
  return setting;
}

void ForEachLimit(
    const StoreFactory& factory, const EngineUnderTest& engine, Rng& rng,
    const std::function<void(const Limit&, const Setting&)>& body) {
  ASSERT_FALSE(engine.samples.empty())
      << "the engine " << engine.algorithm
      << " has no sample limits; give it some in tests/kit/engine_samples.cc";
  const Time now = factory.make().store->Now();
  const std::vector<Limit> limits =
      LimitsToTry(engine, Rounds(6, 300), rng, now);
  for (const Limit& limit : limits) {
    SCOPED_TRACE(ToText(limit) + ", WEIR_TEST_SEED=" + std::to_string(Seed()));
    const Setting setting = Explore(factory, engine, limit, rng);
    body(limit, setting);
    if (::testing::Test::HasFailure()) return;
  }
}

void Demand::Forward(int64_t us) {
  t_ = us > setting_.end - t_ ? setting_.end : t_ + std::max<int64_t>(us, 0);
}

void Demand::Next(const Decision& last) {
  const int64_t retry = last.retry_after ? last.retry_after->count() : 0;
  const int64_t reset = last.reset_after.count();
  switch (rng_.Uniform(0, 9)) {
    case 0:
    case 1:
      break;
    case 2:
      Forward(1);
      break;
    case 3:
    case 4:
      Forward(retry);
      break;
    case 5:
      Forward(retry + rng_.Uniform(-1, 1));
      break;
    case 6:
      Forward(reset + rng_.Uniform(-1, 1));
      break;
    case 7:
      Forward(rng_.LogUniform(1, 2 * setting_.longest));
      break;
    default:
      Forward(rng_.Uniform(0, setting_.longest / 3));
      break;
  }
}

int64_t Demand::Cost(int64_t remaining) {
  remaining = std::min(remaining, setting_.capacity);
  switch (rng_.Uniform(0, 7)) {
    case 0:
      return 0;
    case 1:
      return remaining;
    case 2:
      return remaining + 1;
    case 3:
      return setting_.capacity + rng_.Uniform(-1, 1);
    case 4:
    case 5:
      return 1;
    default:
      return rng_.LogUniform(1, setting_.capacity);
  }
}

int64_t Demand::OrdinaryCost() {
  if (rng_.OneIn(3)) return 1;
  if (rng_.OneIn(4)) return setting_.capacity;
  return rng_.LogUniform(1, setting_.capacity);
}

void Drain(Driver& driver, std::string_view key, int64_t t) {
  const int64_t left = driver.Peek(key, 1, t).remaining;
  if (left == 0) return;
  EXPECT_TRUE(driver.Check(key, left, t).allowed)
      << "what remained, " << left << ", did not pass";
}

std::string LaterDecisions(Driver& driver, std::string_view key,
                           const Setting& setting, int64_t t, uint64_t seed) {
  Rng rng(seed);
  std::string text;
  const auto note = [&text](int64_t at, const Decision& d) {
    text += "\n+" + std::to_string(at) + " " + ToText(d);
  };
  const int64_t reset = driver.Peek(key, 1, t).reset_after.count();
  for (const int64_t after : {int64_t{0}, int64_t{1}, reset / 3, reset / 2,
                              reset - 1, reset, reset + 1, setting.longest}) {
    // Where denied calls count, a state may reach past what a full key does,
    // and so past all time.
    if (after < 0 || after > kMaxExact - t) continue;
    for (const int64_t cost :
         {int64_t{0}, int64_t{1}, setting.capacity / 2, setting.capacity}) {
      note(after, driver.Peek(key, cost, t + after));
    }
  }
  Demand demand(setting, rng);
  demand.Forward(t - setting.start);
  Decision last = driver.Peek(key, 1, t);
  for (int i = 0; i < 12 && !demand.over(); ++i) {
    last = driver.Check(key, demand.Cost(last.remaining), demand.t());
    note(demand.t() - t, last);
    demand.Next(last);
  }
  return text;
}

}  // namespace testing
}  // namespace weir
