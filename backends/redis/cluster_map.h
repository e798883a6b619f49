// Which node has which slot, as far as is known, and all nodes ever heard of.
//
// It starts knowing the given addresses only; a call for a slot that nobody is
// known for goes to any of them, and learns from the answer. Without a cluster
// there is one node, which has everything.
// Thread safe. Nodes stay as long as the map; asking for an owner is one load.
#ifndef WEIR_BACKENDS_REDIS_CLUSTER_MAP_H_
#define WEIR_BACKENDS_REDIS_CLUSTER_MAP_H_

#include <array>
#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "backends/redis/call.h"
#include "backends/redis/node.h"
#include "backends/redis/options.h"
#include "backends/redis/slot.h"
#include "backends/redis/tally.h"
#include "core/mutex.h"

namespace weir::redis {

class ClusterMap {
 public:
  // `options` and `tally` outlive it.
  ClusterMap(const ClientOptions& options, Tally* tally);

  // -1: any slot. Null: not known.
  Node* Owner(int slot) const;
  // A node to ask when the owner is not known or does not answer: each time
  // another, those that answer first. Null: there is none but `except`.
  Node* Any(const Node* except = nullptr) ABSL_LOCKS_EXCLUDED(mutex_);
  // The node of "host:port", as a redirection names it; an empty host is that
  // of `told_by`. Null if it makes no sense.
  Node* Find(std::string_view text, const Node& told_by)
      ABSL_LOCKS_EXCLUDED(mutex_);
  void SetOwner(int slot, Node* node);
  // For each node that owns slots, the lowest of them.
  std::vector<int> SlotOfEachMaster() const;

  // The reply of CLUSTER SLOTS, as `told_by` gave it. False: it is not one.
  bool Apply(const Reply& slots, const Node& told_by)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Something did not fit; a refresh is due.
  void MarkStale() { stale_.store(true, std::memory_order_relaxed); }
  // True for one caller at a time, if a refresh is due and the last is not too
  // recent. That caller makes it.
  bool ClaimRefresh(SteadyTime now);
  // A refresh is being made that may soon be answered. Once it is not, Owner
  // knows what the answer said.
  bool IsRefreshing(SteadyTime now) const;
  // Whoever claimed one gets no answer.
  void EndRefresh() { refreshing_until_.store(0, std::memory_order_release); }

 private:
  Node* Get(const Address& address) ABSL_LOCKS_EXCLUDED(mutex_);
  bool Learn(const Reply& slots, const Node& told_by)
      ABSL_LOCKS_EXCLUDED(mutex_);

  const ClientOptions& options_;
  Tally* const tally_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Node>> nodes_ ABSL_GUARDED_BY(mutex_);
  size_t turn_ ABSL_GUARDED_BY(mutex_) = 0;
  Node* first_ = nullptr;
  // Release when set, acquire when asked: a node is seen whole.
  std::array<std::atomic<Node*>, kSlots> owners_{};
  std::atomic<bool> stale_{true};
  // Ticks of the steady clock.
  std::atomic<int64_t> next_refresh_{0};
  // 0: none is being made. Release when one has ended, acquire when asked: who
  // sees that sees its owners too.
  std::atomic<int64_t> refreshing_until_{0};
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_CLUSTER_MAP_H_
