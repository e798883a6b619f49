#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/http_kit.h"
#include "weir/http.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

using ::weir::testing::Rng;
using ::weir::testing::Rounds;
using ::weir::testing::Seed;
using ::weir::testing::TestRng;
using namespace http_kit;
using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(Http, ProblemNamesTheRulesThatDenied) {
  std::vector<Rule> rules = {Named("a"), Named("b"), Named("c"), Named("d")};
  rules[3].observe = true;
  HttpOptions options;
  options.rules = {{"c", "third"}};
  const HttpWriter writer = Make(rules, options);
  RuleVerdict watch = Refused(0, 1s, 1s);
  watch.observe = true;
  const Decision d =
      Of({Refused(0, 5s, 5s), Passed(1, 1s), Refused(0, 6s, 6s), watch});
  const HttpProblem problem = writer.Problem(d);
  EXPECT_EQ(problem.status, 429);
  EXPECT_EQ(problem.content_type, "application/problem+json");
  const auto json = nlohmann::json::parse(problem.body);
  EXPECT_EQ(json.size(), 4u);
  EXPECT_EQ(json["type"],
            "https://iana.org/assignments/http-problem-types#quota-exceeded");
  EXPECT_EQ(json["status"], 429);
  EXPECT_TRUE(json["title"].is_string());
  EXPECT_EQ(json["violated-policies"], nlohmann::json({"a", "third"}));
}

TEST(Http, ProblemHasTheStatusOfItsType) {
  const HttpWriter writer = Make({Named("n")});
  const Decision d = Of({Refused(0, 5s, 5s)});
  const std::vector<std::pair<HttpProblemType, std::string>> table = {
      {HttpProblemType::kQuotaExceeded, "429 quota-exceeded"},
      {HttpProblemType::kTemporaryReducedCapacity,
       "503 temporary-reduced-capacity"},
      {HttpProblemType::kAbnormalUsageDetected, "429 abnormal-usage-detected"}};
  for (const auto& [type, text] : table) {
    const HttpProblem problem = writer.Problem(d, type);
    const auto json = nlohmann::json::parse(problem.body);
    const std::string url = json["type"];
    EXPECT_EQ(json["status"], problem.status);
    EXPECT_EQ(
        std::to_string(problem.status) + " " + url.substr(url.find('#') + 1),
        text);
  }
}

std::string NameInProblem(const std::string& name) {
  HttpOptions options;
  options.rate_limit = options.rate_limit_policy = false;
  const HttpWriter writer = Make({Named(name)}, options);
  const std::string body = writer.Problem(Of({Refused(0, 1s, 1s)})).body;
  return nlohmann::json::parse(body)["violated-policies"][0];
}

TEST(Http, ProblemIsJsonWhateverANameHolds) {
  for (const std::string& name :
       {""s, "a\"b\\c/"s, "\0\x1F\x7F\n"s, "caf\xC3\xA9"s, "\xE2\x82\xAC"s,
        "\xF0\x9F\x98\x80"s, "\xF4\x8F\xBF\xBF"s,
        "\xED\x9F\xBF\xEE\x80\x80"s}) {
    EXPECT_EQ(NameInProblem(name), name);
  }
  const std::string no = "\xEF\xBF\xBD";
  EXPECT_EQ(NameInProblem("a\xFF"
                          "b"),
            "a" + no + "b");
  EXPECT_EQ(NameInProblem("\xC3"), no);
  EXPECT_EQ(NameInProblem("\xC0\x80"), no + no);
  EXPECT_EQ(NameInProblem("\xE0\x80\x80"), no + no + no);
  EXPECT_EQ(NameInProblem("\xED\xA0\x80"), no + no + no);
  EXPECT_EQ(NameInProblem("\xF4\x90\x80\x80"), no + no + no + no);
  EXPECT_EQ(NameInProblem("\xE2\x82z"), no + no + "z");
  Rng rng = TestRng();
  for (int round = 0; round < Rounds(2'000, 100'000); ++round) {
    std::string name;
    for (int64_t n = rng.Uniform(0, 12); n > 0; --n) {
      name += static_cast<char>(rng.Next());
    }
    ASSERT_NO_THROW(NameInProblem(name)) << "WEIR_TEST_SEED=" << Seed();
  }
}

}  // namespace
}  // namespace weir
