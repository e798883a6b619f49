#include "backends/redis/counters.h"

#include <string>

namespace weir::redis {

void Counters::ForEach(const std::function<void(std::string_view name,
                                                int64_t value)>& visit) const {
  visit("calls", calls);
  visit("sends", sends);
  visit("receives", receives);
  visit("connects", connects);
  visit("closes", closes);
  visit("evals", evals);
  visit("late_replies", late_replies);
  visit("map_refreshes", map_refreshes);
  visit("probes", probes);
  for (int i = 1; i < kReasonCount; ++i) {
    std::string name = "met_";
    name += ReasonName(static_cast<Reason>(i));
    visit(name, met[static_cast<size_t>(i)]);
  }
}

}  // namespace weir::redis
