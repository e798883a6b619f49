// Which branches of which algorithm a random test has reached.
#ifndef WEIR_TESTS_ORACLE_COVERAGE_H_
#define WEIR_TESTS_ORACLE_COVERAGE_H_

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/oracle/generator.h"
#include "tests/oracle/oracle.h"

namespace weir_oracle {

class Coverage {
 public:
  void Add(const std::vector<RuleSpec>& rules, const OracleCall& call, Aim aim,
           const Answer& answer, const std::vector<Happened>& happened);

  // A table: one line for each branch, one column for each algorithm.
  void Print(std::ostream& out) const;

  int64_t Count(const std::string& algorithm, const std::string& branch) const;

  // The branches that every algorithm with a state must reach in a test of
  // its own.
  static const std::vector<std::string>& Required();
  // And those that a test with several rules must.
  static const std::vector<std::string>& RequiredOfMixes();

 private:
  void AddRule(const RuleSpec& rule, const OracleCall& call, size_t i,
               const Answer& answer, const Happened& h);

  // Branch, then algorithm.
  std::map<std::string, std::map<std::string, int64_t>> counts_;
};

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_COVERAGE_H_
