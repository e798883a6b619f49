// How a client reaches its Redis, and how long it may take over it.
#ifndef WEIR_BACKENDS_REDIS_OPTIONS_H_
#define WEIR_BACKENDS_REDIS_OPTIONS_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/tls.h"

namespace weir::redis {

inline constexpr int kMaxPort = 65535;

// More calls in a command would hold up the server's other callers for longer,
// and save little: a 32nd of what each command costs.
inline constexpr int kMaxBatch = 32;

// Where a server listens: host and port, or the path of a unix socket.
struct Address {
  std::string host;
  int port = 6379;
  std::string path;

  bool is_unix() const { return !path.empty(); }
  // "host:port" ("[::1]:6379") or the path.
  std::string ToString() const;

  friend bool operator==(const Address& a, const Address& b) {
    return a.host == b.host && a.port == b.port && a.path == b.path;
  }
};

struct SocketAddress;

struct ClientOptions {
  // One server; on a cluster any of its nodes, the others are found.
  std::vector<Address> addresses;
  bool cluster = false;
  // AUTH is sent if there is a password. No user: the server's default user.
  std::string user;
  std::string password;
  // SELECT is sent unless it is 0. A cluster has database 0 only.
  int database = 0;

  // Tells a host's addresses instead of the system's resolver, if it is set;
  // for tests.
  std::function<std::vector<SocketAddress>(const Address&)> resolver;

  // Null: connections are plain.
  std::shared_ptr<const TlsContext> tls;

  // Sockets for each node, shared by all blocking callers. One is nearly
  // always best: calls that share a socket share its system calls.
  int connections = 1;
  // Busy waiting before a blocking caller sleeps. Worth a core, nothing less.
  std::chrono::microseconds spin{0};
  // 1: RunAsync is carried by a thread of the client's own. 0: by whoever
  // watches event_fd() and calls Process().
  int io_threads = 0;
  // Calls of a batch that may share a command. 1: none; for a proxy that sends
  // a script where its first key belongs.
  int batch = kMaxBatch;
  // Commands in flight and queued on one socket; more are ResourceExhausted.
  int max_in_flight = 100'000;

  // The longest that connecting, TLS, AUTH, SELECT and INFO may take together,
  // at all addresses of a host.
  std::chrono::microseconds connect_timeout = std::chrono::seconds(1);
  // A socket whose oldest call has waited this long is closed.
  std::chrono::microseconds max_call_age = std::chrono::seconds(2);
  // This many failures in a row, and a node is asked only by one probing call
  // an interval. The interval starts at the first value and doubles up to the
  // second; each is drawn from its upper half, so that a fleet does not come
  // back in one instant.
  int breaker_failures = 3;
  std::chrono::microseconds min_retry_interval = std::chrono::milliseconds(50);
  std::chrono::microseconds max_retry_interval = std::chrono::milliseconds(500);

  // How often one call waits out TRYAGAIN, CLUSTERDOWN or LOADING; and how many
  // of MOVED and ASK, and of nodes that do not answer, it goes on from between
  // two of these.
  int max_redirects = 8;
  // A reply larger than this, or with more elements, is a protocol error.
  size_t max_reply_bytes = size_t{1} << 20;
  size_t max_reply_elements = size_t{1} << 16;
};

// InvalidArgument names the option, its value and what is allowed.
absl::Status Validate(const ClientOptions& options);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_OPTIONS_H_
