// `weir compare` as its users run it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/command.h"
#include "tools/cli/temp_folder.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Args = std::vector<std::string>;

class Compared : public ::testing::Test {
 protected:
  Ended Compare(const Args& args, const std::string& input = "") {
    Args all = {WEIR_CLI_PATH, "compare"};
    all.insert(all.end(), args.begin(), args.end());
    Command command(all);
    if (!input.empty()) command.Input(input);
    return command.Run();
  }
  std::string Path(const std::string& name) const { return folder_.Path(name); }

  TempFolder folder_;
};

constexpr char kTrace[] =
    "time,key\n"
    "0,a\n0,a\n0,b\n1,a\n";
constexpr char kLog[] =
    "192.0.2.1 - - [10/Oct/2023:13:55:36 +0000] \"GET / HTTP/1.1\" 200 1\n"
    "192.0.2.1 - - [10/Oct/2023:13:55:36 +0000] \"GET / HTTP/1.1\" 200 1\n"
    "192.0.2.2 - - [10/Oct/2023:13:55:36 +0000] \"GET / HTTP/1.1\" 200 1\n";

TEST_F(Compared, TakesLimitsFromFilesFromTheirRulesAndAsTyped) {
  folder_.Write("one.json",
                R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  folder_.Write("two.json", R"({"tag": "{key}", "rules": [
      {"name": "x", "algorithm": "uniform", "interval": "2s"},
      {"name": "y", "algorithm": "unlimited", "key": "{key}{time}"}]})");
  folder_.Write("t.csv", kTrace);
  const Ended ended =
      Compare({"--limit", "unlimited", "--limits", Path("one.json"), "--each",
               Path("two.json"), "--json", Path("t.csv")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, IsEmpty());
  const auto json = nlohmann::json::parse(ended.out);
  ASSERT_EQ(json["limits"].size(), 4u);
  const std::vector<std::string> names = {
      Path("one.json"), Path("two.json") + ": x", Path("two.json") + ": y",
      "unlimited"};
  const std::vector<int> denied = {1, 2, 0, 0};
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(json["limits"][i]["name"], names[i]);
    EXPECT_EQ(json["limits"][i]["overall"]["denied"], denied[i]) << names[i];
  }
  EXPECT_EQ(json["differently"], 2);
}

TEST_F(Compared, LimitsTheClientsOfALog) {
  const Ended ended = Compare(
      {"--limit", "uniform interval=1s", "--limit", "unlimited", "-"}, kLog);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("192.0.2.1            1      2"));
  EXPECT_THAT(ended.out, HasSubstr("key {client}"));
}

TEST_F(Compared, NamesTheKeyThatStoodForTheTypedOne) {
  folder_.Write("t.csv", kTrace);
  const auto keys = [&](const Args& files) {
    Args all = {"--limit", "uniform interval=1s", "--limit",
                "unlimited key={key}", "--json"};
    if (files.size() == 1 && files[0] == "-") all[3] = "unlimited key={user}";
    all.insert(all.end(), files.begin(), files.end());
    const Ended ended = Compare(all, kLog);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto json = nlohmann::json::parse(ended.out);
    return json["limits"][0]["rules"][0]["key"].get<std::string>();
  };
  EXPECT_EQ(keys({"-"}), "{client}");
  EXPECT_EQ(keys({Path("t.csv")}), "{key}");
}

TEST_F(Compared, NamesBothKeysWhereItsFilesDiffer) {
  folder_.Write("t.csv", kTrace);
  for (const Args& files :
       {Args{Path("t.csv"), "-"}, Args{"-", Path("t.csv")}}) {
    Args all = {"--limit", "uniform interval=1s", "--limit",
                "uniform interval=2s", "--json"};
    all.insert(all.end(), files.begin(), files.end());
    const Ended ended = Compare(all, kLog);
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto json = nlohmann::json::parse(ended.out);
    EXPECT_EQ(json["limits"][1]["rules"][0]["key"], "{key} or {client}");
  }
}

TEST_F(Compared, TakesAKeyForAllThatAreTyped) {
  const Ended ended = Compare({"--limit", "uniform interval=1s", "--limit",
                               "unlimited", "--key", "{method}", "--json", "-"},
                              kLog);
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["limits"][0]["overall"]["denied"], 2);
  EXPECT_EQ(json["top_keys"][0]["key"], "GET");
}

