// What a server may say or do that it should not.
#include <chrono>
#include <future>
#include <thread>

#include "backends/redis/dialer.h"
#include "gmock/gmock.h"
#include "tests/redis/client_fixture.h"
#include "tests/redis/fake_server.h"

namespace weir::redis {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::weir::testing::FakeServer;
using ::weir::testing::WaitUntil;
using Answer = FakeServer::Answer;
using Command = FakeServer::Command;

// Replies are read with less patience than servers have.
std::shared_ptr<Client> ClientOf(const FakeServer& server) {
  return MakeClient(server.url(), [](ClientOptions* options) {
    options->breaker_failures = 1000;
  });
}

struct BadReply {
  const char* name;
  std::string bytes;
  bool close;
  Reason reason;
};

void PrintTo(const BadReply& reply, std::ostream* out) { *out << reply.name; }

class BadReplyTest : public ::testing::TestWithParam<BadReply> {};

TEST_P(BadReplyTest, IsAnErrorAndTheNextCallIsWell) {
  const BadReply& bad = GetParam();
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    if (calls++ == 0) return Answer{bad.bytes, bad.close};
    return Answer{":7\r\n", false};
  });
  auto client = ClientOf(server);
  const auto first = Ask(client.get(), Take(), "k", "1", milliseconds(300));
  ASSERT_FALSE(first.ok());
  EXPECT_EQ(ReasonOf(first.status()), bad.reason) << first.status();
  EXPECT_TRUE(MayHaveCharged(first.status())) << first.status();
  EXPECT_TRUE(IsOutage(first.status()));
  // A charging call that may have been run is never sent again.
  EXPECT_EQ(calls, 1);
  const auto second = Ask(client.get(), Take(), "k", "1");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->integer, 7);
  EXPECT_EQ(client->counters().closes, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, BadReplyTest,
    ::testing::Values(
        BadReply{"CutShort", "$10\r\nabc", true, Reason::kClosed},
        BadReply{"NothingAtAll", "", true, Reason::kClosed},
        BadReply{"NotResp", "HTTP/1.1 400 Bad Request\r\n\r\n", false,
                 Reason::kProtocol},
        BadReply{"Resp3", "%1\r\n+a\r\n:1\r\n", false, Reason::kProtocol},
        BadReply{"AbsurdArray", "*2147483647\r\n", false, Reason::kProtocol},
        BadReply{"NestedArrays",
                 "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"
                 ":1\r\n",
                 false, Reason::kProtocol},
        BadReply{"TooManyElements", "*60000\r\n*60000\r\n", false,
                 Reason::kProtocol},
        BadReply{"TooLarge", "$100000000\r\n" + std::string(3'000'000, 'x'),
                 false, Reason::kProtocol}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(Faults, AReplyThatNobodyAskedForIsNotTakenForTheNextCall) {
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    return Answer{calls++ == 0 ? ":1\r\n:666\r\n" : ":2\r\n", false};
  });
  auto client = ClientOf(server);
  const auto first = Ask(client.get(), Take(), "k", "1");
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->integer, 1);
  // Idle long enough to look before it sends, or not: never 666.
  for (int i = 0; i < 10; ++i) {
    const auto reply = Ask(client.get(), Take(), "k", "1");
    if (reply.ok()) {
      EXPECT_EQ(reply->integer, 2);
    }
  }
}

TEST(Faults, LateRepliesAreDroppedInOrder) {
  std::atomic<int> calls{0};
  FakeServer server([&](const Command& command) {
    // The first reply is held back until the second command.
    if (calls++ == 0) return Answer{"", false};
    return Answer{":1\r\n$" + std::to_string(command[4].size()) + "\r\n" +
                      command[4] + "\r\n",
                  false};
  });
  auto client = ClientOf(server);
  const auto first = Ask(client.get(), Take(), "k", "a", milliseconds(20));
  EXPECT_EQ(first.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(MayHaveCharged(first.status()));
  const auto second = Ask(client.get(), Take(), "k", "mine");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->text, "mine");
  EXPECT_EQ(client->counters().late_replies, 1);
  EXPECT_EQ(server.connections(), 1);
}

