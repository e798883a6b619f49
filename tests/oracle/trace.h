// A trace: limiters, and the calls made on them in order. Random tests make
// traces, shrink them and print them; golden files hold them.
#ifndef WEIR_TESTS_ORACLE_TRACE_H_
#define WEIR_TESTS_ORACLE_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/oracle.h"

namespace weir_oracle {

struct TraceStep {
  // Which of the trace's limiters is asked.
  size_t config = 0;
  OracleCall call;
};

struct Trace {
  // Limiters on one store. Those after the first have the same rules with
  // other limits: what a rule finds may have been written under another one.
  std::vector<std::vector<RuleSpec>> configs;
  // Given with every call if there is one; then it begins every key.
  std::optional<std::string> tag;
  // The times are read from the store's clock and not given with the calls.
  bool by_clock = false;
  std::vector<TraceStep> steps;
};

// What is not alike, one field a line; empty if nothing differs.
std::string Difference(const Answer& expected, const Answer& actual);

// The trace as CSV, with the limits as comments before it.
std::string ToCsv(const Trace& trace);

// One answer on one line.
std::string ToText(const Answer& answer);

// The rules as limits.json.
std::string LimitsJson(const std::vector<RuleSpec>& rules,
                       const std::vector<std::string>& key_templates,
                       const std::string& tag);

// "check", "peek", "refund", "reset".
std::string OpName(Op op);

// Bytes as text that can be pasted into a C++ string or a CSV column.
std::string Escaped(const std::string& bytes);

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_TRACE_H_
