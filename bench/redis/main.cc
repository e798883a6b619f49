// weir_redis_bench PORT [ROUNDS [MILLISECONDS [ROW [TLS_PORT CA_FILE]]]]
//
// Runs one script on the server of that port (on this machine) through weir's
// client and, in turns with it, through what it is compared with. Prints
// medians over the rounds, and the ratio. ROW: one of the names below, or all.
// With a port of TLS both go by that. bench/redis/run starts a server.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/redis/check_many.h"
#include "bench/redis/runs.h"
#include "bench/redis/script.h"

namespace weir::bench {
namespace {

struct Row {
  std::string name;
  std::function<Speed()> weir;
  std::string rival;
  std::function<Speed()> run_rival;
  bool by_p50 = false;  // smaller is better
  double goal = 0;
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<Row> Rows(const Target& t) {
  std::vector<Row> rows;
  const auto add = [&](std::string name, std::function<Speed()> run,
                       int clients, int pipeline, double goal) {
    const std::string command = RedisBenchmarkCommand(t, clients, pipeline);
    rows.push_back({std::move(name), std::move(run), command,
                    [command] { return RunRedisBenchmark(command); }, false,
                    goal});
  };
  using std::chrono::microseconds;
  using std::chrono::milliseconds;
  if (t.tls_port == 0) {
    rows.push_back({"lone", [t] { return RunCallers(t, 1, {}); },
                    "bare hiredis", [t] { return RunBareHiredis(t); }, true,
                    1.1});
  } else {  // hiredis 0.14 has no TLS
    add(
        "lone", [t] { return RunCallers(t, 1, {}); }, 1, 1, 1.1);
    rows.back().by_p50 = true;
  }
  add(
      "lone,spin", [t] { return RunCallers(t, 1, microseconds(200)); }, 1, 1,
      2.5);
  if (t.tls_port == 0) {
    rows.push_back({"lone,spin,floor",
                    [t] { return RunCallers(t, 1, microseconds(200)); },
                    "a bare socket, asked until it answers",
                    [t] { return RunBareSpin(t); }, false, 0.95});
  }
  add(
      "8", [t] { return RunCallers(t, 8, {}); }, 8, 1, 1.2);
  add(
      "64", [t] { return RunCallers(t, 64, {}); }, 64, 1, 1.4);
  using std::chrono::seconds;
  for (const Limit& limit :
       {Limit::Gcra(1'000'000, seconds(1)),
        Limit::TokenBucket(1'000'000, 1'000'000, seconds(1)),
        Limit::FixedWindow(1'000'000, seconds(1)),
        Limit::SlidingLog(1'000'000, milliseconds(50))}) {
    const std::string command =
        RedisBenchmarkCommand(OneKeyScript(t, limit), 1, 64);
    rows.push_back(
        {"many64," + limit.algorithm(),
         [=] { return RunCheckMany(t, limit, 64); }, "its script, -c 1 -P 64",
         [command] { return RunRedisBenchmark(command); }, false, 0.95});
  }
  add(
      "async256", [t] { return RunAsyncCalls(t, 256); }, 50, 64, 0.9);
  return rows;
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr,
                 "usage: weir_redis_bench PORT [ROUNDS [MS [ROW [TLS_PORT "
                 "CA_FILE]]]]\n");
    return 2;
  }
  Target target;
  target.port = std::atoi(argv[1]);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  target.time = std::chrono::milliseconds(argc > 3 ? std::atoi(argv[3]) : 1000);
  const std::string only = argc > 4 ? argv[4] : "all";
  if (argc > 6) {
    target.tls_port = std::atoi(argv[5]);
    target.ca_file = argv[6];
  }
  target.script = LoadScript(target.port);
  if (target.script.sha1.empty()) {
    std::fprintf(stderr, "no Redis on port %d\n", target.port);
    return 1;
  }
  std::printf("%-20s %12s %12s %8s %6s  %s\n", "row", "weir", "rival", "ratio",
              "goal", "rival is");
  for (const Row& row : Rows(target)) {
    if (only != "all" && row.name != only) continue;
    std::vector<double> ours;
    std::vector<double> theirs;
    std::vector<double> ratios;
    for (int round = 0; round < rounds; ++round) {
      const Speed rival = row.run_rival();
      const Speed weir = row.weir();
      ours.push_back(row.by_p50 ? weir.p50_us : weir.per_second);
      theirs.push_back(row.by_p50 ? rival.p50_us : rival.per_second);
      ratios.push_back(ours.back() / theirs.back());
    }
    std::printf("%-20s %12.1f %12.1f %8.3f %s%.2f  %s (%s)\n", row.name.c_str(),
                Median(ours), Median(theirs), Median(ratios),
                row.by_p50 ? "<=" : ">=", row.goal, row.rival.c_str(),
                row.by_p50 ? "p50, us" : "calls/s");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) { return weir::bench::Main(argc, argv); }