TEST(Faults, AShortDeadlineDoesNotHurtThoseWhoShareTheConnection) {
  // Answers only once both commands are there.
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    return Answer{++calls < 2 ? "" : ":1\r\n:2\r\n", false};
  });
  auto client = ClientOf(server);
  std::thread hurried([&] {
    const auto reply = Ask(client.get(), Take(), "k", "1", milliseconds(50));
    EXPECT_EQ(ReasonOf(reply.status()), Reason::kTimeout);
  });
  hurried.join();
  const auto patient = Ask(client.get(), Take(), "k", "1");
  ASSERT_TRUE(patient.ok()) << patient.status();
  EXPECT_EQ(patient->integer, 2);
}

TEST(Faults, AConnectionWhoseOldestCallIsTooOldIsClosed) {
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    return Answer{calls++ == 0 ? "" : ":2\r\n", false};
  });
  auto client = MakeClient(server.url(), [](ClientOptions* options) {
    options->max_call_age = milliseconds(50);
  });
  // Its own deadline is far away; the limit of the connection comes first.
  const auto first = Ask(client.get(), Take(), "k", "1", seconds(20));
  EXPECT_EQ(ReasonOf(first.status()), Reason::kClosed) << first.status();
  EXPECT_TRUE(MayHaveCharged(first.status()));
  EXPECT_TRUE(Ask(client.get(), Take(), "k", "1").ok());
  EXPECT_EQ(server.connections(), 2);
}

TEST(Faults, AConnectionThatBreaksIsOneFailureHoweverManyCallsItTakesAlong) {
  constexpr int kCallers = 8;
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    const int call = ++calls;
    return call > kCallers ? Answer{":7\r\n", false}
                           : Answer{"", call == kCallers};
  });
  auto client = MakeClient(server.url());  // three failures are too many
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      const auto reply = Ask(client.get(), Take(), "k", "1");
      EXPECT_EQ(ReasonOf(reply.status()), Reason::kClosed) << reply.status();
    });
  }
  for (std::thread& caller : callers) caller.join();
  const auto next = Ask(client.get(), Take(), "k", "1");
  EXPECT_TRUE(next.ok()) << next.status();
}

TEST(Faults, ConnectionsThatBreakTogetherAreOneFailure) {
  constexpr int kCallers = 4;
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    const int call = ++calls;
    if (call > kCallers) return Answer{":7\r\n"};
    return Answer{"", false, /*close_all=*/call == kCallers};
  });
  // Three failures in a row are too many.
  auto client = MakeClient(server.url() + "?connections=4");
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.emplace_back([&] {
      const auto reply = Ask(client.get(), Take(), "k", "1");
      EXPECT_EQ(ReasonOf(reply.status()), Reason::kClosed) << reply.status();
    });
    // The next one finds the others' connections busy.
    EXPECT_TRUE(WaitUntil([&] { return calls > i; }));
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(server.connections(), kCallers);
  const auto next = Ask(client.get(), Take(), "k", "1");
  EXPECT_TRUE(next.ok()) << next.status();
}

TEST(Faults, ConnectionsThatBreakOneAfterTheOtherAreAnOutage) {
  for (const char* parameters :
       {"?connections=1", "?connections=4", "?io_threads=1"}) {
    FakeServer server([](const Command&) { return Answer{"", true}; });
    auto client = MakeClient(server.url() + parameters);
    std::vector<Reason> met;
    for (int i = 0; i < 4; ++i) {
      met.push_back(
          ReasonOf(std::string_view(parameters) == "?io_threads=1"
                       ? AskAsync(client.get(), Take())
                       : Ask(client.get(), Take(), "k", "1").status()));
    }
    EXPECT_THAT(met, ElementsAre(Reason::kClosed, Reason::kClosed,
                                 Reason::kClosed, Reason::kBreakerOpen))
        << parameters;
  }
}

