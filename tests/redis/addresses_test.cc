// A host name with several addresses, not all of which are any good.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

#include "backends/redis/dialer.h"
#include "gmock/gmock.h"
#include "tests/redis/client_fixture.h"
#include "tests/redis/fake_server.h"

namespace weir::redis {
namespace {

using ::testing::HasSubstr;
using ::weir::testing::FakeServer;
using ::weir::testing::WaitUntil;
using Answer = FakeServer::Answer;
using Command = FakeServer::Command;

// Nobody takes connections from it, and it has no room for any but the first.
class FullListener {
 public:
  FullListener()
      : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        first_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    SocketAddress address = LoopbackAt(0);
    auto* name = reinterpret_cast<sockaddr*>(&address.storage);
    if (bind(listener_, name, address.size) != 0 || listen(listener_, 0) != 0 ||
        getsockname(listener_, name, &address.size) != 0 ||
        connect(first_, name, address.size) != 0) {
      std::abort();
    }
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port);
  }
  ~FullListener() {
    close(first_);
    close(listener_);
  }
  int port() const { return port_; }

 private:
  const int listener_;
  const int first_;
  int port_ = 0;
};

Answer Agree(const Command& command) {
  return {command[0] == "AUTH" ? "+OK\r\n" : ":7\r\n"};
}

std::function<void(ClientOptions*)> AtPorts(const std::vector<int>& ports,
                                            bool async,
                                            milliseconds connect_timeout) {
  return [=](ClientOptions* options) {
    options->resolver = [ports](const Address&) {
      std::vector<SocketAddress> addresses;
      for (const int port : ports) addresses.push_back(LoopbackAt(port));
      return addresses;
    };
    options->io_threads = async ? 1 : 0;
    options->connect_timeout = connect_timeout;
    options->breaker_failures = 1000;
    options->max_retry_interval = milliseconds(60);
  };
}

constexpr char kUrl[] = "redis://:secret@several.test";

absl::Status AskEither(Client* client, bool async, milliseconds time) {
  return async ? AskAsync(client, Take(), time)
               : Ask(client, Take(), "k", "1", time).status();
}

// Silent or not to be understood, at one step or another.
TEST(Addresses, TheNextOneIsReachedWhateverTheFirstOneDoes) {
  const FullListener full;
  const FakeServer never_greets(Agree, "");
  const FakeServer no_redis(Agree, "HTTP/1.1 400 Bad Request\r\n\r\n");
  const FakeServer hangs_up([](const Command&) { return Answer{"", true}; });
  const FakeServer good(Agree);
  const int closed = testing::FreePort();
  for (const int first : {full.port(), never_greets.port(), no_redis.port(),
                          hangs_up.port(), closed}) {
    for (const bool async : {false, true}) {
      const auto client =
          MakeClient(kUrl, AtPorts({first, good.port()}, async, seconds(1)));
      const absl::Status status = AskEither(client.get(), async, seconds(20));
      EXPECT_TRUE(status.ok()) << status;
    }
  }
}

TEST(Addresses, ARefusalInWordsIsTheAnswer) {
  const FakeServer refuses([](const Command&) {
    return Answer{"-WRONGPASS invalid username-password pair\r\n"};
  });
  const FakeServer good(Agree);
  for (const bool async : {false, true}) {
    const auto client = MakeClient(
        kUrl, AtPorts({refuses.port(), good.port()}, async, seconds(1)));
    for (int i = 0; i < 2; ++i) {
      const absl::Status status = AskEither(client.get(), async, seconds(2));
      EXPECT_EQ(ReasonOf(status), Reason::kWrongPass) << status;
    }
  }
  EXPECT_EQ(good.connections(), 0);
}

TEST(Addresses, TheLastOneSaysWhyThereIsNoConnection) {
  const FullListener full;
  const int closed = testing::FreePort();
  for (const bool async : {false, true}) {
    auto client =
        MakeClient(kUrl, AtPorts({full.port(), closed}, async, seconds(1)));
    absl::Status status = AskEither(client.get(), async, seconds(5));
    EXPECT_EQ(ReasonOf(status), Reason::kUnreachable) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("refused"));
    client = MakeClient(
        kUrl, AtPorts({closed, full.port()}, async, milliseconds(20)));
    status = AskEither(client.get(), async, seconds(5));
    EXPECT_EQ(ReasonOf(status), Reason::kUnreachable) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("connect_timeout passed while connecting"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("refused"));
  }
}

