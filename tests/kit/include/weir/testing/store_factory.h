// How the conformance suites get a store: one factory is all that they need to
// know of it.
//
//   weir::testing::StoreFactory Mine() {
//     weir::testing::StoreFactory f;
//     f.name = "mine";
//     f.make = [] { return weir::testing::Harness{MakeMyStore(), nullptr}; };
//     return f;
//   }
//   WEIR_INSTANTIATE_CONFORMANCE(Mine, Mine());   // weir/testing/conformance.h
#ifndef WEIR_TESTING_STORE_FACTORY_H_
#define WEIR_TESTING_STORE_FACTORY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "weir/clock.h"
#include "weir/store.h"
#include "weir/time.h"

namespace weir {
namespace testing {

// A store of its own for one test, empty.
struct Harness {
  std::shared_ptr<Store> store;
  // The clock that the store reads, for tests to move. Null: the store lives
  // on a server's time, and tests give the time with each call.
  std::shared_ptr<ManualClock> clock;
  // Checks of a limiter with one rule go through bound keys, and what goes by
  // key finds them bound.
  bool by_handle = false;
};

struct StoreFactory {
  // In the names of the tests: letters, digits, underscores.
  std::string name;
  // Each call gives a store that shares no state with any other.
  std::function<Harness()> make;
  // How many keys the store holds state for. Empty: it can't tell, and the
  // tests that ask are skipped.
  std::function<int64_t(Store&)> keys;
  // Removes what has equalled a fresh key for `slack` at `now`. Empty: the
  // store does so by itself, at a time of its own choosing.
  std::function<void(Store&, Time now)> sweep;
  // What the store documents as its slack.
  Micros slack{0};
};

inline std::ostream& operator<<(std::ostream& out, const StoreFactory& f) {
  return out << f.name;
}

// The same store, asked through bound keys: see Harness::by_handle. A bound key
// stays in the store, so this factory does not count keys.
StoreFactory ByHandle(const StoreFactory& factory);

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTING_STORE_FACTORY_H_
