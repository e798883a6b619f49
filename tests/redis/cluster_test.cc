// The client on a real cluster: three masters, three replicas.
#include <atomic>
#include <future>
#include <thread>

#include "backends/redis/slot.h"
#include "gmock/gmock.h"
#include "tests/redis/client_fixture.h"
#include "tests/redis/redis_cluster.h"

namespace weir::redis {
namespace {

using ::testing::HasSubstr;
using ::weir::testing::RedisCluster;
using ::weir::testing::RedisServer;
using ::weir::testing::WaitUntil;

// Slots 0-5460, 5461-10922, 10923-16383 are on the nodes 0, 1, 2.
constexpr char kOnNode2[] = "foo";  // slot 12182

class ClusterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    cluster_ = RedisCluster::Start();
    ASSERT_NE(cluster_, nullptr);
  }

  int64_t Counted(int node, const std::string& key) {
    const auto reply = cluster_->node(node).Call({"GET", key});
    return reply.text.empty() ? 0 : std::stoll(reply.text);
  }

  // Calls from many threads, until it is told to stop.
  class Load {
   public:
    Load(Client* client, const std::vector<std::string>& keys,
         const std::string& limit, int threads) {
      for (int t = 0; t < threads; ++t) {
        threads_.emplace_back([=] {
          for (size_t i = 0; !stop_; ++i) {
            const std::string& key = keys[i % keys.size()];
            const auto reply =
                Ask(client, Take(), key, limit, milliseconds(200));
            ++asked_;
            if (reply.ok()) {
              granted_ += static_cast<int>(reply->integer);
              ++answered_;
            } else {
              unknown_ += MayHaveCharged(reply.status());
              other_ += !IsOutage(reply.status());
            }
          }
        });
      }
    }
    ~Load() { Stop(); }
    void Stop() {
      stop_ = true;
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
    }
    int64_t granted() const { return granted_; }
    int64_t answered() const { return answered_; }
    int64_t unknown() const { return unknown_; }
    int64_t other() const { return other_; }
    // Goes on well for this many calls more.
    bool GoesOn(int64_t calls) {
      const int64_t before = answered_;
      return WaitUntil([&] { return answered_ > before + calls; }, seconds(20));
    }

   private:
    std::vector<std::thread> threads_;
    std::atomic<bool> stop_{false};
    std::atomic<int64_t> asked_{0}, granted_{0}, answered_{0}, unknown_{0},
        other_{0};
  };

  std::unique_ptr<RedisCluster> cluster_;
};

TEST_F(ClusterTest, FindsEveryNodeFromOne) {
  auto client = MakeClient("redis+cluster://127.0.0.1:" +
                           std::to_string(cluster_->node(0).port()));
  for (int i = 0; i < 300; ++i) {
    const std::string key = "{user:" + std::to_string(i) + "}:x";
    const auto reply = Ask(client.get(), Echo(), key, std::to_string(i));
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->elements[0].text, std::to_string(i));
    EXPECT_EQ(reply->elements[2].text, key);
  }
  // The map came with the first call; at most that one was sent elsewhere.
  EXPECT_LE(client->counters().Met(Reason::kMoved), 1);
  EXPECT_GE(client->counters().map_refreshes, 1);
  EXPECT_LE(client->counters().evals, 3);
}

