// Traces on which a limiter and the oracle once differed, each made as short
// and as round as it could be.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/store_under_test.h"
#include "tests/oracle/subject.h"
#include "tests/oracle/trace.h"

namespace weir_oracle {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;

LimitSpec Spec(const std::string& algorithm, int64_t limit, int64_t window) {
  return {algorithm, {{"limit", limit}}, {{"window", window}}, {}, {}, {}};
}

struct Line {
  size_t config;
  int64_t t;
  Op op;
  int64_t cost;
};

// One rule and one key under one or several limits.
void ExpectAgreement(const std::vector<LimitSpec>& limits,
                     const std::vector<Line>& lines) {
  Trace trace;
  for (const LimitSpec& limit : limits) {
    trace.configs.push_back({{"rule", limit, false}});
  }
  for (const Line& line : lines) {
    trace.steps.push_back({line.config, {line.op, line.t, {"k"}, {line.cost}}});
  }
  if (Replay(StoreUnderTest(), trace)) {
    ADD_FAILURE() << Report(StoreUnderTest(), trace);
  }
}

TEST(KeptTraces, AStateFromBefore1970IsKept) {
  ExpectAgreement({Spec("gcra", 1, kSecond)},
                  {{0, -kStart, Op::kCheck, 1}, {0, -kStart, Op::kCheck, 1}});
}

// A reading goes back within the newest slot, to before an entry left.
TEST(KeptTraces, WhatHasLeftByASlotsLaterTimeStaysOut) {
  LimitSpec limit = Spec("bucketed_window", 17, 1177);
  limit.durations["resolution"] = 2;
  const int64_t t = kStart + 1;
  ExpectAgreement({limit}, {{0, t, Op::kCheck, 17},
                            {0, t + 11, Op::kCheck, 1},
                            {0, t + 1176, Op::kCheck, 2},
                            {0, t + 436, Op::kCheck, 1}});
}

TEST(KeptTraces, ALogFromBefore1970IsKept) {
  ExpectAgreement({Spec("sliding_log", 1, kSecond)},
                  {{0, -kStart, Op::kCheck, 1}, {0, -kStart, Op::kCheck, 1}});
}

// The arrival time is 1/3 us further ahead than a clock is believed.
TEST(KeptTraces, AFractionBeyondTheHorizonIsBeyondIt) {
  ExpectAgreement({Spec("gcra", 3, 1)},
                  {{0, kStart, Op::kCheck, 1},
                   {0, kStart - 60 * kSecond - 2, Op::kCheck, 1},
                   {0, kStart - 60 * kSecond - 2, Op::kPeek, 1}});
}

// The window is over, so there is nothing to give back, and a clock that goes
// back by a microsecond must not find the key new.
TEST(KeptTraces, ARefundOfWhatIsOverForgetsNothing) {
  ExpectAgreement({Spec("fixed_window", 5, 1'500)},
                  {{0, kStart, Op::kCheck, 5},
                   {0, kStart + 1'500, Op::kRefund, 1},
                   {0, kStart + 1'499, Op::kCheck, 1}});
}

TEST(KeptTraces, ARefundOfAnArrivalThatIsPastForgetsNothing) {
  ExpectAgreement({Spec("gcra", 1, 1'500)},
                  {{0, kStart, Op::kCheck, 1},
                   {0, kStart + 1'500, Op::kRefund, 1},
                   {0, kStart + 1'499, Op::kCheck, 1}});
}

// After a jump the key is empty, by the limit that is asked: a refund of 1
// gives back 1.
TEST(KeptTraces, ARefundAfterAJumpGivesBackOnlyItselfUnderAHigherLimit) {
  for (const char* algorithm : {"sliding_log", "fixed_window", "gcra"}) {
    ExpectAgreement({Spec(algorithm, 1, kSecond), Spec(algorithm, 8, kSecond)},
                    {{0, kStart, Op::kCheck, 1},
                     {1, kStart - 100 * kSecond, Op::kPeek, 1},
                     {1, kStart - 100 * kSecond, Op::kRefund, 1},
                     {1, kStart - 100 * kSecond, Op::kPeek, 1}});
  }
}

// What is used is rounded up, whichever of the parameters is another one.
TEST(KeptTraces, ACarriedPartOfACallCountsAsOne) {
  LimitSpec burst = Spec("gcra", 10, 10 * kSecond);
  burst.counts["burst"] = 20;
  ExpectAgreement(
      {Spec("gcra", 10, 10 * kSecond), burst},
      {{0, kStart, Op::kCheck, 1}, {1, kStart + kSecond / 2, Op::kPeek, 1}});
}

// A reading from before the window, under a window of another length, must
// not move what was used back in time.
TEST(KeptTraces, CountersAreCarriedNoFurtherBackThanTheirWindow) {
  ExpectAgreement({Spec("sliding_window_counter", 5, 60 * kSecond),
                   Spec("sliding_window_counter", 5, 10 * kSecond)},
                  {{0, kStart, Op::kCheck, 5},
                   {1, kStart - 50 * kSecond, Op::kCheck, 1},
                   {1, kStart - 10 * kSecond, Op::kPeek, 1},
                   {1, kStart, Op::kPeek, 1}});
}

// A sum that is full takes nothing more, but a longer window keeps it longer.
TEST(KeptTraces, AFullSumIsKeptForALongerWindow) {
  LimitSpec brief = Spec("bucketed_window", 5, 10 * kSecond);
  brief.durations["resolution"] = 10 * kSecond;
  LimitSpec longer = brief;
  longer.durations["window"] = 1000 * kSecond;
  ExpectAgreement({brief, longer}, {{0, kStart, Op::kCheck, kMaxExact},
                                    {1, kStart + kSecond, Op::kCheck, 1},
                                    {1, kStart + 100 * kSecond, Op::kPeek, 1}});
}

// Three windows before the epoch lie beyond 2^53 us; the start of the third,
// which is set off, does not.
TEST(KeptTraces, AWindowsStartIsFoundWhereItsMultipleIsNoDouble) {
  LimitSpec spec = Spec("fixed_window", 1, 3'118'237'249'091'327);
  spec.words["align"] = "epoch";
  spec.durations["offset"] = 506'126'208'229'992;
  ExpectAgreement({spec}, {{0, -5'730'348'289'952'663, Op::kCheck, 1},
                           {0, -5'730'348'289'952'662, Op::kCheck, 1}});
}

}  // namespace
}  // namespace weir_oracle
