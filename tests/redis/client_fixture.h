// What tests of the client share.
#ifndef WEIR_TESTS_REDIS_CLIENT_FIXTURE_H_
#define WEIR_TESTS_REDIS_CLIENT_FIXTURE_H_

#include <arpa/inet.h>
#include <netinet/in.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/client.h"
#include "backends/redis/errors.h"
#include "backends/redis/lookup.h"
#include "backends/redis/sha1.h"
#include "backends/redis/url.h"
#include "gtest/gtest.h"
#include "tests/redis/redis_server.h"

namespace weir::redis {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline SteadyTime In(std::chrono::nanoseconds time) {
  return std::chrono::steady_clock::now() + time;
}

// That port of 127.0.0.1.
inline SocketAddress LoopbackAt(int port) {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(static_cast<uint16_t>(port));
  SocketAddress address;
  std::memcpy(&address.storage, &name, sizeof name);
  address.size = sizeof name;
  return address;
}

// A script that owns its parts.
class TestScript {
 public:
  explicit TestScript(std::string text)
      : text_(std::move(text)), sha1_(Sha1(text_)) {
    script_ = {"test", text_, sha1_};
  }
  TestScript(const TestScript&) = delete;
  TestScript& operator=(const TestScript&) = delete;
  const Script* get() const { return &script_; }

 private:
  const std::string text_;
  const std::string sha1_;
  Script script_;
};

// Admits ARGV[1] calls for each key, and counts every run in KEYS[1]..":n".
inline const Script* Take() {
  static const auto* const script = new TestScript(R"(
    local used = redis.call('INCR', KEYS[1])
    if used > tonumber(ARGV[1]) then return 0 end
    return 1)");
  return script->get();
}

inline const Script* Echo() {
  static const auto* const script =
      new TestScript("return {ARGV[1], #KEYS, KEYS[1]}");
  return script->get();
}

inline std::shared_ptr<Client> MakeClient(
    const std::string& url,
    const std::function<void(ClientOptions*)>& change = [](ClientOptions*) {}) {
  absl::StatusOr<Url> parsed = ParseUrl(url);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return nullptr;
  change(&parsed->client);
  absl::StatusOr<std::shared_ptr<Client>> client =
      Client::Create(parsed->client);
  EXPECT_TRUE(client.ok()) << client.status();
  return client.ok() ? *client : nullptr;
}

// One call with one key and one argument.
inline absl::StatusOr<Reply> Ask(Client* client, const Script* script,
                                 std::string_view key, std::string_view arg,
                                 std::chrono::nanoseconds time = seconds(2),
                                 bool charging = true) {
  Reply reply;
  absl::Status status = client->Run(
      {script, absl::MakeSpan(&key, 1), absl::MakeSpan(&arg, 1), charging},
      In(time), &reply);
  if (!status.ok()) return status;
  return reply;
}

// How one ends that the client's own thread carries.
inline absl::Status AskAsync(Client* client, const Script* script,
                             std::chrono::nanoseconds time = seconds(2)) {
  std::promise<absl::Status> told;
  client->RunAsync({script, {"k"}, {"1"}}, In(time),
                   [&](absl::StatusOr<Reply> reply) {
                     told.set_value(Detached(reply.status()));
                   });
  return told.get_future().get();
}

// A call for each text, which is its key and its argument. The calls refer to
// `texts`.
inline std::vector<ScriptCall> EchoEach(
    const std::vector<std::string_view>& texts) {
  std::vector<ScriptCall> calls;
  for (const std::string_view& text : texts) {
    calls.push_back(
        {Echo(), absl::MakeSpan(&text, 1), absl::MakeSpan(&text, 1)});
  }
  return calls;
}

// A server of its own for each test.
class OneServer : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    server_ = testing::RedisServer::Start();
    ASSERT_NE(server_, nullptr);
  }

  std::unique_ptr<testing::RedisServer> server_;
};

}  // namespace weir::redis

#endif  // WEIR_TESTS_REDIS_CLIENT_FIXTURE_H_
