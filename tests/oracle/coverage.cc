#include "tests/oracle/coverage.h"

#include <iomanip>
#include <set>

namespace weir_oracle {
namespace {

// The column of what is about a call and not about one algorithm.
constexpr char kCall[] = "(call)";

}  // namespace

void Coverage::AddRule(const RuleSpec& rule, const OracleCall& call, size_t i,
                       const Answer& answer, const Happened& h) {
  const RuleAnswer& r = answer.rules[i];
  const int64_t cost = call.costs[i];
  const bool check = call.op == Op::kCheck;
  const bool peek = call.op == Op::kPeek;
  const bool refund = call.op == Op::kRefund;
  const auto count = [&](const char* branch, bool reached) {
    if (reached) ++counts_[branch][rule.limit.algorithm];
  };
  const bool zero = rule.limit.zero();
  count("limit 0", zero && check);
  if (zero || rule.limit.unlimited()) return;
  count("check allowed", check && r.allowed);
  count("check denied", check && !r.allowed);
  count("check never", check && !r.retry_after.has_value());
  count("cost 0 allowed", check && cost == 0 && r.allowed);
  count("cost 0 denied", check && cost == 0 && !r.allowed);
  count("cost = capacity allowed", check && cost == r.limit && r.allowed);
  count("cost = capacity + 1", check && cost == r.limit + 1);
  count("nothing remains", check && r.allowed && r.remaining == 0);
  count("peek allowed", peek && r.allowed);
  count("peek denied", peek && !r.allowed);
  count("reading goes back", h.backwards);
  count("cut reported only", h.cut && !h.cut_stored);
  count("cut stored, denied", check && h.cut_stored && !h.charged);
  count("cut stored, refund", refund && h.cut_stored);
  count("carried", h.carried);
  count("carried and charged", h.carried && h.charged);
  count("refund absent", refund && cost > 0 && !h.present);
  count("refund in part", refund && cost > 0 && h.present && !h.forgotten);
  count("refund to fresh", refund && h.forgotten);
  count("refund clamped", refund && h.clamped);
  count("reset", call.op == Op::kReset && h.present);
  count("above 2^53", r.limit > 1 && cost > kMaxExact / 2);
}

void Coverage::Add(const std::vector<RuleSpec>& rules, const OracleCall& call,
                   Aim aim, const Answer& answer,
                   const std::vector<Happened>& happened) {
  for (size_t i = 0; i < rules.size(); ++i) {
    AddRule(rules[i], call, i, answer, happened[i]);
  }
  const auto aimed = [&](const char* branch, bool reached) {
    if (!reached) return;
    if (rules.size() == 1) {
      ++counts_[branch][rules.front().limit.algorithm];
    } else {
      ++counts_[branch][kCall];
    }
  };
  const bool same_call = call.op == Op::kCheck || call.op == Op::kPeek;
  aimed("at retry_after", aim == Aim::kAtRetry && same_call && answer.allowed);
  aimed("1 us before it",
        aim == Aim::kBeforeRetry && same_call && !answer.allowed);
  aimed("around reset_after", aim == Aim::kReset);
  aimed("around the cut", aim == Aim::kCut);
  if (rules.size() == 1 || call.op != Op::kCheck) return;
  bool some_allow = false;
  bool some_deny = false;
  bool watcher_denies = false;
  bool watcher_charged = false;
  for (size_t i = 0; i < rules.size(); ++i) {
    const RuleAnswer& r = answer.rules[i];
    watcher_denies |= r.observe && !r.allowed;
    watcher_charged |= r.observe && happened[i].charged;
    some_allow |= !r.observe && r.allowed;
    some_deny |= !r.observe && !r.allowed;
  }
  const auto count = [&](const char* branch, bool reached) {
    if (reached) ++counts_[branch][kCall];
  };
  count("all rules allow", answer.allowed);
  count("some allow, some deny", some_allow && some_deny);
  count("a later rule binds", answer.rule > 0);
  count("watcher denies, call allowed", watcher_denies && answer.allowed);
  count("watcher charged", watcher_charged);
}

void Coverage::Print(std::ostream& out) const {
  std::set<std::string> columns;
  for (const auto& [branch, row] : counts_) {
    for (const auto& [column, count] : row) columns.insert(column);
  }
  out << std::left << std::setw(30) << "branch" << std::right;
  for (const std::string& column : columns) out << std::setw(14) << column;
  out << "\n";
  for (const auto& [branch, row] : counts_) {
    out << std::left << std::setw(30) << branch << std::right;
    for (const std::string& column : columns) {
      auto it = row.find(column);
      out << std::setw(14) << (it == row.end() ? 0 : it->second);
    }
    out << "\n";
  }
}

int64_t Coverage::Count(const std::string& algorithm,
                        const std::string& branch) const {
  auto row = counts_.find(branch);
  if (row == counts_.end()) return 0;
  auto it = row->second.find(algorithm);
  return it == row->second.end() ? 0 : it->second;
}

const std::vector<std::string>& Coverage::Required() {
  static const auto* const kRequired = new std::vector<std::string>{
      "check allowed",       "check denied",       "check never",
      "cost 0 allowed",      "cost 0 denied",      "cost = capacity allowed",
      "cost = capacity + 1", "nothing remains",    "peek allowed",
      "peek denied",         "reading goes back",  "cut reported only",
      "cut stored, denied",  "cut stored, refund", "carried",
      "carried and charged", "refund absent",      "refund in part",
      "refund to fresh",     "refund clamped",     "reset",
      "at retry_after",      "1 us before it",     "around reset_after",
      "around the cut",
  };
  return *kRequired;
}

const std::vector<std::string>& Coverage::RequiredOfMixes() {
  static const auto* const kRequired = new std::vector<std::string>{
      "at retry_after",     "1 us before it",
      "around reset_after", "around the cut",
      "all rules allow",    "some allow, some deny",
      "a later rule binds", "watcher denies, call allowed",
      "watcher charged",
  };
  return *kRequired;
}

}  // namespace weir_oracle
