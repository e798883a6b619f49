// What a limiter, its reservations and its handles share.
#ifndef WEIR_CORE_LIMITER_STATE_H_
#define WEIR_CORE_LIMITER_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/rule_set.h"
#include "core/waiting_room.h"
#include "weir/limiter.h"

namespace weir {

struct Limiter::State {
  const RuleSet& rules() const {
    // acquire: pairs with the release in Replace, so that the set is seen
    // whole.
    return *current.load(std::memory_order_acquire);
  }

  // Sets that were replaced are kept: a call may still be reading them, and
  // decisions name their rules by views.
  void Replace(std::shared_ptr<const RuleSet> next) {
    // release: pairs with the acquire in rules.
    current.store(next.get(), std::memory_order_release);
    sets.push_back(std::move(next));
  }

  absl::StatusOr<Decision> Run(Op op, const Call& call) const {
    return rules().Run(*store, op, call);
  }

  absl::StatusOr<Decision> WaitByPeek(const Call& call, Time deadline,
                                      WaitingRoom::Ticket* ticket,
                                      const std::string& line);
  absl::StatusOr<Decision> WaitInLine(const Call& call, Micros max_wait,
                                      Cancellation* cancel);
  absl::StatusOr<Decision> WaitByReservation(const Limiter& limiter,
                                             const Call& call, Micros max_wait,
                                             Cancellation* cancel);

  std::shared_ptr<Store> store;
  LimiterOptions options;
  std::shared_ptr<DenialCache> denials;  // null: none
  WaitingRoom room;
  std::atomic<const RuleSet*> current{nullptr};
  std::mutex update_mutex;  // held while sets change
  std::vector<std::shared_ptr<const RuleSet>> sets;
};

inline Call CallOf(const std::string_view& key, const int64_t& cost) {
  Call call;
  call.keys = absl::MakeConstSpan(&key, 1);
  call.costs = absl::MakeConstSpan(&cost, 1);
  return call;
}

}  // namespace weir

#endif  // WEIR_CORE_LIMITER_STATE_H_
