#include "tools/cli/input/source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli/input/test_trace.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

// "a\0b"s: with its NUL bytes.
using namespace std::string_literals;  // NOLINT

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> Read(std::string_view content) {
  return Short(ReadText(content));
}

std::string StatusText(const std::vector<std::string>& files) {
  auto reader = TraceReader::Open(files);
  return reader.ok() ? "ok" : reader.status().ToString();
}

const char kLogLine[] =
    "10.1.2.3 - - [01/Jan/1970:00:00:05 +0000] \"GET /x HTTP/1.1\" 200 7\n";

TEST(CsvSourceTest, SecondsAndMicroseconds) {
  EXPECT_THAT(Read("time,key\n1.5,a\n-0.25,b\n"),
              ElementsAre("file", "row 2 1500000 1 check 1.5|a",
                          "row 3 -250000 1 check -0.25|b", "end"));
  EXPECT_THAT(Read("key,time_us\na,1500000\n"),
              ElementsAre("file", "row 2 1500000 1 check a|1500000", "end"));
}

TEST(CsvSourceTest, CostAndOperation) {
  EXPECT_THAT(
      Read("op,time_us,cost\ncheck,1,0\npeek,2,9007199254740991\nrefund,3,7\n"
           "reset,4,1\n"),
      ElementsAre("file", "row 2 1 0 check check|1|0",
                  "row 3 2 9007199254740991 peek peek|2|9007199254740991",
                  "row 4 3 7 refund refund|3|7", "row 5 4 1 reset reset|4|1",
                  "end"));
}

TEST(CsvSourceTest, WrongValuesAreNamed) {
  EXPECT_THAT(
      Read(
          "time_us,cost,op\n1,-1,check\n1,9007199254740992,check\n1,1.5,check\n"
          "1,,check\n1,1,Check\n1,1,\nx,1,check\n9007199254740992,1,check\n"
          "1,1\n1,1,check,2\n"),
      ElementsAre(
          "file",
          "malformed 2 column cost: \"-1\" is not an integer from 0 to "
          "9007199254740991",
          "malformed 3 column cost: \"9007199254740992\" is not an integer "
          "from 0 to 9007199254740991",
          "malformed 4 column cost: \"1.5\" is not an integer from 0 to "
          "9007199254740991",
          "malformed 5 column cost: \"\" is not an integer from 0 to "
          "9007199254740991",
          "malformed 6 column op: \"Check\" is none of check, peek, refund, "
          "reset",
          "malformed 7 column op: \"\" is none of check, peek, refund, reset",
          "malformed 8 column time_us: \"x\" is not an integer",
          "malformed 9 column time_us: \"9007199254740992\" is out of range",
          "malformed 10 2 fields, the header has 3",
          "malformed 11 4 fields, the header has 3", "end"));
  EXPECT_THAT(Read("time\n1.1234567\n99999999999\n"),
              ElementsAre("file",
                          "malformed 2 column time: \"1.1234567\" is not a "
                          "number of seconds with up to 6 decimals",
                          "malformed 3 column time: \"99999999999\" is out of "
                          "range",
                          "end"));
}

TEST(CsvSourceTest, LongAndStrangeValuesAreShownShortInAscii) {
  const std::vector<std::string> seen =
      Read("time\n" + std::string(5000, 'x') + "\n\x01\xff\n");
  EXPECT_EQ(seen[1],
            "malformed 2 column time: \"" + std::string(40, 'x') +
                "...\" (5000 bytes) is not a number of seconds with up to 6 "
                "decimals");
  EXPECT_THAT(seen[2], HasSubstr("\"\\x01\\xff\""));
}

TEST(CsvSourceTest, LineEndsBlankLinesAndByteOrderMark) {
  EXPECT_THAT(
      Read("\xef\xbb\xbftime,key\r\n1,a\r\n\r\n2,b\n\n \t\n3,c"),
      ElementsAre("file", "row 2 1000000 1 check 1|a",
                  "malformed 3 a blank line", "row 4 2000000 1 check 2|b",
                  "malformed 5 a blank line", "malformed 6 a blank line",
                  "row 7 3000000 1 check 3|c", "end"));
  EXPECT_THAT(
      Read("\n\ntime\n1\n"),
      ElementsAre("malformed 1 a blank line", "malformed 2 a blank line",
                  "file", "row 4 1000000 1 check 1", "end"));
}

