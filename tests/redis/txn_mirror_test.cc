// The embedded store's Txn beside a real server: the same random commands to
// both, every reply compared, and what is left in the end.
//
// Time is the test's own, far ahead of the server's: expiries are given to the
// server as instants, and a key whose time is over is deleted there by hand.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "tests/kit/txn_draw.h"
#include "tests/kit/txn_words.h"
#include "tests/memory_txn_host.h"
#include "tests/redis/redis_server.h"

namespace weir {
namespace testing {
namespace {

constexpr int64_t kStartMs = 4'102'444'800'000;  // 2100
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// The server's clock is far behind, so a time that is over here is not there.
std::string Instant(int64_t at_ms, int64_t now_ms) {
  return at_ms <= now_ms ? "1" : std::to_string(at_ms);
}

// The words for the server, which knows the key and instants.
Words ForServer(Words w, const std::string& key, int64_t now_ms) {
  const auto too_far = [&](int64_t ms) { return ms > kMost - now_ms; };
  if (w[0] == "PTTL") w[0] = "PEXPIRETIME";
  if (w[0] == "PEXPIREAT") w[1] = Instant(IntegerOf(w[1]), now_ms);
  if (w[0] == "PEXPIRE" && !too_far(IntegerOf(w[1]))) {
    w[0] = "PEXPIREAT";
    w[1] = Instant(now_ms + IntegerOf(w[1]), now_ms);
  }
  for (size_t i = 2; w[0] == "SET" && i + 1 < w.size(); ++i) {
    const int64_t ms = IntegerOf(w[i + 1]);
    if (w[i] != "PX" || ms <= 0 || too_far(ms)) continue;
    w[i] = "PXAT";
    w[i + 1] = std::to_string(now_ms + ms);
  }
  w.insert(w.begin() + 1, key);
  return w;
}

std::string Plain(const RawReply& reply) {
  switch (reply.type) {
    case RawReply::kString:
      return BytesReply(std::string_view(reply.text));
    case RawReply::kInteger:
      return IntegerReply(reply.integer);
    case RawReply::kNil:
      return "nil";
    case RawReply::kStatus:
      return "+" + reply.text;
    case RawReply::kError:
      return "-" + reply.text;
    default:
      break;
  }
  if (reply.type != RawReply::kArray) return "no reply";
  std::vector<std::string> elements;
  for (const RawReply& e : reply.elements) elements.push_back(Plain(e));
  return ArrayReply(elements);
}

// What the server said, in the form in which a Txn's replies are written.
std::string FromServer(const Words& w, const RawReply& reply, int64_t now_ms) {
  if (w[0] == "PTTL" && reply.integer >= 0) {
    return IntegerReply(reply.integer - now_ms);
  }
  if (reply.type == RawReply::kString &&
      (w[0] == "ZSCORE" || w[0] == "ZINCRBY")) {
    return ScoreReply(ScoreOf(reply.text));
  }
  if (reply.type == RawReply::kArray && w[0] == "HGETALL") {
    std::vector<std::pair<std::string, std::string>> fields;
    for (size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
      fields.emplace_back(reply.elements[i].text, reply.elements[i + 1].text);
    }
    return FieldsReply(fields);
  }
  if (reply.type == RawReply::kArray && w[0][0] == 'Z') {
    std::vector<std::pair<std::string, double>> set;
    for (size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
      set.emplace_back(reply.elements[i].text,
                       ScoreOf(reply.elements[i + 1].text));
    }
    return ScoredReply(set);
  }
  return Plain(reply);
}

// One key here and there.
class Mirror {
 public:
  Mirror(HiredisClient* client, std::string key, Use use)
      : client_(client), key_(std::move(key)), use_(use) {}

  int64_t now_ms() const { return now_ms_; }
  int64_t size() const { return size_; }

  // Goes on to a later time.
  void Advance(int64_t ms) {
    std::string expiry;
    const Words asked = {"PEXPIRETIME"};
    Step([&](Txn& txn) { expiry = RunOnTxn(asked, txn); });
    const int64_t at_ms = IntegerOf(expiry.substr(1));
    now_ms_ += ms;
    // Never the very instant: there they differ by a millisecond.
    if (at_ms == now_ms_) ++now_ms_;
    if (at_ms < 0 || at_ms > now_ms_) return;
    sent_.push_back({{}, "", now_ms_});
    words_.push_back({"DEL", key_});
  }

  // The next commands of `draw`, in one step.
  void Run(TxnDraw& draw, int64_t commands) {
    draw.SetTime(now_ms_);
    Step([&](Txn& txn) {
      for (; commands > 0; --commands) {
        Send(draw.Next(txn.TYPE(), size_), txn);
      }
      MeasureSize(txn);
    });
    // A packed log: few bytes an element.
    if (size_ > 300 && host_.bytes() < 20 * size_) {
      packed_ = std::max(packed_, size_);
    }
  }

  // Everything that is left.
  void Look() {
    Step([&](Txn& txn) {
      const std::string type(txn.TYPE());
      Send({"TYPE"}, txn);
      Send({"PEXPIRETIME"}, txn);
      if (type == "string") Send({"GET"}, txn);
      if (type == "list") Send({"LRANGE", "0", "-1"}, txn);
      if (type == "zset") Send({"ZRANGE", "0", "-1", "WITHSCORES"}, txn);
      if (type == "hash") Send({"HGETALL"}, txn);
    });
  }

  size_t waiting() const { return sent_.size(); }

