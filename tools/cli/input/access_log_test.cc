#include "tools/cli/input/access_log.h"

#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/cli/input/leap_day.h"
#include "tools/cli/input/row.h"
#include "weir/testing/random.h"

namespace weir::cli {
namespace {

// "a\0b"s: with its NUL bytes.
using namespace std::string_literals;  // NOLINT

// 2016-02-29 12:00:00 UTC, the time of most lines here.
constexpr int64_t kNoon = 1456747200 * int64_t{1000000};

struct Fields {
  std::string client;
  std::string user;
  std::string method;
  std::string path;
  std::string status;
  std::string bytes;
  std::string host = "-";

  bool operator==(const Fields& o) const {
    return client == o.client && user == o.user && method == o.method &&
           path == o.path && status == o.status && bytes == o.bytes &&
           host == o.host;
  }
};

std::ostream& operator<<(std::ostream& os, const Fields& f) {
  return os << "client=" << f.client << " user=" << f.user
            << " method=" << f.method << " path=" << f.path
            << " status=" << f.status << " bytes=" << f.bytes
            << " host=" << f.host;
}

// The line must be a call.
Fields Parse(const std::string& line, int64_t time_us = kNoon) {
  AccessLine out;
  LineProblem problem;
  if (!ParseAccessLine(line, &out, &problem)) {
    ADD_FAILURE() << line << "\n" << problem.what;
    return {};
  }
  EXPECT_EQ(out.time_us, time_us) << line;
  return {std::string(out.client), std::string(out.user),
          std::string(out.method), std::string(out.path),
          std::string(out.status), std::string(out.bytes),
          std::string(out.host)};
}

std::string Wrong(const std::string& line) {
  AccessLine out;
  LineProblem problem;
  if (ParseAccessLine(line, &out, &problem)) {
    ADD_FAILURE() << line << " is a call";
    return "";
  }
  return problem.what;
}

// What stands before the time, in a line that is fine otherwise.
Fields ParseWho(const std::string& who) {
  return Parse(who + " [29/Feb/2016:12:00:00 +0000] \"GET /x HTTP/1.1\" 200 7");
}

// What stands behind the time.
Fields ParseRest(const std::string& rest) {
  return Parse("10.1.2.3 - - [29/Feb/2016:12:00:00 +0000]" + rest);
}

TEST(AccessLogTest, CombinedAndCommonFormat) {
  const Fields expected = {"10.1.2.3", "bob", "GET", "/x", "200", "7", "-"};
  EXPECT_EQ(Parse("10.1.2.3 - bob [29/Feb/2016:13:00:00 +0100] "
                  "\"GET /x HTTP/1.1\" 200 7 \"-\" \"curl/7\""),
            expected);
  EXPECT_EQ(Parse("10.1.2.3 - bob [29/Feb/2016:13:00:00 +0100] "
                  "\"GET /x HTTP/1.1\" 200 7"),
            expected);
  EXPECT_EQ(Parse("10.1.2.3 - bob [29/Feb/2016:12:00:00 +0000] "
                  "\"GET /x HTTP/1.1\" 200 7 \"-\" \"-\" 0.003 \"[::1]:80\" ."),
            expected);
}

TEST(AccessLogTest, ClientIsKeptAsWritten) {
  for (const char* client :
       {"10.1.2.3", "2001:db8::5", "2001:DB8::5", "2001:db8:0:0:0:0:0:5",
        "::ffff:10.1.2.3", "fe80::9%wlan0", "[2001:db8::5]:8443", "::1",
        "client-5.example.org", "localhost", "unix:", "unix:/run/x.sock",
        "10.1.2.3:5544", "m\xc3\xbcnchen.example"}) {
    const std::string name = client;
    EXPECT_EQ(ParseWho(name + " - -").client, client);
    EXPECT_EQ(ParseWho(name + " - -").host, "-");
    EXPECT_EQ(ParseWho("shop.example " + name + " - -").client, client);
    EXPECT_EQ(ParseWho("shop.example " + name + " - -").host, "shop.example");
  }
}

TEST(AccessLogTest, OfAForwardedListTheFirstIsTheClient) {
  for (const char* who :
       {"10.1.2.3, 10.9.9.9 - -", "10.1.2.3, 10.9.9.9, ::1 - -",
        "10.1.2.3,10.9.9.9 - -", "10.1.2.3 - -", "-, 10.1.2.3 - -",
        "10.1.2.3, unknown - -"}) {
    EXPECT_EQ(ParseWho(who).client, "10.1.2.3") << who;
    EXPECT_EQ(ParseWho(who).user, "-") << who;
  }
  const Fields f = ParseWho("shop.example:443 10.1.2.3, 10.9.9.9 - bob");
  EXPECT_EQ(f.client, "10.1.2.3");
  EXPECT_EQ(f.host, "shop.example");
  EXPECT_EQ(f.user, "bob");
  EXPECT_EQ(ParseWho("host-a, host-b - bob").client, "host-a");
}

TEST(AccessLogTest, VirtualHostIsKnownByWhatFollows) {
  EXPECT_EQ(ParseWho("shop.example:443 10.1.2.3 - -").host, "shop.example");
  EXPECT_EQ(ParseWho("10.5.5.5:80 10.1.2.3 - -").host, "10.5.5.5");
  EXPECT_EQ(ParseWho("[::1]:80 10.1.2.3 - -").host, "[::1]");
  EXPECT_EQ(ParseWho("::1 10.1.2.3 - -").host, "::1");
  EXPECT_EQ(ParseWho("*:80 10.1.2.3 - -").host, "*");
  EXPECT_EQ(ParseWho("shop.example 10.1.2.3").host, "shop.example");
  const Fields named = ParseWho("shop.example client-5.example.org - bob");
  EXPECT_EQ(named.host, "shop.example");
  EXPECT_EQ(named.client, "client-5.example.org");
  EXPECT_EQ(named.user, "bob");
}

TEST(AccessLogTest, UserMayHaveBlanksOrBeMissing) {
  EXPECT_EQ(ParseWho("10.1.2.3 - bob the builder").user, "bob the builder");
  EXPECT_EQ(ParseWho("10.1.2.3 - bob [x]").user, "bob [x]");
  EXPECT_EQ(ParseWho("10.1.2.3 - \"\"").user, "\"\"");
  EXPECT_EQ(ParseWho("10.1.2.3 - bo\\\"b").user, "bo\\\"b");
  EXPECT_EQ(ParseWho("10.1.2.3 -").user, "-");
  EXPECT_EQ(ParseWho("10.1.2.3 bob").user, "bob");
  EXPECT_EQ(ParseWho("10.1.2.3").user, "-");
  EXPECT_EQ(ParseWho("10.1.2.3 daemon bob").user, "bob");
  EXPECT_EQ(ParseWho("10.1.2.3 daemon bob b").user, "bob b");
  EXPECT_EQ(ParseWho("client-5.example.org - bob b").client,
            "client-5.example.org");
}

// What stands before the time may hold brackets and quotes.
TEST(AccessLogTest, NoUserHidesTheTime) {
  for (const char* user : {"[1/x]",
                           "[1/",
                           "[1/x",
                           "[2016-x]",
                           "[31/Feb/2016:12:00:00]",
                           "a\"b",
                           "a\"",
                           "\"",
                           "\"a",
                           "a \"b",
                           "a \" b",
                           "\\\"",
                           "\\",
                           "\"\\",
                           "\"a\\\\\" b",
                           "x [1/x] y",
                           "[1/x] [2/ [3/",
                           "[1/x]\"",
                           "[1/[2/x]",
                           "[28/Feb/2016:12:00:00 +0000]",
                           "[28/Feb/2016:12:00:00 +0000] x",
                           "\" [1/"}) {
    const Fields f = ParseWho("10.1.2.3 - "s + user);
    EXPECT_EQ(f.client, "10.1.2.3") << user;
    EXPECT_EQ(f.user, user);
    EXPECT_EQ(f.path, "/x") << user;
    EXPECT_EQ(f.host, "-") << user;
  }
  EXPECT_EQ(ParseWho("10.1.2.3 [x]").client, "10.1.2.3");
  EXPECT_EQ(ParseWho("10.1.2.3 [x]").user, "[x]");
  // Without a request the first time is the line's.
  EXPECT_EQ(Parse("10.1.2.3 - [1/x] [29/Feb/2016:12:00:00 +0000]").user,
            "[1/x]");
  EXPECT_EQ(Parse("10.1.2.3 - - [29/Feb/2016:12:00:00 +0000] GET /x "
                  "[01/Mar/2016:12:00:00 +0000]")
                .client,
            "10.1.2.3");
}

TEST(AccessLogTest, UserMayHaveBlanksBehindAnIdent) {
  const Fields f = ParseWho("client.example ident first last");
  EXPECT_EQ(f.client, "client.example");
  EXPECT_EQ(f.user, "first last");
  EXPECT_EQ(f.host, "-");
  EXPECT_EQ(ParseWho("client.example ident the first last").user,
            "the first last");
  EXPECT_EQ(ParseWho("10.1.2.3 ident first last").user, "first last");
}

// Reading takes time by the length; by its square this would be minutes.
TEST(AccessLogTest, ALineOfBracketsTakesNoLonger) {
  for (const char* piece : {" [1/", " [1/x]", " [1/1/1", " \"[1/", " [",
                            " [2016-02-29T12:00:00 ", " \\\""}) {
    std::string line = "10.1.2.3 -";
    while (line.size() < (size_t{4} << 20)) line += piece;
    AccessLine out;
    LineProblem problem;
    EXPECT_FALSE(ParseAccessLine(line, &out, &problem)) << piece;
    line += " [29/Feb/2016:12:00:00 +0000] \"GET /x HTTP/1.1\" 200 7";
    EXPECT_TRUE(ParseAccessLine(line, &out, &problem)) << piece;
    EXPECT_EQ(out.time_us, kNoon) << piece;
  }
}

TEST(AccessLogTest, NoClientIsMalformed) {
  const std::string time = "[29/Feb/2016:12:00:00 +0000] \"GET / HTTP/1.1\"";
  const char* kNoClient = "no client before the time";
  EXPECT_EQ(Wrong("- - - " + time), kNoClient);
  EXPECT_EQ(Wrong("- " + time), kNoClient);
  EXPECT_EQ(Wrong(time), kNoClient);
  EXPECT_EQ(Wrong(" " + time), kNoClient);
  EXPECT_EQ(Wrong("-, - - - " + time), kNoClient);
  EXPECT_EQ(Wrong("shop.example:443 - - - " + time), kNoClient);
  EXPECT_EQ(Wrong("{\"a\": 1} - - " + time), kNoClient);
  EXPECT_EQ(Wrong("[client 10.1.2.3] " + time), kNoClient);
  EXPECT_EQ(Wrong("10.1.\x01.3 - - " + time), kNoClient);
  // What stands before the client.
  EXPECT_EQ(Wrong("Feb 29 12:00:00 web1 nginx: 10.1.2.3 - - " + time),
            kNoClient);
  EXPECT_EQ(Wrong("web1.example | 7 10.1.2.3 - - " + time), kNoClient);
  EXPECT_EQ(Wrong("web1.example nginx: a.example ident bob " + time),
            kNoClient);
  EXPECT_EQ(Wrong("web1.example app a.example - bob " + time), kNoClient);
  EXPECT_EQ(Wrong("Worker of pool ended " + time), kNoClient);
  EXPECT_EQ(Wrong("1456747200.123 a b c " + time), kNoClient);
}

TEST(AccessLogTest, EveryRequestIsACall) {
  const auto request = [](const std::string& text) {
    const Fields f = ParseRest(" \"" + text + "\" 400 12 \"-\" \"-\"");
    EXPECT_EQ(f.status, "400") << text;
    EXPECT_EQ(f.bytes, "12") << text;
    return f.method + " " + f.path;
  };
  EXPECT_EQ(request("-"), "- -");
  EXPECT_EQ(request(""), "- -");
  EXPECT_EQ(request("GET /x"), "GET /x");
  EXPECT_EQ(request("GET"), "GET -");
  EXPECT_EQ(request("GET  /x  HTTP/1.1"), "GET /x");
  EXPECT_EQ(request("GET /x y z HTTP/2.0"), "GET /x y z");
  EXPECT_EQ(request("GET /x\\\"y HTTP/1.1"), "GET /x\\\"y");
  EXPECT_EQ(request("GET /x\\\\"), "GET /x\\\\");
  EXPECT_EQ(request("GET /x\"y HTTP/1.1"), "GET /x\"y");
  EXPECT_EQ(request("GET /[7]/[01/Jan/2001:00:00:00 +0000] HTTP/1.1"),
            "GET /[7]/[01/Jan/2001:00:00:00 +0000]");
  EXPECT_EQ(request("BREW /pot HTCPCP/1.0"), "BREW /pot");
  EXPECT_EQ(request("OPTIONS * HTTP/1.0"), "OPTIONS *");
  EXPECT_EQ(request("GET http://a.example:80/x HTTP/1.0"),
            "GET http://a.example:80/x");
  EXPECT_EQ(request("GET /x?a=1&b=2 HTTP/1.1"), "GET /x");
  EXPECT_EQ(request("GET ?a HTTP/1.1"), "GET -");
  EXPECT_EQ(request("\\x16\\x03\\x01\\x02"), "\\x16\\x03\\x01\\x02 -");
  EXPECT_EQ(request("\\x16\\x03 \\x02"), "\\x16\\x03 \\x02");
  EXPECT_EQ(request("GET /r\xe9sum\xe9 HTTP/1.1"), "GET /r\xe9sum\xe9");
  EXPECT_EQ(request("GET /a\0b HTTP/1.1"s), "GET /a\0b"s);
  const std::string lengthy(9000, 'y');
  EXPECT_EQ(request("GET /" + lengthy + " HTTP/1.1"), "GET /" + lengthy);
}

TEST(AccessLogTest, WhatIsCutOffIsMissing) {
  const Fields nothing = {"10.1.2.3", "-", "-", "-", "-", "-", "-"};
  EXPECT_EQ(ParseRest(""), nothing);
  EXPECT_EQ(ParseRest(" "), nothing);
  EXPECT_EQ(ParseRest(" \""), nothing);
  EXPECT_EQ(ParseRest(" \"GET /x HT").path, "/x HT");
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\"").status, "-");
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\" 200").bytes, "-");
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\" - 7").status, "-");
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\" 200 7 \"-\" \"Mozi").bytes, "7");
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\" 200 99999999999999999999").bytes,
            "99999999999999999999");
  // Two lines that were glued together count as the first.
  EXPECT_EQ(ParseRest(" \"GET /x HTTP/1.1\" 200 7 \"-\" \"-\"10.7.7.7 - - "
                      "[01/Mar/2016:12:00:00 +0000] \"GET /y HTTP/1.1\" 404 1")
                .status,
            "200");
}

