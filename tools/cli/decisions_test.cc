#include "tools/cli/decisions.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::cli {
namespace {

std::vector<Rule> Rules(std::vector<std::string> names) {
  std::vector<Rule> rules;
  for (std::string& name : names) {
    rules.push_back({std::move(name), Limit::Unlimited(), false, std::nullopt});
  }
  return rules;
}

RuleVerdict Verdict(bool allowed, int64_t remaining,
                    std::optional<Micros> retry_after) {
  RuleVerdict verdict;
  verdict.allowed = allowed;
  verdict.remaining = remaining;
  verdict.retry_after = retry_after;
  return verdict;
}

TEST(Decisions, HaveTheDocumentedShape) {
  const std::vector<Rule> rules = Rules({"resource", "consumer"});
  Row row;
  row.line = 2;
  row.time_us = 1'700'000'000'000'000;
  Decision d;
  d.allowed = false;
  d.rule = 1;
  d.limit = 3;
  d.remaining = 0;
  d.retry_after = Micros(2'999'999);
  d.reset_after = Micros(9'000'000);
  d.verdicts = {Verdict(true, 2, Micros(0)),
                Verdict(false, 0, Micros(2'999'999))};
  std::string out;
  DecisionFormat(rules, {"a.csv"}).Append(row, {"host", "host/alice"}, d, &out);
  EXPECT_EQ(
      out, R"({"line": 2, "time_us": 1700000000000000, "key": "host/alice", )"
           R"("op": "check", "cost": 1, "allowed": false, "never": false, )"
           R"("rule": "consumer", "limit": 3, "remaining": 0, )"
           R"("retry_after_us": 2999999, "reset_after_us": 9000000, )"
           R"("rules": [{"name": "resource", "allowed": true, "remaining": 2, )"
           R"("retry_after_us": 0}, {"name": "consumer", "allowed": false, )"
           R"("remaining": 0, "retry_after_us": 2999999}]})"
           "\n");
}

TEST(Decisions, WriteNullWhereNoWaitHelps) {
  Row row;
  row.line = 7;
  row.time_us = -5;
  row.cost = 9;
  row.op = Op::kPeek;
  Decision d;
  d.allowed = false;
  d.limit = 1;
  d.retry_after = std::nullopt;
  d.verdicts = {Verdict(false, 0, std::nullopt)};
  std::string out;
  DecisionFormat(Rules({"default"}), {"-"}).Append(row, {""}, d, &out);
  EXPECT_EQ(
      out, R"({"line": 7, "time_us": -5, "key": "", "op": "peek", "cost": 9, )"
           R"("allowed": false, "never": true, "rule": "default", "limit": 1, )"
           R"("remaining": 0, "retry_after_us": null, "reset_after_us": 0, )"
           R"("rules": [{"name": "default", "allowed": false, "remaining": 0, )"
           R"("retry_after_us": null}]})"
           "\n");
}

TEST(Decisions, NameTheFileWhereThereAreSeveral) {
  Row row;
  row.file = 1;
  row.line = 3;
  Decision d;
  d.verdicts = {Verdict(true, 1, Micros(0))};
  std::string out;
  DecisionFormat(Rules({"r"}), {"a.csv", "b\".csv"})
      .Append(row, {"k"}, d, &out);
  EXPECT_EQ(out.rfind(R"({"file": "b\".csv", "line": 3, )", 0), 0u) << out;
}

TEST(Decisions, KeepBytesThatAreNotUtf8) {
  Row row;
  Decision d;
  d.verdicts = {Verdict(true, 1, Micros(0))};
  std::string out;
  DecisionFormat(Rules({"\xc3\xa9\""}), {"f"})
      .Append(row, {std::string_view("a\0\xff\x80\n\"", 6)}, d, &out);
  EXPECT_NE(out.find(R"("key": "a\u0000\udcff\udc80\n\"", )"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("\"rule\": \"\xc3\xa9\\\"\", "), std::string::npos) << out;
}

}  // namespace
}  // namespace weir::cli
