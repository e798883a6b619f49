// The oracle and its random traces find every mutant.
#include <iostream>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "tests/memory_factory.h"
#include "tests/mutants/mutants.h"
#include "tests/oracle/generator.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/subject.h"
#include "weir/testing/random.h"

namespace weir_mutants {
namespace {

using weir_oracle::Aim;
using weir_oracle::Generator;
using weir_oracle::Mix;
using weir_oracle::Oracle;
using weir_oracle::Subject;
using weir_oracle::Trace;

class OracleCatches : public ::testing::TestWithParam<Mutant> {
 protected:
  // Runs one trace; false if the mutant gave itself away in it.
  bool Passes(weir::testing::Rng& rng) {
    const Mutant& mutant = GetParam();
    const Mix mix = {mutant.of, {mutant.of}, 1, 1};
    Generator generator(mix, /*wild=*/false, rng);
    Trace trace = generator.trace();
    absl::StatusOr<Subject> subject =
        Subject::Make(weir::MemoryFactory("memory", 64).make(), trace,
                      {&MutantRegistry(), mutant.name});
    EXPECT_TRUE(subject.ok()) << subject.status();
    Oracle oracle;
    for (size_t i = 0; subject.ok() && i < generator.length(); ++i) {
      Aim aim;
      const weir_oracle::TraceStep step = generator.Next(&aim);
      const weir_oracle::Answer expected =
          oracle.Run(trace.configs[step.config], step.call);
      const absl::StatusOr<weir_oracle::Answer> actual = subject->Run(step);
      ++calls_;
      if (!actual.ok() || !Difference(expected, *actual).empty()) return false;
      generator.Learn(step, expected, oracle);
    }
    return true;
  }

  int calls_ = 0;
};

TEST_P(OracleCatches, TheMutant) {
  weir::testing::Rng rng = weir::testing::TestRng();
  while (Passes(rng)) ASSERT_LT(calls_, 30'000) << "not caught";
  std::cout << "caught after " << calls_ << " calls\n";
}

INSTANTIATE_TEST_SUITE_P(Mutants, OracleCatches, ::testing::ValuesIn(Mutants()),
                         [](const ::testing::TestParamInfo<Mutant>& test) {
                           return test.param.name;
                         });

}  // namespace
}  // namespace weir_mutants
