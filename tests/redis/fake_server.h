// A server that says what the test tells it to: for replies that no real one
// gives. Listens on 127.0.0.1, on a port of its own; one thread.
#ifndef WEIR_TESTS_REDIS_FAKE_SERVER_H_
#define WEIR_TESTS_REDIS_FAKE_SERVER_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weir::testing {

class FakeServer {
 public:
  using Command = std::vector<std::string>;
  struct Answer {
    std::string bytes;
    bool close = false;  // after the bytes
    // Every other connection too, those with nothing to read as well.
    bool close_all = false;
  };
  // Called on the server's thread with every whole command but the client's
  // greeting, which is answered as a Redis would.
  using Behaviour = std::function<Answer(const Command& command)>;

  // `info`: what INFO is answered with.
  explicit FakeServer(Behaviour behaviour,
                      std::string info = "$22\r\nredis_version:7.0.15\r\n\r\n");
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  int port() const { return port_; }
  std::string url() const {
    return "redis://127.0.0.1:" + std::to_string(port_);
  }
  int connections() const { return connections_; }
  int commands() const { return commands_; }

 private:
  struct Peer {
    int fd;
    std::string bytes;
  };
  void Serve();
  bool Read(Peer* peer);

  const Behaviour behaviour_;
  const std::string info_;
  int listener_ = -1;
  int stop_fd_ = -1;
  int port_ = 0;
  bool close_all_ = false;  // the server's thread
  std::atomic<int> connections_{0};
  std::atomic<int> commands_{0};
  std::thread thread_;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_FAKE_SERVER_H_