TEST(CsvSourceTest, QuotedFieldsMayHoldAnything) {
  EXPECT_THAT(
      Read(
          "\"time\",\"the \"\"key\"\"\"\n\"1\",\"a,b\"\n2,\"a\r\n\nb\"\n3,x\n"),
      ElementsAre("file", "row 2 1000000 1 check 1|a,b",
                  "row 3 2000000 1 check 2|a\r\n\nb",
                  "row 6 3000000 1 check 3|x", "end"));
  const TempFolder folder;
  auto reader = TraceReader::Open(
      {folder.Write("t", "\"time\",\"the \"\"key\"\"\"\n1,a\n")});
  ASSERT_TRUE(reader.ok());
  ReadAll(reader->get());
  EXPECT_THAT((*reader)->columns(0).names(),
              ElementsAre("time", "the \"key\""));
  EXPECT_EQ((*reader)->columns(0).Find("the \"key\""), 1);
  EXPECT_EQ((*reader)->columns(0).Find("key"), -1);
}

TEST(CsvSourceTest, BytesAreKept) {
  EXPECT_THAT(
      Read("time,key\n1,\0\xff\x80\n"s),
      ElementsAre("file", "row 2 1000000 1 check 1|\0\xff\x80"s, "end"));
}

TEST(CsvSourceTest, MalformedRecordOfSeveralLinesIsSkippedWhole) {
  EXPECT_THAT(Read("time,key\nx,\"a\n1,b\n\"\n2,c\n"),
              ElementsAre("file",
                          "malformed 2 column time: \"x\" is not a number of "
                          "seconds with up to 6 decimals (in the record of "
                          "lines 2 to 4)",
                          "row 5 2000000 1 check 2|c", "end"));
}

TEST(CsvSourceTest, StrayQuoteCostsOnlyItsLine) {
  EXPECT_THAT(Read("time,key\n1,\"a\n2,b\n3,c\n"),
              ElementsAre("file", "malformed 2 a quote that is not closed",
                          "row 3 2000000 1 check 2|b",
                          "row 4 3000000 1 check 3|c", "end"));
  EXPECT_THAT(
      Read("time,key\n1,\"a\n2,b\n3,c\"d\n4,\"e\n4,f\"\n"),
      ElementsAre("file", "malformed 2 text after a closing quote",
                  "row 3 2000000 1 check 2|b", "row 4 3000000 1 check 3|c\"d",
                  "row 5 4000000 1 check 4|e\n4,f", "end"));
}

// Each line here leaves a quote open as seen from its own beginning and as
// seen from within the line before: every line could be the first of a record
// that never ends. Without care that is a mebibyte looked at for each line.
TEST(CsvSourceTest, FileFullOfStrayQuotesIsReadInLinearTime) {
  const std::string line = "1,a\",\"x\n";
  constexpr size_t kLines = 300000;
  std::string text = "time,key\n";
  for (size_t i = 0; i < kLines; ++i) text += line;
  const std::vector<Seen> seen = ReadText(text);
  ASSERT_EQ(seen.size(), kLines + 2);
  size_t far_looks = 0;
  for (size_t i = 0; i < kLines; ++i) {
    const Seen& one = seen[i + 1];
    ASSERT_EQ(one.event, Event::kMalformed);
    ASSERT_EQ(one.line, i + 2);
    if (one.reason == "a quote that is not closed within 1 MiB") ++far_looks;
  }
  EXPECT_LE(far_looks, (kLines * line.size() >> 20) + 1);
}

