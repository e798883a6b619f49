#include "tests/mutants/mutants.h"

#include <cstdlib>
#include <string_view>

#include "engine_list.h"
#include "tests/mutants/faults.h"

namespace weir_mutants {
namespace {

using weir::EngineInfo;
using weir::kEngine;

struct Made {
  Mutant mutant;
  const EngineInfo* info;
};

void Add(std::vector<Made>& all, std::string_view fault,
         const EngineInfo& wrong) {
  const std::string of(wrong.name);
  const Mutant mutant = {of + "_" + std::string(fault), of};
  auto* info = new EngineInfo(wrong);
  info->name = *new std::string(mutant.name);  // lives as long as the registry
  all.push_back({mutant, info});
}

template <class E>
void AddCommon(std::vector<Made>& all) {
  Add(all, "edge_early", kEngine<Faulty<EdgeEarly, E>>);
  Add(all, "refusals_turned", kEngine<Faulty<RefusalsTurned, E>>);
  Add(all, "equal_times_merged", kEngine<Faulty<EqualTimesMerged, E>>);
  Add(all, "cost_ignored", kEngine<Faulty<CostIgnored, E>>);
}

std::vector<Made> MakeAll() {
  std::vector<Made> all;
#define WEIR_ADD_COMMON(Type) AddCommon<Type>(all);
  WEIR_FOR_EACH_ENGINE(WEIR_ADD_COMMON)
#undef WEIR_ADD_COMMON
  // uniform has a share of whole microseconds: nothing to drop.
  Add(all, "remainder_dropped", kEngine<ArrivalCut<weir::engines::Gcra>>);
  Add(all, "remainder_dropped",
      kEngine<ArrivalCut<weir::engines::TokenBucket>>);
  Add(all, "remainder_dropped",
      kEngine<ArrivalCut<weir::engines::LeakyBucket>>);
  Add(all, "remainder_dropped", kEngine<TokenCut>);
  Add(all, "remainder_dropped", kEngine<WeightCut>);
  Add(all, "remainder_dropped", kEngine<FractionCut>);
  return all;
}

const std::vector<Made>& All() {
  static const auto* const all = new std::vector<Made>(MakeAll());
  return *all;
}

}  // namespace

const std::vector<Mutant>& Mutants() {
  static const auto* const mutants = [] {
    auto* made = new std::vector<Mutant>();
    for (const Made& m : All()) made->push_back(m.mutant);
    return made;
  }();
  return *mutants;
}

const weir::Registry& MutantRegistry() {
  static const auto* const registry = [] {
    auto* made = new weir::Registry(weir::Registry::BuiltIn());
    for (const Made& m : All()) {
      if (!made->Add(*m.info).ok()) std::abort();
    }
    return made;
  }();
  return *registry;
}

}  // namespace weir_mutants
