// The executable weir as its users run it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/command.h"
#include "tools/cli/temp_folder.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

using Args = std::vector<std::string>;

Args Weir(const Args& args) {
  Args all = {WEIR_CLI_PATH};
  all.insert(all.end(), args.begin(), args.end());
  return all;
}

Ended RunWeir(const Args& args) { return Command(Weir(args)).Run(); }

// The same after the shell has set a limit of the process.
Args WithLimits(const std::string& limit, const Args& command) {
  Args all = {"/bin/sh", "-c", limit + " && exec \"$@\"", "sh"};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

constexpr char kOnePerMinute[] =
    R"({"rules": [{"algorithm": "uniform", "interval": "1m"}]})";

// A folder with limits.json and, if a test wants it, more.
class Replayed : public ::testing::Test {
 protected:
  Ended Replay(const Args& args) {
    Args all = {"replay", "--limits", folder_.Path("limits.json")};
    all.insert(all.end(), args.begin(), args.end());
    return RunWeir(all);
  }
  std::string Path(const std::string& name) const { return folder_.Path(name); }
  void Limits(const std::string& text) { folder_.Write("limits.json", text); }
  std::string Decisions() const { return folder_.Read("d.jsonl"); }

  TempFolder folder_;
};

TEST(Weir, HelpsAndNamesItsVersion) {
  for (const Args& args :
       {Args{"--help"}, Args{"replay", "--help"}, Args{"list", "--help"},
        Args{"generate", "--help"}}) {
    const Ended ended = RunWeir(args);
    EXPECT_EQ(ended.code, 0);
    EXPECT_THAT(ended.out, HasSubstr("Exit codes:"));
    EXPECT_THAT(ended.err, IsEmpty());
  }
  EXPECT_THAT(RunWeir({"--version"}).out, StartsWith("weir "));
}

TEST(Weir, EndsWithTwoAfterWrongUsage) {
  for (const Args& args :
       {Args{}, Args{"repaly"}, Args{"--nonsense"}, Args{"replay"},
        Args{"replay", "x.csv"}, Args{"replay", "--limits", "l.json"},
        Args{"replay", "--limits", "l.json", "--top", "many", "x.csv"},
        Args{"compare", "--limit", "unlimited"},
        Args{"list", "--algorithm", "nonsense"}, Args{"list", "more"},
        Args{"generate", "--format", "xml"}, Args{"generate", "--seed", "x"},
        Args{"generate", "--clients", "0"}}) {
    const Ended ended = RunWeir(args);
    EXPECT_EQ(ended.code, 2) << ::testing::PrintToString(args);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, StartsWith("weir: "));
    EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1)
        << ended.err;
  }
  const Ended ended = RunWeir({"list", "two\nlines\x1b[2J"});
  EXPECT_THAT(ended.err, HasSubstr("two\\x0alines\\x1b[2J"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
}

TEST(Weir, RefusesAnEmptyValue) {
  TempFolder folder;
  const std::string limits = folder.Write("l.json", kOnePerMinute);
  const std::string trace = folder.Write("t.csv", "time,key\n1,k\n");
  const std::string other = folder.Write("u.csv", "time,key\n1,k\n");
  const Args replay = {"replay", "--limits", limits};
  const Args compare = {"compare", "--each", limits, "--limit", "unlimited"};
  const auto with = [](Args args, const Args& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  };
  struct Case {
    Args args;
    std::string option;
  };
  for (const Case& c : std::vector<Case>{
           {with(replay, {"--decisions", "", trace}), "--decisions"},
           {with(replay, {"--decisions=", trace, other}), "--decisions"},
           {with(replay, {"--store", "", trace}), "--store"},
           {with(replay, {"--namespace", "", trace}), "--namespace"},
           {with(replay, {""}), "FILE"},
           {{"replay", "--limits", "", trace}, "--limits"},
           {with(compare, {"--differences", "", trace}), "--differences"},
           {with(compare, {"--key", "", trace}), "--key"},
           {with(compare, {"--limit", "", trace}), "--limit"},
           {with(compare, {"--each", "", trace}), "--each"},
           {{"list", "--algorithm", ""}, "--algorithm"}}) {
    const Ended ended = RunWeir(c.args);
    EXPECT_EQ(ended.code, 2) << ::testing::PrintToString(c.args);
    EXPECT_THAT(ended.out, IsEmpty());
    EXPECT_THAT(ended.err, HasSubstr(c.option + ": is \"\"; allowed: "));
  }
  EXPECT_THAT(folder.List(), UnorderedElementsAre("l.json", "t.csv", "u.csv"));
}

TEST(Weir, EndsQuietlyWhenItsReaderGoesAway) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  for (const Args& args : {Args{"list"}, Args{"generate"}}) {
    const Ended ended = Command(Weir(args)).OutputTo(ends[1]).Run();
    EXPECT_EQ(ended.signal, SIGPIPE);
    EXPECT_THAT(ended.err, IsEmpty());
  }
  close(ends[1]);
}

