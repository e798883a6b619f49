// The parts of the client that need no server.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backends/redis/breaker.h"
#include "backends/redis/counters.h"
#include "backends/redis/errors.h"
#include "backends/redis/fifo.h"
#include "backends/redis/resp.h"
#include "backends/redis/slot.h"
#include "backends/redis/url.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RedisUrl, ReadsEveryPart) {
  const auto url = ParseUrl(
      "redis://us%65r:p%40ss:w%2Ford@example.org:7000/2?timeout=50ms&"
      "namespace=a%20b&connections=3&io_threads=1&spin=20us&connect_timeout="
      "2s&batch=5");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->client.user, "user");
  EXPECT_EQ(url->client.password, "p@ss:w/ord");
  ASSERT_EQ(url->client.addresses.size(), 1u);
  EXPECT_EQ(url->client.addresses[0].ToString(), "example.org:7000");
  EXPECT_EQ(url->client.database, 2);
  EXPECT_EQ(url->client.connections, 3);
  EXPECT_EQ(url->client.io_threads, 1);
  EXPECT_EQ(url->client.spin, microseconds(20));
  EXPECT_EQ(url->client.batch, 5);
  EXPECT_EQ(url->client.connect_timeout, std::chrono::seconds(2));
  EXPECT_EQ(url->timeout, milliseconds(50));
  EXPECT_EQ(url->name_space, "a b");
}

TEST(RedisUrl, ReadsEveryKindOfAddress) {
  const auto cluster = ParseUrl("redis+cluster://a:7001,[::1]:7002,c");
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  EXPECT_TRUE(cluster->client.cluster);
  ASSERT_EQ(cluster->client.addresses.size(), 3u);
  EXPECT_EQ(cluster->client.addresses[1].ToString(), "[::1]:7002");
  EXPECT_EQ(cluster->client.addresses[2].port, 6379);
  const auto tls = ParseUrl("rediss+cluster://a,b?tls_ca_file=/c%20a");
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_TRUE(tls->client.cluster);
  ASSERT_TRUE(tls->tls.has_value());
  EXPECT_EQ(tls->tls->ca_file, "/c a");
  EXPECT_TRUE(tls->tls->verify);
  for (const char* text : {"unix:///run/r%20s.sock?db=4",
                           "redis+unix://:secret@/run/r%20s.sock?db=4"}) {
    const auto unix_url = ParseUrl(text);
    ASSERT_TRUE(unix_url.ok()) << unix_url.status();
    EXPECT_EQ(unix_url->client.addresses[0].path, "/run/r s.sock");
    EXPECT_EQ(unix_url->client.database, 4);
  }
}

