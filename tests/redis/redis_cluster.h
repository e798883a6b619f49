// A Redis Cluster of the test's own: masters with replicas, on 127.0.0.1.
//
//   auto cluster = RedisCluster::Start();   // 3 masters, 3 replicas: about 2 s
#ifndef WEIR_TESTS_REDIS_REDIS_CLUSTER_H_
#define WEIR_TESTS_REDIS_REDIS_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/redis/certificates.h"
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
  // Three masters that speak TLS to their clients and to each other, under the
  // server's certificate.
  static std::unique_ptr<RedisCluster> StartTls(const Certificates& files);

  int masters() const { return masters_; }
  // The masters first; the replicas of master i are masters() + i, and so on.
  RedisServer& node(int i) { return *nodes_[static_cast<size_t>(i)]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  std::string id(int i);

  // "redis+cluster://127.0.0.1:PORT,..." of all nodes; rediss+cluster:// with
  // TLS.
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
  explicit RedisCluster(int masters) : masters_(masters) {}
  // `tls`: the options of TLS but for the port; none without.
  bool StartNodes(int count, int node_timeout_ms,
                  const std::vector<std::string>& tls);
  bool Form(int replicas_each);

  const int masters_;
  bool tls_ = false;
  std::vector<std::unique_ptr<RedisServer>> nodes_;
  std::vector<std::string> ports_;  // by which they are asked
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_REDIS_CLUSTER_H_