TEST(CsvSourceTest, WrongHeadersAreErrors) {
  EXPECT_THAT(Read("time,a,a\n"),
              ElementsAre("error INVALID_ARGUMENT: trace: the header names the "
                          "column \"a\" more than once"));
  EXPECT_THAT(Read("time,time\n"),
              ElementsAre("error INVALID_ARGUMENT: trace: the header names the "
                          "column \"time\" more than once"));
  EXPECT_THAT(Read("time,time_us\n"),
              ElementsAre("error INVALID_ARGUMENT: trace: the header has both "
                          "columns time and time_us; allowed is one of them"));
  EXPECT_THAT(Read("time,\"a\n1,b\n"),
              ElementsAre("error INVALID_ARGUMENT: trace:1: the header line is "
                          "malformed: a quote that is not closed"));
  for (const char* text : {"key,cost\na,1\n", "Time,key\n1,a\n", "hello\n"}) {
    const std::vector<std::string> seen = Read(text);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_THAT(seen[0],
                HasSubstr("INVALID_ARGUMENT: trace: neither an access "
                          "log nor CSV whose header has a column time"));
    EXPECT_THAT(seen[0], HasSubstr(std::string("it begins with \"") +
                                   std::string(text).substr(
                                       0, std::string(text).find('\n'))));
  }
}

TEST(CsvSourceTest, HeaderAloneHasColumnsButNoRows) {
  EXPECT_THAT(Read("time,key\n"), ElementsAre("file", "end"));
  EXPECT_THAT(Read("time"), ElementsAre("file", "end"));
}

TEST(CsvSourceTest, LinesOfAMebibyteAreRead) {
  constexpr size_t kMost = size_t{1} << 20;
  const std::string key(kMost - 2, 'k');
  for (const char* end : {"\n", "\r\n", ""}) {
    const std::vector<Seen> fits = ReadText("time,key\n1," + key + end);
    ASSERT_EQ(fits.size(), 3u);
    ASSERT_EQ(fits[1].event, Event::kRow);
    EXPECT_EQ(fits[1].fields[1], key);
    const std::vector<Seen> over = ReadText("time,key\n1," + key + "k" + end);
    ASSERT_EQ(over.size(), 3u);
    EXPECT_EQ(over[1].reason, "longer than 1 MiB");
  }
}

TEST(CsvSourceTest, ReadingGoesOnAfterALineThatIsTooLong) {
  EXPECT_THAT(Read("time,key\n1," + std::string(5 << 20, 'k') + "\n2,b\n"),
              ElementsAre("file", "malformed 2 longer than 1 MiB",
                          "row 3 2000000 1 check 2|b", "end"));
  EXPECT_THAT(Read("time,key\n1,\"" + std::string(5 << 20, '"') + "\"\n2,b\n"),
              ElementsAre("file", "malformed 2 longer than 1 MiB",
                          "row 3 2000000 1 check 2|b", "end"));
  // A record of many lines.
  std::string lines;
  for (int i = 0; i < 200000; ++i) lines += "8,abcdef\n";
  const std::vector<std::string> seen =
      Read("time,key\n1,\"" + lines + "2,b\n");
  EXPECT_EQ(seen[1], "malformed 2 a quote that is not closed within 1 MiB");
  EXPECT_EQ(seen[2], "row 3 8000000 1 check 8|abcdef");
  EXPECT_EQ(seen.size(), 200000u + 3u);
}