TEST(Weir, SaysThatItsOutputCannotBeWritten) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) GTEST_SKIP() << "no data: there is no /dev/full";
  for (const Args& args :
       {Args{"list"}, Args{"list", "--algorithm", "gcra"},
        Args{"list", "--json"}, Args{"generate"}, Args{"--help"},
        Args{"replay", "--help"}, Args{"--version"}}) {
    const Ended ended = Command(Weir(args)).OutputTo(full).Run();
    EXPECT_EQ(ended.code, 1) << ::testing::PrintToString(args);
    EXPECT_THAT(ended.err, StartsWith("weir: "));
    EXPECT_THAT(ended.err, HasSubstr("No space left on device"));
  }
  close(full);
}

TEST(Weir, GeneratesTheSameTraceTwice) {
  const Args args = {"generate", "--lines", "1000", "--seed", "7"};
  const Ended once = RunWeir(args);
  EXPECT_EQ(once.code, 0);
  EXPECT_EQ(std::count(once.out.begin(), once.out.end(), '\n'), 1001);
  EXPECT_EQ(RunWeir(args).out, once.out);
  EXPECT_NE(RunWeir({"generate", "--lines", "1000", "--seed", "8"}).out,
            once.out);
}

TEST_F(Replayed, TakesWhatGenerateMakes) {
  Limits(R"({"rules": [{"algorithm": "gcra", "limit": 30, "window": "1m",
                        "key": "{client}"}]})");
  for (const char* format : {"csv", "log"}) {
    const Ended made =
        RunWeir({"generate", "--lines", "5000", "--format", format});
    const Ended ended = Command(Weir({"replay", "--limits", Path("limits.json"),
                                      "--json", "-"}))
                            .Input(made.out)
                            .Run();
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto json = nlohmann::json::parse(ended.out);
    EXPECT_EQ(json["input"]["calls"], 5000) << format;
    EXPECT_EQ(json["input"]["malformed"], 0) << format;
  }
}

// A resource (5 in 10 s) and its consumers (3 in 10 s); by hand:
//   second 0, 5, 6  alice passes; nothing is left for her
//   7.000001        she is denied: her first call leaves at second 10
//   8               bob passes; of the resource 1 is left
//   9               bob asks for 4: more than a consumer ever gets
constexpr char kPair[] = R"({"tag": "{host}", "rules": [
    {"name": "resource", "algorithm": "sliding_log", "limit": 5,
     "window": "10s", "key": "{host}"},
    {"name": "consumer", "algorithm": "sliding_log", "limit": 3,
     "window": "10s", "key": "{host}/{client}"}]})";
constexpr char kPairTrace[] =
    "time,host,client,cost\n"
    "1700000000,h,alice,1\n"
    "1700000005,h,alice,1\n"
    "1700000006,h,alice,1\n"
    "1700000007.000001,h,alice,1\n"
    "1700000008,h,bob,1\n"
    "1700000009,h,bob,4\n";

// One line of decisions, with the spaces that a line here has no room for.
std::string Line(const std::string& head, const std::string& numbers,
                 const std::string& resource, const std::string& consumer) {
  return "{" + head + ", " + numbers +
         ", \"rules\": [{\"name\": \"resource\", " + resource +
         "}, {\"name\": \"consumer\", " + consumer + "}]}\n";
}

