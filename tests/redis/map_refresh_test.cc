// Who owns the slots of a cluster is asked for once, and waited for by all who
// need to know. Fake nodes, so that everybody needs it at the same moment.
#include <atomic>
#include <future>
#include <thread>

#include "tests/redis/client_fixture.h"
#include "tests/redis/fake_server.h"

namespace weir::redis {
namespace {

using ::weir::testing::FakeServer;
using ::weir::testing::WaitUntil;
using Answer = FakeServer::Answer;
using Command = FakeServer::Command;

constexpr int kTogether = 16;

// The first owns every slot. Once it has that many calls it answers none, hangs
// up on whoever asks, and the second owns them.
class MapRefreshTest : public ::testing::Test {
 protected:
  Answer Slots() const {
    const int port = (gone_ ? second_ : first_).port();
    return {"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" +
            std::to_string(port) + "\r\n"};
  }
  Answer First(const Command& command) {
    if (command[0] == "CLUSTER") return Slots();
    if (!asked_together_) return {":1\r\n"};
    if (++asked_ >= kTogether) gone_ = true;
    return {"", false, gone_};
  }
  Answer Second(const Command& command) {
    return command[0] == "CLUSTER" ? Slots() : Answer{":2\r\n"};
  }

  // A client that knows the owner, and may ask for the map again.
  std::shared_ptr<Client> Settled(int io_threads) {
    auto client = MakeClient(
        "redis+cluster://127.0.0.1:" + std::to_string(first_.port()) +
            ",127.0.0.1:" + std::to_string(second_.port()),
        [&](ClientOptions* options) { options->io_threads = io_threads; });
    const SteadyTime since = In(seconds(0));
    EXPECT_TRUE(WaitUntil([&] {
      const bool known = Ask(client.get(), Echo(), "k", "1")->integer == 1;
      return known && In(seconds(0)) - since > milliseconds(100);
    }));
    asked_together_ = true;
    return client;
  }

  std::atomic<bool> asked_together_{false};
  std::atomic<bool> gone_{false};
  std::atomic<int> asked_{0};
  FakeServer first_{[this](const Command& c) { return First(c); }};
  FakeServer second_{[this](const Command& c) { return Second(c); }};
};

TEST_F(MapRefreshTest, AsynchronousCallsWaitForTheAnswer) {
  const auto client = Settled(1);
  std::vector<std::promise<absl::Status>> told(kTogether);
  for (auto& one : told) {
    client->RunAsync({Echo(), {"k"}, {"1"}, /*charging=*/false}, In(seconds(5)),
                     [&one](absl::StatusOr<Reply> reply) {
                       one.set_value(Detached(reply.status()));
                     });
  }
  for (auto& one : told) {
    const absl::Status status = one.get_future().get();
    EXPECT_TRUE(status.ok()) << status;
  }
}

TEST_F(MapRefreshTest, BlockingCallsWaitForTheAnswer) {
  const auto client = Settled(0);
  std::vector<std::thread> threads;
  std::vector<absl::Status> told(kTogether);
  for (absl::Status& one : told) {
    threads.emplace_back([&] {
      one = Detached(
          Ask(client.get(), Echo(), "k", "1", seconds(5), false).status());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : told) EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace weir::redis