TEST(RedisUrl, SaysWhatIsWrongAndNeverThePassword) {
  const std::pair<const char*, const char*> wrong[] = {
      {"localhost", "does not begin with redis://"},
      {"http://a", "scheme \"http\""},
      {"rediss://u:hunter2@a?tls_verify=never", "tls_verify is \"never\""},
      {"redis://u:hunter2@a?tls_verify=no", "needs rediss://"},
      {"redis://", "host is empty"},
      {"redis://a:x", "port is \"x\""},
      {"redis://a:70000", "port is 70000; allowed: 1 to 65535"},
      {"redis://a/two", "database after the / is \"two\""},
      {"redis://hunter2@a", "user:password"},
      {"redis://u:hunter2%zz@a", "password: % must be followed"},
      {"redis://u:hunter2@a?timeout=50", "with a unit"},
      {"redis://u:hunter2@a?speed=1", "no parameter \"speed\""},
      {"redis://u:hunter2@a,b", "only a cluster"},
      {"redis+cluster://a/1", "database 0 only"},
      {"redis://a?connections=0", "connections is 0; allowed: 1 to 64"},
      {"redis://a?io_threads=2", "io_threads is 2; allowed: 0 to 1"},
      {"redis://a?batch=0", "batch is 0; allowed: 1 to 32"},
      {"redis://a?batch=33", "batch is 33; allowed: 1 to 32"},
      {"redis://a?batch=all", "batch is \"all\""},
      {"unix://relative", "absolute path"},
      {"redis://[::1", "lacks its ]"},
      {"redis://[]:1", "host is empty"},
      {"redis://[::1]1", "\"1\" after the host"},
      {"redis://a:", "port is \"\""},
      {"redis://a:0", "port is 0; allowed: 1 to 65535"},
      {"redis://a:-1", "port is \"-1\""},
      {"redis://u:hunter2@", "host is empty"},
      {"redis://a b", "host \"a b\" has a blank"},
      {"redis://a\n", "host \"a\\n\" has a blank"},
      {"redis+cluster://a,,b", "host is empty"},
      {"redis+cluster://u:hunter2@a,u:hunter2@b", "before the first host"},
      {"redis://a?db=1&db=1", "\"db\" is given twice"},
      {"redis://a/1?db=1", "\"db\" is given twice"},
      {"redis://a?=1", "no parameter \"\""},
      {"redis://a?connect_timeout=0s",
       "connect_timeout is 0us; allowed: 1000 to 3600000000us"},
      {"redis://a?timeout", "parameter \"timeout\" has no ="},
      {"redis://a?timeout=-1ms", "timeout is \"-1ms\""},
      {"redis://a?timeout=1e9", "timeout is \"1e9\""},
      {"redis://a?timeout=99999999999s", "timeout is \"99999999999s\""},
      {"unix:///a%00b", "NUL byte"},
      // Passwords that should have been percent-encoded.
      {"redis://u:hunter2?3@a", "it can't be read"},
      {"redis://u:6379?hunter2@a", "it can't be read"},
      {"redis://u:6379?timeout=hunter2@a", "it can't be read"},
      {"u:hunter2://3@a", "does not begin with redis://"},
  };
  for (const auto& [text, words] : wrong) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    const std::string message(url.status().message());
    EXPECT_THAT(message, HasSubstr(words)) << text;
    EXPECT_THAT(message, Not(HasSubstr("hunter2"))) << text;
  }
}

TEST(RedisSlot, IsThatOfTheServersOwnExamples) {
  // From the cluster specification, and CLUSTER KEYSLOT of a server.
  EXPECT_EQ(SlotOf("123456789"), 0x31c3 % kSlots);
  EXPECT_EQ(SlotOf("foo"), 12182);
  EXPECT_EQ(SlotOf(""), 0);
  EXPECT_EQ(SlotOf("{foo}bar"), 12182);
  EXPECT_EQ(SlotOf("x{foo}{bar}"), 12182);
  EXPECT_EQ(SlotOf("{u1}:a"), 4574);
  EXPECT_NE(SlotOf("{}foo"), 12182);
  EXPECT_EQ(SlotOf("{a}b}"), SlotOf("a"));
}

TEST(RedisResp, ReadsWhateverWayItIsCut) {
  const std::string bytes =
      "*4\r\n$3\r\na" + std::string(1, '\0') +
      "b\r\n:-12\r\n*2\r\n$-1\r\n+OK\r\n$0\r\n\r\n-ERR no\r\n"
      "*0\r\n*-1\r\n";
  for (size_t cut = 1; cut <= bytes.size(); ++cut) {
    ReplyReader reader(1000, 100);
    std::vector<Reply> replies;
    for (size_t at = 0; at < bytes.size(); at += cut) {
      reader.Feed(std::string_view(bytes).substr(at, cut));
      Reply reply;
      while (reader.Next(&reply) == ReplyReader::Result::kReply) {
        replies.push_back(reply);
      }
    }
    ASSERT_EQ(reader.error(), "") << cut;
    ASSERT_EQ(replies.size(), 4u) << cut;
    ASSERT_EQ(replies[0].elements.size(), 4u);
    EXPECT_EQ(replies[0].elements[0].text, std::string("a\0b", 3));
    EXPECT_EQ(replies[0].elements[1].integer, -12);
    EXPECT_EQ(replies[0].elements[2].elements[0].type, Reply::Type::kNil);
    EXPECT_EQ(replies[0].elements[2].elements[1].text, "OK");
    EXPECT_EQ(replies[1].type, Reply::Type::kError);
    EXPECT_EQ(replies[2].type, Reply::Type::kArray);
    EXPECT_EQ(replies[3].type, Reply::Type::kNil);
  }
}

