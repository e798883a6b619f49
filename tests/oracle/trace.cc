#include "tests/oracle/trace.h"

#include <cstdio>
#include <sstream>

namespace weir_oracle {
namespace {

template <class T>
void Compare(std::ostringstream& out, const std::string& field,
             const T& expected, const T& actual) {
  if (expected == actual) return;
  out << "  " << field << ": the oracle says " << expected
      << ", the limiter says " << actual << "\n";
}

std::string WaitText(const std::optional<int64_t>& wait) {
  return wait.has_value() ? std::to_string(*wait) : "never";
}

// A duration in the largest unit that holds it as a whole number.
std::string DurationText(int64_t us) {
  if (us % 86'400'000'000 == 0 && us != 0) {
    return std::to_string(us / 86'400'000'000) + "d";
  }
  if (us % 1'000'000 == 0) return std::to_string(us / 1'000'000) + "s";
  if (us % 1'000 == 0) return std::to_string(us / 1'000) + "ms";
  return std::to_string(us) + "us";
}

std::string RuleJson(const RuleSpec& rule, const std::string& key) {
  std::ostringstream out;
  out << "{\"name\": \"" << rule.name << "\", \"algorithm\": \""
      << rule.limit.algorithm << "\"";
  for (const auto& [name, value] : rule.limit.counts) {
    out << ", \"" << name << "\": " << value;
  }
  for (const auto& [name, value] : rule.limit.durations) {
    out << ", \"" << name << "\": \"" << DurationText(value) << "\"";
  }
  for (const auto& [name, value] : rule.limit.words) {
    out << ", \"" << name << "\": \"" << value << "\"";
  }
  for (const auto& [name, value] : rule.limit.flags) {
    out << ", \"" << name << "\": " << (value ? "true" : "false");
  }
  for (const auto& [name, value] : rule.limit.reals) {
    out << ", \"" << name << "\": " << value;
  }
  if (!key.empty()) out << ", \"key\": \"" << key << "\"";
  if (rule.observe) out << ", \"observe\": true";
  out << "}";
  return out.str();
}

}  // namespace

std::string Difference(const Answer& expected, const Answer& actual) {
  std::ostringstream out;
  Compare(out, "allowed", expected.allowed, actual.allowed);
  Compare(out, "rule", expected.rule, actual.rule);
  Compare(out, "limit", expected.limit, actual.limit);
  Compare(out, "remaining", expected.remaining, actual.remaining);
  Compare(out, "retry_after", WaitText(expected.retry_after),
          WaitText(actual.retry_after));
  Compare(out, "reset_after", expected.reset_after, actual.reset_after);
  Compare(out, "number of rules", expected.rules.size(), actual.rules.size());
  if (expected.rules.size() != actual.rules.size()) return out.str();
  for (size_t i = 0; i < expected.rules.size(); ++i) {
    const RuleAnswer& e = expected.rules[i];
    const RuleAnswer& a = actual.rules[i];
    const std::string at = "rules[" + std::to_string(i) + "].";
    Compare(out, at + "name", e.name, a.name);
    Compare(out, at + "allowed", e.allowed, a.allowed);
    Compare(out, at + "observe", e.observe, a.observe);
    Compare(out, at + "limit", e.limit, a.limit);
    Compare(out, at + "remaining", e.remaining, a.remaining);
    Compare(out, at + "retry_after", WaitText(e.retry_after),
            WaitText(a.retry_after));
    Compare(out, at + "reset_after", e.reset_after, a.reset_after);
  }
  return out.str();
}

std::string OpName(Op op) {
  switch (op) {
    case Op::kCheck:
      return "check";
    case Op::kPeek:
      return "peek";
    case Op::kRefund:
      return "refund";
    case Op::kReset:
      return "reset";
  }
  return "";
}

std::string Escaped(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    const unsigned char u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7f && c != ',' && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    char text[5];
    std::snprintf(text, sizeof(text), "\\%03o", u);
    out += text;
  }
  return out;
}

std::string LimitsJson(const std::vector<RuleSpec>& rules,
                       const std::vector<std::string>& key_templates,
                       const std::string& tag) {
  std::ostringstream out;
  out << "{";
  if (!tag.empty()) out << "\"tag\": \"" << tag << "\",\n ";
  out << "\"rules\": [";
  for (size_t i = 0; i < rules.size(); ++i) {
    out << (i == 0 ? "\n  " : ",\n  ")
        << RuleJson(rules[i], i < key_templates.size() ? key_templates[i] : "");
  }
  out << "]}\n";
  return out.str();
}

std::string ToCsv(const Trace& trace) {
  std::ostringstream out;
  for (size_t c = 0; c < trace.configs.size(); ++c) {
    for (const RuleSpec& rule : trace.configs[c]) {
      out << "# config " << c << ": " << RuleJson(rule, "") << "\n";
    }
  }
  if (trace.tag) out << "# tag \"" << Escaped(*trace.tag) << "\"\n";
  out << (trace.by_clock ? "# times from the clock\n" : "")
      << "config,time_us,op";
  const size_t rules = trace.configs.front().size();
  for (size_t i = 0; i < rules; ++i) out << ",key" << i << ",cost" << i;
  out << "\n";
  for (const TraceStep& step : trace.steps) {
    out << step.config << "," << step.call.t << "," << OpName(step.call.op);
    for (size_t i = 0; i < rules; ++i) {
      out << "," << Escaped(step.call.keys[i]) << "," << step.call.costs[i];
    }
    out << "\n";
  }
  return out.str();
}

std::string ToText(const Answer& answer) {
  std::ostringstream out;
  out << (answer.allowed ? "allowed" : "denied") << " rule " << answer.rule
      << " limit " << answer.limit << " remaining " << answer.remaining
      << " retry " << WaitText(answer.retry_after) << " reset "
      << answer.reset_after;
  for (const RuleAnswer& r : answer.rules) {
    out << " | " << r.name << (r.observe ? " (observe)" : "")
        << (r.allowed ? " allowed" : " denied") << " limit " << r.limit
        << " remaining " << r.remaining << " retry " << WaitText(r.retry_after)
        << " reset " << r.reset_after;
  }
  return out.str();
}

}  // namespace weir_oracle
