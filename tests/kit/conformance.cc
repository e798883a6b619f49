#include "weir/testing/conformance.h"

#include "tests/kit/suites.h"

namespace weir {
namespace testing {

#define WEIR_DECLARE_KEEP(law, ...) void Keep##law();
WEIR_FOR_EACH_LAW_(WEIR_DECLARE_KEEP, )
#undef WEIR_DECLARE_KEEP

std::vector<ConformanceCase> Cases(const std::vector<EngineUnderTest>& engines,
                                   const std::vector<StoreFactory>& stores) {
#define WEIR_CALL_KEEP(law, ...) Keep##law();
  WEIR_FOR_EACH_LAW_(WEIR_CALL_KEEP, )
#undef WEIR_CALL_KEEP
  std::vector<ConformanceCase> cases;
  for (const StoreFactory& store : stores) {
    for (const EngineUnderTest& engine : engines) {
      cases.push_back({store, engine});
    }
  }
  return cases;
}

std::vector<StoreFactory> ByKey(std::vector<StoreFactory> stores) {
  return stores;
}

StoreFactory ByHandle(const StoreFactory& factory) {
  StoreFactory bound = factory;
  bound.name += "_by_handle";
  bound.make = [make = factory.make] {
    Harness harness = make();
    harness.by_handle = true;
    return harness;
  };
  bound.keys = nullptr;
  return bound;
}

std::vector<StoreFactory> BothWays(const std::vector<StoreFactory>& stores) {
  std::vector<StoreFactory> both = stores;
  for (const StoreFactory& store : stores) both.push_back(ByHandle(store));
  return both;
}

std::string CaseName(const ::testing::TestParamInfo<ConformanceCase>& info) {
  return info.param.store.name + "_" + info.param.engine.algorithm;
}

}  // namespace testing
}  // namespace weir
