// The laws for engines from outside the tree: a store that has never heard of
// them runs them over the abstract Txn.
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/memory_factory.h"
#include "weir/testing/conformance.h"

namespace {

using weir::EngineInfo;
using weir::Limit;
using weir::Registry;
using weir::testing::EngineUnderTest;

// The engines that weir brings, each once more under another name and so of
// the user's own.
const Registry& UserRegistry() {
  static auto* const names = new std::deque<std::string>();
  static const Registry* const registry = [] {
    auto* made = new Registry(Registry::BuiltIn());
    for (const EngineInfo* info : Registry::BuiltIn().engines()) {
      auto* mine = new EngineInfo(*info);
      mine->name = names->emplace_back("my_" + std::string(info->name));
      EXPECT_TRUE(made->Add(*mine).ok());
    }
    return made;
  }();
  return *registry;
}

Limit Renamed(const Limit& limit) {
  Limit mine = Limit::Of("my_" + limit.algorithm());
  for (const auto& [name, value] : limit.fields()) {
    mine = std::move(mine).With(name, value);
  }
  return mine;
}

std::vector<EngineUnderTest> UserEngines() {
  std::vector<EngineUnderTest> engines;
  for (EngineUnderTest engine : weir::testing::BuiltInEngines()) {
    engine.algorithm = "my_" + engine.algorithm;
    engine.registry = &UserRegistry();
    for (Limit& sample : engine.samples) sample = Renamed(sample);
    engines.push_back(engine);
  }
  return engines;
}

}  // namespace

WEIR_INSTANTIATE_ENGINES_CONFORMANCE(User, UserEngines(),
                                     weir::MemoryFactory("memory", 64));
