// What a limiter, its reservations and its handles share.
#ifndef WEIR_CORE_LIMITER_STATE_H_
#define WEIR_CORE_LIMITER_STATE_H_

#include <atomic>
#include <cstdint>
#include <map>
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
  // decisions name their rules by views. A set that is known already is not
  // kept again, it comes back. Under update_mutex.
  void Replace(std::shared_ptr<const RuleSet> next) {
    const RuleSet* now = Keep(std::move(next));
    // release: pairs with the acquire in rules.
    current.store(now, std::memory_order_release);
  }

  absl::StatusOr<Decision> Run(Op op, const Call& call) {
    absl::StatusOr<Decision> d = rules().Run(*store, op, call);
    // What was given back may be what somebody waits for.
    if (op == Op::kRefund || op == Op::kReset) room.WakeAll();
    return d;
  }

  // Whoever waits holds the state until it has left: meanwhile the limiter can
  // be destroyed, or assigned to.
  absl::StatusOr<Decision> WaitByPeek(const Call& call, Time deadline,
                                      WaitingRoom::Ticket* ticket,
                                      const std::string& line);
  absl::StatusOr<Decision> WaitInLine(const Call& call, Micros max_wait,
                                      Cancellation* cancel);
  static absl::StatusOr<Decision> WaitByReservation(
      const std::shared_ptr<State>& state, const RuleSet& set, const Call& call,
      Micros max_wait, Cancellation* cancel);
  // Waits for the turn that was taken.
  absl::Status WaitForTurn(const Clock& clock, WaitingRoom::Ticket* ticket,
                           Reservation* taken);
  // For a wait that threw. `before`: a reading from before it.
  static void GiveBack(Reservation* taken, Time before);

  std::shared_ptr<Store> store;
  LimiterOptions options;
  std::shared_ptr<DenialCache> denials;  // null: none
  WaitingRoom room;
  std::atomic<const RuleSet*> current{nullptr};
  std::mutex update_mutex;  // held while sets change
  // By their texts; then those that have none.
  std::map<std::string, std::shared_ptr<const RuleSet>> sets;
  std::vector<std::shared_ptr<const RuleSet>> sets_alone;

 private:
  const RuleSet* Keep(std::shared_ptr<const RuleSet> set) {
    std::string text = set->Text();
    if (!text.empty()) {
      return sets.try_emplace(std::move(text), std::move(set))
          .first->second.get();
    }
    sets_alone.push_back(std::move(set));
    return sets_alone.back().get();
  }
};

}  // namespace weir

#endif  // WEIR_CORE_LIMITER_STATE_H_
