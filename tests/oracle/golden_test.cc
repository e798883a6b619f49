// Plays the golden traces through the library and through the oracle: both
// must give the decisions that the files hold, every field.
#include "tests/oracle/golden.h"

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/store_under_test.h"
#include "tests/oracle/subject.h"

namespace weir_oracle {

void PrintTo(const GoldenCase& golden, std::ostream* out) {
  *out << golden.name;
}

namespace {

std::string Read(const std::string& name) {
  std::ifstream in(std::string(WEIR_GOLDEN_DIR) + "/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class GoldenTraces : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void Play(const std::function<Answer(const OracleCall&)>& decide) {
    const std::vector<GoldenCall> calls =
        ReadGoldenCsv(GetParam(), Read(GetParam().name + ".csv"));
    const std::vector<std::string> expected =
        Lines(Read(GetParam().name + ".decisions.jsonl"));
    ASSERT_GT(calls.size(), 0u);
    ASSERT_EQ(calls.size(), expected.size());
    for (size_t i = 0; i < calls.size(); ++i) {
      ASSERT_EQ(DecisionJson(calls[i], decide(calls[i].call)), expected[i]);
    }
  }
};

TEST_P(GoldenTraces, AreDecidedAsWritten) {
  Trace trace;
  trace.configs = {GetParam().rules};
  const weir::testing::Harness harness = StoreUnderTest().make();
  if (harness.store == nullptr) {
    GTEST_SKIP() << "no data: there is no server for the store";
  }
  // The tag is the value of its column, which every key begins with: keys of
  // different tags come through different limiters on one store.
  std::map<std::string, Subject> subjects;
  Play([&](const OracleCall& call) {
    if (!GetParam().tag.empty()) trace.tag = call.keys[0];
    const std::string tag = trace.tag.value_or("");
    if (subjects.count(tag) == 0) {
      auto subject = Subject::Make(harness, trace);
      EXPECT_TRUE(subject.ok()) << subject.status().ToString();
      subjects.emplace(tag, *std::move(subject));
    }
    const auto answer = subjects.at(tag).Run({0, call});
    EXPECT_TRUE(answer.ok()) << answer.status().ToString();
    return answer.ok() ? *answer : Answer();
  });
}

TEST_P(GoldenTraces, AreWhatTheOracleSays) {
  Oracle oracle;
  Play([&](const OracleCall& call) {
    return oracle.Run(GetParam().rules, call);
  });
}

TEST_P(GoldenTraces, HaveTheLimitsOfTheFile) {
  EXPECT_EQ(Read(GetParam().name + ".limits.json"), GoldenLimits(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenTraces,
                         ::testing::ValuesIn(GoldenCases()),
                         [](const ::testing::TestParamInfo<GoldenCase>& test) {
                           return test.param.name;
                         });

}  // namespace
}  // namespace weir_oracle
