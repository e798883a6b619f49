// A Redis Cluster of the test's own: masters with replicas, on 127.0.0.1.
//
//   auto cluster = RedisCluster::Start();   // 3 masters, 3 replicas: about 2 s
#ifndef WEIR_TESTS_REDIS_REDIS_CLUSTER_H_
#define WEIR_TESTS_REDIS_REDIS_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/redis/redis_server.h"

namespace weir::testing {

class RedisCluster {
 public:
  // Ready: every node says that all is well, every replica is streaming.
  // Null if it does not get there. `node_timeout_ms` sets how soon a dead
  // master is replaced: about twice that.
  static std::unique_ptr<RedisCluster> Start(int masters = 3,
                                             int replicas_each = 1,
                                             int node_timeout_ms = 2000);

  int masters() const { return masters_; }
  // The masters first; the replicas of master i are masters() + i, and so on.
  RedisServer& node(int i) { return *nodes_[static_cast<size_t>(i)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  std::string id(int i);

  // "redis+cluster://127.0.0.1:PORT,..." of all nodes.
  std::string url() const;

  // The node that says it is the master of a slot; -1 if none does.
  int MasterOf(int slot);
  // Moves a slot and its keys, as an operator's tool does.
  bool MoveSlot(int slot, int from, int to);
  // The first half of it: keys go over one by one in between.
  bool BeginMove(int slot, int from, int to);
  bool MoveKeys(int slot, int from, int to, int at_most);
  bool EndMove(int slot, int to);

 private:
  RedisCluster(int masters, std::vector<std::unique_ptr<RedisServer>> nodes)
      : masters_(masters), nodes_(std::move(nodes)) {}
  bool Form(int replicas_each);

  const int masters_;
  std::vector<std::unique_ptr<RedisServer>> nodes_;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_REDIS_CLUSTER_H_