TEST_F(Compared, WritesTheDifferences) {
  folder_.Write("t.csv", kTrace);
  const Args args = {"--limit", "uniform interval=1s", "--limit", "unlimited",
                     "--differences"};
  Args to_file = args;
  to_file.insert(to_file.end(), {Path("d.jsonl"), Path("t.csv")});
  const Ended ended = Compare(to_file);
  EXPECT_EQ(ended.code, 0) << ended.err;
  const std::string lines = folder_.Read("d.jsonl");
  EXPECT_THAT(lines, StartsWith(R"({"line": 3, "time_us": 0, "cost": 1)"));
  Args to_stdout = args;
  to_stdout.insert(to_stdout.end(), {"-", Path("t.csv")});
  const Ended piped = Compare(to_stdout);
  EXPECT_EQ(piped.out, lines);
  EXPECT_THAT(piped.err, HasSubstr("Comparison of"));
}

TEST_F(Compared, ReadsSeveralFilesInTheOrderOfTime) {
  folder_.Write("late.csv", "time,key\n5,a\n");
  folder_.Write("early.csv", "time,key\n0,a\n5,a\n");
  const Ended ended =
      Compare({"--limit", "uniform interval=1s", "--limit", "unlimited",
               "--sort", "--json", Path("late.csv"), Path("early.csv")});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["input"]["out_of_order"], 1);
  EXPECT_EQ(json["differently"], 1);
  EXPECT_EQ(json["first"][0]["file"], Path("early.csv"));
}

TEST_F(Compared, TakesItsFilesWhereverTheyStandAmongTheOptions) {
  folder_.Write("one.json",
                R"({"rules": [{"algorithm": "uniform", "interval": "1s"}]})");
  folder_.Write("a.csv", kTrace);
  folder_.Write("b.csv", kTrace);
  const std::string a = Path("a.csv");
  const std::string b = Path("b.csv");
  const std::string one = Path("one.json");
  for (const Args& args :
       {Args{"--limit", "unlimited", "--limit", "uniform interval=1s", a, b},
        Args{"--limit", "unlimited", "--limits", one, a, b},
        Args{"--limit", "unlimited", "--each", one, a, b},
        Args{a, b, "--limit", "unlimited", "--limits", one},
        Args{"--limit", "unlimited", "--each", one, a, "--sort", b}}) {
    Args all = {"--json"};
    all.insert(all.end(), args.begin(), args.end());
    const Ended ended = Compare(all);
    ASSERT_EQ(ended.code, 0) << ended.err << ::testing::PrintToString(args);
    const auto json = nlohmann::json::parse(ended.out);
    EXPECT_EQ(json["limits"].size(), 2u);
    EXPECT_EQ(json["input"]["files"], (Args{a, b}));
  }
  // The option behind the file is the last of all.
  const Ended ended = Compare(
      {"--limit", "unlimited", "--limit", "uniform interval=1s", a, "--json"});
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(Compared, EndsAsReplayDoes) {
  folder_.Write("t.csv", kTrace);
  folder_.Write("bad.csv", "time,key\nnoon,a\n");
  const Args two = {"--limit", "uniform interval=1s", "--limit", "unlimited"};
  const auto with = [&](const Args& more) {
    Args all = two;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  struct Case {
    Args args;
    int code;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {with({}), 2, "FILE"},
           {{"--limit", "unlimited", Path("t.csv")}, 2, "1 limits"},
           {{Path("t.csv")}, 2, "0 limits"},
           {with({"--limit", "gcra", Path("t.csv")}), 2, "--limit \"gcra\""},
           {with({"--limits", Path("no.json"), Path("t.csv")}), 2, "no.json"},
           {with({"--key", "{nobody}", Path("t.csv")}), 2, "{nobody}"},
           {with({"--key", "{", Path("t.csv")}), 2, "\"{\""},
           {with({"--differences", Path("t.csv"), Path("t.csv")}), 2,
            "--differences"},
           {with({Path("no.csv")}), 1, "no.csv"},
           {with({Path("bad.csv")}), 0, "bad.csv:2"},
           {with({"--strict", Path("bad.csv")}), 3, "bad.csv:2"}}) {
    const Ended ended = Compare(c.args);
    EXPECT_EQ(ended.code, c.code) << ::testing::PrintToString(c.args);
    EXPECT_THAT(ended.err, HasSubstr(c.says));
    EXPECT_EQ(ended.out.empty(), c.code != 0);
  }
  EXPECT_EQ(folder_.Read("t.csv"), kTrace);
}

TEST_F(Compared, HelpsWithAnExample) {
  const Ended ended = Compare({"--help"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("weir compare --limit"));
  EXPECT_THAT(ended.out, HasSubstr("Exit codes:"));
  EXPECT_THAT(ended.out, Not(HasSubstr("[...]")));
}

}  // namespace
}  // namespace weir::cli