TEST(Faults, AServerThatServesNobodyIsNotAskedByEverybody) {
  for (const bool async : {false, true}) {
    FakeServer server([&](const Command&) {
      return Answer{"-BUSY Redis is busy running a script\r\n", false};
    });
    const auto client = MakeClient(server.url(), [&](ClientOptions* options) {
      options->io_threads = async ? 1 : 0;
    });
    const auto ask = [&] {
      return async ? AskAsync(client.get(), Echo(), seconds(10))
                   : Ask(client.get(), Echo(), "k", "1").status();
    };
    for (int i = 0; i < 3; ++i) EXPECT_EQ(ReasonOf(ask()), Reason::kBusy) << i;
    EXPECT_EQ(ReasonOf(ask()), Reason::kBreakerOpen) << async;
  }
}

TEST(Faults, ACallSaysWhatItWaitedForNotWhatItFoundBefore) {
  int calls = 0;  // the server's thread
  FakeServer server([&](const Command&) {
    return calls++ == 0 ? Answer{":1\r\n", true} : Answer{"", false};
  });
  const auto client = MakeClient(server.url());
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "1").ok());
  // An idle connection is looked at before it is used again.
  ASSERT_TRUE(WaitUntil([start = std::chrono::steady_clock::now()] {
    return std::chrono::steady_clock::now() - start > milliseconds(5);
  }));
  const auto reply = Ask(client.get(), Take(), "k", "1", milliseconds(100));
  EXPECT_EQ(ReasonOf(reply.status()), Reason::kTimeout);
  EXPECT_EQ(client->counters().connects, 2);
  EXPECT_THAT(std::string(reply.status().message()),
              HasSubstr("the deadline passed while waiting for the reply"));
}

TEST(Faults, NoPasswordIsToldThatAServerRepeats) {
  for (const char* words :
       {"-ERR unknown command 'AUTH', with args beginning with: 'app' "
        "'s3cretpw' \r\n",
        "-ERR no s3cretpw here\r\n", "-s3cretpw\r\n"}) {
    FakeServer server([&](const Command&) { return Answer{words, false}; });
    std::string url = server.url();
    url.insert(url.find("//") + 2, "app:s3cretpw@");
    const auto client = MakeClient(url);
    for (int i = 0; i < 5; ++i) {
      const auto reply = Ask(client.get(), Echo(), "k", "1");
      ASSERT_FALSE(reply.ok());
      EXPECT_EQ(reply.status().ToString().find("s3cretpw"), std::string::npos)
          << reply.status();
    }
  }
}

TEST(Faults, APasswordThatIsPartOfTheServersWordsHidesNoReason) {
  FakeServer server([&](const Command&) {
    return Answer{
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n"};
  });
  std::string url = server.url();
  url.insert(url.find("//") + 2, "app:password@");
  const auto reply = Ask(MakeClient(url).get(), Echo(), "k", "1");
  EXPECT_THAT(std::string(reply.status().message()),
              HasSubstr("WRONGPASS invalid username-password pair"));
}

TEST(Faults, AReplicaIsNotConnectedToAnewByEachCall) {
  FakeServer server([&](const Command&) {
    return Answer{"-READONLY You can't write\r\n", false};
  });
  auto client = MakeClient(server.url(), [](ClientOptions* options) {
    options->breaker_failures = 1000;
    options->max_retry_interval = std::chrono::minutes(1);
  });
  for (int i = 0; i < 20; ++i) {
    const auto reply = Ask(client.get(), Take(), "k", "1");
    EXPECT_EQ(ReasonOf(reply.status()), Reason::kReadOnly) << reply.status();
  }
  EXPECT_EQ(server.connections(), 2);
}

// The address may lead to another server now.
TEST(Faults, AnAsynchronousCallThatMetAReplicaConnectsAnew) {
  std::atomic<int> calls{0};
  FakeServer* told = nullptr;
  FakeServer server([&](const Command&) {
    ++calls;
    return Answer{
        told->connections() == 1 ? "-READONLY You can't write\r\n" : ":7\r\n",
        false};
  });
  told = &server;
  auto client = MakeClient(
      server.url(), [](ClientOptions* options) { options->io_threads = 1; });
  std::vector<std::promise<absl::StatusOr<Reply>>> replies(8);
  for (auto& reply : replies) {
    client->RunAsync({Take(), {"k"}, {"1"}}, In(seconds(2)),
                     [&reply](absl::StatusOr<Reply> r) { reply.set_value(r); });
  }
  for (auto& promise : replies) {
    const auto reply = promise.get_future().get();
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->integer, 7);
  }
  EXPECT_EQ(server.connections(), 2);
}