TEST(AccessLogTest, BlanksMayBeManyAndTabs) {
  const Fields expected = {"10.1.2.3", "-", "GET", "/x", "200", "7", "-"};
  EXPECT_EQ(ParseRest("   \"GET /x HTTP/1.1\"  200   7  \"-\""), expected);
  EXPECT_EQ(Parse("10.1.2.3\t-\t-\t[29/Feb/2016:12:00:00 +0000]\t\"GET /x "
                  "HTTP/1.1\"\t200\t7"),
            expected);
  EXPECT_EQ(Parse("  \t10.1.2.3  -  -  [29/Feb/2016:12:00:00 +0000] \"GET /x "
                  "HTTP/1.1\" 200 7  \r"),
            expected);
}

TEST(AccessLogTest, JoinedAndTruncatedFilesLeaveTraces) {
  const std::string line =
      "10.1.2.3 - - [29/Feb/2016:12:00:00 +0000] \"GET /x HTTP/1.1\" 200 7";
  EXPECT_EQ(Parse("\xef\xbb\xbf" + line).client, "10.1.2.3");
  EXPECT_EQ(Parse(std::string(500, '\0') + line).client, "10.1.2.3");
  EXPECT_EQ(Parse(std::string(5, '\0') + "\xef\xbb\xbf " + line).client,
            "10.1.2.3");
}

