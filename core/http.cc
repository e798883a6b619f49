#include "weir/http.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "core/http_options.h"
#include "core/http_policies.h"
#include "core/json_string.h"
#include "core/math.h"
#include "core/structured_field.h"
#include "core/text.h"

namespace weir {
namespace {

namespace sf = structured_field;

// Steele, Lea and Flood's mixer of 64 bits (SplitMix64).
uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// A shown rule and what it said.
struct Shown {
  const HttpPolicy* policy;
  const RuleVerdict* verdict;
};
using ShownRules = absl::InlinedVector<Shown, 4>;

// Where the fields go, and the one string in which values are put together.
class Output {
 public:
  using Emit = void (*)(void*, std::string_view, std::string_view);
  Output(void* context, Emit emit) : context_(context), emit_(emit) {}

  void Send(std::string_view name, std::string_view value) {
    emit_(context_, name, value);
  }
  void Send(std::string_view name, int64_t value) {
    text.clear();
    sf::AppendInteger(value, &text);
    Send(name, text);
  }

  std::string text;

 private:
  void* context_;
  Emit emit_;
};

void AppendPartitionKey(const HttpCall& call, size_t rule, std::string* out) {
  const auto& keys = call.partition_keys;
  const size_t i = keys.size() == 1 ? 0 : rule;
  if (i >= keys.size() || keys[i].empty()) return;
  *out += ";pk=";
  sf::AppendByteSequence(keys[i], out);
}

struct ProblemText {
  int status;
  std::string_view fragment;
  std::string_view title;
};

ProblemText TextOf(HttpProblemType type) {
  switch (type) {
    case HttpProblemType::kTemporaryReducedCapacity:
      return {503, "temporary-reduced-capacity",
              "Request cannot be satisfied due to temporary server capacity "
              "constraints"};
    case HttpProblemType::kAbnormalUsageDetected:
      return {429, "abnormal-usage-detected",
              "Request not satisfied due to detection of abnormal request "
              "pattern"};
    case HttpProblemType::kQuotaExceeded:
      break;
  }
  return {429, "quota-exceeded",
          "Request cannot be satisfied as assigned quota has been exceeded"};
}

}  // namespace

struct HttpWriter::Config {
  HttpOptions options;
  std::vector<HttpPolicy> policies;
  size_t rules = 0;
  size_t most_fields = 0;
  // All of RateLimit-Policy, where no partition key is in it.
  std::string policy_field;

  ShownRules ShownOf(const Decision& d) const;
  std::optional<Micros> BaseWait(const Decision& d) const;
  std::optional<int64_t> RetryAfter(const Decision& d,
                                    const HttpCall& call) const;
  int64_t JitterOf(int64_t wait_us, const HttpCall& call) const;
  int64_t EffectiveWindow(const Decision& d, const Shown& shown) const;

