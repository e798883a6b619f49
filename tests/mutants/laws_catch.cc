// The laws of the conformance kit, run over the mutants: a program that must
// fail for each of them. CTest runs it once for each.
#include <string>
#include <utility>
#include <vector>

#include "tests/memory_factory.h"
#include "tests/mutants/mutants.h"
#include "weir/testing/conformance.h"

namespace {

using weir::Limit;
using weir::testing::EngineUnderTest;

Limit Renamed(const Limit& limit, const std::string& name) {
  Limit renamed = Limit::Of(name);
  for (const auto& [field, value] : limit.fields()) {
    renamed = std::move(renamed).With(field, value);
  }
  return renamed;
}

std::vector<EngineUnderTest> MutantEngines() {
  std::vector<EngineUnderTest> engines;
  for (const weir_mutants::Mutant& mutant : weir_mutants::Mutants()) {
    for (EngineUnderTest engine : weir::testing::BuiltInEngines()) {
      if (engine.algorithm != mutant.of) continue;
      engine.algorithm = mutant.name;
      engine.registry = &weir_mutants::MutantRegistry();
      for (Limit& limit : engine.samples) limit = Renamed(limit, mutant.name);
      engines.push_back(engine);
    }
  }
  return engines;
}

}  // namespace

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(Mutants, MutantEngines(),
                                     weir::MemoryFactory("memory", 64));
