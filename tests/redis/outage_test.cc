// Real servers that are down, stopped, want a password, are full; and a
// process that forks.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "backends/redis/link.h"
#include "backends/redis/socket.h"
#include "backends/redis/tally.h"
#include "gmock/gmock.h"
#include "tests/redis/client_fixture.h"

namespace weir::redis {
namespace {

using ::testing::HasSubstr;
using ::weir::testing::RedisServer;
using ::weir::testing::WaitUntil;
using Steady = std::chrono::steady_clock;

class OutageTest : public OneServer {};

TEST_F(OutageTest, StartsWhileRedisIsDownAndFindsItLater) {
  server_->Kill();
  auto client = MakeClient(server_->url());
  for (int i = 0; i < 10; ++i) {
    const auto reply = Ask(client.get(), Take(), "k", "1");
    ASSERT_FALSE(reply.ok());
    EXPECT_TRUE(IsOutage(reply.status())) << reply.status();
    EXPECT_FALSE(MayHaveCharged(reply.status()));
  }
  // Three failures, and then hardly anybody asks.
  EXPECT_GE(client->counters().Met(Reason::kBreakerOpen), 6);
  EXPECT_LE(client->counters().Met(Reason::kUnreachable), 4);
  ASSERT_TRUE(server_->Restart());
  EXPECT_TRUE(
      WaitUntil([&] { return Ask(client.get(), Take(), "k", "1").ok(); }));
  EXPECT_TRUE(Ask(client.get(), Take(), "k", "1").ok());
}

TEST_F(OutageTest, AServerThatWentAwayWhileIdleCostsNoCall) {
  auto client = MakeClient(server_->url());
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "100").ok());
  server_->Call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  // The end of the connection is noticed before anything is sent on it.
  std::this_thread::yield();
  ASSERT_TRUE(WaitUntil([start = Steady::now()] {
    return Steady::now() - start > milliseconds(5);
  }));
  const auto reply = Ask(client.get(), Take(), "k", "100");
  EXPECT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(client->counters().connects, 2);
}

TEST_F(OutageTest, AStoppedServerIsNotWaitedForAgainAndAgain) {
  auto client = MakeClient(server_->url());
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "1000").ok());
  server_->Pause();
  int sent = 0;
  int refused = 0;
  for (int i = 0; i < 200 && refused < 50; ++i) {
    const auto reply = Ask(client.get(), Take(), "k", "1000", milliseconds(30));
    ASSERT_FALSE(reply.ok());
    EXPECT_TRUE(IsOutage(reply.status())) << reply.status();
    const bool asked = ReasonOf(reply.status()) != Reason::kBreakerOpen;
    EXPECT_EQ(MayHaveCharged(reply.status()), asked) << reply.status();
    sent += asked;
    refused += !asked;
  }
  EXPECT_GE(refused, 50);
  server_->Resume();
  // What was sent is run all the same; nothing was sent twice.
  int later = 0;
  EXPECT_TRUE(WaitUntil([&] {
    const auto reply = Ask(client.get(), Take(), "k", "1000");
    later += ReasonOf(reply.status()) != Reason::kBreakerOpen;
    return reply.ok();
  }));
  EXPECT_EQ(server_->Call({"GET", "k"}).text, std::to_string(1 + sent + later));
}

// The system takes connections for it, and it never says a word on them.
TEST_F(OutageTest, AServerThatHangsAsOneConnectsIsNotWaitedForAgainAndAgain) {
  for (const bool async : {false, true}) {
    server_->Pause();
    const auto client = MakeClient(server_->url(), [&](ClientOptions* options) {
      options->io_threads = async ? 1 : 0;
      options->connect_timeout = seconds(60);  // no end of it is seen here
    });
    const auto ask = [&] {
      return async ? AskAsync(client.get(), Echo(), milliseconds(60))
                   : Ask(client.get(), Echo(), "k", "1", milliseconds(60))
                         .status();
    };
    absl::Status status;
    EXPECT_TRUE(WaitUntil([&] {
      status = ask();
      EXPECT_TRUE(IsOutage(status)) << status;
      return ReasonOf(status) == Reason::kBreakerOpen;
    })) << async;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("waiting for the answer to INFO"));
    EXPECT_GE(client->counters().Met(Reason::kTimeout), 3);
    server_->Resume();
    EXPECT_TRUE(WaitUntil([&] { return ask().ok(); })) << async;
    EXPECT_EQ(client->counters().connects, 1);
    EXPECT_EQ(client->counters().Met(Reason::kUnreachable), 0);
  }
}

