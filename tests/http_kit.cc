#include "tests/http_kit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "tests/structured_fields.h"

namespace weir {
namespace http_kit {
namespace {

template <class T>
T Parameter(const structured::Item& item, std::string_view key, T missing) {
  const structured::BareItem* value = item.Find(key);
  return value == nullptr ? missing : std::get<T>(*value);
}

}  // namespace

NamesAndValues Write(const HttpWriter& writer, const Decision& d,
                     const HttpCall& call) {
  NamesAndValues all;
  for (const HttpField& f : writer.Fields(d, call)) {
    all.emplace_back(std::string(f.name), f.value);
  }
  return all;
}

std::string Value(const NamesAndValues& fields, std::string_view name) {
  for (const auto& [n, value] : fields) {
    if (n == name) return value;
  }
  return "(none)";
}

HttpWriter Make(const std::vector<Rule>& rules, const HttpOptions& options) {
  absl::StatusOr<HttpWriter> writer = HttpWriter::Create(rules, options);
  if (writer.ok()) return *std::move(writer);
  ADD_FAILURE() << writer.status();
  return *HttpWriter::Create(absl::Span<const Rule>());
}

std::string Refusal(const std::vector<Rule>& rules,
                    const HttpOptions& options) {
  absl::StatusOr<HttpWriter> writer = HttpWriter::Create(rules, options);
  if (writer.ok()) return "(accepted)";
  EXPECT_EQ(writer.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(writer.status().message());
}

Rule Named(std::string name, Limit limit) {
  return {std::move(name), std::move(limit), false, std::nullopt};
}

RuleVerdict Passed(int64_t remaining, Micros reset_after) {
  RuleVerdict v;
  v.limit = 100;
  v.remaining = remaining;
  v.reset_after = reset_after;
  return v;
}

RuleVerdict Refused(int64_t remaining, std::optional<Micros> retry_after,
                    Micros reset_after) {
  RuleVerdict v = Passed(remaining, reset_after);
  v.allowed = false;
  v.retry_after = retry_after;
  return v;
}

Decision Of(const std::vector<RuleVerdict>& verdicts) {
  Decision d;
  d.remaining = kMaxExact;
  bool never = false;
  Micros wait{-1};
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const RuleVerdict& v = verdicts[i];
    d.verdicts.push_back(v);
    if (v.observe) continue;
    d.reset_after = std::max(d.reset_after, v.reset_after);
    const bool tighter = v.remaining < d.remaining;
    d.remaining = std::min(d.remaining, v.remaining);
    if (v.allowed) {
      if (d.allowed && tighter) d.rule = static_cast<int>(i);
      continue;
    }
    if (d.allowed || (!never && (!v.retry_after || *v.retry_after > wait))) {
      d.rule = static_cast<int>(i);
    }
    d.allowed = false;
    never = never || !v.retry_after;
    wait = std::max(wait, v.retry_after.value_or(Micros(0)));
  }
  if (!d.allowed) d.retry_after = wait;
  if (never) d.retry_after = std::nullopt;
  if (!d.verdicts.empty()) {
    d.limit = d.verdicts[static_cast<size_t>(d.rule)].limit;
  }
  return d;
}

std::vector<Policy> ReadPolicies(const std::string& field) {
  std::vector<Policy> policies;
  const auto list = structured::ParseList(field);
  if (!list || list->empty()) ADD_FAILURE() << "malformed: " << field;
  if (!list) return policies;
  for (const structured::Item& item : *list) {
    policies.push_back({std::get<std::string>(item.value),
                        Parameter<int64_t>(item, "q", -1),
                        Parameter<int64_t>(item, "w", -1),
                        Parameter<std::string>(item, "qu", "requests"),
                        Parameter<structured::Bytes>(item, "pk", {}).bytes});
    EXPECT_GE(policies.back().q, 0) << field;
    EXPECT_NE(policies.back().w, 0) << field;
  }
  return policies;
}

std::vector<ServiceLimit> ReadLimits(const std::string& field) {
  std::vector<ServiceLimit> limits;
  const auto list = structured::ParseList(field);
  if (!list || list->empty()) ADD_FAILURE() << "malformed: " << field;
  if (!list) return limits;
  for (const structured::Item& item : *list) {
    limits.push_back({std::get<std::string>(item.value),
                      Parameter<int64_t>(item, "r", -1),
                      Parameter<int64_t>(item, "t", -1),
                      Parameter<structured::Bytes>(item, "pk", {}).bytes});
    EXPECT_GE(limits.back().r, 0) << field;
  }
  return limits;
}

std::vector<ServiceLimit> LimitsOf(const HttpWriter& writer, const Decision& d,
                                   const HttpCall& call) {
  return ReadLimits(Value(Write(writer, d, call), "RateLimit"));
}

std::vector<Policy> PoliciesOf(const std::vector<Rule>& rules,
                               const HttpOptions& options,
                               const HttpCall& call) {
  const HttpWriter writer = Make(rules, options);
  Decision d = Of(std::vector<RuleVerdict>(rules.size(),
                                           Passed(1, std::chrono::seconds(1))));
  return ReadPolicies(Value(Write(writer, d, call), "RateLimit-Policy"));
}

}  // namespace http_kit
}  // namespace weir