  void WritePolicies(const HttpCall& call, Output& out) const;
  void WriteNamed(const Decision& d, const HttpCall& call,
                  const ShownRules& shown, Output& out) const;
  void WriteOne(const Decision& d, const Shown& one, Output& out) const;
  void WriteTrio(const RuleVerdict& v, const HttpCall& call, Output& out) const;
};

// Least remaining first; of equals the one that decided, then in order. Empty
// if the decision has no numbers of these rules.
ShownRules HttpWriter::Config::ShownOf(const Decision& d) const {
  ShownRules shown;
  if (d.source == Source::kPolicy || d.rules().size() != rules) return shown;
  for (const HttpPolicy& p : policies) {
    shown.push_back({&p, &d.rules()[p.rule]});
  }
  const auto decided = [&d](const Shown& s) {
    return static_cast<int>(s.policy->rule) == d.rule;
  };
  std::sort(shown.begin(), shown.end(),
            [&decided](const Shown& a, const Shown& b) {
              if (a.verdict->remaining != b.verdict->remaining) {
                return a.verdict->remaining < b.verdict->remaining;
              }
              if (decided(a) != decided(b)) return decided(a);
              return a.policy->rule < b.policy->rule;
            });
  return shown;
}

// How long the client should stay away, before anything is rounded or spread.
// Nothing: there is no such time.
std::optional<Micros> HttpWriter::Config::BaseWait(const Decision& d) const {
  if (!d.allowed) {
    return d.never() ? std::optional<Micros>(options.retry_after_never)
                     : d.retry_after;
  }
  if (!options.retry_after_when_empty || d.remaining > 0) return std::nullopt;
  Micros wait{0};
  for (const RuleVerdict& v : d.rules()) {
    if (!v.observe && v.remaining == 0) wait = std::max(wait, v.reset_after);
  }
  if (wait == Micros(0)) return std::nullopt;
  return wait;
}

int64_t HttpWriter::Config::JitterOf(int64_t wait_us,
                                     const HttpCall& call) const {
  const HttpJitter& jitter = options.jitter;
  const int64_t most =
      std::llround(jitter.share * static_cast<double>(wait_us)) +
      jitter.span.count();
  if (most <= 0) return 0;
  uint64_t seed = 0;
  if (call.jitter_seed) {
    seed = *call.jitter_seed;
  } else {
    seed = static_cast<uint64_t>(wait_us);
    if (!call.partition_keys.empty()) {
      seed ^= JitterSeed(call.partition_keys[0]);
    }
  }
  // 63 random bits, scaled down to [0, most].
  return static_cast<int64_t>(
      Times(static_cast<int64_t>(Mix(seed) >> 1), most + 1) >> 63);
}

std::optional<int64_t> HttpWriter::Config::RetryAfter(
    const Decision& d, const HttpCall& call) const {
  const std::optional<Micros> wait = BaseWait(d);
  if (!wait) return std::nullopt;
  const int64_t us = std::clamp<int64_t>(wait->count(), 0, kMaxExact);
  // 0 would tell a denied client to come back at once.
  return std::max<int64_t>(1, SecondsUp(us + JitterOf(us, call)));
}

// `t`, in seconds; 0: there is nothing to tell. A rule that denied says when it
// would pass, any other when it is fresh. Retry-After should not be earlier
// than the end of the effective window; where it would be, the window is not
// told, or cut if the draft wants one. (Cutting it always would promise all
// that is left of a day's quota for the next second.)
int64_t HttpWriter::Config::EffectiveWindow(const Decision& d,
                                            const Shown& shown) const {
  const RuleVerdict& v = *shown.verdict;
  Micros us = v.reset_after;
  if (!d.allowed && !v.allowed) us = v.retry_after.value_or(Micros(0));
  int64_t t = SecondsUp(us.count());
  const HttpPolicy& p = *shown.policy;
  if (options.cap_rate && p.quota > 0) {
    const Wide paced =
        CeilDiv(Times(v.remaining, SecondsUp(p.window_us)), p.quota);
    t = std::max(t,
                 static_cast<int64_t>(std::min<Wide>(paced, sf::kMaxInteger)));
  }
  if (std::optional<Micros> wait = BaseWait(d)) {
    const int64_t end = std::max<int64_t>(1, SecondsUp(wait->count()));
    if (t > end) return NamesPolicies(options.draft) ? 0 : end;
  }
  return t;
}

void HttpWriter::Config::WritePolicies(const HttpCall& call,
                                       Output& out) const {
  if (policy_field.empty()) return;
  if (!NamesPolicies(options.draft) || call.partition_keys.empty()) {
    out.Send(options.names.rate_limit_policy, policy_field);
    return;
  }
  out.text.clear();
  for (const HttpPolicy& p : policies) {
    if (!out.text.empty()) out.text += ", ";
    out.text += p.item;
    AppendPartitionKey(call, p.rule, &out.text);
  }
  out.Send(options.names.rate_limit_policy, out.text);
}

// "name";r=99;t=30
void HttpWriter::Config::WriteNamed(const Decision& d, const HttpCall& call,
                                    const ShownRules& shown,
                                    Output& out) const {
  out.text.clear();
  for (const Shown& s : shown) {
    if (!out.text.empty()) out.text += ", ";
    absl::StrAppend(&out.text, s.policy->quoted, ";r=");
    sf::AppendInteger(s.verdict->remaining, &out.text);
    if (const int64_t t = EffectiveWindow(d, s); t > 0) {
      out.text += ";t=";
      sf::AppendInteger(t, &out.text);
    }
    AppendPartitionKey(call, s.policy->rule, &out.text);
  }
  out.Send(options.names.rate_limit, out.text);
}

// Drafts -06 and -07.
void HttpWriter::Config::WriteOne(const Decision& d, const Shown& one,
                                  Output& out) const {
  const HttpFieldNames& names = options.names;
  const int64_t quota = one.policy->quota;
  const int64_t remaining = one.verdict->remaining;
  const int64_t reset = EffectiveWindow(d, one);
  if (options.draft == RateLimitDraft::k06) {
    out.Send(names.rate_limit_limit, quota);
    out.Send(names.rate_limit_remaining, remaining);
    out.Send(names.rate_limit_reset, reset);
    return;
  }
  out.text = "limit=";
  sf::AppendInteger(quota, &out.text);
  out.text += ", remaining=";
  sf::AppendInteger(remaining, &out.text);
  out.text += ", reset=";
  sf::AppendInteger(reset, &out.text);
  out.Send(names.rate_limit, out.text);
}

void HttpWriter::Config::WriteTrio(const RuleVerdict& v, const HttpCall& call,
                                   Output& out) const {
  int64_t reset_us = v.reset_after.count();
  if (options.x_reset == HttpReset::kUnixTime) {
    reset_us += ToMicros(call.now ? *call.now : options.clock->Now());
  }
  out.Send(options.names.x_limit, v.limit);
  out.Send(options.names.x_remaining, v.remaining);
  out.Send(options.names.x_reset, SecondsUp(reset_us));
}

void HttpWriter::Write(const Decision& d, const HttpCall& call, void* context,
                       Emit emit) const {
  const Config& c = *config_;
  const HttpOptions& o = c.options;
  Output out(context, emit);
  if (const ShownRules shown = c.ShownOf(d); !shown.empty()) {
    // Some families have room for one rule: the one that decided, if clients
    // are told of it.
    const auto decided =
        std::find_if(shown.begin(), shown.end(), [&d](const Shown& s) {
          return static_cast<int>(s.policy->rule) == d.rule;
        });
    const Shown& one = decided != shown.end() ? *decided : shown.front();
    if (o.rate_limit_policy) c.WritePolicies(call, out);
    if (o.rate_limit && NamesPolicies(o.draft)) {
      c.WriteNamed(d, call, shown, out);
    } else if (o.rate_limit) {
      c.WriteOne(d, one, out);
    }
    if (o.x_rate_limit) c.WriteTrio(*one.verdict, call, out);
  }
  if (!o.retry_after) return;
  if (const auto seconds = c.RetryAfter(d, call)) {
    out.Send(o.names.retry_after, *seconds);
  }
}

std::vector<HttpField> HttpWriter::Fields(const Decision& decision,
                                          const HttpCall& call) const {
  std::vector<HttpField> fields;
  fields.reserve(config_->most_fields);
  ForEach(decision, call, [&fields](std::string_view name, std::string_view v) {
    fields.push_back({name, std::string(v)});
  });
  return fields;
}

std::optional<int64_t> HttpWriter::RetryAfterSeconds(
    const Decision& decision, const HttpCall& call) const {
  return config_->RetryAfter(decision, call);
}

HttpProblem HttpWriter::Problem(const Decision& decision,
                                HttpProblemType type) const {
  const ProblemText text = TextOf(type);
  HttpProblem problem;
  problem.status = text.status;
  problem.body = absl::StrCat(
      "{\"type\":\"https://iana.org/assignments/http-problem-types#",
      Sv(text.fragment), "\",\"title\":\"", Sv(text.title),
      "\",\"status\":", text.status, ",\"violated-policies\":[");
  bool first = true;
  if (!config_->ShownOf(decision).empty()) {
    for (const HttpPolicy& p : config_->policies) {
      if (decision.rules()[p.rule].allowed) continue;
      if (!first) problem.body += ',';
      first = false;
      AppendJsonString(p.name, &problem.body);
    }
  }
  problem.body += "]}";
  return problem;
}

// FNV-1a, 64 bits; Mix does the rest.
uint64_t JitterSeed(std::string_view key) {
  uint64_t hash = 0xCBF29CE484222325;
  for (char c : key) {
    hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3;
  }
  return hash;
}

HttpWriter::HttpWriter(std::unique_ptr<const Config> config)
    : config_(std::move(config)) {}
HttpWriter::HttpWriter(HttpWriter&&) noexcept = default;
HttpWriter& HttpWriter::operator=(HttpWriter&&) noexcept = default;
HttpWriter::~HttpWriter() = default;

absl::StatusOr<HttpWriter> HttpWriter::Create(const Limiter& limiter,
                                              const HttpOptions& options) {
  return Create(limiter.rules(), options);
}

absl::StatusOr<HttpWriter> HttpWriter::Create(absl::Span<const Rule> rules,
                                              const HttpOptions& options) {
  if (absl::Status s = CheckHttpOptions(options); !s.ok()) return s;
  auto policies = MakeHttpPolicies(rules, options);
  if (!policies.ok()) return policies.status();
  auto config = std::make_unique<Config>();
  config->options = options;
  config->policies = *std::move(policies);
  config->rules = rules.size();
  config->most_fields = HttpNamesInUse(options).size();
  for (const HttpPolicy& p : config->policies) {
    if (p.item.empty()) continue;
    absl::StrAppend(&config->policy_field,
                    config->policy_field.empty() ? "" : ", ", p.item);
  }
  if (config->options.clock == nullptr && options.x_rate_limit &&
      options.x_reset == HttpReset::kUnixTime) {
    config->options.clock = std::make_shared<SteadyClock>();
  }
  return HttpWriter(std::move(config));
}

}  // namespace weir