TEST_F(OutageTest, CallsInAHurrySayNothingOfAServerThatIsConnectedTo) {
  server_->Pause();
  for (const bool async : {false, true}) {
    EXPECT_TRUE(WaitUntil([&] {
      const auto client = MakeClient(
          server_->url(),
          [&](ClientOptions* options) { options->io_threads = async ? 1 : 0; });
      const auto start = Steady::now();
      for (int i = 0; i < 6; ++i) {
        const milliseconds time(1);
        EXPECT_FALSE(async ? AskAsync(client.get(), Echo(), time).ok()
                           : Ask(client.get(), Echo(), "k", "1", time).ok());
      }
      // A slow machine gave the server time enough.
      if (Steady::now() - start > milliseconds(40)) return false;
      EXPECT_EQ(client->counters().Met(Reason::kTimeout), 6) << async;
      return true;
    })) << async;
  }
  server_->Resume();
}

// Each of them sees only that it had no time; but now and then one sees an
// attempt end that others had begun.
TEST_F(OutageTest, CallsInAHurryFindOutThatNoAttemptToConnectSucceeds) {
  server_->Pause();
  for (const bool async : {false, true}) {
    const auto client = MakeClient(server_->url(), [&](ClientOptions* options) {
      options->io_threads = async ? 1 : 0;
      options->connect_timeout = milliseconds(20);
    });
    EXPECT_TRUE(WaitUntil([&] {
      const milliseconds time(8);
      const absl::Status status =
          async ? AskAsync(client.get(), Echo(), time)
                : Ask(client.get(), Echo(), "k", "1", time).status();
      EXPECT_TRUE(IsOutage(status)) << status;
      return ReasonOf(status) == Reason::kBreakerOpen;
    })) << async;
  }
  server_->Resume();
}

// Runs it on eight threads at once. False: one of them began so late that it
// may not have waited for what the others did.
bool AtOnce(const std::function<void()>& run) {
  std::atomic<bool> late{false};
  const auto start = Steady::now();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      late = late || Steady::now() - start > milliseconds(100);
      run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return !late;
}

TEST_F(OutageTest, AnAttemptToConnectThatFailsIsOneFailureForAllWhoWaitForIt) {
  server_->Pause();
  ClientOptions options;
  options.connect_timeout = milliseconds(300);
  Tally tally;
  EXPECT_TRUE(WaitUntil([&] {
    std::atomic<int> failures{0};
    Link link({"127.0.0.1", server_->port(), ""}, options, &tally,
              [&](const absl::Status& status) {
                EXPECT_EQ(ReasonOf(status), Reason::kUnreachable) << status;
                ++failures;
              });
    const bool together = AtOnce([&] {
      const auto stream = link.Get(In(seconds(60)));
      EXPECT_EQ(ReasonOf(stream.status()), Reason::kUnreachable)
          << stream.status();
    });
    if (!together) return false;
    EXPECT_EQ(failures, 1);
    return true;
  }));
  server_->Resume();
}

TEST_F(OutageTest, CallersWhoWaitForOneAttemptDoNotOpenTheBreaker) {
  server_->Pause();
  EXPECT_TRUE(WaitUntil([&] {
    const auto client = MakeClient(server_->url(), [](ClientOptions* options) {
      options->connect_timeout = milliseconds(300);
      options->breaker_failures = 2;
    });
    const bool together = AtOnce([&] {
      const auto reply = Ask(client.get(), Echo(), "k", "1", seconds(60));
      EXPECT_EQ(ReasonOf(reply.status()), Reason::kUnreachable)
          << reply.status();
    });
    if (!together) return false;
    const auto next = Ask(client.get(), Echo(), "k", "1", milliseconds(1));
    EXPECT_EQ(ReasonOf(next.status()), Reason::kTimeout) << next.status();
    return true;
  }));
  server_->Resume();
}

