// The client on a cluster of fake nodes: what real ones come to seldom, or not
// at a moment of the test's choice.
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

// What CLUSTER SLOTS is answered with where that node has every slot.
Answer AllSlotsAt(const FakeServer& node) {
  return {"*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:" +
          std::to_string(node.port()) + "\r\n"};
}

std::string UrlOf(const FakeServer& first, const FakeServer& second) {
  return "redis+cluster://127.0.0.1:" + std::to_string(first.port()) +
         ",127.0.0.1:" + std::to_string(second.port());
}

// Who owns the slots is asked for once, and waited for by all who need to know.
// The first node owns every slot. Once it has that many calls it answers none,
// hangs up on whoever asks, and the second owns them.
class MapRefreshTest : public ::testing::Test {
 protected:
  Answer Slots() const { return AllSlotsAt(gone_ ? second_ : first_); }
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
        UrlOf(first_, second_),
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

// A slot on its way from one node to the other, where some of the call's keys
// are not there yet.
TEST(MigratingSlot, IsWaitedForByWhomeverItIsAskedThrough) {
  constexpr int kTries = 9;
  std::atomic<int> tries{0};
  std::atomic<const FakeServer*> first{nullptr};
  const FakeServer second([&](const Command& command) {
    if (command[0] == "CLUSTER") return AllSlotsAt(*first);
    if (command[0] == "ASKING") return Answer{"+OK\r\n"};
    return ++tries < kTries ? Answer{"-TRYAGAIN Multiple keys request\r\n"}
                            : Answer{":2\r\n"};
  });
  const FakeServer asked([&](const Command& command) {
    if (command[0] == "CLUSTER") return AllSlotsAt(*first);
    return Answer{"-ASK 7629 127.0.0.1:" + std::to_string(second.port()) +
                  "\r\n"};
  });
  first = &asked;
  for (const bool async : {false, true}) {
    tries = 0;
    const auto client = MakeClient(
        UrlOf(asked, asked),
        [&](ClientOptions* options) { options->io_threads = async ? 1 : 0; });
    const absl::Status status =
        async ? AskAsync(client.get(), Take(), seconds(5))
              : Ask(client.get(), Take(), "k", "1", seconds(5)).status();
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_EQ(tries, kTries);
  }
}

}  // namespace
}  // namespace weir::redis