// What is read of bytes that come in pieces of a length, in words.
std::string ReadCut(std::string_view bytes, size_t cut) {
  ReplyReader reader(1000, 100);
  std::string told;
  const std::function<void(const Reply&)> tell = [&](const Reply& reply) {
    told += std::to_string(static_cast<int>(reply.type)) + " " +
            std::to_string(reply.integer) + " '" + reply.text + "' (";
    for (const Reply& element : reply.elements) tell(element);
    told += ") ";
  };
  for (size_t at = 0; at < bytes.size(); at += cut) {
    reader.Feed(bytes.substr(at, cut));
    Reply reply;
    auto result = ReplyReader::Result::kReply;
    while ((result = reader.Next(&reply)) == ReplyReader::Result::kReply) {
      if (reply.type != Reply::Type::kInteger) reply.integer = 0;
      tell(reply);
    }
    if (result == ReplyReader::Result::kError) return told + "error";
  }
  return told;
}

// Whole replies are read by another way than those that come in pieces: what
// is wrong must be wrong for both.
TEST(RedisResp, WhatIsWholeIsReadAsWhatComesByteByByte) {
  const std::vector<std::string> parts = {
      ":0\r\n",
      ":17\r\n",
      ":-17\r\n",
      ":007\r\n",
      ":\r\n",
      ":1x\r\n",
      ":123456789012345678\r\n",
      ":9223372036854775807\r\n",
      ":9223372036854775808\r\n",
      ":12\n",
      ":12\r",
      "$0\r\n\r\n",
      "$3\r\nabc\r\n",
      "$03\r\nabc\r\n",
      "$3\r\nabcXY",
      "$3\r\n",
      "$-1\r\n",
      "$-2\r\n",
      "$3x\r\nabc\r\n",
      "$99999999999999999999\r\n",
      "+OK\r\n",
      "-ERR no\r\n",
      "*2\r\n:1\r\n$1\r\na\r\n",
      "*-1\r\n",
      "%1\r\n",
      "\r\n",
  };
  for (const std::string& first : parts) {
    for (const std::string& second : parts) {
      for (const std::string& third : parts) {
        const std::string bytes = first + second + third;
        const std::string told = ReadCut(bytes, 1);
        for (const size_t cut : {size_t{4}, first.size(), bytes.size()}) {
          ASSERT_EQ(ReadCut(bytes, cut), told) << bytes << " by " << cut;
        }
      }
    }
  }
}

TEST(RedisResp, ManySmallRepliesMayBeLargerThanTheBound) {
  ReplyReader reader(1000, 100);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += ":1\r\n";
  reader.Feed(bytes);
  Reply reply;
  int count = 0;
  while (reader.Next(&reply) == ReplyReader::Result::kReply) ++count;
  EXPECT_EQ(count, 1000);
  EXPECT_EQ(reader.error(), "");
}