// Whoever still waits sends the rest, whether he waits for a reply to what was
// sent or only behind what was not.
TEST_F(OutageTest, WhatAWriterLeavesWhoseTimeIsUpIsSentByThoseWhoWait) {
  const TestScript size("return #ARGV[1]");
  const std::string large(size_t{32} << 20, 'x');
  for (const bool before : {false, true}) {
    const auto client = MakeClient(server_->url(), [](ClientOptions* options) {
      options->max_call_age = seconds(60);
    });
    ASSERT_TRUE(Ask(client.get(), size.get(), "k", "a").ok());
    server_->Pause();
    const auto wait = [&](std::string_view text, milliseconds time) {
      const int64_t calls = client->counters().calls;
      const int64_t sends = client->counters().sends;
      std::thread thread([&client, &size, text, time] {
        const auto reply = Ask(client.get(), size.get(), "k", text, time);
        if (text.size() > 9) {
          EXPECT_EQ(ReasonOf(reply.status()), Reason::kTimeout);
        } else {
          ASSERT_TRUE(reply.ok()) << reply.status();
          EXPECT_EQ(reply->integer, text.size());
        }
      });
      // The large one is sent in part, and then the socket is full.
      EXPECT_TRUE(WaitUntil([&] {
        return client->counters().calls > calls &&
               (text.size() <= 9 || client->counters().sends > sends + 1);
      }));
      return thread;
    };
    std::vector<std::thread> threads;
    if (before) threads.push_back(wait("four", seconds(10)));
    std::thread writer = wait(large, milliseconds(500));
    threads.push_back(wait("seventh", seconds(10)));
    writer.join();
    server_->Resume();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(client->counters().connects, 1);
  }
}

TEST_F(OutageTest, ThreadsAreAllReleasedWhenTheServerDies) {
  auto client = MakeClient(server_->url());
  std::atomic<bool> stop{false};
  std::atomic<int> granted{0};
  std::atomic<int> unknown{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        const auto reply = Ask(client.get(), Take(), "k", "1000000");
        if (reply.ok()) {
          granted += static_cast<int>(reply->integer);
        } else {
          EXPECT_TRUE(IsOutage(reply.status())) << reply.status();
          unknown += MayHaveCharged(reply.status());
        }
      }
    });
  }
  EXPECT_TRUE(WaitUntil([&] { return granted > 500; }));
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(server_->Restart());
    const int before = granted;
    EXPECT_TRUE(WaitUntil([&] { return granted > before + 500; }));
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  // At most one call of each thread was on its way when it died.
  EXPECT_LE(unknown, 3 * 16);
}

TEST_F(OutageTest, WritingToAClosedSocketDoesNotKillTheProcess) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    auto client = MakeClient(server_->url());
    int failures = 0;
    if (!Ask(client.get(), Take(), "k", "1").ok()) _exit(2);
    // A socket that nobody looks at before it is written to.
    std::vector<SocketAddress> found;
    std::string error;
    Lookup lookup({"127.0.0.1", server_->port(), ""});
    Socket socket;
    if (!lookup.Take(&found, &error) || found.empty()) _exit(4);
    const int begun = socket.Connect(found[0]);
    if (begun != 0 && begun != EINPROGRESS) _exit(5);
    PollUntil(socket.fd(), POLLOUT, In(seconds(5)));
    kill(server_->pid(), SIGKILL);
    PollUntil(socket.fd(), POLLIN, In(seconds(5)));
    for (int i = 0; i < 50; ++i) failures += socket.Send("x", 1) < 0;
    if (failures == 0) _exit(6);
    for (int i = 0; i < 50; ++i) {
      failures += !Ask(client.get(), Take(), "k", "1").ok();
    }
    _exit(failures == 0 ? 3 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(OutageTest, ForkedChildrenUseSocketsOfTheirOwn) {
  auto client = MakeClient(server_->url() + "?io_threads=0");
  constexpr int kChildren = 4;
  constexpr int kCalls = 200;
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "500").ok());
  // Here once, so that no child is made while the script is.
  ASSERT_TRUE(Ask(client.get(), Echo(), "e", "parent").ok());
  // Another thread may be in the middle of a call, with all its locks.
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) ASSERT_TRUE(Ask(client.get(), Echo(), "e", "parent").ok());
  });
  std::vector<pid_t> children;
  for (int c = 0; c < kChildren; ++c) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    int granted = 0;
    for (int i = 0; i < kCalls; ++i) {
      const auto reply = Ask(client.get(), Take(), "k", "500");
      if (!reply.ok()) _exit(255);
      granted += static_cast<int>(reply->integer);
      const auto echo = Ask(client.get(), Echo(), "e", "child");
      if (!echo.ok() || echo->elements[0].text != "child") _exit(254);
    }
    _exit(granted);  // at most 200
  }
  int granted = 1;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_LE(WEXITSTATUS(status), kCalls);
    granted += WEXITSTATUS(status);
  }
  stop = true;
  busy.join();
  for (int i = 0; i < 200; ++i) {
    const auto reply = Ask(client.get(), Take(), "k", "500");
    ASSERT_TRUE(reply.ok());
    granted += static_cast<int>(reply->integer);
  }
  EXPECT_EQ(granted, 500);
  EXPECT_EQ(client->counters().connects, 1);
}

