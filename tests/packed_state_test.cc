// A state in its packed form beside the same state as the engine keeps it: they
// say the same, at any time that a call can have.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "backends/memory/packed_engine.h"
#include "backends/memory/state_steps.h"
#include "core/engines/gcra.h"
#include "gtest/gtest.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using engines::Gcra;
using Packed = PackedEngine<Gcra>;
using testing::Rng;

constexpr int64_t kMostCount = 1'000'000'000'000;
constexpr int64_t kMostWindow = int64_t{100} * 365 * 86'400 * 1'000'000;

Gcra::Params DrawParams(Rng& rng) {
  for (;;) {
    const int64_t limit =
        rng.OneIn(4) ? Gcra::Packed::kMostTicks : rng.Uniform(1, 255);
    const int64_t window = rng.LogUniform(1, kMostWindow);
    const int64_t burst = rng.LogUniform(1, kMostCount);
    const int64_t max_wait = rng.OneIn(2) ? 0 : rng.LogUniform(1, kMostWindow);
    const auto p = Gcra::Make(limit, window, burst, max_wait, 0, "burst");
    if (p.ok()) return *p;
  }
}

int64_t DrawTime(Rng& rng) {
  switch (rng.Uniform(0, 3)) {
    case 0:
      return kMaxExact - rng.LogUniform(1, kMaxExact) + 1;
    case 1:
      return rng.LogUniform(1, kMaxExact) - kMaxExact - 1;
    default:
      return rng.Uniform(-kMaxExact, kMaxExact);
  }
}

// A state that calls can leave behind, those that wait their turn among them.
Gcra::State DrawState(const Gcra::Params& p, Rng& rng) {
  const int64_t t = DrawTime(rng);
  Gcra::State s = Gcra::Fresh(p, t);
  for (int64_t n = rng.Uniform(0, 3); n > 0; --n) {
    const int64_t cost = rng.OneIn(3) ? p.burst : rng.LogUniform(1, p.burst);
    const int64_t wait = Gcra::Wait(p, s, t, cost);
    if (wait != kNever && wait <= p.max_wait) s = Gcra::Charge(p, s, t, cost);
  }
  return s;
}

// Of all times those tell most at which something about the state changes.
std::vector<int64_t> TimesFor(const Gcra::Params& p, const Gcra::State& s,
                              Rng& rng) {
  std::vector<int64_t> times = {DrawTime(rng), -kMaxExact, kMaxExact};
  for (const int64_t back : {int64_t{0}, p.longest, p.max_wait,
                             Gcra::Horizon(p), rng.LogUniform(1, kMaxExact)}) {
    for (int64_t beside = -1; beside <= 1; ++beside) {
      times.push_back(s.tat - back + beside);
    }
  }
  times.erase(
      std::remove_if(times.begin(), times.end(),
                     [](int64_t t) { return t < -kMaxExact || t > kMaxExact; }),
      times.end());
  return times;
}

void ExpectSame(const Gcra::State& a, const Gcra::State& b) {
  ASSERT_EQ(a.tat, b.tat);
  ASSERT_EQ(a.ticks, b.ticks);
}

template <class Steps>
void Compare(const Gcra::Params& p, const Gcra::State& s, int64_t t,
             int64_t cost) {
  using Whole = OwnSteps<Gcra>;
  const Gcra::Packed::State packed = Gcra::Packed::Pack(p, s);
  Whole whole(p, s, t);
  Steps steps(p, packed, t);
  const bool admits = whole.Admits(cost);
  ASSERT_EQ(steps.Admits(cost), admits);
  ASSERT_EQ(steps.Remaining(), whole.Remaining());
  ASSERT_EQ(steps.Wait(cost), whole.Wait(cost));
  ASSERT_EQ(steps.ResetAfter(), whole.ResetAfter());
  if (!admits) return;
  whole.Charge(cost);
  steps.Charge(cost);
  ExpectSame(Gcra::Packed::Unpack(p, steps.state()), whole.state());
  ASSERT_EQ(steps.Remaining(), whole.Remaining());
  ASSERT_EQ(steps.ResetAfter(), whole.ResetAfter());
}

TEST(PackedState, SaysTheSameAsTheEnginesOwn) {
  Rng rng = testing::TestRng();
  int64_t near = 0;
  int64_t far = 0;
  for (int i = 0; i < testing::Rounds(60'000, 3'000'000); ++i) {
    const Gcra::Params p = DrawParams(rng);
    ASSERT_TRUE(Gcra::Packed::Fits(p));
    const Gcra::State s = DrawState(p, rng);
    const Gcra::Packed::State packed = Gcra::Packed::Pack(p, s);
    ExpectSame(Gcra::Packed::Unpack(p, packed), s);
    for (const int64_t t : TimesFor(p, s, rng)) {
      SCOPED_TRACE(::testing::Message()
                   << "limit=" << p.limit << " window=" << p.window
                   << " burst=" << p.burst << " max_wait=" << p.max_wait
                   << " tat=" << s.tat << " ticks=" << s.ticks << " t=" << t);
      const int64_t cost =
          rng.OneIn(8) ? p.burst + 1 : rng.LogUniform(1, p.burst);
      const bool jumped = internal::Jumped<Gcra>(p, s, t);
      ASSERT_EQ(internal::Jumped<Packed>(p, packed, t), jumped);
      const bool holds = QuickSteps<Packed>::Hold(p, packed, t);
      ++(holds ? near : far);
      ASSERT_FALSE(holds && jumped);
      if (holds) {
        ASSERT_NO_FATAL_FAILURE(Compare<QuickSteps<Packed>>(p, s, t, cost));
      }
      if (jumped) continue;
      ASSERT_NO_FATAL_FAILURE(Compare<OwnSteps<Packed>>(p, s, t, cost));
      ASSERT_EQ(Packed::FreshAt(p, packed, t), Gcra::FreshAt(p, s, t));
    }
  }
  EXPECT_GT(near, 10'000);
  EXPECT_GT(far, 10'000);
}

TEST(PackedState, IsForLimitsOfFewTicksAMicrosecond) {
  const auto fits = [](int64_t limit, int64_t window) {
    return Gcra::Packed::Fits(*Gcra::Make(limit, window, 1, 0, 0, "burst"));
  };
  EXPECT_TRUE(fits(100, 1'000'000));
  EXPECT_TRUE(fits(kMostCount, kMostCount));
  EXPECT_TRUE(fits(255, 256));
  EXPECT_FALSE(fits(256, 257));
  EXPECT_FALSE(fits(1009, 1'000'000));
}

}  // namespace
}  // namespace weir