TEST(Faults, ACallThatOnlyLooksIsAskedAgain) {
  std::atomic<int> calls{0};
  FakeServer server([&](const Command&) {
    return calls++ == 0 ? Answer{"", true} : Answer{":3\r\n", false};
  });
  auto client = ClientOf(server);
  const auto reply =
      Ask(client.get(), Take(), "k", "1", seconds(2), /*charging=*/false);
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->integer, 3);
}

TEST(Faults, TheDeadlineCoversAServerThatNeverGreets) {
  FakeServer server([](const Command&) { return Answer{":1\r\n", false}; }, "");
  auto client = ClientOf(server);
  const auto reply = Ask(client.get(), Take(), "k", "1", milliseconds(50));
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_FALSE(MayHaveCharged(reply.status()));
}

TEST(Faults, ADeadlineThatPassesSaysWhatWasWaitedFor) {
  struct Case {
    std::string_view silent;  // from this command on
    const char* words;
  };
  for (const Case& c : {Case{"AUTH", "waiting for the answer to AUTH"},
                        Case{"SELECT", "waiting for the answer to SELECT"},
                        Case{"INFO", "waiting for the answer to INFO"},
                        Case{"EVALSHA", "waiting for the reply"}}) {
    FakeServer server(
        [&](const Command& command) {
          const bool answers = command[0] != c.silent && c.silent != "AUTH";
          return Answer{answers ? "+OK\r\n" : "", false};
        },
        c.silent == "EVALSHA" ? "$1\r\nx\r\n" : "");
    const std::string url =
        "redis://:secret@127.0.0.1:" + std::to_string(server.port()) +
        "/1?io_threads=1";
    auto client = MakeClient(url, [](ClientOptions* options) {
      options->breaker_failures = 1000;
      options->connect_timeout = seconds(20);
    });
    for (const bool async : {false, true}) {
      absl::Status status;
      // A slow machine may get no further than the step before.
      EXPECT_TRUE(WaitUntil([&] {
        status = async ? AskAsync(client.get(), Take(), milliseconds(50))
                       : Ask(client.get(), Take(), "k", "1", milliseconds(50))
                             .status();
        return status.message().find(c.words) != absl::string_view::npos;
      })) << status;
      EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << c.silent << status;
      EXPECT_EQ(MayHaveCharged(status), c.silent == "EVALSHA") << status;
    }
  }
}

TEST(Faults, EachStepOfConnectingIsASignOfTheServer) {
  FakeServer server([](const Command&) { return Answer{"+OK\r\n"}; }, "");
  ClientOptions options;
  options.password = "secret";
  const SteadyTime start = In(seconds(0));
  const auto at = [&](int ms) { return start + milliseconds(ms); };
  Dialer dialer({"127.0.0.1", server.port(), ""}, options, at(0));
  EXPECT_EQ(dialer.since(), at(0));
  // It connects and has an answer to AUTH, but none to INFO.
  EXPECT_TRUE(WaitUntil([&] {
    dialer.Advance(at(70));
    return dialer.Doing() == "while waiting for the answer to INFO";
  }));
  EXPECT_EQ(dialer.since(), at(70));
  dialer.Advance(at(80));
  EXPECT_EQ(dialer.since(), at(70));
}