TEST(RedisBreaker, OpensProbesAndCloses) {
  ClientOptions options;
  options.breaker_failures = 3;
  options.min_retry_interval = milliseconds(100);
  options.max_retry_interval = milliseconds(400);
  Breaker breaker(options, 7);
  SteadyTime now{};
  for (int i = 0; i < 2; ++i) breaker.Fail(now, absl::UnavailableError("x"));
  EXPECT_EQ(breaker.Ask(now, now), Breaker::Verdict::kGo);
  breaker.Succeed();
  for (int i = 0; i < 3; ++i) breaker.Fail(now, absl::UnavailableError("x"));
  EXPECT_EQ(breaker.Ask(now, now), Breaker::Verdict::kNo);
  // One probe an interval, which grows to its limit, from its upper half.
  SteadyTime last = now;
  for (const int interval : {100, 200, 400, 400, 400}) {
    while (breaker.Ask(now, now) == Breaker::Verdict::kNo) {
      now += microseconds(500);
      ASSERT_LE(now - last, milliseconds(interval + 1));
    }
    EXPECT_GE(now - last, milliseconds(interval / 2));
    EXPECT_EQ(breaker.Ask(now, now), Breaker::Verdict::kNo) << "a second probe";
    breaker.Fail(now, absl::UnavailableError("x"));
    last = now;
  }
  breaker.Succeed();
  EXPECT_EQ(breaker.Ask(now, now), Breaker::Verdict::kGo);
}

TEST(RedisBreaker, OneProbeAtATimeHoweverLongItTakes) {
  ClientOptions options;
  options.breaker_failures = 1;
  options.min_retry_interval = options.max_retry_interval = milliseconds(100);
  Breaker breaker(options, 7);
  SteadyTime now{};
  // How long it is until the next probe, which then has a second to spare.
  const auto quiet = [&] {
    const SteadyTime since = now;
    while (breaker.Ask(now, now + seconds(2)) == Breaker::Verdict::kNo) {
      now += milliseconds(1);
    }
    return now - since;
  };
  breaker.Fail(now, absl::UnavailableError("x"));
  EXPECT_LE(quiet(), milliseconds(101));
  // Nothing is heard of it.
  EXPECT_EQ(quiet(), seconds(1));
  // It fails when it has taken longer than an interval.
  now += milliseconds(200);
  breaker.Fail(now, absl::UnavailableError("x"));
  const auto after_failure = quiet();
  EXPECT_GE(after_failure, milliseconds(50));
  EXPECT_LE(after_failure, milliseconds(101));
}

TEST(RedisFifo, KeepsNumbersWhileItGrows) {
  Fifo<int> fifo;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(fifo.Push(i), static_cast<uint64_t>(i));
    if (i % 3 == 0) {
      EXPECT_EQ(fifo.Pop(), i / 3);
    }
  }
  for (uint64_t n = fifo.begin_number(); n != fifo.end_number(); ++n) {
    EXPECT_EQ(fifo.At(n), static_cast<int>(n));
  }
}

TEST(RedisCounters, EachHasANameOfItsOwn) {
  Counters counters;
  counters.met[static_cast<size_t>(Reason::kMoved)] = 5;
  std::map<std::string, int64_t> seen;
  counters.ForEach([&](std::string_view name, int64_t value) {
    EXPECT_TRUE(seen.emplace(name, value).second) << name;
  });
  EXPECT_EQ(seen.at("met_moved"), 5);
  EXPECT_EQ(seen.size(), 9u + kReasonCount - 1);
}

TEST(RedisErrors, AStatusKeepsItsReason) {
  for (int i = 1; i < kReasonCount; ++i) {
    const auto reason = static_cast<Reason>(i);
    const absl::Status status = MakeError(reason, "n:1", "words", i % 2 == 0);
    EXPECT_EQ(ReasonOf(status), reason);
    EXPECT_EQ(MayHaveCharged(status), i % 2 == 0);
    EXPECT_EQ(IsOutage(status), IsOutage(reason));
    EXPECT_THAT(std::string(status.message()), HasSubstr("n:1: words"));
  }
  EXPECT_EQ(ReasonOf(absl::UnavailableError("other")), Reason::kNone);
  EXPECT_FALSE(IsOutage(absl::OkStatus()));
}

}  // namespace
}  // namespace weir::redis
