// `weir replay --store`: the same decisions as on the embedded store, and
// nothing is left on the server.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/redis/redis_cluster.h"
#include "tests/redis/redis_server.h"

namespace weir {
namespace {

using testing::RedisServer;

class ReplayOnRedis : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    server_ = RedisServer::Start();
    ASSERT_NE(server_, nullptr);
    Write("limits.json",
          R"({"rules": [{"algorithm": "sliding_log", "limit": 3,
                         "window": "10s"}]})");
    std::string trace = "time_us,key\n";
    for (int i = 0; i < 200; ++i) {
      trace += std::to_string(1'700'000'000'000'000 + i * 700'000) + ",k" +
               std::to_string(i % 3) + "\n";
    }
    Write("trace.csv", trace);
  }

  std::string Path(const std::string& name) {
    return server_->folder() + "/" + name;
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(Path(name)) << text;
  }
  std::string Read(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  // The exit code.
  int Replay(const std::string& options) {
    const std::string command = std::string(WEIR_CLI_PATH) +
                                " replay --limits " + Path("limits.json") +
                                " " + options + " " + Path("trace.csv") +
                                " > " + Path("out") + " 2> " + Path("err");
    return WEXITSTATUS(std::system(command.c_str()));
  }
  int64_t Keys() { return server_->Call({"DBSIZE"}).integer; }

  std::unique_ptr<RedisServer> server_;
};

TEST_F(ReplayOnRedis, DecidesAlikeAndCleansUp) {
  server_->Call({"SET", "weir:somebody:else", "1"});
  ASSERT_EQ(Replay("--decisions " + Path("here")), 0) << Read("err");
  const std::string report = Read("out");
  ASSERT_EQ(
      Replay("--decisions " + Path("there") + " --store " + server_->url()), 0)
      << Read("err");
  EXPECT_EQ(Read("out"), report);
  EXPECT_FALSE(Read("here").empty());
  EXPECT_EQ(Read("there"), Read("here"));
  EXPECT_EQ(Keys(), 1);
  EXPECT_EQ(server_->Call({"GET", "weir:somebody:else"}).text, "1");
}

TEST_F(ReplayOnRedis, CleansUpOnAClusterToo) {
  const auto cluster = testing::RedisCluster::Start(3, 0);
  ASSERT_NE(cluster, nullptr);
  const std::string there = "--store '" + cluster->url() + "'";
  std::string trace = "time_us,key\n";
  for (int i = 0; i < 3'000; ++i) {
    trace += std::to_string(1'700'000'000'000'000 + i * 700) + ",k" +
             std::to_string(i % 1'500) + "\n";
  }
  Write("trace.csv", trace);
  ASSERT_EQ(Replay("--decisions " + Path("here")), 0) << Read("err");
  ASSERT_EQ(Replay(there + " --decisions " + Path("there")), 0) << Read("err");
  EXPECT_EQ(Read("there"), Read("here"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cluster->node(i).Call({"DBSIZE"}).integer, 0) << i;
  }
  // Slots 15495, 3300 and 7365: three nodes.
  for (const char* key : {"ns:{a}", "ns:{b}", "ns:{c}"}) {
    int64_t set = 0;
    for (int i = 0; i < 3; ++i) {
      set += cluster->node(i).Call({"SET", key, "1"}).ok() ? 1 : 0;
    }
    ASSERT_EQ(set, 1);
    EXPECT_EQ(Replay(there + " --namespace ns"), 2) << key;
    EXPECT_NE(Read("err").find("holds keys"), std::string::npos) << Read("err");
    for (int i = 0; i < 3; ++i) cluster->node(i).Call({"DEL", key});
  }
}

TEST_F(ReplayOnRedis, TakesNoNamespaceThatIsInUse) {
  const std::string there = "--store " + server_->url();
  server_->Call({"SET", "a*b:x", "1"});
  EXPECT_EQ(Replay(there + " --namespace 'a*b'"), 2);
  EXPECT_NE(Read("err").find("holds keys"), std::string::npos) << Read("err");
  // A name is no pattern.
  server_->Call({"SET", "axb:x", "1"});
  server_->Call({"DEL", "a*b:x"});
  EXPECT_EQ(Replay(there + " --namespace 'a*b'"), 0) << Read("err");
  EXPECT_EQ(Keys(), 1);
  EXPECT_EQ(Replay("--namespace a"), 2);
  EXPECT_EQ(Replay("--store http://nowhere"), 2);
}

TEST_F(ReplayOnRedis, FailsWhereNobodyAnswers) {
  const std::string url = server_->url();
  server_->Kill();
  EXPECT_EQ(Replay("--store " + url), 1);
  EXPECT_NE(Read("err"), "");
}

}  // namespace
}  // namespace weir