TEST(Faults, AServerThatAnswersInTlsIsToldApart) {
  // An alert: fatal, of the version of the protocol.
  FakeServer server(
      [](const Command&) {
        return Answer{":1\r\n", false};
      },
      std::string("\x15\x03\x01\x00\x02\x02\x46", 7));
  auto client = ClientOf(server);
  const auto reply = Ask(client.get(), Take(), "k", "1");
  EXPECT_EQ(ReasonOf(reply.status()), Reason::kTls) << reply.status();
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr("rediss://"));
}

// Each call would wait for it as long as it can.
TEST(Faults, AServerThatIsLoadingIsNotWaitedForAgainAndAgain) {
  for (const bool async : {false, true}) {
    std::atomic<bool> loading{true};
    FakeServer server([&](const Command&) {
      return Answer{loading ? "-LOADING Redis is loading the dataset\r\n"
                            : ":7\r\n"};
    });
    auto client = MakeClient(server.url(), [&](ClientOptions* options) {
      options->io_threads = async ? 1 : 0;
    });
    const auto ask = [&](milliseconds time) {
      return async ? AskAsync(client.get(), Take(), time)
                   : Ask(client.get(), Take(), "k", "1", time).status();
    };
    // Whether the deadline comes first or not.
    for (const milliseconds time : {milliseconds(20), milliseconds(2000)}) {
      loading = true;
      const int64_t refused = client->counters().Met(Reason::kBreakerOpen);
      EXPECT_TRUE(WaitUntil([&] {
        EXPECT_TRUE(IsOutage(ask(time)));
        return client->counters().Met(Reason::kBreakerOpen) > refused;
      })) << async;
      loading = false;
      EXPECT_TRUE(WaitUntil([&] { return ask(seconds(2)).ok(); })) << async;
    }
  }
}

TEST(Faults, AnOldServerIsRefusedInWords) {
  FakeServer server(
      [](const Command&) {
        return Answer{":1\r\n", false};
      },
      "$22\r\nredis_version:3.2.13\r\n\r\n");
  auto client = ClientOf(server);
  const auto reply = Ask(client.get(), Take(), "k", "1");
  EXPECT_FALSE(IsOutage(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()),
              HasSubstr("it is Redis 3; 5 or newer"));
}

TEST(Faults, ARedirectionIsRefusedWhereNoClusterWasNamed) {
  FakeServer server([](const Command&) {
    return Answer{"-MOVED 12182 127.0.0.1:7103\r\n", false};
  });
  auto client = ClientOf(server);
  const auto reply = Ask(client.get(), Take(), "k", "1");
  EXPECT_EQ(ReasonOf(reply.status()), Reason::kNotACluster);
  EXPECT_FALSE(IsOutage(reply.status()));
  EXPECT_THAT(std::string(reply.status().message()),
              HasSubstr("redis+cluster://"));
  EXPECT_EQ(client->counters().Met(Reason::kMoved), 1);
}

// One error reply, for ever.
struct ErrorReply {
  const char* text;
  Reason reason;
  bool outage;
  const char* words;  // what the message says to do
};

void PrintTo(const ErrorReply& reply, std::ostream* out) { *out << reply.text; }

class ErrorReplyTest : public ::testing::TestWithParam<ErrorReply> {};