TEST_F(ClusterTest, ManyGoOutAsOneBatchForEachNode) {
  auto client = MakeClient(cluster_->url());
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back("key" + std::to_string(i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<ScriptCall> calls = EchoEach(views);
  std::vector<absl::StatusOr<Reply>> out(calls.size());
  for (int round = 0; round < 3; ++round) {
    const int64_t sends = client->counters().sends;
    client->RunMany(calls, In(seconds(5)), absl::MakeSpan(out));
    for (size_t i = 0; i < out.size(); ++i) {
      ASSERT_TRUE(out[i].ok()) << out[i].status();
      EXPECT_EQ(out[i]->elements[2].text, texts[i]);
    }
    if (round == 2) {
      EXPECT_EQ(client->counters().sends - sends, 3);
    }
  }
}

TEST_F(ClusterTest, OfABatchOnlyTheCallsOfASilentNodeFail) {
  auto client = MakeClient(cluster_->url(), [](ClientOptions* options) {
    // The second time the node has to be connected to anew.
    options->max_call_age = milliseconds(400);
    options->breaker_failures = 1'000;
  });
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i) texts.push_back("key" + std::to_string(i));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const std::vector<ScriptCall> calls = EchoEach(views);
  std::vector<absl::StatusOr<Reply>> out(calls.size());
  client->RunMany(calls, In(seconds(5)), absl::MakeSpan(out));
  for (const auto& reply : out) ASSERT_TRUE(reply.ok()) << reply.status();

  RedisServer& silent = cluster_->node(1);
  silent.Pause();
  for (int round = 0; round < 2; ++round) {
    client->RunMany(calls, In(milliseconds(600)), absl::MakeSpan(out));
    for (size_t i = 0; i < out.size(); ++i) {
      const int slot = SlotOf(texts[i]);
      // As the cluster deals them out: 5461 to 10922 to the second master.
      EXPECT_EQ(out[i].ok(), slot < 5461 || slot > 10922)
          << round << " " << slot << " " << out[i].status();
    }
  }
  silent.Resume();
}

TEST_F(ClusterTest, KeysOfDifferentSlotsAreAnErrorThatSaysSo) {
  auto client = MakeClient(cluster_->url());
  const std::string_view keys[] = {"a", "b"};
  const std::string_view arg = "1";
  Reply reply;
  const auto status = client->Run({Echo(), keys, absl::MakeSpan(&arg, 1)},
                                  In(seconds(2)), &reply);
  EXPECT_EQ(ReasonOf(status), Reason::kCrossSlot) << status;
}

TEST_F(ClusterTest, ASlotMovesUnderLoadAndNothingIsGrantedTwice) {
  auto client = MakeClient(cluster_->url() + "?io_threads=1");
  const int slot = SlotOf(kOnNode2);
  std::vector<std::string> keys;
  for (int i = 0; i < 50; ++i) keys.push_back("{foo}" + std::to_string(i));
  constexpr int kLimit = 40;
  Load load(client.get(), keys, std::to_string(kLimit), 8);
  ASSERT_TRUE(load.GoesOn(200));
  // Half of the keys are there and half are here.
  ASSERT_TRUE(cluster_->BeginMove(slot, 2, 0));
  ASSERT_TRUE(cluster_->MoveKeys(slot, 2, 0, 25));
  ASSERT_TRUE(load.GoesOn(1000));
  // Asynchronous calls follow the same signs.
  for (const std::string& key : keys) {
    std::atomic<int> result{-1};
    client->RunAsync({Echo(), {key}, {"x"}}, In(seconds(5)),
                     [&](absl::StatusOr<Reply> reply) {
                       result = reply.ok() && reply->elements[2].text == key;
                     });
    ASSERT_TRUE(WaitUntil([&] { return result != -1; }));
    EXPECT_EQ(result, 1) << key;
  }
  while (cluster_->node(2)
             .Call({"CLUSTER", "COUNTKEYSINSLOT", std::to_string(slot)})
             .integer > 0) {
    ASSERT_TRUE(cluster_->MoveKeys(slot, 2, 0, 100));
  }
  ASSERT_TRUE(cluster_->EndMove(slot, 0));
  ASSERT_TRUE(load.GoesOn(2000));
  load.Stop();
  EXPECT_EQ(load.unknown(), 0);
  EXPECT_EQ(load.other(), 0);
  EXPECT_GE(client->counters().Met(Reason::kAsk), 1);
  EXPECT_GE(client->counters().Met(Reason::kMoved), 1);
  int64_t counted = 0;
  for (const std::string& key : keys) {
    const int64_t n = Counted(0, key);
    EXPECT_GE(n, kLimit);
    counted += n;
  }
  // Every call was run exactly once, and each key gave its limit.
  EXPECT_EQ(counted, load.answered());
  EXPECT_EQ(load.granted(), static_cast<int64_t>(keys.size()) * kLimit);
}

TEST_F(ClusterTest, AMasterDiesAndItsReplicaTakesOver) {
  auto client = MakeClient(cluster_->url());
  const std::vector<std::string> keys = {"{foo}1", "{foo}2"};  // node 2
  Load load(client.get(), keys, "1000000000", 8);
  ASSERT_TRUE(load.GoesOn(500));
  cluster_->node(2).Kill();
  const int64_t answered_before = load.answered();
  int master = -1;
  ASSERT_TRUE(WaitUntil(
      [&] {
        master = cluster_->MasterOf(SlotOf(kOnNode2));
        return master > 2;
      },
      seconds(20)));
  ASSERT_TRUE(load.GoesOn(2000));
  // The others were refused for a time, and go on too.
  EXPECT_TRUE(
      WaitUntil([&] { return Ask(client.get(), Echo(), "bar", "x").ok(); }));
  load.Stop();
  EXPECT_EQ(load.other(), 0);
  EXPECT_LE(load.unknown(), 8) << "one for each thread that was waiting";
  int64_t counted = 0;
  for (const std::string& key : keys) counted += Counted(master, key);
  // What the dead master had not yet sent to its replica is lost, its last
  // answers to each thread too; calls that were not answered may be counted.
  // Nothing else.
  EXPECT_LE(counted, load.answered() + load.unknown());
  EXPECT_GE(counted, load.answered() - answered_before - 8);
  // It comes back as a replica.
  ASSERT_TRUE(cluster_->node(2).Restart());
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(WaitUntil(
        [&] { return Ask(client.get(), Take(), keys[0], "1000000000").ok(); }));
  }
}

