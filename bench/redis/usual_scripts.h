// Limiters as people write them for Redis: the commands that published scripts
// of each kind use, in words of our own. They are what weir's scripts are
// measured beside.
#ifndef WEIR_BENCH_REDIS_USUAL_SCRIPTS_H_
#define WEIR_BENCH_REDIS_USUAL_SCRIPTS_H_

#include <string>
#include <vector>

namespace weir::bench {

struct UsualScript {
  const char* name;
  const char* text;
  std::vector<std::string> args;  // of each call, after its one key
};

// All on the server's time, with a limit of 1,000,000 that is never reached: a
// window of 1 s, of 50 ms where each call is kept.
const std::vector<UsualScript>& UsualScripts();

}  // namespace weir::bench

#endif  // WEIR_BENCH_REDIS_USUAL_SCRIPTS_H_
