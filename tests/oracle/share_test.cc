// A full store whose unknown keys share a state, beside a model of each key
// alone: what passes on the shared state would have passed alone, and nobody
// is refilled by leaving it.
//
//   WEIR_TEST_SEED=123   the run of that seed
//   WEIR_TEST_FULL=1     the long run
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/draw_limit.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/subject.h"
#include "weir/clock.h"
#include "weir/limiter.h"
#include "weir/memory_store.h"
#include "weir/testing/engine_samples.h"
#include "weir/testing/random.h"

namespace weir_oracle {
namespace {

using weir::Decision;
using weir::Limiter;
using weir::MemoryStore;
using weir::testing::Rng;

constexpr int kKeys = 5;
constexpr int kFillers = 3;
constexpr int64_t kBegin = 1'700'000'000'000'000;
constexpr int64_t kLongestReset = 10'000'000'000'000;

// What a run has reached.
struct Reached {
  int passed = 0;     // on the shared state
  int denied = 0;     // there
  int left = 0;       // got an entry of their own
  int came_back = 0;  // after that
  int refused = 0;
  int at_the_wait = 0;
};

class SharedStates : public ::testing::TestWithParam<std::string> {};

// One store, one rule, two limits for it.
class Course {
 public:
  Course(const LimitSpec& spec, const LimitSpec& variant, Rng* rng, Reached* n)
      : rng_(*rng), reached_(*n), specs_{spec, variant} {
    weir::MemoryStoreOptions options;
    options.clock = clock_;
    options.max_keys = kFillers;
    options.stripes = rng_.OneIn(2) ? 1 : 4;
    options.when_full = weir::WhenFull::kShare;
    store_ = *MemoryStore::Create(options);
    filler_.push_back(*Limiter::Create(
        store_,
        {weir::Rule{"filler",
                    weir::Limit::Gcra(1, std::chrono::hours(24 * 36'000))}},
        {}));
    Tell();
    for (int i = 0; i < kFillers; ++i) Fill(i);
  }

  // False: such limits can't be built.
  bool Make() {
    for (const LimitSpec& spec : specs_) {
      absl::StatusOr<Limiter> made =
          Limiter::Create(store_, {weir::Rule{"rule", ToWeir(spec)}}, {});
      if (!made.ok()) return false;
      limiters_.push_back(*std::move(made));
    }
    return true;
  }

  // False: it went wrong, which is reported.
  bool Step();

  std::string text;

 private:
  struct Key {
    std::string alone;  // its name for the model: another one for each stay
    int stays = 0;
    bool owns = false;  // it got an entry, and may have it still
  };

  bool OneLimit() const { return specs_[0] == specs_[1]; }
  // A window that opens with a key's first call, or was carried over from
  // another limit, has another phase after the key left. Then only that it was
  // not refilled is said.
  bool HasPhase() const {
    const std::string& name = specs_[0].algorithm;
    return name == "windowed_token_bucket" ||
           (name == "fixed_window" &&
            (specs_[0].Word("align", "first") == "first" || !OneLimit()));
  }
  std::vector<RuleSpec> Rules(size_t limit) const {
    return {RuleSpec{"rule", specs_[limit]}};
  }
  Answer Alone(Op op, size_t limit, const std::string& key, int64_t cost) {
    return model_.Run(Rules(limit), {op, now_, {key}, {cost}});
  }
  weir::Call CallOf(std::string_view* key, int64_t* cost, int64_t t) const {
    weir::Call call;
    call.keys = {key, 1};
    call.costs = {cost, 1};
    call.now = weir::TimeFromMicros(t);
    return call;
  }
  absl::StatusOr<Decision> Ask(weir::Op op, size_t limit, std::string_view key,
                               int64_t cost, int64_t t) const {
    return limiters_[limit].Run(op, CallOf(&key, &cost, t));
  }
  void Tell() { clock_->Set(weir::TimeFromMicros(now_)); }
  void Fill(int i) { filler_[0].Check(Filler(i)).IgnoreError(); }
  static std::string Filler(int i) { return "filler" + std::to_string(i); }

  int64_t Later();
  int64_t Cost(size_t limit);
  bool Check(int k, size_t limit);
  // A refund and a reset of a key that has no entry change nothing.
  bool GiveBack(int k);
  bool Compare(const Key& key, size_t limit, int64_t cost, const Decision& d);
  bool WaitIsTrue(const std::string& name, int64_t cost, const Decision& d);
  bool Wrong(const std::string& what) {
    ADD_FAILURE() << "WEIR_TEST_SEED=" << weir::testing::Seed() << ": " << what
                  << "\n"
                  << text;
    return false;
  }

  Rng& rng_;
  Reached& reached_;
  const std::vector<LimitSpec> specs_;
  int64_t now_ = kBegin;
  std::shared_ptr<weir::ManualClock> clock_ =
      std::make_shared<weir::ManualClock>();
  std::shared_ptr<MemoryStore> store_;
  std::vector<Limiter> limiters_;
  std::vector<Limiter> filler_;
  Oracle model_;
  Key keys_[kKeys];
  int64_t wait_ = 0;   // of the last denial
  int64_t reset_ = 1;  // of the last call
};

int64_t Course::Later() {
  switch (rng_.Uniform(0, 6)) {
    case 0:
      return 1;
    case 1:
      return wait_;
    case 2:
      return rng_.Uniform(0, wait_);
    case 3:
      return rng_.Uniform(0, reset_);
    case 4:
      return reset_ + rng_.Uniform(-1, 1);
    default:
      return 0;
  }
}

int64_t Course::Cost(size_t limit) {
  const int64_t capacity = MakeModel(specs_[limit])->Capacity();
  switch (rng_.Uniform(0, 4)) {
    case 0:
      return 1;
    case 1:
      return rng_.Uniform(1, std::max<int64_t>(1, capacity));
    default:
      return rng_.Uniform(1, std::max<int64_t>(1, capacity / 4));
  }
}

bool Course::Compare(const Key& key, size_t limit, int64_t cost,
                     const Decision& d) {
  const Answer alone = Alone(Op::kPeek, limit, key.alone, cost);
  if (d.remaining > alone.remaining) {
    return Wrong("remaining: " + std::to_string(d.remaining) + " of " +
                 std::to_string(alone.remaining));
  }
  if ((OneLimit() || !HasPhase()) &&
      d.reset_after.count() < alone.reset_after) {
    return Wrong("reset_after: " + std::to_string(d.reset_after.count()) +
                 " instead of " + std::to_string(alone.reset_after));
  }
  return true;
}

// Law 2 holds on the shared state too.
bool Course::WaitIsTrue(const std::string& name, int64_t cost,
                        const Decision& d) {
  if (d.never()) return true;
  const int64_t at = now_ + d.retry_after->count();
  const absl::StatusOr<Decision> then = Ask(weir::Op::kPeek, 0, name, cost, at);
  const absl::StatusOr<Decision> before =
      Ask(weir::Op::kPeek, 0, name, cost, at - 1);
  if (!then.ok() || !before.ok() || !then->allowed || before->allowed) {
    return Wrong("does not pass at its retry_after, or earlier");
  }
  ++reached_.at_the_wait;
  return true;
}

bool Course::Check(int k, size_t limit) {
  Key& key = keys_[k];
  const std::string name = "key" + std::to_string(k);
  const int64_t cost = Cost(limit);
  const MemoryStore::Counters before = store_->counters();
  const absl::StatusOr<Decision> d =
      Ask(weir::Op::kCheck, limit, name, cost, now_);
  const MemoryStore::Counters after = store_->counters();
  const bool shared = after.shared > before.shared;
  const bool inserted =
      after.keys - before.keys + after.expired - before.expired > 0;
  text += std::to_string(now_ - kBegin) + " " + name + " limit " +
          std::to_string(limit) + " cost " + std::to_string(cost) +
          (d.ok() ? d->allowed ? " passed" : " denied" : " refused") +
          (shared ? " shared" : "") + (inserted ? " inserted" : "") + "\n";
  if (!d.ok()) {
    ++reached_.refused;
    return absl::IsResourceExhausted(d.status()) ||
           Wrong(d.status().ToString());
  }
  wait_ = d->never() || d->retry_after->count() == 0 ? wait_
                                                     : d->retry_after->count();
  reset_ = std::max<int64_t>(1, d->reset_after.count());
  if (shared && inserted) return Wrong("shared and not");
  if (shared) d->allowed ? ++reached_.passed : ++reached_.denied;
  if (shared && key.owns) {
    ++reached_.came_back;
    key.owns = false;
    if (HasPhase()) ++key.stays;
  }
  key.alone = name + "/" + std::to_string(key.stays);
  // Its own windows: not the model's.
  if (key.owns && HasPhase()) return true;
  const bool counts = MakeModel(specs_[limit])->CountsDenied();
  if (d->allowed || counts) {
    const Answer alone = Alone(Op::kCheck, limit, key.alone, cost);
    if (d->allowed && !alone.allowed) return Wrong("would not pass alone");
  }
  if (!Compare(key, limit, cost, *d)) return false;
  if (shared && !d->allowed && limit == 0 && !counts && OneLimit() &&
      !WaitIsTrue(name, cost, *d)) {
    return false;
  }
  if (inserted) {
    ++reached_.left;
    key.owns = true;
  }
  return true;
}

bool Course::GiveBack(int k) {
  if (keys_[k].owns) return true;
  const std::string name = "key" + std::to_string(k);
  const std::string other = "nobody";
  const auto numbers = [&] {
    const Decision d = *Ask(weir::Op::kPeek, 0, other, 1, now_);
    return std::make_pair(d.remaining, d.reset_after.count());
  };
  const auto before = numbers();
  const weir::Op op = rng_.OneIn(2) ? weir::Op::kRefund : weir::Op::kReset;
  const int64_t cost = Cost(0);
  const absl::StatusOr<Decision> d = Ask(op, 0, name, cost, now_);
  if (!d.ok() || !d->allowed) return Wrong("a refund, or a reset, is denied");
  if (d->remaining != before.first || numbers() != before) {
    return Wrong("a refund, or a reset, changed what others share");
  }
  return true;
}

bool Course::Step() {
  now_ += std::max<int64_t>(0, Later());
  Tell();
  const int filler = static_cast<int>(rng_.Uniform(0, kFillers - 1));
  if (rng_.OneIn(8)) filler_[0].Reset(Filler(filler)).IgnoreError();
  if (rng_.OneIn(6)) Fill(filler);
  if (rng_.OneIn(40)) store_->Sweep();
  const int k = static_cast<int>(rng_.Uniform(0, kKeys - 1));
  if (rng_.OneIn(10)) return GiveBack(k);
  return Check(k, rng_.OneIn(8) ? 1 : 0);
}

// Limits of this algorithm that are over within a trace.
LimitSpec Draw(const std::string& algorithm, Rng& rng) {
  for (;;) {
    LimitSpec spec = DrawLimit(algorithm, rng);
    // Powers of two: sums of doubles come out alike in whatever steps.
    if (algorithm == "ar1") spec.reals["decay_factor"] = 2;
    int64_t longest = 0;
    if (!spec.zero() && FitsTogether({spec}, &longest) &&
        longest <= kLongestReset) {
      return spec;
    }
  }
}

TEST_P(SharedStates, AreAsStrictAsKeysOfTheirOwn) {
  Rng rng = weir::testing::TestRng();
  Reached reached;
  for (int i = 0; i < weir::testing::Rounds(60, 1'500); ++i) {
    const LimitSpec spec = Draw(GetParam(), rng);
    LimitSpec variant = spec;
    do {
      variant = DrawVariant(spec, rng);
      if (GetParam() == "ar1") variant.reals["decay_factor"] = 2;
      int64_t longest = 0;
      if (rng.OneIn(2) || !FitsTogether({spec, variant}, &longest) ||
          longest > kLongestReset) {
        variant = spec;
      }
    } while (variant.zero());
    Course run(spec, variant, &rng, &reached);
    if (!run.Make()) continue;
    run.text = weir::testing::ToText(ToWeir(spec)) + "\n" +
               weir::testing::ToText(ToWeir(variant)) + "\n";
    for (int step = 0; step < 120; ++step) {
      if (!run.Step()) return;
    }
  }
  std::cout << GetParam() << ": passed " << reached.passed << " denied "
            << reached.denied << " left " << reached.left << " came back "
            << reached.came_back << " refused " << reached.refused
            << " at the wait " << reached.at_the_wait << "\n";
  EXPECT_GT(reached.passed, 0);
  EXPECT_GT(reached.denied, 0);
  EXPECT_GT(reached.left, 0);
  EXPECT_GT(reached.came_back, 0);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Algorithms()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Every, SharedStates, ::testing::ValuesIn(Names()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace weir_oracle
