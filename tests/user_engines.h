// The engines that weir brings, each once more under another name and so of
// the user's own: my_gcra and so on.
#ifndef WEIR_TESTS_USER_ENGINES_H_
#define WEIR_TESTS_USER_ENGINES_H_

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/engine_samples.h"

namespace weir {

inline const Registry& UserRegistry() {
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

// The same limit of an engine of another name.
inline Limit Renamed(const Limit& limit, const std::string& algorithm) {
  Limit renamed = Limit::Of(algorithm);
  for (const auto& [name, value] : limit.fields()) {
    renamed = std::move(renamed).With(name, value);
  }
  return renamed;
}

inline std::vector<testing::EngineUnderTest> UserEngines() {
  std::vector<testing::EngineUnderTest> engines;
  for (testing::EngineUnderTest engine : testing::BuiltInEngines()) {
    engine.algorithm = "my_" + engine.algorithm;
    engine.registry = &UserRegistry();
    for (Limit& sample : engine.samples) {
      sample = Renamed(sample, engine.algorithm);
    }
    engines.push_back(engine);
  }
  return engines;
}

}  // namespace weir

#endif  // WEIR_TESTS_USER_ENGINES_H_
