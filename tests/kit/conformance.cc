#include "weir/testing/conformance.h"

#include "tests/kit/suites.h"

namespace weir {
namespace testing {

#define WEIR_DECLARE_KEEP(law) void Keep##law##Suite();
WEIR_FOR_EACH_LAW(WEIR_DECLARE_KEEP)
#undef WEIR_DECLARE_KEEP

std::vector<ConformanceCase> Cases(const std::vector<EngineUnderTest>& engines,
                                   const std::vector<StoreFactory>& stores) {
#define WEIR_CALL_KEEP(law) Keep##law##Suite();
  WEIR_FOR_EACH_LAW(WEIR_CALL_KEEP)
#undef WEIR_CALL_KEEP
  std::vector<ConformanceCase> cases;
  for (const StoreFactory& store : stores) {
    for (const EngineUnderTest& engine : engines) {
      cases.push_back({store, engine});
    }
  }
  return cases;
}

std::string CaseName(const ::testing::TestParamInfo<ConformanceCase>& info) {
  return info.param.store.name + "_" + info.param.engine.algorithm;
}

}  // namespace testing
}  // namespace weir