  // Asks the server what is waiting, and compares.
  void Compare() {
    const std::vector<RawReply> replies = client_->CallAll(words_);
    for (size_t i = 0; i < replies.size(); ++i) {
      const Sent& sent = sent_[i];
      if (sent.words.empty()) continue;
      ASSERT_EQ(sent.reply, FromServer(sent.words, replies[i], sent.now_ms))
          << Readable(sent.words) << " on a " << use_
          << "; WEIR_TEST_SEED=" << Seed();
    }
    sent_.clear();
    words_.clear();
  }

  int64_t commands() const { return commands_; }
  const std::set<std::string>& names() const { return names_; }
  int64_t errors() const { return errors_; }
  int64_t largest() const { return largest_; }
  int64_t packed() const { return packed_; }

 private:
  struct Sent {
    Words words;  // none: the reply does not matter
    std::string reply;
    int64_t now_ms;
  };

  void Step(const std::function<void(Txn&)>& body) {
    host_.Step(now_ms_ * 1000, body);
  }

  void Send(const Words& words, Txn& txn) {
    std::string reply = RunOnTxn(words, txn);
    ++commands_;
    names_.insert(words[0]);
    if (reply[0] == '-') ++errors_;
    words_.push_back(ForServer(words, key_, now_ms_));
    sent_.push_back({words, std::move(reply), now_ms_});
  }

  void MeasureSize(Txn& txn) {
    const std::string_view type = txn.TYPE();
    size_ = 0;
    if (type == "list") size_ = txn.LLEN();
    if (type == "zset") size_ = txn.ZCARD();
    if (type == "hash") size_ = txn.HLEN();
    largest_ = std::max(largest_, size_);
  }

  HiredisClient* const client_;
  const std::string key_;
  const Use use_;
  MemoryTxnHost host_;
  int64_t now_ms_ = kStartMs;
  int64_t size_ = 0;
  int64_t largest_ = 0;  // the most elements
  int64_t packed_ = 0;   // the most of them in a packed log
  int64_t commands_ = 0;
  std::set<std::string> names_;  // of the commands
  int64_t errors_ = 0;
  std::vector<Sent> sent_;
  std::vector<Words> words_;
};

TEST(TxnMirror, RepliesAsAServerDoes) {
  WEIR_NEEDS_REDIS_SERVER();
  auto server = RedisServer::Start();
  ASSERT_NE(server, nullptr);
  HiredisClient client("127.0.0.1", server->port());
  Rng rng = TestRng();
  int64_t wanted = Rounds(100'000, 3'000'000);
  if (const char* given = std::getenv("WEIR_TEST_COMMANDS")) {
    wanted = std::atoll(given);
  }
  int64_t commands = 0;
  int64_t errors = 0;
  std::map<Use, int64_t> largest;
  std::map<Use, int64_t> packed;
  std::set<std::string> names;
  std::set<std::string> encodings;
  // A little longer if a rare command has not come yet.
  const auto goes_on = [&] {
    return commands < wanted ||
           (names != CommandNames() && commands < 4 * wanted);
  };
  for (int round = 0; goes_on(); ++round) {
    const Use use = kUses[round % 8];
    // Some long, for what only large keys do, and half of those never
    // disturbed.
    const bool large = round % 24 < 8;
    const bool pure = round % 48 < 8;
    const std::string key = "key:" + std::to_string(round);
    Mirror mirror(&client, key, use);
    TxnDraw draw(use, kStartMs,
                 pure ? 1'000'000'000 : rng.LogUniform(20, 5'000),
                 large ? 500 : rng.LogUniform(1, 200), rng);
    const int64_t length =
        large ? Rounds(3'000, 22'000) : rng.LogUniform(50, Rounds(600, 5'000));
    while (mirror.commands() < length) {
      if (rng.OneIn(large ? 3'000 : 30)) {
        mirror.Advance(rng.LogUniform(1, 30'000));
      }
      mirror.Run(draw, rng.Uniform(1, 4));
      if (rng.OneIn(large ? 2'000 : 200)) mirror.Look();
      if (mirror.waiting() > 500) mirror.Compare();
      if (HasFatalFailure()) return;
    }
    mirror.Look();
    mirror.Compare();
    if (HasFatalFailure()) return;
    encodings.insert(client.Call({"OBJECT", "ENCODING", key}).text);
    client.Call({"DEL", key});
    commands += mirror.commands();
    errors += mirror.errors();
    names.insert(mirror.names().begin(), mirror.names().end());
    largest[use] = std::max(largest[use], mirror.largest());
    packed[use] = std::max(packed[use], mirror.packed());
  }
  std::cout << commands << " commands, " << errors << " errors; elements:";
  for (const auto& [use, size] : largest) {
    std::cout << " " << use << " " << size;
    if (packed[use] > 0) std::cout << ", packed " << packed[use];
    std::cout << ";";
  }
  std::cout << " encodings:";
  for (const std::string& e : encodings) std::cout << " " << e;
  std::cout << std::endl;
  EXPECT_EQ(names, CommandNames());
  EXPECT_GT(errors, commands / 100);
  // A log takes another form beyond 4,096 entries, and a server's sorted set
  // beyond 128 elements.
  for (const Use use : {Use::kSetOfEntries, Use::kSetOfTimes,
                        Use::kListOfEntries, Use::kListOfTimes}) {
    EXPECT_GT(packed[use], Rounds(500, 4'200)) << use;
  }
  for (const char* e : {"listpack", "skiplist", "quicklist", "hashtable"}) {
    EXPECT_EQ(encodings.count(e), 1U) << e;
  }
}

}  // namespace
}  // namespace testing
}  // namespace weir