TEST_F(OutageTest, SaysWhatToDoAboutPasswords) {
  server_->Call({"ACL", "SETUSER", "app", "on", ">p:ss/w@rd", "~*", "+@all"});
  server_->Call({"CONFIG", "SET", "requirepass", "secret"});
  const std::string at = "127.0.0.1:" + std::to_string(server_->port());
  auto none = MakeClient("redis://" + at);
  EXPECT_EQ(ReasonOf(Ask(none.get(), Echo(), "k", "v").status()),
            Reason::kNoAuth);
  auto wrong = MakeClient("redis://app:nonsense@" + at);
  const auto refused = Ask(wrong.get(), Echo(), "k", "v");
  EXPECT_EQ(ReasonOf(refused.status()), Reason::kWrongPass);
  EXPECT_FALSE(IsOutage(refused.status()));
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::Not(HasSubstr("nonsense")));
  // Still not an outage once the breaker is open.
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(ReasonOf(Ask(wrong.get(), Echo(), "k", "v").status()),
              Reason::kWrongPass);
  }
  auto user = MakeClient("redis://app:p%3ass%2Fw%40rd@" + at + "/3");
  EXPECT_TRUE(Ask(user.get(), Echo(), "k", "v").ok());
  auto password = MakeClient("redis://:secret@" + at);
  EXPECT_TRUE(Ask(password.get(), Echo(), "k", "v").ok());
}

TEST_F(OutageTest, SelectsItsDatabaseOnEveryConnection) {
  auto client = MakeClient("unix://" + server_->socket_path() + "?db=2");
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "1").ok());
  server_->Call({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  ASSERT_TRUE(
      WaitUntil([&] { return Ask(client.get(), Take(), "k", "1").ok(); }));
  server_->Call({"SELECT", "2"});
  EXPECT_GE(std::stoi(server_->Call({"GET", "k"}).text), 2);
  server_->Call({"SELECT", "0"});
  EXPECT_EQ(server_->Call({"EXISTS", "k"}).integer, 0);
  auto missing = MakeClient(server_->url() + "/99");
  EXPECT_THAT(
      std::string(Ask(missing.get(), Take(), "k", "1").status().message()),
      HasSubstr("SELECT: ERR DB index is out of range"));
}

TEST_F(OutageTest, ReportsAServerThatIsFull) {
  auto client = MakeClient(server_->url());
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "10").ok());
  server_->Call({"CONFIG", "SET", "maxmemory", "1"});
  const auto full = Ask(client.get(), Take(), "other", "10");
  EXPECT_EQ(ReasonOf(full.status()), Reason::kOutOfMemory) << full.status();
  server_->Call({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_TRUE(Ask(client.get(), Take(), "other", "10").ok());
  EXPECT_EQ(server_->Call({"GET", "other"}).text, "1");
  server_->Call({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(ReasonOf(Ask(client.get(), Take(), "other", "10").status()),
            Reason::kNoReplicas);
  server_->Call({"CONFIG", "SET", "min-replicas-to-write", "0"});
  server_->Call({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_EQ(ReasonOf(Ask(client.get(), Take(), "other", "10").status()),
            Reason::kReadOnly);
  server_->Call({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(
      WaitUntil([&] { return Ask(client.get(), Take(), "other", "10").ok(); }));
}

}  // namespace
}  // namespace weir::redis
