// The limiter under test, asked like the oracle: the one place where the
// oracle's words are turned into weir's and back.
#ifndef WEIR_TESTS_ORACLE_SUBJECT_H_
#define WEIR_TESTS_ORACLE_SUBJECT_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/trace.h"
#include "weir/limit.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/testing/handles.h"
#include "weir/testing/store_factory.h"

namespace weir_oracle {

weir::Limit ToWeir(const LimitSpec& spec);
Answer FromWeir(const weir::Decision& decision);

// Asks an engine of another name, for every rule.
struct Impostor {
  const weir::Registry* registry = nullptr;  // null: nobody is replaced
  std::string algorithm;
};

class Subject {
 public:
  // The limiters of a trace on a store. The steps of the trace are not used.
  static absl::StatusOr<Subject> Make(weir::testing::Harness harness,
                                      const Trace& trace,
                                      const Impostor& impostor = {});

  absl::StatusOr<weir::Decision> Decide(const TraceStep& step);
  absl::StatusOr<Answer> Run(const TraceStep& step);

 private:
  Subject() = default;

  weir::testing::Harness harness_;
  std::vector<weir::Limiter> limiters_;
  std::vector<std::unique_ptr<weir::testing::Handles>> handles_;
  std::optional<std::string> tag_;
  bool by_clock_ = false;
};

// Where a trace goes wrong.
struct Mismatch {
  size_t step = 0;
  std::string what;
};

// Runs a whole trace on a new oracle and a new store; the first difference, or
// nothing.
std::optional<Mismatch> Replay(const weir::testing::StoreFactory& factory,
                               const Trace& trace);

// The shortest trace that can be had by leaving steps, rules and limiters out
// of one that mismatches, such that it still does.
Trace Shrink(const weir::testing::StoreFactory& factory, Trace trace);

// What a person needs to see of a trace that mismatches.
std::string Report(const weir::testing::StoreFactory& factory,
                   const Trace& trace);

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_SUBJECT_H_