TEST(LogSourceTest, ColumnsOfALog) {
  EXPECT_THAT(
      Read(kLogLine),
      ElementsAre("file", "row 1 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                  "end"));
  const std::string with_host = std::string("a.example:80 ") + kLogLine;
  EXPECT_THAT(
      Read(with_host + kLogLine),
      ElementsAre("file",
                  "row 1 5000000 1 check 10.1.2.3|-|GET|/x|200|7|a.example",
                  "row 2 5000000 1 check 10.1.2.3|-|GET|/x|200|7|-", "end"));
  // The first call decides whether there is a column host.
  EXPECT_THAT(
      Read(kLogLine + with_host),
      ElementsAre("file", "row 1 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                  "row 2 5000000 1 check 10.1.2.3|-|GET|/x|200|7", "end"));
}

TEST(LogSourceTest, LinesThatAreNoCallsAreReportedWithTheirNumbers) {
  EXPECT_THAT(
      Read(std::string("\n[error] x\r\n") + kLogLine + "  \r\n# b\n" +
           kLogLine +
           "10.1.2.3 - - [32/Jan/1970:00:00:05 +0000] \"GET / HTTP/1.1\" 200"),
      ElementsAre("malformed 1 a blank line",
                  "malformed 2 no time in brackets: \"[error] x\"", "file",
                  "row 3 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                  "malformed 4 a blank line", "malformed 5 a comment",
                  "row 6 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                  "malformed 7 no such day: \"32/Jan/1970:00:00:05 +0000\"",
                  "end"));
}

TEST(LogSourceTest, LongLines) {
  const std::string lengthy(5 << 20, 'y');
  EXPECT_THAT(Read(lengthy + "\n" + kLogLine + lengthy),
              ElementsAre("malformed 1 longer than 1 MiB", "file",
                          "row 2 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                          "malformed 3 longer than 1 MiB", "end"));
}

TEST(LogSourceTest, ByteOrderMarkAtTheBeginning) {
  EXPECT_THAT(
      Read(std::string("\xef\xbb\xbf") + kLogLine),
      ElementsAre("file", "row 1 5000000 1 check 10.1.2.3|-|GET|/x|200|7",
                  "end"));
}

TEST(TraceReaderTest, EmptyFilesHaveNoRows) {
  EXPECT_THAT(Read(""), ElementsAre("end"));
  EXPECT_THAT(Read("\xef\xbb\xbf"), ElementsAre("end"));
  EXPECT_THAT(Read("\n \n"), ElementsAre("malformed 1 a blank line",
                                         "malformed 2 a blank line", "end"));
  EXPECT_THAT(Read(Gzip("")), ElementsAre("end"));
}

TEST(TraceReaderTest, EachFileHasItsOwnFormat) {
  const TempFolder folder;
  auto reader = TraceReader::Open(
      {folder.Write("a", "time,k\n1,a\n"), folder.Write("b", kLogLine),
       folder.Write("c", ""), folder.Write("d", Gzip("x,time_us\nb,2\n\n"))});
  ASSERT_TRUE(reader.ok());
  const std::vector<Seen> seen = ReadAll(reader->get());
  ASSERT_THAT(
      Short(seen),
      ElementsAre("file", "row 2 1000000 1 check 1|a", "file",
                  "row 1 5000000 1 check 10.1.2.3|-|GET|/x|200|7", "file",
                  "row 2 2 1 check b|2", "malformed 3 a blank line", "end"));
  EXPECT_EQ(seen[1].file, 0);
  EXPECT_EQ(seen[2].file, 1);
  EXPECT_EQ(seen[3].file, 1);
  EXPECT_EQ(seen[5].file, 3);
  EXPECT_EQ(seen[6].file, 3);
  EXPECT_EQ((*reader)->columns(0).Find("k"), 1);
  EXPECT_EQ((*reader)->columns(1).Find("client"), 0);
  EXPECT_TRUE((*reader)->columns(2).names().empty());
  EXPECT_EQ((*reader)->columns(3).Find("time_us"), 1);
  const Progress progress = (*reader)->progress();
  EXPECT_EQ(progress.lines, 6u);
  EXPECT_EQ(progress.bytes, progress.total_bytes);
}

TEST(TraceReaderTest, WhatCannotBeReadIsSaidAtOnce) {
  const TempFolder folder;
  const std::string good = folder.Write("a", "time\n");
  EXPECT_EQ(StatusText({good}), "ok");
  EXPECT_EQ(StatusText({}), "INVALID_ARGUMENT: no input file");
  EXPECT_EQ(StatusText({"-", good, "-"}),
            "INVALID_ARGUMENT: - (standard input) is given more than once");
  EXPECT_THAT(StatusText({good, folder.path() + "/b"}),
              HasSubstr("NOT_FOUND: " + folder.path() + "/b: cannot open"));
  EXPECT_EQ(StatusText({folder.path()}), "INVALID_ARGUMENT: " + folder.path() +
                                             ": a folder; allowed are files "
                                             "and -");
}

// Writes to a pipe, `chunk` bytes at a time, and reads the other end.
std::vector<Seen> ReadPipe(const std::string& content, size_t chunk) {
  int ends[2];
  if (pipe(ends) != 0) {
    ADD_FAILURE() << "no pipe";
    return {};
  }
  std::thread writer([&] {
    for (size_t i = 0; i < content.size(); i += chunk) {
      const size_t n = std::min(chunk, content.size() - i);
      EXPECT_EQ(write(ends[1], content.data() + i, n), static_cast<ssize_t>(n));
    }
    close(ends[1]);
  });
  TraceReaderOptions options;
  options.stdin_fd = ends[0];
  auto reader = TraceReader::Open({"-"}, options);
  EXPECT_TRUE(reader.ok());
  std::vector<Seen> seen = ReadAll(reader->get());
  EXPECT_EQ((*reader)->progress().total_bytes, -1);
  writer.join();
  close(ends[0]);
  return seen;
}

TEST(TraceReaderTest, PipesGiveTheSameHoweverTheyAreCut) {
  const std::string csv =
      "\xef\xbb\xbftime,key\r\n1,a\r\n\n2,\"b\nc\"\r\n3\n4,\"\"\"d\"\"\"";
  const std::string log = std::string(kLogLine) + "x\n\r\n" + kLogLine;
  for (const std::string& text : {csv, log}) {
    const std::vector<Seen> whole = ReadText(text);
    for (const size_t chunk : {1, 2, 3, 7}) {
      EXPECT_EQ(ReadPipe(text, chunk), whole);
      EXPECT_EQ(ReadPipe(Gzip(text), chunk), whole);
    }
  }
}

TEST(GzipSourceTest, MembersInARowReadAsOneText) {
  EXPECT_THAT(
      Read(Gzip("time,k\n1,a") + Gzip("b\n2,c\n") + Gzip("") + Gzip("3,d\n")),
      ElementsAre("file", "row 2 1000000 1 check 1|ab",
                  "row 3 2000000 1 check 2|c", "row 4 3000000 1 check 3|d",
                  "end"));
  EXPECT_THAT(Read(Gzip("time\n1\n") + std::string(1000, '\0')),
              ElementsAre("file", "row 2 1000000 1 check 1", "end"));
}

TEST(GzipSourceTest, TruncatedAtAnyByteIsAnErrorAfterTheWholeLines) {
  const std::string text = "time\n1\n2\n";
  const std::string gz = Gzip(text);
  for (size_t size = 2; size < gz.size(); ++size) {
    const std::vector<std::string> seen = Read(gz.substr(0, size));
    EXPECT_EQ(seen.back(), absl::StrCat("error DATA_LOSS: trace: the gzip data "
                                        "is cut short after ",
                                        size, " bytes"));
    for (const std::string& one : seen) {
      EXPECT_THAT(one, ::testing::Not(HasSubstr("malformed")));
    }
  }
  // The last eight bytes are a check sum and a length; the lines came before.
  EXPECT_THAT(
      Read(gz.substr(0, gz.size() - 1)),
      ElementsAre("file", "row 2 1000000 1 check 1", "row 3 2000000 1 check 2",
                  HasSubstr("error DATA_LOSS")));
  // A line that is cut with the member is no line.
  const std::string whole(100000, '7');
  const std::string cut = Gzip("time\n" + whole).substr(0, 60);
  EXPECT_THAT(Read(cut), ElementsAre("file", HasSubstr("error DATA_LOSS")));
}

TEST(GzipSourceTest, DamageIsAnError) {
  std::string wrong_sum = Gzip("time\n1\n");
  wrong_sum[wrong_sum.size() - 6] ^= 1;
  EXPECT_THAT(Read(wrong_sum).back(),
              HasSubstr("DATA_LOSS: trace: the gzip data is damaged"));
  EXPECT_EQ(Read(Gzip("time\n1\n") + "x").back(),
            absl::StrCat("error DATA_LOSS: trace: something that is not gzip "
                         "follows the gzip data, at byte ",
                         Gzip("time\n1\n").size()));
  EXPECT_THAT(Read("\x1f\x8bx").back(), HasSubstr("DATA_LOSS"));
}

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(RealDataTest, EveryOddLineIsACallOrReported) {
  const auto path = RealData("access-odd.log");
  if (!path) GTEST_SKIP() << "no data: no access-odd.log";
  auto reader = TraceReader::Open({*path});
  ASSERT_TRUE(reader.ok());
  uint64_t line = 0;
  std::vector<uint64_t> malformed;
  for (const Seen& seen : ReadAll(reader->get())) {
    if (seen.event == Event::kFile || seen.event == Event::kEnd) continue;
    ASSERT_NE(seen.event, Event::kError);
    EXPECT_EQ(seen.line, ++line);
    if (seen.event == Event::kMalformed) malformed.push_back(seen.line);
  }
  EXPECT_EQ(line, 139u);
  // Lines of error logs; no client; days, months and hours that are none; the
  // year 9999; blank lines, a comment, lines without a time.
  EXPECT_THAT(malformed, ElementsAre(30, 31, 40, 52, 85, 117, 118, 119, 121,
                                     124, 127, 128, 129, 130, 131, 136, 137));
}

TEST(RealDataTest, EveryLineOfTheRealLogIsACall) {
  const auto path = RealData("access-1.log");
  if (!path) GTEST_SKIP() << "no data: no access-1.log";
  auto reader = TraceReader::Open({*path});
  ASSERT_TRUE(reader.ok());
  const std::vector<Seen> seen = ReadAll(reader->get());
  ASSERT_EQ(seen.size(), 33143u + 2u);
  EXPECT_EQ(seen[1].time_us, 1334842028 * int64_t{1000000});
  EXPECT_EQ(seen[33143].time_us, 1335273828 * int64_t{1000000});
  int without_request = 0;
  for (const Seen& one : seen) {
    ASSERT_NE(one.event, Event::kMalformed);
    if (one.event == Event::kRow && one.fields[2] == "-") ++without_request;
  }
  EXPECT_EQ(without_request, 17957);
  // Packed it is the same.
  const TempFolder folder;
  auto packed =
      TraceReader::Open({folder.Write("access.gz", Gzip(Slurp(*path)))});
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(ReadAll(packed->get()), seen);
}

// Files out of pieces that mean something, mutated. Whatever they hold, the
// reader ends, and the numbers of the lines grow, by one in logs.
TEST(TraceReaderTest, MutatedFilesAreSound) {
  const std::vector<std::string> pieces = {"time,key\n",
                                           "time_us,key,cost,op\n",
                                           "1,a\n",
                                           "2,\"b\n\",c\"\"\n",
                                           "\"",
                                           ",",
                                           "\n",
                                           "\r\n",
                                           kLogLine,
                                           "h.example:1 ::1 - - [",
                                           "\xef\xbb\xbf",
                                           "5,x,1,check\n",
                                           "\"\"",
                                           "6,\"y\"\n",
                                           "[",
                                           "-0.5,z\n"};
  testing::Rng rng = testing::TestRng();
  const auto any = [&](size_t n) {
    return static_cast<size_t>(rng.Uniform(0, static_cast<int64_t>(n) - 1));
  };
  for (int round = testing::Rounds(500, 100000); round > 0; --round) {
    std::string text = pieces[any(3) == 0 ? 8 : any(2)];
    for (int64_t n = rng.Uniform(0, 30); n > 0; --n) {
      text += pieces[any(pieces.size())];
    }
    for (int64_t n = rng.Uniform(0, 4); n > 0; --n) {
      text[any(text.size())] = static_cast<char>(rng.Uniform(0, 255));
    }
    if (rng.OneIn(4)) text = Gzip(text);
    if (rng.OneIn(8)) text.resize(any(text.size() + 1));
    const std::vector<Seen> seen = ReadText(text);
    uint64_t line = 0;
    for (const Seen& one : seen) {
      if (one.event != Event::kRow && one.event != Event::kMalformed) continue;
      ASSERT_GT(one.line, line) << text;
      line = one.line;
    }
  }
}

}  // namespace
}  // namespace weir::cli
