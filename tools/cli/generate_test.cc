#include "tools/cli/generate.h"

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/generate_draw.h"
#include "tools/cli/input/access_log.h"
#include "tools/cli/input/csv.h"
#include "tools/cli/input/number.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;

std::string Text(const GenerateOptions& options) {
  char* data = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&data, &size);
  const absl::Status status = Generate(options, out);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::fclose(out);
  std::string text(data, size);
  std::free(data);
  return text;
}

struct Line {
  int64_t time_us = 0;
  std::string client;
  std::string path;
  std::string status;
};

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    EXPECT_NE(end, text.npos) << "the last line has no end";
    if (end == text.npos) break;
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<Line> Parse(const GenerateOptions& options) {
  std::vector<Line> all;
  const std::string text = Text(options);
  bool header = options.format == TraceFormat::kCsv;
  for (const std::string& line : Lines(text)) {
    if (header) {
      EXPECT_EQ(line, "time,client,method,path,status,bytes");
      header = false;
      continue;
    }
    Line one;
    if (options.format == TraceFormat::kLog) {
      AccessLine log;
      LineProblem problem;
      EXPECT_TRUE(ParseAccessLine(line, &log, &problem)) << line;
      one = {log.time_us, std::string(log.client), std::string(log.path),
             std::string(log.status)};
    } else {
      std::string_view fields[6];
      EXPECT_EQ(SplitPlain(line, fields, 6), 6u) << line;
      EXPECT_EQ(ParseSeconds(fields[0], &one.time_us), NumberResult::kOk);
      one.client = fields[1];
      one.path = fields[3];
      one.status = fields[4];
    }
    all.push_back(one);
  }
  return all;
}

GenerateOptions Only() {
  GenerateOptions options;
  options.rate_per_1000s = 0;
  options.scraper_per_1000s = 0;
  options.burst_calls = 0;
  options.storm_clients = 0;
  return options;
}

uint64_t Fnv1a(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

TEST(GenerateTest, BytesNeverChange) {
  GenerateOptions options;
  options.duration_s = 7200;
  EXPECT_EQ(Fnv1a(Text(options)), 5604665147642177229u);
  options.format = TraceFormat::kLog;
  EXPECT_EQ(Fnv1a(Text(options)), 15861028843636677724u);
  options.seed = 2;
  EXPECT_EQ(Fnv1a(Text(options)), 15243583634385229414u);
}

TEST(GenerateTest, TimeNeverRunsBackAndStaysWithinTheTrace) {
  for (const TraceFormat format : {TraceFormat::kCsv, TraceFormat::kLog}) {
    GenerateOptions options;
    options.format = format;
    int64_t last = options.start_s * 1000000;
    const int64_t end = (options.start_s + options.duration_s) * 1000000;
    const std::vector<Line> lines = Parse(options);
    EXPECT_GT(lines.size(), 250000u);
    EXPECT_LT(lines.size(), 270000u);
    for (const Line& line : lines) {
      ASSERT_GE(line.time_us, last);
      last = line.time_us;
    }
    EXPECT_LT(last, end);
  }
}

TEST(GenerateTest, BothFormatsTellTheSameStory) {
  GenerateOptions options;
  options.duration_s = 3600;
  const std::vector<Line> csv = Parse(options);
  options.format = TraceFormat::kLog;
  const std::vector<Line> log = Parse(options);
  ASSERT_EQ(csv.size(), log.size());
  for (size_t i = 0; i < csv.size(); ++i) {
    ASSERT_EQ(csv[i].time_us / 1000000, log[i].time_us / 1000000);
    ASSERT_EQ(csv[i].client, log[i].client);
    ASSERT_EQ(csv[i].path, log[i].path);
    ASSERT_EQ(csv[i].status, log[i].status);
  }
}

TEST(GenerateTest, ScraperIsSteady) {
  GenerateOptions options = Only();
  options.scraper_per_1000s = 3000;
  options.duration_s = 100;
  const std::vector<Line> lines = Parse(options);
  ASSERT_EQ(lines.size(), 300u);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].client, "192.0.2.1");
    EXPECT_EQ(lines[i].time_us, options.start_s * 1000000 +
                                    static_cast<int64_t>(i) * 1000000 / 3);
  }
}

TEST(GenerateTest, BurstFitsIntoOneSecond) {
  GenerateOptions options = Only();
  options.burst_calls = 777;
  const std::vector<Line> lines = Parse(options);
  ASSERT_EQ(lines.size(), 777u);
  const int64_t half = (options.start_s + options.duration_s / 2) * 1000000;
  EXPECT_EQ(lines.front().time_us, half);
  EXPECT_LT(lines.back().time_us, half + 1000000);
  EXPECT_EQ(lines.front().client, lines.back().client);
}

TEST(GenerateTest, StormRetriesEverySecond) {
  GenerateOptions options = Only();
  options.storm_clients = 7;
  options.storm_s = 30;
  std::map<std::string, std::vector<int64_t>> times;
  for (const Line& line : Parse(options)) {
    EXPECT_EQ(line.status, "503");
    times[line.client].push_back(line.time_us);
  }
  ASSERT_EQ(times.size(), 7u);
  for (const auto& [client, at] : times) {
    ASSERT_EQ(at.size(), 30u) << client;
    for (size_t i = 1; i < at.size(); ++i) {
      EXPECT_EQ(at[i] - at[i - 1], 1000000) << client;
    }
  }
}

