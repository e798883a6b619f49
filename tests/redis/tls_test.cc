// rediss://, on a server that speaks TLS.
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/redis/errors.h"
#include "backends/redis/slot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/redis/certificates.h"
#include "tests/redis/client_fixture.h"
#include "tests/redis/redis_cluster.h"
#include "tests/redis/redis_server.h"
#include "weir/limiter.h"
#include "weir/redis_store.h"

namespace weir {
namespace {

using std::chrono::hours;
using testing::Certificates;
using ::testing::HasSubstr;
using testing::RedisServer;

class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    folder_ = ::testing::TempDir() + "/weir-tls-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ASSERT_TRUE(files_.MakeIn(folder_));
  }
  void TearDown() override {
    server_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  // `clients`: whether they need a certificate of their own (yes or no).
  bool Start(const std::string& clients = "no",
             const std::vector<std::string>& more = {}) {
    // A cluster's bus lies above it.
    tls_port_ = testing::FreePort(true);
    std::vector<std::string> options = {
        "--tls-port",         std::to_string(tls_port_),
        "--tls-cert-file",    files_.server.cert,
        "--tls-key-file",     files_.server.key,
        "--tls-ca-cert-file", files_.authority.cert,
        "--tls-auth-clients", clients};
    options.insert(options.end(), more.begin(), more.end());
    server_ = RedisServer::Start(options);
    return server_ != nullptr;
  }

  std::string Url(const std::string& parameters) const {
    return "rediss://127.0.0.1:" + std::to_string(tls_port_) + "?timeout=5s&" +
           parameters;
  }
  std::string TrustingUrl() const {
    return Url("tls_ca_file=" + files_.authority.cert);
  }

  static Limiter Make(std::shared_ptr<RedisStore> store, int64_t limit) {
    return *Limiter::Create(std::move(store),
                            Limit::FixedWindow(limit, hours(1)));
  }
  // The status of one decision over a store made so.
  static absl::Status Ask(const std::string& url,
                          const RedisStoreOptions& options = {}) {
    const auto store = RedisStore::Create(url, options);
    if (!store.ok()) return store.status();
    const absl::StatusOr<Decision> d = Make(*store, 10).Check("k");
    if (!d.ok()) {
      EXPECT_FALSE((*store)->IsOutage(d.status())) << d.status();
    }
    return d.status();
  }
  static int64_t Counted(const RedisStore& store, std::string_view name) {
    int64_t found = -1;
    store.VisitCounters([&](std::string_view n, int64_t value) {
      if (n == name) found = value;
    });
    return found;
  }

  std::string folder_;
  Certificates files_;
  int tls_port_ = 0;
  std::unique_ptr<RedisServer> server_;
};

TEST_F(TlsTest, ManyThreadsShareOneConnectionAndTheCapacity) {
  ASSERT_TRUE(Start());
  const auto store = RedisStore::Create(TrustingUrl());
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 1'000);
  std::atomic<int> granted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 250; ++j) {
        const absl::StatusOr<Decision> d = limiter.Check("k");
        ASSERT_TRUE(d.ok()) << d.status();
        granted += d->allowed ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(granted, 1'000);
  EXPECT_FALSE(limiter.Check("k")->allowed);
  EXPECT_EQ(Counted(**store, "connects"), 1);
}

TEST_F(TlsTest, ABatchLargerThanAnyBufferIsAnsweredInFull) {
  ASSERT_TRUE(Start());
  const auto store = RedisStore::Create(TrustingUrl());
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 2);
  std::vector<std::string> names;
  for (int i = 0; i < 30'000; ++i) {
    names.push_back(std::string(200, 'x') + std::to_string(i % 10'000));
  }
  const std::vector<std::string_view> keys(names.begin(), names.end());
  int64_t granted = 0;
  for (const auto& d : limiter.CheckMany(keys)) {
    ASSERT_TRUE(d.ok()) << d.status();
    granted += d->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 20'000);
}

TEST_F(TlsTest, AsynchronousCallsToo) {
  ASSERT_TRUE(Start());
  RedisStoreOptions options;
  options.io_threads = 1;
  const auto store = RedisStore::Create(TrustingUrl(), options);
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 5'000);
  constexpr int kCalls = 10'000;
  std::atomic<int> granted{0};
  std::atomic<int> left{kCalls};
  std::promise<void> done;
  const std::string key(300, 'k');
  for (int i = 0; i < kCalls; ++i) {
    limiter.CheckAsync(key, 1, [&](absl::StatusOr<Decision> d) {
      EXPECT_TRUE(d.ok()) << d.status();
      granted += d.ok() && d->allowed ? 1 : 0;
      if (--left == 0) done.set_value();
    });
  }
  done.get_future().wait();
  EXPECT_EQ(granted, 5'000);
}

TEST_F(TlsTest, AServerThatStopsAndGoesOnLosesNothing) {
  ASSERT_TRUE(Start());
  const auto store =
      RedisStore::Create("rediss://127.0.0.1:" + std::to_string(tls_port_) +
                         "?timeout=200ms&tls_ca_file=" + files_.authority.cert);
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 1'000'000);
  ASSERT_TRUE(limiter.Check("k").ok());
  // More than the sockets hold: a record is cut where they are full.
  const std::string key(10'000, 'k');
  const std::vector<std::string_view> keys(1'000, key);
  server_->Pause();
  for (const auto& d : limiter.CheckMany(keys)) {
    ASSERT_TRUE(absl::IsDeadlineExceeded(d.status())) << d.status();
  }
  server_->Resume();
  ASSERT_TRUE(testing::WaitUntil([&] { return limiter.Check("k").ok(); }));
  // What was sent of the batch counts, on the connection there was.
  const absl::StatusOr<Decision> d = limiter.Peek(key);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_GE(d->remaining, 1'000'000 - 1'000);
  EXPECT_EQ(Counted(**store, "connects"), 1);
}

// With tls-cluster the port that a node is told by is the one of TLS.
TEST_F(TlsTest, AClustersNodesAreFoundByTheirPortsOfTls) {
  ASSERT_TRUE(
      Start("no", {"--cluster-enabled", "yes", "--tls-cluster", "yes"}));
  std::vector<std::string> add = {"CLUSTER", "ADDSLOTS"};
  for (int slot = 0; slot < redis::kSlots; ++slot)
    add.push_back(std::to_string(slot));
  server_->Call(add);
  ASSERT_TRUE(testing::WaitUntil([&] {
    return server_->Call({"CLUSTER", "INFO"}).text.find("cluster_state:ok") !=
           std::string::npos;
  }));
  const auto store = RedisStore::Create(
      "rediss+cluster://127.0.0.1:" + std::to_string(tls_port_) +
      "?timeout=5s&tls_ca_file=" + files_.authority.cert);
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 1);
  int granted = 0;
  for (const auto& d : limiter.CheckMany({"a", "b", "c", "a", "b", "c"})) {
    ASSERT_TRUE(d.ok()) << d.status();
    granted += d->allowed ? 1 : 0;
  }
  EXPECT_EQ(granted, 3);
}

// Each master over a connection of TLS, and a slot that moves from one to
// another: first ASK, then MOVED, by the ports of TLS.
TEST_F(TlsTest, AClusterOfSeveralMastersIsFollowed) {
  const auto cluster = testing::RedisCluster::StartTls(files_);
  ASSERT_NE(cluster, nullptr);
  const auto store = RedisStore::Create(
      cluster->url() + "?timeout=5s&tls_ca_file=" + files_.authority.cert);
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 2);
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("key" + std::to_string(i));
  const std::vector<std::string_view> keys(names.begin(), names.end());
  const auto granted = [&] {
    int64_t count = 0;
    for (const auto& d : limiter.CheckMany(keys)) {
      EXPECT_TRUE(d.ok()) << d.status();
      count += d.ok() && d->allowed ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(granted(), 300);
  EXPECT_EQ(Counted(**store, "connects"), 3);
  int64_t held = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t size = cluster->node(i).Call({"DBSIZE"}).integer;
    EXPECT_GT(size, 0) << i;
    held += size;
  }
  EXPECT_EQ(held, 300);

  const int slot = redis::SlotOf(names[0]);
  const int from = cluster->MasterOf(slot);
  const int to = (from + 1) % 3;
  ASSERT_TRUE(cluster->BeginMove(slot, from, to));
  ASSERT_TRUE(cluster->MoveKeys(slot, from, to, 100));
  EXPECT_TRUE(limiter.Check(names[0])->allowed);
  EXPECT_GE(Counted(**store, "met_ask"), 1);
  const int64_t moved = Counted(**store, "met_moved");
  ASSERT_TRUE(cluster->EndMove(slot, to));
  EXPECT_EQ(granted(), 299);
  EXPECT_GT(Counted(**store, "met_moved"), moved);
  EXPECT_EQ(granted(), 0);
  EXPECT_EQ(Counted(**store, "met_tls"), 0);
}

TEST_F(TlsTest, AClosedConnectionIsMadeAnew) {
  ASSERT_TRUE(Start());
  const auto store = RedisStore::Create(TrustingUrl());
  ASSERT_TRUE(store.ok()) << store.status();
  const Limiter limiter = Make(*store, 100);
  ASSERT_TRUE(limiter.Check("k").ok());
  server_->Call({"CLIENT", "KILL", "TYPE", "normal"});
  ASSERT_TRUE(testing::WaitUntil([&] { return limiter.Check("k").ok(); }));
  EXPECT_EQ(Counted(**store, "connects"), 2);
}

TEST_F(TlsTest, OnlyACertificateThatIsTrustedAndOfThatName) {
  ASSERT_TRUE(Start());
  Certificates others;
  const std::string folder = folder_ + "/others";
  ASSERT_TRUE(std::filesystem::create_directory(folder));
  ASSERT_TRUE(others.MakeIn(folder));
  const std::string ca = "tls_ca_file=" + files_.authority.cert;
  EXPECT_EQ(Ask(Url(ca)), absl::OkStatus());
  EXPECT_EQ(Ask(Url(ca + "&tls_server_name=redis.example")), absl::OkStatus());
  EXPECT_EQ(Ask(Url("tls_verify=no")), absl::OkStatus());
  for (const std::string& parameters :
       {std::string("tls_verify=yes"), ca + "&tls_server_name=redis.other",
        ca + "&tls_server_name=127.0.0.2",
        "tls_ca_file=" + others.authority.cert}) {
    const absl::Status status = Ask(Url(parameters));
    EXPECT_TRUE(absl::IsPermissionDenied(status)) << parameters << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the server's certificate"))
        << parameters;
  }
}

TEST_F(TlsTest, AClientMayNeedACertificateOfItsOwn) {
  ASSERT_TRUE(Start("yes"));
  const auto without = RedisStore::Create(TrustingUrl());
  ASSERT_TRUE(without.ok()) << without.status();
  const absl::Status status = Make(*without, 10).Check("k").status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr("certificate"));
  EXPECT_EQ(Ask(TrustingUrl() + "&tls_cert_file=" + files_.client.cert +
                "&tls_key_file=" + files_.client.key),
            absl::OkStatus());
  RedisStoreOptions options;
  options.tls.ca_file = files_.authority.cert;
  options.tls.cert_file = files_.client.cert;
  options.tls.key_file = files_.client.key;
  EXPECT_EQ(Ask(Url(""), options), absl::OkStatus());
}

// Neither side says what is wrong: one waits for a line to end, the other
// hangs up.
TEST_F(TlsTest, ASchemeThatDoesNotFitThePortIsTold) {
  ASSERT_TRUE(Start());
  struct Case {
    std::string url;
    std::string words;
  };
  for (const Case& c :
       {Case{"rediss://127.0.0.1:" + std::to_string(server_->port()) +
                 "?timeout=300ms",
             "the TLS handshake"},
        Case{"redis://127.0.0.1:" + std::to_string(tls_port_) + "?timeout=5s",
             "rediss://"}}) {
    const auto store = RedisStore::Create(c.url + "&io_threads=1");
    ASSERT_TRUE(store.ok()) << store.status();
    const Limiter limiter = Make(*store, 10);
    std::promise<absl::Status> async;
    limiter.CheckAsync("k", 1, [&](const absl::StatusOr<Decision>& d) {
      async.set_value(redis::Detached(d.status()));
    });
    for (const absl::Status& status :
         {limiter.Check("k").status(), async.get_future().get()}) {
      EXPECT_TRUE((*store)->IsOutage(status)) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(c.words));
    }
  }
}

TEST_F(TlsTest, WrongOptionsFailWhenTheStoreIsMade) {
  ASSERT_TRUE(Start());
  struct Case {
    std::string parameters;
    std::string words;
  };
  for (const Case& c : {
           Case{"tls_ca_file=" + folder_ + "/none", "tls_ca_file"},
           Case{"tls_cert_file=" + files_.client.cert, "come together"},
           Case{"tls_cert_file=" + files_.client.key +
                    "&tls_key_file=" + files_.client.key,
                "tls_cert_file"},
           Case{"tls_cert_file=" + files_.client.cert +
                    "&tls_key_file=" + files_.server.key,
                "tls_key_file"},
           Case{"tls_verify=maybe", "yes, no"},
           Case{"tls_ca=x", "no parameter \"tls_ca\""},
       }) {
    const auto store = RedisStore::Create(Url(c.parameters));
    EXPECT_TRUE(absl::IsInvalidArgument(store.status())) << c.parameters;
    EXPECT_THAT(std::string(store.status().message()), HasSubstr(c.words));
  }
  RedisStoreOptions options;
  options.tls.ca_file = files_.authority.cert;
  for (const std::string& url :
       {server_->url(), server_->url() + "?tls_verify=no",
        "unix://" + server_->socket_path()}) {
    EXPECT_TRUE(
        absl::IsInvalidArgument(RedisStore::Create(url, options).status()))
        << url;
  }
}

TEST_F(TlsTest, OneSideThatSpeaksPlainIsAnError) {
  ASSERT_TRUE(Start());
  const std::string ca = "tls_ca_file=" + files_.authority.cert;
  const auto plain = RedisStore::Create(
      "redis://127.0.0.1:" + std::to_string(tls_port_) + "?timeout=500ms");
  EXPECT_FALSE(Make(*plain, 1).Check("k").ok());
  const auto tls = RedisStore::Create(
      "rediss://127.0.0.1:" + std::to_string(server_->port()) +
      "?timeout=500ms&connect_timeout=200ms&" + ca);
  EXPECT_FALSE(Make(*tls, 1).Check("k").ok());
}

// The first is silent in the handshake, or is not the server that is meant.
TEST_F(TlsTest, TheNextAddressIsReachedWhereTheFirstOneShakesNoHands) {
  const std::string there = folder_ + "/other";
  ASSERT_TRUE(std::filesystem::create_directory(there));
  Certificates mine = files_;
  ASSERT_TRUE(files_.MakeIn(there));
  ASSERT_TRUE(Start());
  const int other_port = tls_port_;
  const std::unique_ptr<RedisServer> other = std::move(server_);
  files_ = std::move(mine);
  ASSERT_TRUE(Start());
  for (const int first : {server_->port(), other_port}) {
    for (const bool async : {false, true}) {
      const auto client = redis::MakeClient(
          "rediss://several.test?tls_server_name=127.0.0.1",
          [&](redis::ClientOptions* options) {
            redis::TlsOptions tls;
            tls.ca_file = files_.authority.cert;
            tls.server_name = "127.0.0.1";
            options->tls = *redis::TlsContext::Create(tls);
            options->io_threads = async ? 1 : 0;
            options->resolver = [&, first](const redis::Address&) {
              return std::vector<redis::SocketAddress>{
                  redis::LoopbackAt(first), redis::LoopbackAt(tls_port_)};
            };
          });
      const absl::Status status =
          async ? redis::AskAsync(client.get(), redis::Echo(),
                                  std::chrono::seconds(20))
                : redis::Ask(client.get(), redis::Echo(), "k", "1",
                             std::chrono::seconds(20))
                      .status();
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

}  // namespace
}  // namespace weir
