// Golden traces: calls and the decisions that must come of them, as files that
// a person can read. The oracle writes them (make_golden); golden_test plays
// them through the library; `weir replay` can be held against them too.
//
//   golden/NAME.limits.json      the limiter
//   golden/NAME.csv              the calls, a trace that `weir replay` reads
//   golden/NAME.decisions.jsonl  one decision a line, in the order of the calls
#ifndef WEIR_TESTS_ORACLE_GOLDEN_H_
#define WEIR_TESTS_ORACLE_GOLDEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"

namespace weir_oracle {

struct GoldenCase {
  std::string name;
  std::vector<RuleSpec> rules;
  // Each rule's key: the names of the columns that make it up, joined by '/'.
  std::vector<std::vector<std::string>> keys;
  // The columns in the trace besides time_us, cost and op.
  std::vector<std::string> columns;
  // The column that is the tag of every key; empty: none.
  std::string tag;
  // From which the calls are drawn.
  int64_t start = 0;
  std::vector<int64_t> steps;  // between calls, us; also backwards
  std::vector<int64_t> costs;
  std::vector<std::vector<std::string>> values;  // for each column
};

const std::vector<GoldenCase>& GoldenCases();

// One line of a trace.
struct GoldenCall {
  int line = 0;
  OracleCall call;
};

std::string GoldenLimits(const GoldenCase& golden);
// The calls, drawn once and then kept in the file.
std::string GoldenCsv(const GoldenCase& golden);
// Reads what GoldenCsv wrote.
std::vector<GoldenCall> ReadGoldenCsv(const GoldenCase& golden,
                                      const std::string& csv);
std::string DecisionJson(const GoldenCall& call, const Answer& answer);

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_GOLDEN_H_
