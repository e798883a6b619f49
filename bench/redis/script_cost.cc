// What each script costs the server, beside a script of TIME, GET and SET PX
// with a reply of the same size: the least that any limiter on server time
// does; and beside limiters as they are usually written. Where a command has
// many keys, of one of them.
//
//   redis-server --port 7000 --save '' &
//   redis_script_cost 7000
//
// Empties the server. Prints for each script the server's own time per call
// (INFO commandstats, usec_per_call) and the wall time per call, both with 64
// calls in a pipeline over 1,000 keys; medians over the rounds, in each of
// which every script has its turn.
#include <hiredis/hiredis.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/redis/key_name.h"
#include "backends/redis/redis_rule.h"
#include "backends/redis/script_set.h"
#include "backends/redis/step_codec.h"
#include "bench/redis/usual_scripts.h"
#include "weir/limit.h"
#include "weir/registry.h"

namespace weir::redis {
namespace {

constexpr int kPipeline = 64;
constexpr int kKeys = 1000;
constexpr int kBatches = 200;
constexpr int kRounds = 9;

constexpr std::string_view kFloor =
    "local t = redis.call('TIME')\n"
    "local v = redis.call('GET', KEYS[1])\n"
    "redis.call('SET', KEYS[1], 'abcdefghijklmnopqrstuvwxy', 'PX', 61000)\n"
    "return 'abcdefghijklmnopqrstuvwxyzabcdefg'";

redisContext* server = nullptr;

struct FreeReply {
  void operator()(redisReply* r) const { freeReplyObject(r); }
};
using OwnedReply = std::unique_ptr<redisReply, FreeReply>;

OwnedReply NextReply() {
  void* reply = nullptr;
  if (redisGetReply(server, &reply) != REDIS_OK) {
    std::fprintf(stderr, "%s\n", server->errstr);
    std::exit(1);
  }
  OwnedReply owned(static_cast<redisReply*>(reply));
  if (owned->type == REDIS_REPLY_ERROR) {
    std::fprintf(stderr, "%s\n", owned->str);
    std::exit(1);
  }
  return owned;
}

void Append(const std::vector<std::string_view>& words) {
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string_view w : words) {
    data.push_back(w.data());
    sizes.push_back(w.size());
  }
  redisAppendCommandArgv(server, static_cast<int>(words.size()), data.data(),
                         sizes.data());
}

OwnedReply Command(const std::vector<std::string_view>& words) {
  Append(words);
  return NextReply();
}

double ServerMicros() {
  const OwnedReply info = Command({"INFO", "commandstats"});
  const std::string text(info->str, info->len);
  const size_t at = text.find("usec_per_call=", text.find("cmdstat_evalsha:"));
  return std::atof(text.c_str() + at + 14);
}

// One call as words, but for EVALSHA and the hash.
using Words = std::vector<std::string>;

struct Subject {
  std::string name;
  std::string_view text;
  std::vector<Words> calls;
  int keys = 1;                            // of a call
  std::vector<double> server_us, wall_us;  // a call, of each round
};

void Send(std::string_view sha, const std::vector<Words>& calls, int batches) {
  size_t n = 0;
  for (int batch = 0; batch < batches; ++batch) {
    for (int i = 0; i < kPipeline; ++i, ++n) {
      const Words& call = calls[n % calls.size()];
      std::vector<std::string_view> words = {"EVALSHA", sha};
      words.insert(words.end(), call.begin(), call.end());
      Append(words);
    }
    for (int i = 0; i < kPipeline; ++i) NextReply();
  }
}

void Measure(Subject* subject) {
  Command({"FLUSHALL"});
  const OwnedReply loaded = Command({"SCRIPT", "LOAD", subject->text});
  const std::string sha(loaded->str, loaded->len);
  const int batches = std::max(4, kBatches / subject->keys);
  Send(sha, subject->calls, batches / 4);  // makes the keys
  Command({"CONFIG", "RESETSTAT"});
  const auto start = std::chrono::steady_clock::now();
  Send(sha, subject->calls, batches);
  const std::chrono::duration<double, std::micro> passed =
      std::chrono::steady_clock::now() - start;
  subject->server_us.push_back(ServerMicros() / subject->keys);
  subject->wall_us.push_back(passed.count() /
                             (batches * kPipeline * subject->keys));
}

double Median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

double MedianRatio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return Median(std::move(ratios));
}

std::string KeyOf(int i) { return "user:" + std::to_string(10000 + i); }