// Calls that come one at a time and fail at once: there is never one under way
// when the map may be asked for anew.
TEST_F(ClusterTest, AQuietCallerLearnsWhoTookOver) {
  // Its only address is the node that will die: nobody else is connected yet.
  const auto only = [this](ClientOptions* options) {
    options->addresses = {{"127.0.0.1", cluster_->node(2).port(), ""}};
  };
  auto blocking = MakeClient(cluster_->url(), only);
  auto waiting = MakeClient(cluster_->url(), [&](ClientOptions* options) {
    only(options);
    options->io_threads = 1;
  });
  const auto ask = [&] {
    return Ask(blocking.get(), Echo(), kOnNode2, "x", milliseconds(100)).ok();
  };
  const auto ask_async = [&] {
    std::promise<bool> ok;
    waiting->RunAsync(
        {Echo(), {kOnNode2}, {"x"}}, In(milliseconds(100)),
        [&](absl::StatusOr<Reply> reply) { ok.set_value(reply.ok()); });
    return ok.get_future().get();
  };
  ASSERT_TRUE(ask());
  ASSERT_TRUE(ask_async());
  cluster_->node(2).Kill();
  ASSERT_TRUE(WaitUntil(
      [&] {
        ask();
        ask_async();
        return cluster_->MasterOf(SlotOf(kOnNode2)) > 2;
      },
      seconds(20)));
  EXPECT_TRUE(WaitUntil(ask, seconds(2)));
  EXPECT_TRUE(WaitUntil(ask_async, seconds(2)));
}

TEST_F(ClusterTest, AForcedFailoverUnderLoadCostsNoCall) {
  auto client = MakeClient(cluster_->url());
  const std::vector<std::string> keys = {"{foo}1"};
  Load load(client.get(), keys, "1000000000", 8);
  ASSERT_TRUE(load.GoesOn(500));
  ASSERT_TRUE(cluster_->node(5).Call({"CLUSTER", "FAILOVER"}).ok());
  ASSERT_TRUE(
      WaitUntil([&] { return cluster_->MasterOf(SlotOf(kOnNode2)) == 5; }));
  ASSERT_TRUE(load.GoesOn(1000));
  load.Stop();
  EXPECT_EQ(load.other(), 0);
  // The old master is left without a word about what it was asked last.
  EXPECT_LE(Counted(5, keys[0]), load.answered() + load.unknown());
  EXPECT_GE(Counted(5, keys[0]), load.answered());
}

// One node that has every slot: what needs no more than that.
TEST(OneNodeCluster, WaitsOutACallForASlotThatNobodyHasForAMoment) {
  WEIR_NEEDS_REDIS_SERVER();
  auto server = RedisServer::Start({"--cluster-enabled", "yes"});
  ASSERT_NE(server, nullptr);
  auto client =
      MakeClient("redis+cluster://127.0.0.1:" + std::to_string(server->port()));
  const auto down = Ask(client.get(), Echo(), "k", "v", milliseconds(50));
  EXPECT_TRUE(IsOutage(down.status())) << down.status();
  EXPECT_GE(client->counters().Met(Reason::kClusterDown), 1);
  ASSERT_TRUE(server->TakeEverySlot());
  EXPECT_TRUE(
      WaitUntil([&] { return Ask(client.get(), Echo(), "k", "v").ok(); }));
}

}  // namespace
}  // namespace weir::redis