TEST_F(Replayed, WritesTheDecisionsThatWereWorkedOutByHand) {
  Limits(kPair);
  folder_.Write("t.csv", kPairTrace);
  const Ended ended = Replay({"--decisions", Path("d.jsonl"), Path("t.csv")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, IsEmpty());
  const std::string yes = R"("op": "check", "cost": 1, "allowed": true, )"
                          R"("never": false)";
  const auto verdict = [](const char* allowed, const char* remaining,
                          const char* wait) {
    return std::string("\"allowed\": ") + allowed +
           ", \"remaining\": " + remaining + ", \"retry_after_us\": " + wait;
  };
  const std::string expected =
      Line(
          R"("line": 2, "time_us": 1700000000000000, "key": "h/alice", )" + yes,
          R"("rule": "consumer", "limit": 3, "remaining": 2, )"
          R"("retry_after_us": 0, "reset_after_us": 10000000)",
          verdict("true", "4", "0"), verdict("true", "2", "0")) +
      Line(
          R"("line": 3, "time_us": 1700000005000000, "key": "h/alice", )" + yes,
          R"("rule": "consumer", "limit": 3, "remaining": 1, )"
          R"("retry_after_us": 0, "reset_after_us": 10000000)",
          verdict("true", "3", "0"), verdict("true", "1", "0")) +
      Line(
          R"("line": 4, "time_us": 1700000006000000, "key": "h/alice", )" + yes,
          R"("rule": "consumer", "limit": 3, "remaining": 0, )"
          R"("retry_after_us": 0, "reset_after_us": 10000000)",
          verdict("true", "2", "0"), verdict("true", "0", "0")) +
      Line(R"("line": 5, "time_us": 1700000007000001, "key": "h/alice", )"
           R"("op": "check", "cost": 1, "allowed": false, "never": false)",
           R"("rule": "consumer", "limit": 3, "remaining": 0, )"
           R"("retry_after_us": 2999999, "reset_after_us": 8999999)",
           verdict("true", "2", "0"), verdict("false", "0", "2999999")) +
      Line(R"("line": 6, "time_us": 1700000008000000, "key": "h", )" + yes,
           R"("rule": "resource", "limit": 5, "remaining": 1, )"
           R"("retry_after_us": 0, "reset_after_us": 10000000)",
           verdict("true", "1", "0"), verdict("true", "2", "0")) +
      Line(R"("line": 7, "time_us": 1700000009000000, "key": "h/bob", )"
           R"("op": "check", "cost": 4, "allowed": false, "never": true)",
           R"("rule": "consumer", "limit": 3, "remaining": 1, )"
           R"("retry_after_us": null, "reset_after_us": 9000000)",
           verdict("false", "1", "7000000"), verdict("false", "2", "null"));
  EXPECT_EQ(Decisions(), expected);
  EXPECT_THAT(folder_.List(),
              UnorderedElementsAre("limits.json", "t.csv", "d.jsonl"));
}

TEST_F(Replayed, PrintsAReport) {
  Limits(kPair);
  folder_.Write("t.csv", kPairTrace);
  const Ended ended = Replay({"--ascii", Path("t.csv")});
  EXPECT_EQ(ended.code, 0);
  // The path, which differs from run to run, stands in the first line.
  EXPECT_THAT(ended.out, StartsWith("Replay of "));
  const std::string rest = ended.out.substr(ended.out.find('\n') + 1);
  std::ifstream golden(std::string(WEIR_SOURCE_DIR) +
                       "/tools/cli/testdata/pair_report.txt");
  const std::string expected{std::istreambuf_iterator<char>(golden), {}};
  EXPECT_EQ(rest, expected);
}

TEST_F(Replayed, WritesDecisionsToStandardOutputAndTheReportToTheOther) {
  Limits(kPair);
  folder_.Write("t.csv", kPairTrace);
  const Ended ended = Replay({"--decisions", "-", Path("t.csv")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, StartsWith("{\"line\": 2, "));
  EXPECT_EQ(std::count(ended.out.begin(), ended.out.end(), '\n'), 6);
  EXPECT_THAT(ended.err, StartsWith("Replay of "));
}

TEST_F(Replayed, TellsTheFileOfALineWhereThereAreSeveral) {
  Limits(kOnePerMinute);
  folder_.Write("a.csv", "time,key\n1,k\n");
  folder_.Write("b.csv", "key,time_us\nk,2000000\n");
  EXPECT_EQ(
      Replay({"--decisions", Path("d.jsonl"), Path("a.csv"), Path("b.csv")})
          .code,
      0);
  EXPECT_THAT(Decisions(), StartsWith("{\"file\": \"" + Path("a.csv") +
                                      "\", \"line\": 2, "));
  EXPECT_THAT(Decisions(), HasSubstr("{\"file\": \"" + Path("b.csv") +
                                     "\", \"line\": 2, \"time_us\": 2000000, "
                                     "\"key\": \"k\", \"op\": \"check\", "
                                     "\"cost\": 1, \"allowed\": false"));
}

TEST_F(Replayed, DecidesInTheOrderOfTimeIfAsked) {
  Limits(kOnePerMinute);
  folder_.Write("t.csv", "time,key\n30,k\n0,k\n60,k\n");
  const auto counts = [&](const Args& args) {
    const Ended ended = Replay(args);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto json = nlohmann::json::parse(ended.out);
    EXPECT_EQ(json["input"]["out_of_order"], 1);
    EXPECT_EQ(json["input"]["latest_us"], 30'000'000);
    return std::to_string(json["overall"]["allowed"].get<int>()) + " of " +
           std::to_string(json["overall"]["calls"].get<int>());
  };
  EXPECT_EQ(counts({"--json", Path("t.csv")}), "1 of 3");
  EXPECT_EQ(counts({"--json", "--sort", "--decisions", Path("d.jsonl"),
                    Path("t.csv")}),
            "2 of 3");
  std::istringstream lines(Decisions());
  std::vector<int> order;
  for (std::string line; std::getline(lines, line);) {
    order.push_back(nlohmann::json::parse(line)["line"]);
  }
  EXPECT_THAT(order, ElementsAre(3, 2, 4));
}

TEST_F(Replayed, CountsAndNamesMalformedLines) {
  Limits(kOnePerMinute);
  std::string text = "time,key\n1,k\n";
  for (int i = 0; i < 25; ++i) text += "x\x1b[2J,k\n";
  folder_.Write("t.csv", text);
  const Ended ended = Replay({"--json", Path("t.csv")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(nlohmann::json::parse(ended.out)["input"]["malformed"], 25);
  EXPECT_THAT(ended.err, StartsWith(Path("t.csv") + ":3: "));
  EXPECT_THAT(ended.err, HasSubstr(Path("t.csv") + ":22: "));
  EXPECT_THAT(ended.err, Not(HasSubstr(Path("t.csv") + ":23: ")));
  EXPECT_THAT(ended.err, EndsWith("weir: 5 more malformed lines, not shown\n"));
  EXPECT_THAT(ended.err, Not(HasSubstr("\x1b")));
}

TEST_F(Replayed, CountsAKeyThatIsTooLongAsMalformed) {
  Limits(kOnePerMinute);
  folder_.Write("t.csv", "time,key\n1," + std::string(65'537, 'k') + "\n1," +
                             std::string(65'536, 'k') + "\n");
  const Ended ended = Replay({"--json", Path("t.csv")});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, HasSubstr(":2: the key of rule \"default\" has 65537 "
                                   "bytes; allowed: at most 65536\n"));
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["input"]["malformed"], 1);
  EXPECT_EQ(json["input"]["calls"], 1);
}

TEST_F(Replayed, StopsAtAMalformedLineIfStrict) {
  Limits(kOnePerMinute);
  folder_.Write("t.csv", "time,key\n1,k\nx,k\n2,k\n");
  folder_.Write("d.jsonl", "from before");
  const Ended ended =
      Replay({"--strict", "--decisions", Path("d.jsonl"), Path("t.csv")});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, StartsWith("weir: " + Path("t.csv") + ":3: "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_EQ(Decisions(), "from before");
  EXPECT_THAT(folder_.List(),
              UnorderedElementsAre("limits.json", "t.csv", "d.jsonl"));
}

struct Refused {
  std::string name;
  std::string limits;
  std::string trace;
  int code;
  std::string says;
};

std::ostream& operator<<(std::ostream& out, const Refused& refused) {
  return out << refused.name;
}

class RefusedReplay : public Replayed,
                      public ::testing::WithParamInterface<Refused> {};

TEST_P(RefusedReplay, SaysWhyInOneLineAndLeavesNoDecisions) {
  Limits(GetParam().limits);
  folder_.Write("t.csv", GetParam().trace);
  const Ended ended = Replay({"--decisions", Path("d.jsonl"), Path("t.csv")});
  EXPECT_EQ(ended.code, GetParam().code);
  EXPECT_THAT(ended.err, HasSubstr(GetParam().says));
  EXPECT_THAT(ended.err, StartsWith("weir: "));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(folder_.List(), UnorderedElementsAre("limits.json", "t.csv"));
}

constexpr char kOneCall[] = "time,key\n1,k\n";

INSTANTIATE_TEST_SUITE_P(
    All, RefusedReplay,
    ::testing::Values(
        Refused{"NoJson", "{", kOneCall, 2, "limits.json: line 1, column 2: "},
        Refused{"MissingField", R"({"rules": [{"algorithm": "uniform"}]})",
                kOneCall, 2, "limits.json: rules[0].interval: missing"},
        Refused{"WrongType",
                R"({"rules": [{"algorithm": "uniform", "interval": 5}]})",
                kOneCall, 2, "limits.json: rules[0].interval: is 5; allowed: "},
        Refused{"UnknownAlgorithm", R"({"rules": [{"algorithm": "x"}]})",
                kOneCall, 2,
                "limits.json: rules[0].algorithm: \"x\" is unknown"},
        Refused{"ColumnMissing",
                R"({"rules": [{"algorithm": "uniform", "interval": "1s",
                    "key": "{user}"}]})",
                kOneCall, 2,
                "t.csv has no column {user}; the columns are: time"},
        Refused{"NoTrace", kOnePerMinute, "what,ever\n1,2\n", 2, "t.csv"}),
    ::testing::PrintToStringParamName());

TEST_F(Replayed, SaysThatAFileIsNotThere) {
  EXPECT_EQ(Replay({Path("t.csv")}).code, 2);
  Limits(kOnePerMinute);
  const Ended ended = Replay({"--decisions", Path("d.jsonl"), Path("t.csv")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("t.csv"));
  EXPECT_THAT(ended.err, HasSubstr("No such file or directory"));
  EXPECT_THAT(folder_.List(), ElementsAre("limits.json"));
}

TEST_F(Replayed, SaysThatTheDecisionsCannotBeWritten) {
  Limits(kOnePerMinute);
  folder_.Write("t.csv", kOneCall);
  const Ended ended = Replay({"--decisions", Path("no/d"), Path("t.csv")});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("no/d: cannot be written: "));
  EXPECT_THAT(ended.out, IsEmpty());
}

TEST_F(Replayed, DoesNotWriteOverItsInput) {
  Limits(kOnePerMinute);
  folder_.Write("t.csv", kOneCall);
  for (const char* name : {"t.csv", "./t.csv", "limits.json"}) {
    const Ended ended = Replay({"--decisions", Path(name), Path("t.csv")});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, HasSubstr("is an input; allowed: another file"));
  }
  EXPECT_EQ(folder_.Read("t.csv"), kOneCall);
}

class Interrupted : public Replayed,
                    public ::testing::WithParamInterface<int> {};

TEST_P(Interrupted, RemovesItsTemporaryFile) {
  Limits(kOnePerMinute);
  // Some of these leave a core, which is not looked at.
  Command command(
      WithLimits("ulimit -c 0", Weir({"replay", "--limits", Path("limits.json"),
                                      "--decisions", Path("d.jsonl"), "-"})));
  command.StartWithPipe();
  // Far more than a pipe holds: once it is gone, the program reads.
  std::string text = "time,key\n";
  while (text.size() < (size_t{1} << 20)) text += "1,k\n";
  command.Feed(text);
  std::vector<std::string> names = folder_.List();
  EXPECT_EQ(names.size(), 2u);
  EXPECT_TRUE(std::any_of(names.begin(), names.end(), [](const auto& name) {
    return name.find("d.jsonl.tmp-") == 0;
  }));
  command.Signal(GetParam());
  EXPECT_EQ(command.Wait().signal, GetParam());
  EXPECT_THAT(folder_.List(), ElementsAre("limits.json"));
}

INSTANTIATE_TEST_SUITE_P(All, Interrupted,
                         ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT,
                                           SIGXCPU),
                         ::testing::PrintToStringParamName());