// Calls of these rules, by the server's time, with so many keys each.
std::vector<Words> Calls(const ScriptSet& scripts,
                         const std::vector<Limit>& limits, Op op, int keys,
                         const Script** script) {
  std::vector<std::unique_ptr<RedisRule>> rules;
  for (const Limit& limit : limits) {
    absl::StatusOr<CompiledLimit> compiled =
        Registry::BuiltIn().Compile(limit, TimeFromMicros(0));
    if (!compiled.ok()) std::exit(1);
    const ScriptSet::Half* half = scripts.Find(*compiled->engine);
    rules.push_back(std::make_unique<RedisRule>(
        KeyPrefix("weir", "default", limit.algorithm()), *compiled, *half));
  }
  std::vector<Words> calls;
  for (int i = 0; i < kKeys; i += keys) {
    Words words = {std::to_string(rules.size() * static_cast<size_t>(keys))};
    Words args;
    for (int j = 0; j < keys; ++j) {
      const std::string key = KeyOf((i + j) % kKeys);
      std::vector<Step> steps;
      for (const auto& rule : rules) {
        Step step;
        step.rule = rule.get();
        step.key = step.tag = key;
        steps.push_back(step);
      }
      const EncodedCall encoded(op, std::nullopt, steps);
      const ScriptCall call = encoded.call();
      *script = call.script;
      words.insert(words.end(), call.keys.begin(), call.keys.end());
      args.assign(call.args.begin(), call.args.end());
    }
    words.insert(words.end(), args.begin(), args.end());
    calls.push_back(std::move(words));
  }
  return calls;
}

int Main(int argc, char** argv) {
  server = redisConnect("127.0.0.1", argc > 1 ? std::atoi(argv[1]) : 6379);
  if (server == nullptr || server->err != 0) {
    std::fprintf(stderr, "usage: redis_script_cost PORT; no server there\n");
    return 1;
  }
  const auto scripts = ScriptSet::Make({});
  std::vector<Subject> subjects;
  const auto add_plain = [&](std::string name, std::string_view text,
                             const std::vector<std::string>& args) {
    Subject subject{std::move(name), text, {}, 1, {}, {}};
    for (int i = 0; i < kKeys; ++i) {
      Words words = {"1", "weir:default:gcra:{" + KeyOf(i) + "}"};
      words.insert(words.end(), args.begin(), args.end());
      subject.calls.push_back(std::move(words));
    }
    subjects.push_back(std::move(subject));
  };
  const auto add = [&](std::string name, const std::vector<Limit>& limits,
                       Op op = Op::kCheck, int keys = 1) {
    const Script* script = nullptr;
    Subject subject{std::move(name), {}, {}, keys, {}, {}};
    subject.calls = Calls(*scripts, limits, op, keys, &script);
    subject.text = script->text;
    subjects.push_back(std::move(subject));
  };
  add_plain("TIME, GET, SET PX", kFloor, {});
  using std::chrono::milliseconds;
  using std::chrono::seconds;
  const Micros w = seconds(1);
  const std::vector<Limit> open = {
      Limit::Gcra(1'000'000, w),
      Limit::FixedWindow(1'000'000, w),
      Limit::SlidingWindowCounter(1'000'000, w),
      Limit::WindowedTokenBucket(1'000'000, w, 500'000),
      Limit::Ar1(1'000'000, 2, milliseconds(100)),
      Limit::SlidingLog(1'000'000, milliseconds(50)),
      Limit::SlidingLogList(1'000'000, milliseconds(50)),
      Limit::BucketedWindow(1'000'000, w, milliseconds(100))};
  for (const Limit& limit : open) add(limit.algorithm(), {limit});
  for (const Limit& limit : open) {
    add(absl::StrCat(limit.algorithm(), ", 32 keys a command"), {limit},
        Op::kCheck, 32);
  }
  add("gcra, denied", {Limit::Gcra(1, seconds(100'000))});
  add("gcra, peek", {open[0]}, Op::kPeek);
  add("gcra + fixed_window", {open[0], open[1]});
  add("sliding_log + sliding_log", {open[5], open[5]});
  for (const bench::UsualScript& usual : bench::UsualScripts()) {
    add_plain(usual.name, usual.text, usual.args);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Subject& subject : subjects) Measure(&subject);
  }
  const Subject& floor = subjects.front();
  for (const Subject& s : subjects) {
    std::printf("%-46s server %6.2f us  %4.2f x   wall %6.2f us  %4.2f x\n",
                s.name.c_str(), Median(s.server_us),
                MedianRatio(s.server_us, floor.server_us), Median(s.wall_us),
                MedianRatio(s.wall_us, floor.wall_us));
  }
  redisFree(server);
  return 0;
}

}  // namespace
}  // namespace weir::redis

int main(int argc, char** argv) { return weir::redis::Main(argc, argv); }
