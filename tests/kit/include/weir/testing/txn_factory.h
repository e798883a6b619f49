// How the Txn suite gets transactions: is a Txn what Redis is?
//
//   WEIR_INSTANTIATE_TXN_CONFORMANCE(Mine, MyTxnFactory());
//
// Random commands are given to it and to a model that is as simple as Redis's
// documentation, and every reply is compared.
#ifndef WEIR_TESTING_TXN_FACTORY_H_
#define WEIR_TESTING_TXN_FACTORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/random.h"
#include "weir/txn.h"

namespace weir {
namespace testing {

// One key, missing at first.
class TxnHost {
 public:
  virtual ~TxnHost() = default;
  // One atomic step on the key: opens a transaction whose reading is `now_us`,
  // and gives it to `body`.
  virtual void Step(int64_t now_us, const std::function<void(Txn&)>& body) = 0;
};

struct TxnFactory {
  // In the names of the tests: letters, digits, underscores.
  std::string name;
  std::function<std::unique_ptr<TxnHost>()> make;
};

inline std::ostream& operator<<(std::ostream& out, const TxnFactory& f) {
  return out << f.name;
}

class TxnLaw : public ::testing::TestWithParam<TxnFactory> {
 public:
  // When most steps are made.
  static constexpr int64_t kStart = 1'700'000'000'000'000;

 protected:
  TxnLaw() : rng_(TestRng()), host_(GetParam().make()) {}

  // One command, or a few, in a step at this time.
  void At(int64_t now_us, const std::function<void(Txn&)>& body) {
    host_->Step(now_us, body);
  }

  Rng rng_;
  std::unique_ptr<TxnHost> host_;
};

// The factories as they are; keeps the suite from being left out by the
// linker.
std::vector<TxnFactory> TxnCases(std::vector<TxnFactory> factories);

std::string TxnCaseName(const ::testing::TestParamInfo<TxnFactory>& info);

}  // namespace testing
}  // namespace weir

#define WEIR_INSTANTIATE_TXN_CONFORMANCE(prefix, ...)                    \
  namespace weir {                                                       \
  namespace testing {                                                    \
  INSTANTIATE_TEST_SUITE_P(prefix, TxnLaw,                               \
                           ::testing::ValuesIn(TxnCases({__VA_ARGS__})), \
                           TxnCaseName);                                 \
  }                                                                      \
  }                                                                      \
  static_assert(true, "")

#endif  // WEIR_TESTING_TXN_FACTORY_H_
