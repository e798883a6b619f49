// The servers that the other tests start do what those tests rely on.
#include <csignal>

#include "gtest/gtest.h"
#include "tests/redis/redis_cluster.h"
#include "tests/redis/redis_server.h"

namespace weir::testing {
namespace {

TEST(RedisServer, AnswersComesBackAndGoes) {
  WEIR_NEEDS_REDIS_SERVER();
  pid_t pid;
  {
    auto server = RedisServer::Start();
    ASSERT_NE(server, nullptr);
    EXPECT_EQ(server->Call({"PING"}).text, "PONG");
    server->Kill();
    EXPECT_FALSE(server->Call({"PING"}).ok());
    ASSERT_TRUE(server->Restart());
    EXPECT_EQ(server->Call({"PING"}).text, "PONG");
    pid = server->pid();
  }
  EXPECT_NE(kill(pid, 0), 0);
}

TEST(RedisCluster, FormsAndMovesASlot) {
  WEIR_NEEDS_REDIS_SERVER();
  auto cluster = RedisCluster::Start();
  ASSERT_NE(cluster, nullptr);
  const int slot = 12182;  // "foo"
  EXPECT_EQ(cluster->MasterOf(slot), 2);
  ASSERT_TRUE(cluster->node(2).Call({"SET", "foo", "1"}).ok());
  ASSERT_TRUE(cluster->MoveSlot(slot, 2, 0));
  EXPECT_EQ(cluster->node(0).Call({"GET", "foo"}).text, "1");
}

}  // namespace
}  // namespace weir::testing
