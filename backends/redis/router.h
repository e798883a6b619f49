// Blocking calls: each to the node that has its keys, again where an answer
// says so, all within one deadline. Thread safe.
#ifndef WEIR_BACKENDS_REDIS_ROUTER_H_
#define WEIR_BACKENDS_REDIS_ROUTER_H_

#include <atomic>

#include "absl/types/span.h"
#include "backends/redis/call.h"
#include "backends/redis/cluster_map.h"
#include "backends/redis/course.h"
#include "backends/redis/options.h"
#include "backends/redis/tally.h"

namespace weir::redis {

// A call under way.
struct Leg {
  Leg(const ScriptCall& c, Reply* r, bool cluster)
      : call(&c), reply(r), course(SlotOfFirst(c.keys, cluster), c.charging) {}

  const ScriptCall* call;
  Reply* reply;
  Course course;
  bool over = false;
  bool alone = false;    // shares no command any more
  Node* node = nullptr;  // of the last attempt
};

class Router {
 public:
  // All outlive it.
  Router(const ClientOptions& options, ClusterMap* map, Tally* tally)
      : options_(options), map_(map), tally_(tally) {}

  // Until every leg is over.
  void Run(absl::Span<Leg> legs, SteadyTime deadline);

 private:
  struct Group;

  // One attempt of every leg that is not over.
  void Round(absl::Span<Leg> legs, SteadyTime now, SteadyTime deadline);
  // The node of its next attempt; null: there is none now, and perhaps it is
  // over.
  Node* Choose(Leg* leg, SteadyTime now);
  // Asks one node and waits for it.
  void Ask(Node* node, absl::Span<Leg* const> legs, bool refresh,
           SteadyTime now, SteadyTime deadline);
  void Fill(const Node& node, absl::Span<Leg* const> legs, bool refresh,
            Group* group);
  // How many of the first of these share a command.
  size_t Sharing(const Node& node, absl::Span<Leg* const> legs) const;
  void Settle(Node* node, Group* group);
  // Gives each of these, which shared a command, its part of the reply that the
  // first was given. False: the command was refused, and perhaps only because
  // it was shared; each is to be asked alone.
  bool Divide(absl::Span<Leg* const> legs);
  // One that can't be asked for the map; null: the first of them can.
  const Node* SilentNode(absl::Span<Leg> legs);
  // Asks another node for the map, if the one that should know is silent.
  void RefreshBeside(const Node* silent, SteadyTime now, SteadyTime deadline);

  const ClientOptions& options_;
  ClusterMap* const map_;
  Tally* const tally_;
  // A server refused a command because its keys lie in different slots, though
  // it was not said to be a cluster: nothing is shared from then on. Relaxed:
  // who does not know it yet is told too.
  std::atomic<bool> has_slots_{false};
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_ROUTER_H_
