#include "tests/mutants/mutants.h"

#include <cstdlib>
#include <deque>
#include <string_view>

#include "engine_list.h"
#include "tests/mutants/faults.h"

namespace weir_mutants {
namespace {

using weir::EngineInfo;
using weir::kEngine;

struct Made {
  Mutant mutant;
  EngineInfo info;
};

// Those that are made stay where they are.
using AllMade = std::deque<Made>;

void Add(AllMade& all, std::string_view fault, const EngineInfo& wrong) {
  const std::string of(wrong.name);
  Made& made =
      all.emplace_back(Made{{of + "_" + std::string(fault), of}, wrong});
  made.info.name = made.mutant.name;
}

template <class E>
void AddCommon(AllMade& all) {
  Add(all, "edge_early", kEngine<Faulty<EdgeEarly, E>>);
  Add(all, "refusals_turned", kEngine<Faulty<RefusalsTurned, E>>);
  Add(all, "equal_times_merged", kEngine<Faulty<EqualTimesMerged, E>>);
  Add(all, "cost_ignored", kEngine<Faulty<CostIgnored, E>>);
}

void AddAll(AllMade& all) {
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
}

const AllMade& All() {
  static const auto* const all = [] {
    auto* made = new AllMade();
    AddAll(*made);
    return made;
  }();
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
      if (!made->Add(m.info).ok()) std::abort();
    }
    return made;
  }();
  return *registry;
}

}  // namespace weir_mutants
