#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/redis/client.h"
#include "bench/redis/runs.h"
#include "bench/redis/samples.h"
#include "bench/redis/script.h"

namespace weir::bench {
namespace {

constexpr std::string_view kOne = "1";
constexpr std::chrono::seconds kPatience(5);

std::shared_ptr<redis::Client> MakeClient(const Target& target,
                                          std::chrono::microseconds spin,
                                          int io_threads) {
  redis::ClientOptions options;
  const bool tls = target.tls_port != 0;
  options.addresses.push_back(
      {"127.0.0.1", tls ? target.tls_port : target.port, ""});
  if (tls) {
    redis::TlsOptions trust;
    trust.ca_file = target.ca_file;
    auto context = redis::TlsContext::Create(trust);
    if (!context.ok()) return nullptr;
    options.tls = *std::move(context);
  }
  options.spin = spin;
  options.io_threads = io_threads;
  auto client = redis::Client::Create(options);
  return client.ok() ? *client : nullptr;
}

}  // namespace

Speed RunCallers(const Target& target, int callers,
                 std::chrono::microseconds spin) {
  auto client = MakeClient(target, spin, 0);
  std::vector<Samples> samples(static_cast<size_t>(callers));
  std::atomic<bool> failed{false};
  const auto start = Steady::now();
  const auto end = start + target.time;
  const auto work = [&](size_t caller) {
    redis::Reply reply;
    uint64_t n = caller << 32;
    for (auto before = Steady::now(); before < end;) {
      const std::string_view view = KeyOf(n++);
      const absl::Status status = client->Run(
          {&target.script, absl::MakeSpan(&view, 1), absl::MakeSpan(&kOne, 1)},
          before + kPatience, &reply);
      if (!status.ok() || reply.type != redis::Reply::Type::kInteger) {
        failed = true;
        return;
      }
      const auto after = Steady::now();
      samples[caller].Add(after - before);
      before = after;
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < samples.size(); ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  if (failed) return {};
  if (std::getenv("WEIR_BENCH_COUNTERS") != nullptr) {
    const redis::Counters c = client->counters();
    const auto calls = static_cast<double>(c.calls);
    std::fprintf(stderr, "a call: %.2f sends, %.2f receives\n",
                 static_cast<double>(c.sends) / calls,
                 static_cast<double>(c.receives) / calls);
  }
  for (size_t i = 1; i < samples.size(); ++i) samples[0].Add(samples[i]);
  return samples[0].Take(Steady::now() - start);
}

Speed RunAsyncCalls(const Target& target, int in_flight) {
  auto client = MakeClient(target, {}, 1);
  std::mutex mutex;
  std::condition_variable idle;
  int running = in_flight;
  std::atomic<int64_t> done{0};
  std::atomic<bool> failed{false};
  std::atomic<uint64_t> n{0};
  const auto start = Steady::now();
  const auto end = start + target.time;
  std::function<void()> next = [&] {
    const auto now = Steady::now();
    if (now >= end || failed) {
      std::lock_guard<std::mutex> lock(mutex);
      if (--running == 0) idle.notify_one();
      return;
    }
    redis::OwnedCall call{&target.script, {KeyOf(n++)}, {"1"}};
    client->RunAsync(std::move(call), now + kPatience,
                     [&](absl::StatusOr<redis::Reply> reply) {
                       if (!reply.ok()) failed = true;
                       ++done;
                       next();
                     });
  };
  for (int i = 0; i < in_flight; ++i) next();
  std::unique_lock<std::mutex> lock(mutex);
  idle.wait(lock, [&] { return running == 0; });
  if (failed) return {};
  Speed speed;
  speed.per_second =
      static_cast<double>(done) /
      std::chrono::duration<double>(Steady::now() - start).count();
  return speed;
}

}  // namespace weir::bench