TEST_F(Replayed, SaysThatAFileMayNotGrowSoLarge) {
  Limits(kOnePerMinute);
  std::string text = "time,key\n";
  for (int i = 0; i < 10'000; ++i) text += "1,k\n";
  folder_.Write("t.csv", text);
  const Ended ended =
      Command(WithLimits("ulimit -f 16",
                         Weir({"replay", "--limits", Path("limits.json"),
                               "--decisions", Path("d.jsonl"), Path("t.csv")})))
          .Run();
  EXPECT_EQ(ended.code, 1);
  EXPECT_EQ(ended.err, "weir: " + Path("d.jsonl") +
                           ": cannot be written: File too large\n");
  EXPECT_THAT(folder_.List(), UnorderedElementsAre("limits.json", "t.csv"));
}

// A sanitizer reserves memory of its own.
#if !WEIR_SANITIZED
TEST_F(Replayed, SaysThatMemoryRanOut) {
  Limits(kOnePerMinute);
  std::string text = "time,key\n";
  for (int i = 0; i < 1'000'000; ++i) {
    text += "1," + std::to_string(i) + "\n";
  }
  folder_.Write("t.csv", text);
  const Ended ended =
      Command(WithLimits("ulimit -v 60000",
                         Weir({"replay", "--limits", Path("limits.json"),
                               "--decisions", Path("d.jsonl"), Path("t.csv")})))
          .Run();
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, StartsWith("weir: out of memory"));
  EXPECT_EQ(std::count(ended.err.begin(), ended.err.end(), '\n'), 1);
  EXPECT_THAT(ended.out, IsEmpty());
  EXPECT_THAT(folder_.List(), UnorderedElementsAre("limits.json", "t.csv"));
}
#endif

