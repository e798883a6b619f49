// The client on one real server, while all is well and while it is not.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "gmock/gmock.h"
#include "tests/redis/client_fixture.h"

namespace weir::redis {
namespace {

using ::testing::HasSubstr;
using ::weir::testing::RedisServer;
using ::weir::testing::WaitUntil;

class ClientTest : public OneServer {};

TEST_F(ClientTest, RunsAScriptAndLoadsItOnce) {
  auto client = MakeClient(server_->url());
  const std::string key("a\0 {b}\r\n%s", 10);
  for (int i = 0; i < 3; ++i) {
    const auto reply = Ask(client.get(), Echo(), key, "x\ny");
    ASSERT_TRUE(reply.ok()) << reply.status();
    ASSERT_EQ(reply->elements.size(), 3u);
    EXPECT_EQ(reply->elements[0].text, "x\ny");
    EXPECT_EQ(reply->elements[1].integer, 1);
    EXPECT_EQ(reply->elements[2].text, key);
  }
  EXPECT_EQ(client->counters().evals, 1);
  server_->Call({"SCRIPT", "FLUSH"});
  EXPECT_TRUE(Ask(client.get(), Echo(), "k", "v").ok());
  EXPECT_EQ(client->counters().evals, 2);
  EXPECT_EQ(client->counters().connects, 1);
  EXPECT_EQ(client->counters().Met(Reason::kNoScript), 2);
}

TEST_F(ClientTest, ThreadsShareOneConnectionAndGrantTheCapacity) {
  auto client = MakeClient(server_->url());
  constexpr int kThreads = 16;
  constexpr int kCalls = 500;
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Every reply must be that of its own call.
      const std::string mine = std::to_string(t);
      for (int i = 0; i < kCalls; ++i) {
        const auto echo = Ask(client.get(), Echo(), "k", mine);
        ASSERT_TRUE(echo.ok()) << echo.status();
        ASSERT_EQ(echo->elements[0].text, mine);
        const auto take = Ask(client.get(), Take(), "shared", "1000");
        ASSERT_TRUE(take.ok()) << take.status();
        granted += static_cast<int>(take->integer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 1000);
  EXPECT_EQ(server_->Call({"GET", "shared"}).text,
            std::to_string(kThreads * kCalls));
  EXPECT_EQ(client->counters().connects, 1);
}

TEST_F(ClientTest, ManyCallsGoOutAsOneBatch) {
  auto client = MakeClient(server_->url());
  std::vector<std::string> texts;
  for (int i = 0; i < 200; ++i) texts.push_back(std::to_string(i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<ScriptCall> calls = EchoEach(views);
  std::vector<absl::StatusOr<Reply>> out(calls.size());
  client->RunMany(calls, In(seconds(2)), absl::MakeSpan(out));
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(out[i].ok()) << out[i].status();
    EXPECT_EQ(out[i]->elements[0].text, texts[i]);
  }
  // Once for all, and once more because the script was not known.
  EXPECT_EQ(client->counters().sends, 2);
  EXPECT_EQ(client->counters().evals, 1);
}

}  // namespace
}  // namespace weir::redis