TEST_P(ErrorReplyTest, IsToldApart) {
  const ErrorReply& error = GetParam();
  FakeServer server([&](const Command&) {
    return Answer{"-" + std::string(error.text) + "\r\n", false};
  });
  auto client = ClientOf(server);
  const auto reply = Ask(client.get(), Take(), "k", "1", milliseconds(100));
  ASSERT_FALSE(reply.ok());
  const bool waited = absl::IsDeadlineExceeded(reply.status());
  EXPECT_EQ(ReasonOf(reply.status()), waited ? Reason::kTimeout : error.reason)
      << reply.status();
  EXPECT_EQ(IsOutage(reply.status()), error.outage);
  EXPECT_FALSE(MayHaveCharged(reply.status()));
  EXPECT_GE(client->counters().Met(error.reason), 1);
  EXPECT_THAT(std::string(reply.status().message()), HasSubstr(error.words));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, ErrorReplyTest,
    ::testing::Values(
        ErrorReply{"BUSY Redis is busy running a script. You can only call "
                   "SCRIPT KILL or SHUTDOWN NOSAVE.",
                   Reason::kBusy, true, "SCRIPT KILL"},
        ErrorReply{"LOADING Redis is loading the dataset in memory",
                   Reason::kLoading, true, "LOADING"},
        ErrorReply{"OOM command not allowed when used memory > 'maxmemory'. "
                   "script: 1234, on @user_script:2.",
                   Reason::kOutOfMemory, true, "maxmemory"},
        ErrorReply{"READONLY You can't write against a read only replica. "
                   "script: 1234, on @user_script:2.",
                   Reason::kReadOnly, true, "master"},
        ErrorReply{"ERR Error running script (call to f_12): @user_script:2: "
                   "@user_script: 2: -READONLY You can't write against a read "
                   "only slave.",
                   Reason::kReadOnly, true, "master"},
        ErrorReply{"ERR Error running script (call to f_12): @user_script:2: "
                   "-OOM command not allowed when used memory > 'maxmemory'.",
                   Reason::kOutOfMemory, true, "maxmemory"},
        // The key's bytes say nothing.
        ErrorReply{"WEIRSTATE x READONLY -OOM AUTH does not hold a state that "
                   "this version of weir can read script: 1234, on "
                   "@user_script:2.",
                   Reason::kScriptError, false, "a later version of weir"},
        ErrorReply{"ERR Error running script (call to f_12): @user_script:2: "
                   "WEIRSTATE x READONLY -OOM AUTH does not hold a state that "
                   "this version of weir can read",
                   Reason::kScriptError, false, "a later version of weir"},
        ErrorReply{"MASTERDOWN Link with MASTER is down and "
                   "replica-serve-stale-data is set to 'no'.",
                   Reason::kMasterDown, true, "MASTER"},
        ErrorReply{"NOREPLICAS Not enough good replicas to write.",
                   Reason::kNoReplicas, true, "min-replicas-to-write"},
        ErrorReply{"MISCONF Redis is configured to save RDB snapshots",
                   Reason::kMisconf, true, "disk"},
        ErrorReply{"NOAUTH Authentication required.", Reason::kNoAuth, false,
                   "password"},
        ErrorReply{"WRONGPASS invalid username-password pair or user is "
                   "disabled.",
                   Reason::kWrongPass, false, "check user and password"},
        ErrorReply{"NOPERM this user has no permissions to run the 'evalsha' "
                   "command",
                   Reason::kNoPermission, false, "ACL SETUSER"},
        ErrorReply{"ERR The user executing the script can't run this command "
                   "or subcommand script: 12, on @user_script:1.",
                   Reason::kNoPermission, false, "ACL SETUSER"},
        ErrorReply{"CROSSSLOT Keys in request don't hash to the same slot",
                   Reason::kCrossSlot, false, "share their tag"},
        ErrorReply{"WRONGTYPE Operation against a key holding the wrong kind "
                   "of value script: 12, on @user_script:2.",
                   Reason::kWrongType, false, "namespace"},
        ErrorReply{"NOSCRIPT No matching script. Please use EVAL.",
                   Reason::kNoScript, false, "flushed"},
        ErrorReply{"ERR user_script:1: attempt to index a nil value",
                   Reason::kScriptError, false, "nil value"}));

}  // namespace
}  // namespace weir::redis
