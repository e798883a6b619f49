// A redis-server of the test's own: on 127.0.0.1, on a free port, in a folder
// that goes with it, stopped by its own process id.
//
//   WEIR_NEEDS_REDIS_SERVER();
//   auto server = RedisServer::Start();
//   ASSERT_NE(server, nullptr);
//
// The macro WEIR_NEEDS_REDIS_SERVER() skips a test where there is no
// redis-server, or fails it if WEIR_REQUIRE_REDIS=1. WEIR_REDIS_SERVER=PATH
// says which program is started, so that tests can be run against another
// version, or against valkey-server.
#ifndef WEIR_TESTS_REDIS_REDIS_SERVER_H_
#define WEIR_TESTS_REDIS_REDIS_SERVER_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/redis/hiredis_client.h"

namespace weir::testing {

// Asks again and again until it holds, at most this long. For what only
// another process can bring about.
bool WaitUntil(const std::function<bool()>& holds,
               std::chrono::milliseconds limit = std::chrono::seconds(10));

// The path of redis-server: WEIR_REDIS_SERVER, or the first on PATH; empty if
// there is none.
const std::string& RedisServerProgram();
// WEIR_REQUIRE_REDIS=1: a missing server is a failure.
bool RedisIsRequired();

class RedisServer {
 public:
  // `options`: further words for the command line. Null if it does not start.
  static std::unique_ptr<RedisServer> Start(
      const std::vector<std::string>& options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  int port() const { return port_; }
  pid_t pid() const { return pid_; }
  const std::string& folder() const { return folder_; }
  // "redis://127.0.0.1:PORT"
  std::string url() const;
  // The path of its unix socket.
  std::string socket_path() const { return folder_ + "/socket"; }

  // One command over a connection of the test's own.
  RawReply Call(const std::vector<std::string>& words) {
    return client_->Call(words);
  }

  // A number that INFO tells behind `field`, as in "used_memory:"; 0: none.
  int64_t Info(const std::string& section, const std::string& field);
  // How often it ran a command since its statistics were reset.
  int64_t CallsOf(const std::string& command);

  // Of a cluster's node: it has every slot from now on.
  bool TakeEverySlot();

  // SIGKILL, and waits until it is gone.
  void Kill();
  // Starts it again, on the same port.
  bool Restart();
  void Pause();   // SIGSTOP
  void Resume();  // SIGCONT

 private:
  RedisServer(int port, std::string folder, std::vector<std::string> options);
  bool Launch();

  const int port_;
  const std::string folder_;
  const std::vector<std::string> options_;
  pid_t pid_ = 0;
  std::unique_ptr<HiredisClient> client_;
};

// A port that is free now; with_bus: port + 10000 is free too.
int FreePort(bool with_bus = false);

}  // namespace weir::testing

#define WEIR_NEEDS_REDIS_SERVER()                                        \
  if (::weir::testing::RedisServerProgram().empty()) {                   \
    if (::weir::testing::RedisIsRequired()) FAIL() << "no redis-server"; \
    GTEST_SKIP() << "no data: there is no redis-server here";            \
  }                                                                      \
  static_assert(true, "a semicolon follows")

#endif  // WEIR_TESTS_REDIS_REDIS_SERVER_H_
