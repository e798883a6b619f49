#include "tests/oracle/golden.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "tests/oracle/trace.h"

namespace weir_oracle {
namespace {

constexpr int64_t kStart = 1'700'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr int kLines = 200;

RuleSpec Rule(const std::string& name, const std::string& algorithm,
              std::map<std::string, int64_t> counts,
              std::map<std::string, int64_t> durations) {
  return {name,
          {algorithm, std::move(counts), std::move(durations), {}, {}, {}},
          false};
}

// One rule over one column.
GoldenCase Single(const std::string& name, const RuleSpec& rule,
                  std::vector<int64_t> steps, std::vector<int64_t> costs) {
  return {name,   {rule},           {{"key"}},        {"key"},           "",
          kStart, std::move(steps), std::move(costs), {{"alice", "bob"}}};
}

RuleSpec Gcra(int64_t limit, int64_t window) {
  return Rule("default", "gcra", {{"limit", limit}}, {{"window", window}});
}

// The algorithms with slots, counters, tokens in a window, and fading.
void AddTheOthers(std::vector<GoldenCase>& cases) {
  cases.push_back(
      Single("sliding_log_list",
             Rule("default", "sliding_log_list", {{"limit", 5}},
                  {{"window", 10 * kSecond}}),
             {0, 0, kSecond, 3 * kSecond, 9'999'999, 10'000'000, -kSecond},
             {1, 1, 1, 2, 5, 6, 0}));
  // 3 s does not divide 10 s.
  RuleSpec bucketed =
      Rule("default", "bucketed_window", {{"limit", 8}},
           {{"window", 10 * kSecond}, {"resolution", 3 * kSecond}});
  const std::vector<int64_t> slots = {
      0, 1, kSecond, 3 * kSecond, 4 * kSecond, 11'999'999, -kSecond};
  cases.push_back(Single("bucketed_window_counting_denied", bucketed, slots,
                         {1, 1, 2, 3, 8, 9, 0}));
  bucketed.limit.flags["count_denied"] = false;
  cases.push_back(
      Single("bucketed_window", bucketed, slots, {1, 1, 2, 3, 8, 9, 0}));
  cases.push_back(
      Single("sliding_window_counter",
             Rule("default", "sliding_window_counter", {{"limit", 10}},
                  {{"window", 60 * kSecond}}),
             {0, kSecond, 7 * kSecond, 20 * kSecond, 59'999'999, -3 * kSecond},
             {1, 2, 3, 10, 11, 0}));
  RuleSpec tokens =
      Rule("default", "windowed_token_bucket", {{"limit", 10}, {"burst", 3}},
           {{"window", 60 * kSecond}});
  const std::vector<int64_t> steps = {
      0, 1, kSecond, 8'571'428, 8'571'429, 30 * kSecond, -kSecond};
  cases.push_back(Single("windowed_token_bucket_capped", tokens, steps,
                         {1, 1, 2, 3, 4, 10, 11}));
  tokens.limit.flags["capped"] = false;
  cases.push_back(Single("windowed_token_bucket_uncapped", tokens, steps,
                         {1, 1, 2, 3, 4, 10, 11}));
  RuleSpec fading = Rule("default", "ar1", {}, {{"resolution", 10 * kSecond}});
  fading.limit.reals = {{"limit", 7.5}, {"decay_factor", 1.25}};
  const std::vector<int64_t> fades = {0,         kSecond,      3 * kSecond,
                                      9'999'999, 40 * kSecond, 600 * kSecond,
                                      -kSecond};
  cases.push_back(
      Single("ar1_counting_denied", fading, fades, {1, 1, 2, 3, 7, 8, 0}));
  fading.limit.flags["count_denied"] = false;
  cases.push_back(Single("ar1", fading, fades, {1, 1, 2, 3, 7, 8, 0}));
}

std::vector<GoldenCase> MakeCases() {
  std::vector<GoldenCase> cases;
  cases.push_back(Single("gcra_7_per_3s", Gcra(7, 3 * kSecond),
                         {0, 0, 1, 100'000, 428'571, 428'572, -50'000},
                         {1, 1, 1, 2, 7, 8, 0}));
  cases.push_back(Single("gcra_1500_per_s", Gcra(1500, kSecond),
                         {0, 1, 666, 667, 10'000, -300},
                         {1, 1, 100, 700, 1500, 1501, 0}));
  cases.push_back(Single("gcra_7000_per_s", Gcra(7000, kSecond),
                         {0, 1, 142, 143, 50'000, -100},
                         {1, 1, 7, 3500, 7000, 7001, 0}));
  cases.push_back(Single("gcra_5_per_365d", Gcra(5, 365 * kDay),
                         {0, 1, kDay, 73 * kDay - 1, 30 * kDay, -kHour},
                         {1, 1, 2, 5, 6, 0}));
  cases.push_back(Single("gcra_980000000_per_10s",
                         Gcra(980'000'000, 10 * kSecond),
                         {0, 1, 2, 12 * kHour, 5 * kSecond, 3},
                         {1, 97, 98, 490'000'000, 980'000'000, 980'000'001}));
  RuleSpec burst = Gcra(100, kSecond);
  burst.limit.counts["burst"] = 20;
  cases.push_back(Single("gcra_100_per_s_burst_20", burst,
                         {0, 0, 9'999, 10'000, 50'000, -5'000},
                         {1, 1, 5, 20, 21}));
  cases.push_back(Single(
      "token_bucket",
      Rule("default", "token_bucket", {{"capacity", 10}, {"refill", 3}},
           {{"interval", 7 * kSecond}}),
      {0, 1, 2'333'333, 2'333'334, 20 * kSecond, -kSecond}, {1, 1, 3, 10, 11}));
  cases.push_back(Single(
      "leaky_bucket",
      Rule("default", "leaky_bucket", {{"capacity", 10}, {"leak", 3}},
           {{"interval", 7 * kSecond}}),
      {0, 1, 2'333'333, 2'333'334, 20 * kSecond, -kSecond}, {1, 1, 3, 10, 11}));
  cases.push_back(Single(
      "uniform_250ms", Rule("default", "uniform", {}, {{"interval", 250'000}}),
      {0, 1, 100'000, 249'999, 250'000, -10'000}, {1, 1, 1, 2, 0}));
  cases.push_back(
      Single("fixed_window_first",
             Rule("default", "fixed_window", {{"limit", 10}},
                  {{"window", 60 * kSecond}}),
             {0, kSecond, 7 * kSecond, 20 * kSecond, 59'999'999, -3 * kSecond},
             {1, 2, 3, 10, 11, 0}));
  RuleSpec epoch = Rule("default", "fixed_window", {{"limit", 10}},
                        {{"window", 60 * kSecond}, {"offset", 15 * kSecond}});
  epoch.limit.words["align"] = "epoch";
  cases.push_back(
      Single("fixed_window_epoch", epoch,
             {0, kSecond, 7 * kSecond, 20 * kSecond, 59'999'999, -3 * kSecond},
             {1, 2, 3, 10, 11, 0}));
  cases.push_back(
      Single("sliding_log",
             Rule("default", "sliding_log", {{"limit", 5}},
                  {{"window", 10 * kSecond}}),
             {0, 0, kSecond, 3 * kSecond, 9'999'999, 10'000'000, -kSecond},
             {1, 1, 1, 2, 5, 6, 0}));
  AddTheOthers(cases);
  GoldenCase pair{"resource_consumer",
                  {Rule("resource", "sliding_log", {{"limit", 5}},
                        {{"window", 10 * kSecond}}),
                   Rule("consumer", "sliding_log", {{"limit", 3}},
                        {{"window", 10 * kSecond}})},
                  {{"host"}, {"host", "client"}},
                  {"host", "client"},
                  "host",
                  kStart,
                  {0, 1, kSecond, 2 * kSecond, 5 * kSecond, -kSecond / 2},
                  {1, 1, 1, 2, 3, 4},
                  {{"api", "www"}, {"alice", "bob", "carol"}}};
  cases.push_back(pair);
  GoldenCase mixed = pair;
  mixed.name = "mixed";
  mixed.rules = {
      Rule("total", "fixed_window", {{"limit", 12}}, {{"window", kHour}}),
      Rule("client", "gcra", {{"limit", 3}}, {{"window", 7 * kSecond}}),
      Rule("watch", "sliding_log", {{"limit", 2}}, {{"window", 10 * kSecond}})};
  mixed.rules[2].observe = true;
  mixed.keys = {{"host"}, {"host", "client"}, {"host", "client"}};
  mixed.steps.push_back(kHour);
  cases.push_back(mixed);
  // The classic pair, where each rule counts every call, whoever denied it.
  GoldenCase twice{"one_in_5s_and_5_an_hour",
                   {Rule("seconds", "bucketed_window", {{"limit", 1}},
                         {{"window", 5 * kSecond}, {"resolution", kSecond}}),
                    Rule("hour", "bucketed_window", {{"limit", 5}},
                         {{"window", kHour}, {"resolution", 60 * kSecond}})},
                   {{"key"}, {"key"}},
                   {"key"},
                   "",
                   kStart,
                   {0, kSecond, 5 * kSecond, 20 * kSecond, 10 * 60 * kSecond,
                    kHour, -kSecond},
                   {1, 1, 1, 1, 0, 2},
                   {{"alice", "bob"}}};
  cases.push_back(twice);
  return cases;
}

// A small generator of its own, so that the files are the same everywhere.
class Draw {
 public:
  template <class T>
  const T& OneOf(const std::vector<T>& choices) {
    // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return choices[(z ^ (z >> 31)) % choices.size()];
  }

 private:
  uint64_t state_ = 1;
};

std::vector<std::string> KeysOf(const GoldenCase& golden,
                                const std::vector<std::string>& values) {
  std::vector<std::string> keys;
  for (const std::vector<std::string>& columns : golden.keys) {
    std::string key;
    for (const std::string& column : columns) {
      const auto at =
          std::find(golden.columns.begin(), golden.columns.end(), column) -
          golden.columns.begin();
      if (!key.empty()) key += '/';
      key += values[at];
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace

const std::vector<GoldenCase>& GoldenCases() {
  static const auto* const kCases = new std::vector<GoldenCase>(MakeCases());
  return *kCases;
}

std::string GoldenLimits(const GoldenCase& golden) {
  std::vector<std::string> templates;
  for (const std::vector<std::string>& columns : golden.keys) {
    std::string key;
    for (const std::string& column : columns) {
      key += (key.empty() ? "{" : "/{") + column + "}";
    }
    templates.push_back(key);
  }
  return LimitsJson(golden.rules, templates,
                    golden.tag.empty() ? "" : "{" + golden.tag + "}");
}

// Mostly checks. After a denial the same call comes 1 us before its wait is
// over, and then when it is.
std::string GoldenCsv(const GoldenCase& golden) {
  static const std::vector<Op> kOps = {
      Op::kCheck,  Op::kCheck, Op::kCheck, Op::kCheck, Op::kCheck, Op::kCheck,
      Op::kCheck,  Op::kCheck, Op::kCheck, Op::kPeek,  Op::kPeek,  Op::kRefund,
      Op::kRefund, Op::kCheck, Op::kCheck, Op::kReset};
  std::ostringstream out;
  out << "time_us";
  for (const std::string& column : golden.columns) out << "," << column;
  out << ",cost,op\n";
  Draw draw;
  Oracle oracle;
  int64_t now = golden.start;
  std::vector<int64_t> promised;
  std::vector<std::string> values;
  OracleCall call;
  for (int line = 0; line < kLines; ++line) {
    if (!promised.empty()) {
      call.t = promised.back();
      now = call.t;
      promised.pop_back();
    } else {
      now += draw.OneOf(golden.steps);
      call.op = draw.OneOf(kOps);
      call.t = now;
      values.clear();
      for (const auto& choices : golden.values) {
        values.push_back(draw.OneOf(choices));
      }
      call.keys = KeysOf(golden, values);
      call.costs.assign(golden.rules.size(), draw.OneOf(golden.costs));
    }
    out << call.t;
    for (const std::string& value : values) out << "," << value;
    out << "," << call.costs[0] << "," << OpName(call.op) << "\n";
    const Answer answer = oracle.Run(golden.rules, call);
    if (call.op == Op::kCheck && answer.retry_after.value_or(0) > 1) {
      promised = {call.t + *answer.retry_after,
                  call.t + *answer.retry_after - 1};
    }
  }
  return out.str();
}

std::vector<GoldenCall> ReadGoldenCsv(const GoldenCase& golden,
                                      const std::string& csv) {
  std::vector<GoldenCall> calls;
  std::istringstream in(csv);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1) continue;
    std::vector<std::string> fields;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) {
      fields.push_back(cell);
    }
    const size_t columns = golden.columns.size();
    GoldenCall call;
    call.line = number;
    call.call.t = std::stoll(fields[0]);
    call.call.keys =
        KeysOf(golden, {fields.begin() + 1, fields.begin() + 1 + columns});
    call.call.costs.assign(golden.rules.size(),
                           std::stoll(fields[1 + columns]));
    for (const Op op : {Op::kCheck, Op::kPeek, Op::kRefund, Op::kReset}) {
      if (OpName(op) == fields[2 + columns]) call.call.op = op;
    }
    calls.push_back(call);
  }
  return calls;
}

std::string DecisionJson(const GoldenCall& call, const Answer& answer) {
  const auto wait = [](const std::optional<int64_t>& us) {
    return us.has_value() ? std::to_string(*us) : "null";
  };
  const auto yes = [](bool b) { return b ? "true" : "false"; };
  std::ostringstream out;
  out << "{\"line\": " << call.line << ", \"time_us\": " << call.call.t
      << ", \"key\": \"" << call.call.keys[answer.rule] << "\", \"op\": \""
      << OpName(call.call.op) << "\", \"cost\": " << call.call.costs[0]
      << ", \"allowed\": " << yes(answer.allowed)
      << ", \"never\": " << yes(!answer.retry_after.has_value())
      << ", \"rule\": \"" << answer.rules[answer.rule].name
      << "\", \"limit\": " << answer.limit
      << ", \"remaining\": " << answer.remaining
      << ", \"retry_after_us\": " << wait(answer.retry_after)
      << ", \"reset_after_us\": " << answer.reset_after << ", \"rules\": [";
  for (size_t i = 0; i < answer.rules.size(); ++i) {
    const RuleAnswer& r = answer.rules[i];
    out << (i == 0 ? "" : ", ") << "{\"name\": \"" << r.name
        << "\", \"allowed\": " << yes(r.allowed)
        << ", \"remaining\": " << r.remaining
        << ", \"retry_after_us\": " << wait(r.retry_after) << "}";
  }
  out << "]}";
  return out.str();
}

}  // namespace weir_oracle
