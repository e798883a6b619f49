#include "weir/store.h"

namespace weir {

const Clock& Store::WaitingClock() const {
  static const SteadyClock clock;
  return clock;
}

}  // namespace weir