TEST(AccessLogTest, OtherLinesAreMalformed) {
  const char* kNoTime = "no time in brackets";
  EXPECT_EQ(Wrong(""), "a blank line");
  EXPECT_EQ(Wrong(" \t "), "a blank line");
  EXPECT_EQ(Wrong("\r"), "a blank line");
  EXPECT_EQ(Wrong("# 10.1.2.3 - - [29/Feb/2016:12:00:00 +0000]"), "a comment");
  EXPECT_EQ(Wrong("10.1.2.3"), kNoTime);
  EXPECT_EQ(Wrong("10.1.2.3 - -"), kNoTime);
  EXPECT_EQ(Wrong("10.1.2.3 - - [-] \"GET / HTTP/1.1\" 200 7"), kNoTime);
  EXPECT_EQ(Wrong("10.1.2.3 - - [29/Feb/2016:12:0"), "the time is cut short");
  EXPECT_EQ(Wrong("10.1.2.3 - - [29/Feb/2016:12:0 \"GET /x]\" 200"),
            "not a time");
  EXPECT_EQ(Wrong("10.1.2.3 - - [30/Feb/2016:12:00:00 +0000]"), "no such day");
  // Not a time of the line, but text that a client sent.
  EXPECT_EQ(Wrong("10.1.2.3 \"GET /a [29/Feb/2016:12:00:00 +0000]\" 200"),
            kNoTime);
  EXPECT_EQ(Wrong("[Mon Feb 29 12:00:00.123456 2016] [core:error] [pid 7:tid "
                  "140] [client 10.1.2.3:99] AH00126: invalid URI"),
            kNoTime);
  EXPECT_EQ(Wrong("2016/02/29 12:00:00 [error] 7#7: *1 open() failed, client: "
                  "10.1.2.3, server: _, request: \"GET / HTTP/1.1\""),
            kNoTime);
  EXPECT_EQ(Wrong("{\"client\":\"10.1.2.3\",\"time\":\"2016-02-29T12:00Z\"}"),
            kNoTime);
  EXPECT_EQ(Wrong("2016-02-29T12:00:00Z,10.1.2.3,1"), kNoTime);
}