// The folder of the real data, or "" if there is none.
std::string DataFolder() {
  const char* given = std::getenv("WEIR_TEST_DATA");
  const std::string folder =
      given != nullptr ? given
                       : std::string(WEIR_SOURCE_DIR) + "/../shared/data";
  return std::filesystem::exists(folder + "/access-1.log") ? folder : "";
}

struct Known {
  std::string algorithm;
  int allowed;
  int denied;
};

std::ostream& operator<<(std::ostream& out, const Known& known) {
  return out << known.algorithm;
}

class RealLog : public Replayed, public ::testing::WithParamInterface<Known> {};

TEST_P(RealLog, IsDecidedAsIsKnown) {
  const std::string data = DataFolder();
  if (data.empty()) GTEST_SKIP() << "no data: access-1.log is not there";
  Limits(R"({"rules": [{"algorithm": ")" + GetParam().algorithm +
         R"(", "limit": 10, "window": "60s", "key": "{client}"}]})");
  const Ended ended = Replay(
      {"--json", "--decisions", Path("d.jsonl"), data + "/access-1.log"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["input"]["calls"], 33143);
  EXPECT_EQ(json["input"]["malformed"], 0);
  EXPECT_EQ(json["input"]["out_of_order"], 0);
  EXPECT_EQ(json["rules"][0]["keys"], 2864);
  EXPECT_EQ(json["overall"]["allowed"], GetParam().allowed);
  EXPECT_EQ(json["overall"]["denied"], GetParam().denied);
  std::istringstream lines(Decisions());
  int allowed = 0;
  int line_number = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto decision = nlohmann::json::parse(line);
    EXPECT_EQ(decision["line"], ++line_number);
    if (decision["allowed"]) ++allowed;
  }
  EXPECT_EQ(line_number, 33143);
  EXPECT_EQ(allowed, GetParam().allowed);
}

INSTANTIATE_TEST_SUITE_P(TenAMinute, RealLog,
                         ::testing::Values(Known{"sliding_log", 20427, 12716},
                                           Known{"fixed_window", 20463, 12680},
                                           Known{"gcra", 21266, 11877}),
                         ::testing::PrintToStringParamName());

TEST_F(Replayed, TakesOrNamesEveryLineOfTheOddLog) {
  const std::string data = DataFolder();
  if (data.empty()) GTEST_SKIP() << "no data: access-odd.log is not there";
  Limits(R"({"rules": [{"algorithm": "gcra", "limit": 10, "window": "60s",
                        "key": "{client}"}]})");
  const Ended ended = Replay({"--json", data + "/access-odd.log"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto json = nlohmann::json::parse(ended.out);
  EXPECT_EQ(json["input"]["lines"], 139);
  EXPECT_EQ(
      json["input"]["calls"].get<int>() + json["input"]["malformed"].get<int>(),
      139);
}

}  // namespace
}  // namespace weir::cli
