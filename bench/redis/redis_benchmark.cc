#include <cstdio>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/redis/runs.h"
#include "bench/redis/script.h"
#include "core/text.h"

namespace weir::bench {

std::string RedisBenchmarkCommand(const Target& target, int clients,
                                  int pipeline) {
  // About as long as the other runs: this many a second is what it does.
  const int64_t a_second = pipeline > 1  ? 130'000
                           : clients > 1 ? 60'000
                                         : 20'000;
  const bool tls = target.tls_port != 0;
  return absl::StrCat(
      "redis-benchmark -p ", tls ? target.tls_port : target.port,
      tls ? " --tls --cacert " : "", Sv(target.ca_file), " -c ", clients,
      " -P ", pipeline, " -n ", a_second * target.time.count() / 1000, " -r ",
      kKeys, " --csv EVALSHA ", Sv(target.script.sha1), " 1 '", target.key,
      "' 1");
}

Speed RunRedisBenchmark(const std::string& command) {
  // "test","rps","avg","min","p50","p95","p99","max", then the numbers, in ms.
  Speed speed;
  FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return speed;
  std::string text;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) {
    text.append(part, n);
  }
  pclose(pipe);
  const size_t line = text.find('\n');
  if (line == std::string::npos) return speed;
  double numbers[7] = {};
  size_t at = text.find("\",\"", line);
  for (double& number : numbers) {
    if (at == std::string::npos) return speed;
    number = std::strtod(text.c_str() + at + 3, nullptr);
    at = text.find("\",\"", at + 3);
  }
  speed.per_second = numbers[0];
  speed.p50_us = numbers[3] * 1000;
  speed.p99_us = numbers[5] * 1000;
  return speed;
}

}  // namespace weir::bench
