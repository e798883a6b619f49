// Asynchronous calls: on the client's own thread, and in a caller's loop.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "tests/redis/client_fixture.h"
#include "tests/redis/fake_server.h"
#include "tests/redis/few_descriptors.h"

namespace weir::redis {
namespace {

using ::weir::testing::FakeServer;
using ::weir::testing::FewDescriptors;
using ::weir::testing::RedisServer;
using ::weir::testing::WaitUntil;
using Answer = FakeServer::Answer;
using Command = FakeServer::Command;

// Counts callbacks and waits for them.
class Waiting {
 public:
  explicit Waiting(int owed) : owed_(owed) {}
  void Done() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (--owed_ == 0) all_.notify_all();
  }
  bool Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    return all_.wait_for(lock, seconds(20), [this] { return owed_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  int owed_;
};

class AsyncTest : public ::testing::Test {
 protected:
  void SetUp() override {
    WEIR_NEEDS_REDIS_SERVER();
    server_ = RedisServer::Start();
    ASSERT_NE(server_, nullptr);
  }

  std::shared_ptr<Client> WithThread() {
    return MakeClient(server_->url() + "?io_threads=1");
  }

  std::unique_ptr<RedisServer> server_;
};

// Asks again whenever it is refused for that reason, so many times.
void Insist(Client* client, std::atomic<int>* tries, Waiting* waiting,
            Reason reason = Reason::kOverloaded) {
  client->RunAsync({Echo(), {"k"}, {"a"}}, In(seconds(20)),
                   [=](const absl::StatusOr<Reply>& reply) {
                     const bool refused = ReasonOf(reply.status()) == reason;
                     if (refused && --*tries > 0) {
                       return Insist(client, tries, waiting, reason);
                     }
                     waiting->Done();
                   });
}

// By a thread of the caller's and by the client's own.
TEST_F(AsyncTest, ARefusedCallMayBeMadeAgainByItsCallback) {
  const auto client =
      MakeClient(server_->url() + "?io_threads=1",
                 [](ClientOptions* options) { options->max_in_flight = 1; });
  Waiting first(1);
  Waiting second(1);
  std::atomic<int> tries{100'000};
  ASSERT_TRUE(AskAsync(client.get(), Echo()).ok());  // it is connected
  server_->Pause();
  client->RunAsync({Echo(), {"k"}, {"a"}}, In(seconds(20)),
                   [&](const absl::StatusOr<Reply>&) { first.Done(); });
  Insist(client.get(), &tries, &second);
  EXPECT_TRUE(second.Wait());
  EXPECT_EQ(tries, 0);
  server_->Resume();
  EXPECT_TRUE(first.Wait());
}

// One call in a loop of the caller's.
absl::Status AskInLoop(Client* client) {
  absl::Status status;
  bool told = false;
  client->RunAsync({Echo(), {"k"}, {"a"}}, In(seconds(20)),
                   [&](const absl::StatusOr<Reply>& reply) {
                     status = Detached(reply.status());
                     told = true;
                   });
  while (!told) {
    pollfd watched{client->event_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&watched, 1, 5000), 1);
    if (::testing::Test::HasFailure()) return absl::UnknownError("not told");
    client->Process();
  }
  return status;
}

TEST_F(AsyncTest, AShortageOfDescriptorsIsAnOutageThatPasses) {
  for (const int room : {0, 1, 2}) {
    const auto client = MakeClient(server_->url());
    const int free = FewDescriptors::LowestFree();
    for (int i = 0; i < 2; ++i) {
      const FewDescriptors few(room);
      const absl::Status status = AskInLoop(client.get());
      EXPECT_EQ(ReasonOf(status), Reason::kUnreachable) << status;
      EXPECT_TRUE(IsOutage(status)) << status;
      EXPECT_FALSE(MayHaveCharged(status));
      EXPECT_NE(status.message().find("Too many open files"),
                absl::string_view::npos)
          << status;
      EXPECT_EQ(client->event_fd(), -1);
    }
    EXPECT_EQ(FewDescriptors::LowestFree(), free);
    EXPECT_EQ(client->counters().Met(Reason::kUnreachable), 2);
    EXPECT_EQ(AskInLoop(client.get()), absl::OkStatus());
    EXPECT_GE(client->event_fd(), 0);
  }
}

// A share of them in each call and each turn, and none inside of another.
TEST_F(AsyncTest, ACallThatIsRefusedForWantOfALoopMayBeMadeAgain) {
  const auto client = MakeClient(server_->url());
  const auto insist = [&](std::atomic<int>* tries, Waiting* waiting) {
    Insist(client.get(), tries, waiting, Reason::kUnreachable);
  };
  Waiting few_told(1);
  Waiting many_told(1);
  Waiting again_told(1);
  std::atomic<int> few{5};
  constexpr int kMany = 100'000;
  std::atomic<int> many{kMany};
  std::atomic<int> again{kMany};
  {
    const FewDescriptors none;
    insist(&few, &few_told);
    EXPECT_EQ(few, 0);
    insist(&many, &many_told);
    EXPECT_GT(many, kMany / 2);
    for (int turn = 0; turn < kMany && many > 0; ++turn) client->Process();
    EXPECT_EQ(many, 0);
    insist(&again, &again_told);
    EXPECT_GT(again, kMany / 2);
  }
  // What is left over is told in the loop that there is now.
  pollfd watched{client->event_fd(), POLLIN, 0};
  const int before = again;
  EXPECT_EQ(poll(&watched, 1, 5000), 1);
  client->Process();
  EXPECT_LT(again, before);
  EXPECT_EQ(AskInLoop(client.get()), absl::OkStatus());
  EXPECT_TRUE(few_told.Wait());
  EXPECT_TRUE(many_told.Wait());
  EXPECT_TRUE(again_told.Wait());
}

TEST_F(AsyncTest, AClientWithAThreadIsNotMadeWithoutItsLoop) {
  ClientOptions options = ParseUrl(server_->url() + "?io_threads=1")->client;
  const int free = FewDescriptors::LowestFree();
  for (const int room : {0, 1, 2}) {
    const FewDescriptors few(room);
    const absl::Status status = Client::Create(options).status();
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_NE(status.message().find("Too many open files"),
              absl::string_view::npos)
        << status;
  }
  EXPECT_EQ(FewDescriptors::LowestFree(), free);
  EXPECT_TRUE(Client::Create(options).ok());
}

TEST_F(AsyncTest, TenThousandInFlightOnOneThread) {
  auto client = WithThread();
  constexpr int kCalls = 10'000;
  Waiting waiting(kCalls);
  std::atomic<int> granted{0};
  std::atomic<int> failed{0};
  std::atomic<int> wrong{0};
  // Nothing is answered until all are on their way.
  server_->Pause();
  for (int i = 0; i < kCalls; ++i) {
    const bool take = i % 2 == 0;
    const std::string arg = take ? "1000" : std::to_string(i);
    client->RunAsync({take ? Take() : Echo(), {"k"}, {arg}}, In(seconds(20)),
                     [&, take, arg](absl::StatusOr<Reply> reply) {
                       if (!reply.ok()) {
                         ++failed;
                       } else if (take) {
                         granted += static_cast<int>(reply->integer);
                       } else if (reply->elements[0].text != arg) {
                         ++wrong;
                       }
                       waiting.Done();
                     });
  }
  server_->Resume();
  ASSERT_TRUE(waiting.Wait());
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(granted, 1000);
  EXPECT_EQ(server_->Call({"GET", "k"}).text, std::to_string(kCalls / 2));
  EXPECT_EQ(client->counters().connects, 1);
}

TEST_F(AsyncTest, ThreadsSubmitAndCallbacksSubmitMore) {
  auto client = WithThread();
  constexpr int kChains = 16;
  constexpr int kLength = 200;
  Waiting waiting(kChains);
  std::atomic<int> granted{0};
  std::function<void(int)> next = [&](int left) {
    if (left == 0) return waiting.Done();
    client->RunAsync({Take(), {"k"}, {"500"}}, In(seconds(20)),
                     [&, left](absl::StatusOr<Reply> reply) {
                       if (reply.ok()) {
                         granted += static_cast<int>(reply->integer);
                       }
                       next(left - 1);
                     });
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kChains; ++i) threads.emplace_back(next, kLength);
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(waiting.Wait());
  EXPECT_EQ(granted, 500);
  EXPECT_EQ(server_->Call({"GET", "k"}).text,
            std::to_string(kChains * kLength));
}

TEST_F(AsyncTest, RunsInTheCallersEventLoop) {
  auto client = MakeClient(server_->url());
  int done = 0;
  for (int i = 0; i < 100; ++i) {
    client->RunAsync({Take(), {"k"}, {"40"}}, In(seconds(5)),
                     [&](absl::StatusOr<Reply> reply) {
                       ASSERT_TRUE(reply.ok()) << reply.status();
                       ++done;
                     });
  }
  EXPECT_EQ(done, 0);
  pollfd watched{client->event_fd(), POLLIN, 0};
  while (done < 100) {
    ASSERT_EQ(poll(&watched, 1, 5000), 1) << done;
    client->Process();
  }
  EXPECT_EQ(server_->Call({"GET", "k"}).text, "100");
}

TEST_F(AsyncTest, DeadlinePassesWithoutAnyReply) {
  auto client = WithThread();
  ASSERT_TRUE(Ask(client.get(), Take(), "k", "1").ok());  // the text is known
  Waiting first(1);
  client->RunAsync({Take(), {"k"}, {"1"}}, In(seconds(5)),
                   [&](absl::StatusOr<Reply>) { first.Done(); });
  ASSERT_TRUE(first.Wait());
  server_->Pause();
  Waiting waiting(1);
  absl::Status status;
  client->RunAsync({Take(), {"k"}, {"1"}}, In(milliseconds(30)),
                   [&](absl::StatusOr<Reply> reply) {
                     status = reply.status();
                     waiting.Done();
                   });
  ASSERT_TRUE(waiting.Wait());
  EXPECT_EQ(ReasonOf(status), Reason::kTimeout);
  EXPECT_TRUE(MayHaveCharged(status)) << status;
  server_->Resume();
  Waiting after(1);
  client->RunAsync({Echo(), {"k"}, {"mine"}}, In(seconds(5)),
                   [&](absl::StatusOr<Reply> reply) {
                     ASSERT_TRUE(reply.ok()) << reply.status();
                     EXPECT_EQ(reply->elements[0].text, "mine");
                     after.Done();
                   });
  ASSERT_TRUE(after.Wait());
  EXPECT_GE(client->counters().late_replies, 1);
}

TEST_F(AsyncTest, EveryCallIsAnsweredWhenTheClientGoes) {
  int done = 0;
  int cancelled = 0;
  {
    auto client = WithThread();
    server_->Pause();
    for (int i = 0; i < 50; ++i) {
      client->RunAsync({Take(), {"k"}, {"1"}}, In(seconds(60)),
                       [&](absl::StatusOr<Reply> reply) {
                         ++done;
                         cancelled += absl::IsCancelled(reply.status());
                       });
    }
  }
  EXPECT_EQ(done, 50);
  EXPECT_EQ(cancelled, 50);
  server_->Resume();
}

TEST_F(AsyncTest, NobodyListens) {
  server_->Kill();
  auto client = WithThread();
  Waiting waiting(20);
  std::atomic<int> outages{0};
  for (int i = 0; i < 20; ++i) {
    client->RunAsync({Take(), {"k"}, {"1"}}, In(seconds(5)),
                     [&](absl::StatusOr<Reply> reply) {
                       outages += IsOutage(reply.status());
                       waiting.Done();
                     });
  }
  ASSERT_TRUE(waiting.Wait());
  EXPECT_EQ(outages, 20);
}

// Calls that fail at once, and whose callbacks ask again at once.
class AsyncFailuresTest : public AsyncTest {
 protected:
  void SetUp() override {
    AsyncTest::SetUp();
    if (server_ == nullptr) return;
    server_->Kill();
    client_ = MakeClient(server_->url());
    // Until it is not even asked.
    while (client_->counters().Met(Reason::kBreakerOpen) == 0) {
      ASSERT_FALSE(Ask(client_.get(), Take(), "k", "1").ok());
    }
  }

  void Submit(std::chrono::nanoseconds time, std::function<void()> then) {
    ++open_;
    client_->RunAsync({Take(), {"k"}, {"1"}}, In(time),
                      [this, then](absl::StatusOr<Reply> reply) {
                        EXPECT_FALSE(reply.ok());
                        --open_;
                        then();
                      });
  }
  // Until all are told.
  void Drain() {
    pollfd watched{client_->event_fd(), POLLIN, 0};
    while (open_ > 0) {
      ASSERT_EQ(poll(&watched, 1, 5000), 1) << open_;
      client_->Process();
    }
  }

  std::shared_ptr<Client> client_;
  int open_ = 0;
};

TEST_F(AsyncFailuresTest, ADeadlineIsServedBeforeThoseInLine) {
  int told_before = 0;
  bool told = false;
  for (int i = 0; i < 5000; ++i) {
    Submit(seconds(20), [&] { told_before += told ? 0 : 1; });
  }
  Submit(seconds(0), [&] { told = true; });
  client_->Process();
  EXPECT_TRUE(told);
  EXPECT_EQ(told_before, 0);
  Drain();
}

TEST_F(AsyncFailuresTest, ATurnServesAShareOfThem) {
  // What fails because it can't be sent, and what fails because it is late.
  for (const seconds time : {seconds(20), seconds(0)}) {
    bool again = true;
    int told = 0;
    std::function<void()> submit = [&] {
      Submit(time, [&] {
        ++told;
        if (again) submit();
      });
    };
    for (int i = 0; i < 5000; ++i) submit();
    pollfd watched{client_->event_fd(), POLLIN, 0};
    for (int turn = 0; turn < 3; ++turn) {
      told = 0;
      ASSERT_EQ(poll(&watched, 1, 5000), 1);
      client_->Process();
      EXPECT_GT(told, 0);
      EXPECT_LT(told, 5000);
    }
    again = false;
    Drain();
  }
}

// Many calls that lose their connection, in a loop of the test's own.
class AsyncLossTest : public ::testing::Test {
 protected:
  static constexpr int kCalls = 2000;

  // Never answers the first so many, and closes when it has them all.
  AsyncLossTest()
      : server_([this](const Command&) {
          const int call = ++asked_;
          return call > kCalls ? Answer{":7\r\n"} : Answer{"", call == kCalls};
        }) {}

  void Submit(std::chrono::nanoseconds time = seconds(20)) {
    client_->RunAsync({Take(), {"k"}, {"1"}}, In(time),
                      [this, number = submitted_++](absl::StatusOr<Reply> r) {
                        told_.push_back(number);
                        failed_ += r.ok() ? 0 : 1;
                        status_[number] = Detached(r.status());
                        if (then_) then_();
                      });
  }
  // How many are told of a failure in it.
  int Turn() {
    pollfd watched{client_->event_fd(), POLLIN, 0};
    EXPECT_EQ(poll(&watched, 1, 5000), 1);
    const int before = failed_;
    client_->Process();
    return failed_ - before;
  }
  // All that were submitted; of failures not all in one turn.
  void TellAll() {
    while (static_cast<int>(told_.size()) < submitted_ && !HasFailure()) {
      EXPECT_LT(Turn(), kCalls / 2);
    }
  }
  int CountOf(Reason reason) const {
    return static_cast<int>(std::count_if(
        status_.begin(), status_.end(),
        [&](const auto& s) { return ReasonOf(s.second) == reason; }));
  }

  std::atomic<int> asked_{0};
  FakeServer server_;
  int submitted_ = 0;
  int failed_ = 0;
  std::vector<int> told_;
  std::map<int, absl::Status> status_;
  std::function<void()> then_;
  std::shared_ptr<Client> client_ = MakeClient(server_.url());
};

TEST_F(AsyncLossTest, ATurnTellsAShareOfThoseThatWereSent) {
  for (int i = 0; i < kCalls; ++i) Submit();
  // Each asks again, on the next connection.
  then_ = [this] {
    if (submitted_ < 2 * kCalls) Submit();
  };
  TellAll();
  std::vector<int> in_order(2 * kCalls);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(told_, in_order);
  EXPECT_EQ(CountOf(Reason::kClosed), kCalls);
  EXPECT_EQ(CountOf(Reason::kNone), kCalls);
  EXPECT_EQ(server_.connections(), 2);
}

TEST_F(AsyncLossTest, ATurnTellsAShareOfThoseThatWaitForAConnection) {
  FakeServer silent([](const Command&) { return Answer{}; }, "");
  client_ = MakeClient(silent.url(), [](ClientOptions* options) {
    options->breaker_failures = 1000;
    options->connect_timeout = milliseconds(200);
  });
  for (int i = 0; i < kCalls; ++i) Submit();
  TellAll();
  EXPECT_TRUE(std::is_sorted(told_.begin(), told_.end()));
  EXPECT_EQ(CountOf(Reason::kUnreachable), kCalls);
}

TEST_F(AsyncLossTest, DeadlinesDoNotWaitUntilAllAreTold) {
  for (int i = 1; i < kCalls; ++i) Submit();
  const SteadyTime deadline = In(seconds(1));
  Submit(seconds(1));  // it loses its connection too, and is the last
  while (Turn() == 0) {
  }
  Submit(seconds(0));
  EXPECT_TRUE(WaitUntil([&] { return In(seconds(0)) > deadline; }));
  Turn();
  EXPECT_EQ(CountOf(Reason::kTimeout), 2);
  EXPECT_EQ(status_.count(kCalls - 2), 0u);
  EXPECT_TRUE(MayHaveCharged(status_[kCalls - 1]));
  TellAll();
  EXPECT_EQ(CountOf(Reason::kClosed), kCalls - 1);
  EXPECT_EQ(status_.size(), told_.size());
}

TEST_F(AsyncLossTest, TheRestIsToldWhenTheClientGoes) {
  for (int i = 0; i < kCalls; ++i) Submit();
  while (Turn() == 0) {
  }
  client_ = nullptr;
  EXPECT_EQ(told_.size(), size_t{kCalls});
  EXPECT_EQ(status_.size(), size_t{kCalls});
  EXPECT_LT(CountOf(Reason::kClosed), kCalls);
}

// A server that answers when the test lets it, far too late for some.
TEST(AsyncOverload, WhoWouldBeLateIsNotSent) {
  constexpr int kFirst = 300;
  std::atomic<int> let{0}, asked{0};
  FakeServer server([&](const Command&) {
    const int call = ++asked;
    WaitUntil([&] { return let >= call; }, seconds(60));
    return Answer{":1\r\n"};
  });
  auto client = MakeClient(server.url());
  int submitted = 0, told = 0;
  std::vector<absl::Status> failed;
  const auto submit = [&](milliseconds time) {
    ++submitted;
    client->RunAsync({Take(), {"k"}, {"1"}}, In(time),
                     [&](absl::StatusOr<Reply> reply) {
                       ++told;
                       if (!reply.ok()) failed.push_back(reply.status());
                     });
  };
  const auto process_until = [&](const std::function<bool()>& done) {
    return WaitUntil(
        [&] {
          client->Process();
          return done();
        },
        seconds(20));
  };
  for (int i = 0; i < kFirst; ++i) submit(seconds(60));
  ASSERT_TRUE(process_until([&] { return asked > 0; }));
  const SteadyTime since = In(seconds(0));
  process_until([&] { return In(seconds(0)) - since > seconds(1); });
  // If the machine pauses after an answer, that answer counts for nothing.
  while (failed.empty() && let < kFirst / 10) {
    ++let;
    ASSERT_TRUE(process_until([&] { return told == let; }));
    submit(milliseconds(900));
    submit(seconds(60));
    client->Process();
  }
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(ReasonOf(failed[0]), Reason::kOverloaded) << failed[0];
  EXPECT_FALSE(MayHaveCharged(failed[0]));
  // All others were sent.
  let = submitted;
  EXPECT_TRUE(process_until([&] { return told == submitted; }));
  EXPECT_EQ(failed.size(), 1u);
  EXPECT_EQ(asked, submitted - 1);
}

}  // namespace
}  // namespace weir::redis
