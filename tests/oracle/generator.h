// Random traces, made call by call: a third of the calls come at instants that
// earlier decisions promised, so the generator is told every answer.
#ifndef WEIR_TESTS_ORACLE_GENERATOR_H_
#define WEIR_TESTS_ORACLE_GENERATOR_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"
#include "tests/oracle/trace.h"
#include "weir/testing/random.h"

namespace weir_oracle {

// What the traces of one test are made of.
struct Mix {
  std::string name;
  // Rules are drawn from these.
  std::vector<std::string> algorithms;
  int min_rules = 1;
  int max_rules = 1;
};

// What a call was aimed at.
enum class Aim {
  kNothing,
  kBeforeRetry,  // the same call 1 us before a promised retry_after
  kAtRetry,      // and exactly then
  kAfterRetry,
  kReset,  // around a promised reset_after
  kCut,    // around the edge of law 7
};

class Generator {
 public:
  // `wild`: the clock jumps in both directions. Such a trace is short, since a
  // store may forget what equals a fresh key, and only a clock that never goes
  // back can't tell.
  Generator(const Mix& mix, bool wild, weir::testing::Rng& rng);

  // The limiters; no steps.
  const Trace& trace() const { return trace_; }
  size_t length() const { return length_; }

  // The next call, and what it aims at.
  TraceStep Next(Aim* aim);
  // The answer to it.
  void Learn(const TraceStep& step, const Answer& answer, const Oracle& oracle);

 private:
  struct Promise {
    int64_t t;
    Aim aim;
    TraceStep step;
    // How many changes there had been when it was given.
    int64_t changes;
  };

  void DrawRules();
  void DrawKeys();
  void DrawTimes();
  int64_t DrawTime();
  int64_t DrawCost(const RuleSpec& rule);
  OracleCall DrawCall();
  void Keep(int64_t t, Aim aim, const TraceStep& step);
  bool Fits(int64_t t) const;

  const Mix& mix_;
  bool wild_;
  weir::testing::Rng& rng_;
  Trace trace_;
  size_t length_ = 0;
  std::vector<std::string> keys_;
  int64_t longest_reset_ = 1;  // of all limits
  int64_t scale_ = 1;          // a window of one of the limits
  int64_t earliest_ = 0;
  int64_t latest_ = 0;
  int64_t now_ = 0;
  int64_t remaining_ = 0;
  int64_t changes_ = 0;
  std::deque<Promise> promises_;
};

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_GENERATOR_H_