TEST(GenerateTest, BrowsingHasTheRateAskedForAndFollowsTheDay) {
  GenerateOptions options = Only();
  options.rate_per_1000s = 5000;
  std::vector<int> hours(24);
  int total = 0;
  for (const Line& line : Parse(options)) {
    ++hours[static_cast<size_t>(line.time_us / 3600000000 % 24)];
    ++total;
  }
  EXPECT_NEAR(total, 5 * 86400, 3000);
  // Two hours around the least and the most; 18000 an hour on average.
  EXPECT_NEAR(hours[2] + hours[3], 2 * 18000 * 0.21, 700);
  EXPECT_NEAR(hours[14] + hours[15], 2 * 18000 * 1.79, 1400);
  EXPECT_NEAR(hours[8] + hours[9], 2 * 18000, 1400);
}

TEST(GenerateTest, ClientsFollowZipf) {
  GenerateOptions options = Only();
  options.rate_per_1000s = 5000;
  options.clients = 1000;
  std::map<std::string, int> calls;
  int total = 0;
  for (const Line& line : Parse(options)) {
    ++calls[line.client];
    ++total;
  }
  EXPECT_GT(calls.size(), 990u);
  EXPECT_LE(calls.size(), 1000u);
  // Client k has total / k / (1 + 1/2 + ... + 1/1000) calls.
  const double first = total / 7.485471;
  EXPECT_NEAR(calls["10.0.0.1"], first, first * 0.03);
  EXPECT_NEAR(calls["10.0.0.2"], first / 2, first * 0.03);
  EXPECT_NEAR(calls["10.0.0.3"], first / 3, first * 0.03);
  EXPECT_NEAR(calls["10.0.0.10"], first / 10, first * 0.02);
}

TEST(GenerateTest, ZipfDrawsEveryNumberAndNoOther) {
  testing::Rng seeds = testing::TestRng();
  for (const uint64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33}) {
    Random random(seeds.Next());
    const Zipf zipf(n);
    std::vector<int> seen(n + 1);
    for (int i = 0; i < 20000; ++i) {
      const uint64_t k = zipf.Draw(&random);
      ASSERT_GE(k, 1u);
      ASSERT_LE(k, n);
      ++seen[k];
    }
    for (uint64_t k = 1; k <= n; ++k) EXPECT_GT(seen[k], 0) << n << " " << k;
  }
}

TEST(GenerateTest, ExponentialHasItsMeanAndItsShape) {
  Random random(1);
  constexpr int kDraws = 1000000;
  double sum = 0;
  int above_one = 0;
  int above_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = static_cast<double>(Exponential(&random)) / 65536;
    sum += x;
    if (x >= 1) ++above_one;
    if (x >= 3) ++above_three;
  }
  EXPECT_NEAR(sum / kDraws, 1.0, 0.005);
  EXPECT_NEAR(above_one, kDraws * 0.367879, 2500);
  EXPECT_NEAR(above_three, kDraws * 0.049787, 1200);
}

TEST(GenerateTest, SwitchingOneKindOffLeavesTheOthersAlone) {
  GenerateOptions options;
  options.duration_s = 3600;
  std::vector<std::string> with = Lines(Text(options));
  options.scraper_per_1000s = 0;
  const std::vector<std::string> without = Lines(Text(options));
  std::vector<std::string> rest;
  for (const std::string& line : with) {
    if (line.find(",192.0.2.1,") == line.npos) rest.push_back(line);
  }
  EXPECT_EQ(rest, without);
  EXPECT_LT(without.size(), with.size());
}

TEST(GenerateTest, LinesAreAtMostAsManyAsAskedFor) {
  GenerateOptions options;
  options.max_lines = 17;
  EXPECT_EQ(Parse(options).size(), 17u);
  options.format = TraceFormat::kLog;
  EXPECT_EQ(Parse(options).size(), 17u);
}

TEST(GenerateTest, ShortestTracesAreFine) {
  GenerateOptions options;
  options.duration_s = 1;
  options.rate_per_1000s = 1000000000;
  options.clients = 1;
  options.max_lines = 100000;
  EXPECT_EQ(Parse(options).size(), 100000u);
  options = Only();
  EXPECT_TRUE(Parse(options).empty());
}

TEST(GenerateTest, LogsHaveTheDatesOfTheCalendar) {
  GenerateOptions options = Only();
  options.format = TraceFormat::kLog;
  options.scraper_per_1000s = 1;
  options.duration_s = 3650 * int64_t{86400};
  options.start_s = 951782400;  // 2000-02-29
  int64_t expected = options.start_s;
  for (const Line& line : Parse(options)) {
    ASSERT_EQ(line.time_us, expected * 1000000);
    expected += 1000;
  }
}

TEST(GenerateTest, WrongOptionsAreNamed) {
  const auto text = [](GenerateOptions options) {
    char* data = nullptr;
    size_t size = 0;
    std::FILE* out = open_memstream(&data, &size);
    std::string status = Generate(options, out).ToString();
    std::fclose(out);
    EXPECT_EQ(size, 0u);
    std::free(data);
    EXPECT_EQ(status, Validate(options).ToString());
    return status;
  };
  GenerateOptions options;
  options.clients = 0;
  EXPECT_EQ(text(options),
            "INVALID_ARGUMENT: clients: 0; allowed: 1 to 10000000");
  options = {};
  options.duration_s = -5;
  EXPECT_THAT(text(options), HasSubstr("duration: -5; allowed: 1 to "));
  options = {};
  options.rate_per_1000s = 1000000001;
  EXPECT_THAT(text(options), HasSubstr("rate: 1000000001; allowed: 0 to "));
  options = {};
  options.start_s = -1;
  EXPECT_THAT(text(options), HasSubstr("start: -1; allowed: 0 to "));
}

TEST(GenerateTest, WriteThatFailsIsAnError) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no data: no /dev/full";
  const absl::Status status = Generate(GenerateOptions(), full);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  std::fclose(full);
}

}  // namespace
}  // namespace weir::cli