// Whatever bytes a line has: it is refused with a reason, or it is a call
// whose pieces are pieces of the line.
void ExpectSound(const std::string& line) {
  AccessLine out;
  LineProblem problem;
  // Of its exact size, so that the sanitizer sees a read beyond it.
  const std::vector<char> bytes(line.begin(), line.end());
  if (!ParseAccessLine({bytes.data(), bytes.size()}, &out, &problem)) {
    ASSERT_NE(problem.what, nullptr);
    ASSERT_LE(problem.value.size(), line.size());
    return;
  }
  ASSERT_LE(out.time_us, kMaxTraceNumber);
  ASSERT_GE(out.time_us, -kMaxTraceNumber);
  ASSERT_NE(out.client, "-");
  for (const std::string_view piece :
       {out.client, out.user, out.method, out.path, out.status, out.bytes}) {
    ASSERT_FALSE(piece.empty()) << line;
    ASSERT_TRUE(piece == "-" || line.find(piece) != line.npos) << line;
  }
}

TEST(AccessLogTest, MutatedLinesAreSound) {
  const std::vector<std::string> corpus = {
      "10.1.2.3 - bob [29/Feb/2016:13:00:00 +0100] \"GET /?q HTTP/1.1\" 200 7",
      "shop.example:443 10.1.2.3, ::1 - - [2016-02-29T12:00:00.25Z] \"-\" 408",
      "[2001:db8::5]:443 - - [1/MAR/2016:00:00:60] \"\\x16\\x03\" 400 0",
      "\0\0\xef\xbb\xbf[::1] - \"\" [9/Jan/2255:1"s,
      "a, b - c d [29/Feb/2016:12:00:00 +0000] \"GET /\\\"\" \"x HTTP/1.1\" -",
      "{\"t\":\"[01/May/2012:10:00:26 +0000]\"}",
      "[Mon Feb 29 12:00:00 2016] [error] [client 10.1.2.3] x"};
  const std::string alphabet = "\0\"[]/:+-.,\\ \t%#0129aZ\xef\xff"s;
  testing::Rng rng = testing::TestRng();
  const int rounds = testing::Rounds(20000, 5000000);
  for (int i = 0; i < rounds; ++i) {
    std::string line = corpus[static_cast<size_t>(
        rng.Uniform(0, static_cast<int64_t>(corpus.size()) - 1))];
    for (int64_t n = rng.Uniform(1, 6); n > 0; --n) {
      const size_t at = static_cast<size_t>(
          rng.Uniform(0, static_cast<int64_t>(line.size())));
      const char byte = alphabet[static_cast<size_t>(
          rng.Uniform(0, static_cast<int64_t>(alphabet.size()) - 1))];
      switch (rng.Uniform(0, 4)) {
        case 0:
          line.insert(at, 1, byte);
          break;
        case 1:
          line.erase(at, static_cast<size_t>(rng.LogUniform(1, 30)));
          break;
        case 2:
          line.resize(at);
          break;
        case 3:
          line += corpus[static_cast<size_t>(rng.Uniform(
                             0, static_cast<int64_t>(corpus.size()) - 1))]
                      .substr(static_cast<size_t>(rng.Uniform(0, 20)));
          break;
        default:
          if (at < line.size()) line[at] = byte;
      }
    }
    ExpectSound(line);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace weir::cli
