#include "tests/redis/redis_cluster.h"

#include <utility>

namespace weir::testing {
namespace {

constexpr int kSlots = 16384;

bool Says(RedisServer& node, const std::vector<std::string>& words,
          const std::string& part) {
  return node.Call(words).text.find(part) != std::string::npos;
}

}  // namespace

std::unique_ptr<RedisCluster> RedisCluster::Start(int masters,
                                                  int replicas_each,
                                                  int node_timeout_ms) {
  std::unique_ptr<RedisCluster> cluster(new RedisCluster(masters));
  return cluster->StartNodes(masters * (1 + replicas_each), node_timeout_ms,
                             {}) &&
                 cluster->Form(replicas_each)
             ? std::move(cluster)
             : nullptr;
}

std::unique_ptr<RedisCluster> RedisCluster::StartTls(
    const Certificates& files) {
  std::unique_ptr<RedisCluster> cluster(new RedisCluster(3));
  return cluster->StartNodes(
             3, 2000,
             {"--tls-cluster", "yes", "--tls-auth-clients", "no",
              "--tls-cert-file", files.server.cert, "--tls-key-file",
              files.server.key, "--tls-ca-cert-file", files.authority.cert}) &&
                 cluster->Form(0)
             ? std::move(cluster)
             : nullptr;
}

bool RedisCluster::StartNodes(int count, int node_timeout_ms,
                              const std::vector<std::string>& tls) {
  tls_ = !tls.empty();
  for (int i = 0; i < count; ++i) {
    std::vector<std::string> options = {
        "--cluster-enabled",          "yes",
        "--cluster-config-file",      "nodes.conf",
        "--cluster-node-timeout",     std::to_string(node_timeout_ms),
        "--repl-diskless-sync-delay", "0"};
    options.insert(options.end(), tls.begin(), tls.end());
    std::string port;
    if (tls_) {
      port = std::to_string(FreePort(true));
      options.insert(options.end(), {"--tls-port", port});
    }
    auto node = RedisServer::Start(options);
    if (node == nullptr) return false;
    ports_.push_back(tls_ ? port : std::to_string(node->port()));
    nodes_.push_back(std::move(node));
  }
  return true;
}

bool RedisCluster::Form(int replicas_each) {
  for (int i = 0; i < masters_; ++i) {
    const int first = kSlots * i / masters_;
    const int last = kSlots * (i + 1) / masters_ - 1;
    node(i).Call({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    // One by one: ranges are known since 7.0 only.
    std::vector<std::string> add = {"CLUSTER", "ADDSLOTS"};
    for (int slot = first; slot <= last; ++slot) {
      add.push_back(std::to_string(slot));
    }
    node(i).Call(add);
  }
  for (int i = 1; i < size(); ++i) {
    node(i).Call({"CLUSTER", "MEET", "127.0.0.1", ports_[0]});
  }
  const auto all = [this](const auto& holds) {
    for (int i = 0; i < size(); ++i) {
      if (!holds(i)) return false;
    }
    return true;
  };
  const std::string known = "cluster_known_nodes:" + std::to_string(size());
  const auto met = [&](int i) {
    return Says(node(i), {"CLUSTER", "INFO"}, known + "\r");
  };
  if (!WaitUntil([&] { return all(met); })) return false;
  for (int i = masters_; i < size(); ++i) {
    const std::string master = id(i % masters_);
    // Refused until the handshake with the master is through.
    if (!WaitUntil([&] {
          return node(i).Call({"CLUSTER", "REPLICATE", master}).ok();
        })) {
      return false;
    }
  }
  const auto well = [&](int i) {
    return Says(node(i), {"CLUSTER", "INFO"}, "cluster_state:ok") &&
           (i >= masters_ || replicas_each == 0 ||
            Says(node(i), {"INFO", "replication"}, "state=online"));
  };
  // Every node must also know who is whose replica, or nobody is promoted.
  const std::string replicas = std::to_string(replicas_each * masters_);
  const auto informed = [&](int i) {
    const std::string text = node(i).Call({"CLUSTER", "NODES"}).text;
    int count = 0;
    for (size_t at = 0; (at = text.find("slave", at)) != std::string::npos;
         ++at) {
      ++count;
    }
    return std::to_string(count) == replicas;
  };
  return WaitUntil([&] { return all(well) && all(informed); });
}

std::string RedisCluster::id(int i) {
  return node(i).Call({"CLUSTER", "MYID"}).text;
}

std::string RedisCluster::url() const {
  std::string url = tls_ ? "rediss+cluster://" : "redis+cluster://";
  for (const std::string& port : ports_) {
    if (url.back() != '/') url += ',';
    url += "127.0.0.1:" + port;
  }
  return url;
}

int RedisCluster::MasterOf(int slot) {
  for (int i = 0; i < size(); ++i) {
    if (node(i).pid() == 0) continue;
    const std::string me = id(i);
    const RawReply slots = node(i).Call({"CLUSTER", "SLOTS"});
    for (const RawReply& range : slots.elements) {
      if (range.elements.size() < 3 || range.elements[0].integer > slot ||
          range.elements[1].integer < slot) {
        continue;
      }
      const auto& master = range.elements[2].elements;
      if (master.size() > 2 && master[2].text == me) return i;
    }
  }
  return -1;
}

bool RedisCluster::BeginMove(int slot, int from, int to) {
  const std::string number = std::to_string(slot);
  return node(to)
             .Call({"CLUSTER", "SETSLOT", number, "IMPORTING", id(from)})
             .ok() &&
         node(from)
             .Call({"CLUSTER", "SETSLOT", number, "MIGRATING", id(to)})
             .ok();
}

bool RedisCluster::MoveKeys(int slot, int from, int to, int at_most) {
  const RawReply keys =
      node(from).Call({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot),
                       std::to_string(at_most)});
  for (const RawReply& key : keys.elements) {
    const RawReply moved = node(from).Call({"MIGRATE", "127.0.0.1",
                                            ports_[static_cast<size_t>(to)],
                                            key.text, "0", "5000"});
    if (!moved.ok()) return false;
  }
  return keys.ok();
}

bool RedisCluster::EndMove(int slot, int to) {
  // The target first, so that there is never a slot without a master.
  const std::string number = std::to_string(slot);
  const std::string owner = id(to);
  if (!node(to).Call({"CLUSTER", "SETSLOT", number, "NODE", owner}).ok()) {
    return false;
  }
  for (int i = 0; i < masters_; ++i) {
    if (i != to && node(i).pid() != 0) {
      node(i).Call({"CLUSTER", "SETSLOT", number, "NODE", owner});
    }
  }
  return true;
}

bool RedisCluster::MoveSlot(int slot, int from, int to) {
  if (!BeginMove(slot, from, to)) return false;
  const std::string number = std::to_string(slot);
  while (node(from).Call({"CLUSTER", "COUNTKEYSINSLOT", number}).integer > 0) {
    if (!MoveKeys(slot, from, to, 100)) return false;
  }
  return EndMove(slot, to);
}

}  // namespace weir::testing