// Each goes away when its own time is up, and the next one goes on.
TEST(Addresses, CallersInAHurryReachTheNextOneTogether) {
  const FullListener full;
  const FakeServer good(Agree);
  for (const bool async : {false, true}) {
    const auto client = MakeClient(
        kUrl, AtPorts({full.port(), good.port()}, async, seconds(1)));
    int in_vain = 0;
    EXPECT_TRUE(WaitUntil([&] {
      const absl::Status status =
          AskEither(client.get(), async, milliseconds(40));
      if (status.ok()) return true;
      EXPECT_EQ(ReasonOf(status), Reason::kTimeout) << status;
      ++in_vain;
      return false;
    }));
    EXPECT_GE(in_vain, 1);
    EXPECT_EQ(client->counters().connects, 1);
  }
}

// Whoever comes next finds that the attempt has had its time.
TEST(Addresses, CallersWhoComeSeldomReachTheNextOneInTheEnd) {
  const FullListener full;
  const FakeServer good(Agree);
  for (const bool async : {false, true}) {
    const auto client = MakeClient(
        kUrl, AtPorts({full.port(), good.port()}, async, milliseconds(20)));
    EXPECT_TRUE(WaitUntil([&] {
      if (AskEither(client.get(), async, milliseconds(2)).ok()) return true;
      const SteadyTime next = In(milliseconds(25));
      EXPECT_TRUE(WaitUntil([&] { return In(seconds(0)) > next; }));
      return false;
    }));
  }
}

TEST(Addresses, EachHasAShareOfTheTimeThatIsLeft) {
  const FullListener full;
  const FakeServer good(Agree);
  ClientOptions options;
  AtPorts({full.port(), full.port(), full.port(), good.port()}, false,
          milliseconds(400))(&options);
  const SteadyTime start = In(seconds(0));
  const auto at = [&](int ms) { return start + milliseconds(ms); };
  Dialer dialer({"several.test", 6379, ""}, options, at(0));
  EXPECT_EQ(dialer.Advance(at(0)), Dialer::Step::kWantWrite);
  EXPECT_EQ(dialer.due(), at(100));
  EXPECT_EQ(dialer.Advance(at(99)), Dialer::Step::kWantWrite);
  EXPECT_EQ(dialer.due(), at(100));
  // Nobody looked for a while.
  EXPECT_EQ(dialer.Advance(at(160)), Dialer::Step::kWantWrite);
  EXPECT_EQ(dialer.due(), at(240));
  // It is no sign of the server that another address is tried.
  EXPECT_EQ(dialer.since(), at(0));
  // Later than all: the next attempt begins where this one did not get to.
  EXPECT_EQ(dialer.Advance(at(400)), Dialer::Step::kFailed);
  EXPECT_EQ(dialer.next_first(), 2u);
  Dialer next({"several.test", 6379, ""}, options, at(400),
              dialer.next_first());
  next.Advance(at(400));
  EXPECT_EQ(next.due(), at(500));
  Dialer::Step step;
  EXPECT_TRUE(WaitUntil([&] {
    step = next.Advance(at(500));
    return step == Dialer::Step::kReady || step == Dialer::Step::kFailed;
  }));
  EXPECT_EQ(step, Dialer::Step::kReady);
}

// The sockets' numbers are given out anew as they are closed; the one that is
// watched last must not be taken for the one that was watched first.
TEST(Addresses, TheThirdOneIsWatchedThoughTwoFailAtOnce) {
  const FakeServer hangs_up([](const Command&) { return Answer{"", true}; });
  const FakeServer good(Agree);
  const int closed = testing::FreePort();
  const auto client = MakeClient(
      kUrl, AtPorts({hangs_up.port(), closed, good.port()}, true, seconds(60)));
  const absl::Status status = AskAsync(client.get(), Take(), seconds(5));
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace weir::redis
