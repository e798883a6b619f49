// The laws of the conformance kit, run over the mutants: a program that must
// fail for each of them. CTest runs it once for each.
#include <vector>

#include "tests/memory_factory.h"
#include "tests/mutants/mutants.h"
#include "tests/user_engines.h"
#include "weir/testing/conformance.h"

namespace {

using weir::Limit;
using weir::testing::EngineUnderTest;

std::vector<EngineUnderTest> MakeMutantEngines() {
  const std::vector<EngineUnderTest> built_in = weir::testing::BuiltInEngines();
  std::vector<EngineUnderTest> engines;
  for (const weir_mutants::Mutant& mutant : weir_mutants::Mutants()) {
    for (EngineUnderTest engine : built_in) {
      if (engine.algorithm != mutant.of) continue;
      engine.algorithm = mutant.name;
      engine.registry = &weir_mutants::MutantRegistry();
      for (Limit& limit : engine.samples) {
        limit = weir::Renamed(limit, mutant.name);
      }
      engines.push_back(engine);
    }
  }
  return engines;
}

// Each suite asks.
const std::vector<EngineUnderTest>& MutantEngines() {
  static const std::vector<EngineUnderTest> engines = MakeMutantEngines();
  return engines;
}

}  // namespace

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(Mutants, MutantEngines(),
                                     weir::MemoryFactory("memory", 64));
