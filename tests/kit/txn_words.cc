#include "tests/kit/txn_words.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "gtest/gtest.h"

namespace weir {
namespace testing {

std::string IntegerReply(int64_t n) { return ":" + std::to_string(n); }

std::string BoolReply(bool b) { return IntegerReply(b ? 1 : 0); }

std::string BytesReply(std::string_view bytes) {
  return "$" + std::string(bytes);
}

std::string BytesReply(const std::optional<std::string>& bytes) {
  return bytes ? BytesReply(std::string_view(*bytes)) : "nil";
}

std::string ArrayReply(const std::vector<std::string>& elements) {
  std::string text = "*" + std::to_string(elements.size());
  for (const std::string& e : elements) text += "\n" + e;
  return text;
}

std::string NumberWord(double number) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", number);
  return text;
}

std::string ScoreReply(double score) {
  return BytesReply(std::string_view(NumberWord(score + 0.0)));
}

std::string ScoredReply(
    const std::vector<std::pair<std::string, double>>& set) {
  std::vector<std::string> elements;
  for (const auto& [member, score] : set) {
    elements.push_back(BytesReply(std::string_view(member)));
    elements.push_back(ScoreReply(score));
  }
  return ArrayReply(elements);
}

std::string FieldsReply(std::vector<std::pair<std::string, std::string>> all) {
  std::sort(all.begin(), all.end());
  std::vector<std::string> elements;
  for (const auto& [field, value] : all) {
    elements.push_back(BytesReply(std::string_view(field)));
    elements.push_back(BytesReply(std::string_view(value)));
  }
  return ArrayReply(elements);
}

std::string BoundWord(ScoreBound bound) {
  return (bound.exclusive ? "(" : "") + NumberWord(bound.value);
}

double ScoreOf(const std::string& word) {
  return std::strtod(word.c_str(), nullptr);
}

ScoreBound BoundOf(const std::string& word) {
  const bool exclusive = word[0] == '(';
  return {ScoreOf(exclusive ? word.substr(1) : word), exclusive};
}

int64_t IntegerOf(const std::string& word) {
  return std::strtoll(word.c_str(), nullptr, 10);
}

bool HasOption(const Words& words, std::string_view option) {
  return std::find(words.begin() + std::min<size_t>(2, words.size()),
                   words.end(), option) != words.end();
}

std::string Readable(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + ::testing::PrintToString(word);
  }
  return text;
}

namespace {

std::string Bytes(const std::optional<std::string_view>& bytes) {
  return bytes ? BytesReply(*bytes) : "nil";
}

std::string Integer(const std::optional<int64_t>& n) {
  return n ? IntegerReply(*n) : "nil";
}

std::string Score(const std::optional<double>& score) {
  return score ? ScoreReply(*score) : "nil";
}

std::string Popped(const std::optional<ScoredMember>& element) {
  if (!element) return ScoredReply({});
  return ScoredReply({{element->member, element->score}});
}

// Everything of a range, in ever more room; with less, it is how it begins.
template <class T>
std::vector<T> All(const std::function<int64_t(absl::Span<T>)>& range,
                   bool (*same)(const T&, const T&)) {
  std::vector<T> before;
  for (size_t room = 3;; room *= 4) {
    std::vector<T> out(room);
    const int64_t n = range(absl::MakeSpan(out));
    EXPECT_LE(n, static_cast<int64_t>(room));
    out.resize(static_cast<size_t>(n));
    EXPECT_LE(before.size(), out.size());
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(same(before[i], out[i])) << "element " << i;
    }
    if (out.size() < room) return out;
    before = std::move(out);
  }
}

std::string Scored(
    const std::function<int64_t(absl::Span<ScoredMember>)>& range) {
  std::vector<std::pair<std::string, double>> set;
  for (const ScoredMember& m :
       All<ScoredMember>(range, [](const ScoredMember&a, const ScoredMember&b) {
         return a.member == b.member && a.score == b.score;
       })) {
    set.emplace_back(m.member, m.score);
  }
  return ScoredReply(set);
}

ExpireIf ConditionOf(const Words& words) {
  if (HasOption(words, "NX")) return ExpireIf::kNone;
  if (HasOption(words, "XX")) return ExpireIf::kSome;
  if (HasOption(words, "GT")) return ExpireIf::kLater;
  if (HasOption(words, "LT")) return ExpireIf::kEarlier;
  return ExpireIf::kAny;
}

WriteIf OnlyOf(const Words& words, size_t from, size_t to) {
  for (size_t i = from; i < to; ++i) {
    if (words[i] == "NX") return WriteIf::kNew;
    if (words[i] == "XX") return WriteIf::kKnown;
  }
  return WriteIf::kAny;
}

std::string Set(const Words& w, Txn& txn) {
  if (w.size() == 4 && w[2] == "PX") {
    txn.SET(w[1], IntegerOf(w[3]));
    return "+OK";
  }
  SetOptions options;
  options.only = OnlyOf(w, 2, w.size());
  options.keep_ttl = HasOption(w, "KEEPTTL");
  const auto px = std::find(w.begin() + 2, w.end(), "PX");
  if (px != w.end()) options.px = IntegerOf(px[1]);
  return txn.SET(w[1], options) ? "+OK" : "nil";
}

std::string Zadd(const Words& w, Txn& txn) {
  const std::string& score = w[w.size() - 2];
  if (w.size() == 3) return BoolReply(txn.ZADD(ScoreOf(score), w.back()));
  ZaddOptions options;
  const size_t end = w.size() - 2;
  options.only = OnlyOf(w, 1, end);
  for (size_t i = 1; i < end; ++i) {
    if (w[i] == "GT") options.score = ScoreIf::kGreater;
    if (w[i] == "LT") options.score = ScoreIf::kLess;
    if (w[i] == "CH") options.ch = true;
  }
  return BoolReply(txn.ZADD(ScoreOf(score), w.back(), options));
}

std::string Lrange(const Words& w, Txn& txn) {
  const auto all = All<std::string>(
      [&](absl::Span<std::string> out) {
        return txn.LRANGE(IntegerOf(w[1]), IntegerOf(w[2]), out);
      },
      [](const std::string& a, const std::string& b) { return a == b; });
  std::vector<std::string> elements;
  for (const std::string& e : all) {
    elements.push_back(BytesReply(std::string_view(e)));
  }
  return ArrayReply(elements);
}

std::string Hmget(const Words& w, Txn& txn) {
  const std::vector<std::string_view> fields(w.begin() + 1, w.end());
  std::vector<std::optional<std::string>> values(fields.size());
  txn.HMGET(fields, absl::MakeSpan(values));
  std::vector<std::string> elements;
  for (const auto& value : values) elements.push_back(BytesReply(value));
  return ArrayReply(elements);
}

std::string Hgetall(Txn& txn) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const HashField& f : All<HashField>(
           [&](absl::Span<HashField> out) { return txn.HGETALL(out); },
           [](const HashField&a, const HashField&b) {
             return a.field == b.field && a.value == b.value;
           })) {
    fields.emplace_back(f.field, f.value);
  }
  return FieldsReply(fields);
}

// min max WITHSCORES [LIMIT offset count]
std::pair<int64_t, int64_t> LimitOf(const Words& w) {
  if (w.size() < 7) return {0, -1};
  return {IntegerOf(w[5]), IntegerOf(w[6])};
}

using Command = std::function<std::string(const Words&, Txn&)>;

const std::map<std::string, Command>& Commands() {
  static const auto* const commands = new std::map<std::string, Command>{
      {"EXISTS", [](const Words&, Txn& t) { return BoolReply(t.EXISTS()); }},
      {"DEL", [](const Words&, Txn& t) { return BoolReply(t.DEL()); }},
      {"TYPE",
       [](const Words&, Txn& t) { return "+" + std::string(t.TYPE()); }},
      {"PEXPIRE",
       [](const Words& w, Txn& t) {
         return BoolReply(w.size() == 2
                              ? t.PEXPIRE(IntegerOf(w[1]))
                              : t.PEXPIRE(IntegerOf(w[1]), ConditionOf(w)));
       }},
      {"PEXPIREAT",
       [](const Words& w, Txn& t) {
         return BoolReply(t.PEXPIREAT(IntegerOf(w[1]), ConditionOf(w)));
       }},
      {"PTTL", [](const Words&, Txn& t) { return IntegerReply(t.PTTL()); }},
      {"PEXPIRETIME",
       [](const Words&, Txn& t) { return IntegerReply(t.PEXPIRETIME()); }},
      {"PERSIST", [](const Words&, Txn& t) { return BoolReply(t.PERSIST()); }},

      {"GET", [](const Words&, Txn& t) { return Bytes(t.GET()); }},
      {"SET", Set},
      {"SETNX",
       [](const Words& w, Txn& t) { return BoolReply(t.SETNX(w[1])); }},
      {"GETSET",
       [](const Words& w, Txn& t) { return BytesReply(t.GETSET(w[1])); }},
      {"GETDEL", [](const Words&, Txn& t) { return BytesReply(t.GETDEL()); }},
      {"STRLEN", [](const Words&, Txn& t) { return IntegerReply(t.STRLEN()); }},
      {"APPEND",
       [](const Words& w, Txn& t) { return IntegerReply(t.APPEND(w[1])); }},
      {"INCRBY", [](const Words& w,
                    Txn& t) { return Integer(t.INCRBY(IntegerOf(w[1]))); }},
      {"INCRBYFLOAT",
       [](const Words& w, Txn& t) {
         return BytesReply(t.INCRBYFLOAT(ScoreOf(w[1])));
       }},

      {"LLEN", [](const Words&, Txn& t) { return IntegerReply(t.LLEN()); }},
      {"LPUSH",
       [](const Words& w, Txn& t) { return IntegerReply(t.LPUSH(w[1])); }},
      {"RPUSH",
       [](const Words& w, Txn& t) { return IntegerReply(t.RPUSH(w[1])); }},
      {"LPUSHX",
       [](const Words& w, Txn& t) { return IntegerReply(t.LPUSHX(w[1])); }},
      {"RPUSHX",
       [](const Words& w, Txn& t) { return IntegerReply(t.RPUSHX(w[1])); }},
      {"LPOP", [](const Words&, Txn& t) { return BytesReply(t.LPOP()); }},
      {"RPOP", [](const Words&, Txn& t) { return BytesReply(t.RPOP()); }},
      {"LINDEX", [](const Words& w,
                    Txn& t) { return BytesReply(t.LINDEX(IntegerOf(w[1]))); }},
      {"LSET",
       [](const Words& w, Txn& t) {
         return std::string(t.LSET(IntegerOf(w[1]), w[2]) ? "+OK" : "failed");
       }},
      {"LRANGE", Lrange},
      {"LTRIM",
       [](const Words& w, Txn& t) {
         t.LTRIM(IntegerOf(w[1]), IntegerOf(w[2]));
         return std::string("+OK");
       }},

      {"ZADD", Zadd},
      {"ZINCRBY", [](const Words& w,
                     Txn& t) { return Score(t.ZINCRBY(ScoreOf(w[1]), w[2])); }},
      {"ZCARD", [](const Words&, Txn& t) { return IntegerReply(t.ZCARD()); }},
      {"ZCOUNT",
       [](const Words& w, Txn& t) {
         return IntegerReply(t.ZCOUNT(BoundOf(w[1]), BoundOf(w[2])));
       }},
      {"ZSCORE", [](const Words& w, Txn& t) { return Score(t.ZSCORE(w[1])); }},
      {"ZRANK", [](const Words& w, Txn& t) { return Integer(t.ZRANK(w[1])); }},
      {"ZREVRANK",
       [](const Words& w, Txn& t) { return Integer(t.ZREVRANK(w[1])); }},
      {"ZRANGE",
       [](const Words& w, Txn& t) {
         return Scored([&](absl::Span<ScoredMember> out) {
           return t.ZRANGE(IntegerOf(w[1]), IntegerOf(w[2]), out);
         });
       }},
      {"ZREVRANGE",
       [](const Words& w, Txn& t) {
         return Scored([&](absl::Span<ScoredMember> out) {
           return t.ZREVRANGE(IntegerOf(w[1]), IntegerOf(w[2]), out);
         });
       }},
      {"ZRANGEBYSCORE",
       [](const Words& w, Txn& t) {
         return Scored([&](absl::Span<ScoredMember> out) {
           const auto [offset, count] = LimitOf(w);
           return t.ZRANGEBYSCORE(BoundOf(w[1]), BoundOf(w[2]), offset, count,
                                  out);
         });
       }},
      {"ZREVRANGEBYSCORE",
       [](const Words& w, Txn& t) {
         return Scored([&](absl::Span<ScoredMember> out) {
           const auto [offset, count] = LimitOf(w);
           return t.ZREVRANGEBYSCORE(BoundOf(w[1]), BoundOf(w[2]), offset,
                                     count, out);
         });
       }},
      {"ZREM", [](const Words& w, Txn& t) { return BoolReply(t.ZREM(w[1])); }},
      {"ZREMRANGEBYRANK",
       [](const Words& w, Txn& t) {
         return IntegerReply(
             t.ZREMRANGEBYRANK(IntegerOf(w[1]), IntegerOf(w[2])));
       }},
      {"ZREMRANGEBYSCORE",
       [](const Words& w, Txn& t) {
         return IntegerReply(t.ZREMRANGEBYSCORE(BoundOf(w[1]), BoundOf(w[2])));
       }},
      {"ZPOPMIN", [](const Words&, Txn& t) { return Popped(t.ZPOPMIN()); }},
      {"ZPOPMAX", [](const Words&, Txn& t) { return Popped(t.ZPOPMAX()); }},

      {"HSET",
       [](const Words& w, Txn& t) { return BoolReply(t.HSET(w[1], w[2])); }},
      {"HSETNX",
       [](const Words& w, Txn& t) { return BoolReply(t.HSETNX(w[1], w[2])); }},
      {"HGET", [](const Words& w, Txn& t) { return Bytes(t.HGET(w[1])); }},
      {"HMGET", Hmget},
      {"HGETALL", [](const Words&, Txn& t) { return Hgetall(t); }},
      {"HDEL", [](const Words& w, Txn& t) { return BoolReply(t.HDEL(w[1])); }},
      {"HEXISTS",
       [](const Words& w, Txn& t) { return BoolReply(t.HEXISTS(w[1])); }},
      {"HLEN", [](const Words&, Txn& t) { return IntegerReply(t.HLEN()); }},
      {"HSTRLEN",
       [](const Words& w, Txn& t) { return IntegerReply(t.HSTRLEN(w[1])); }},
      {"HINCRBY",
       [](const Words& w,
          Txn& t) { return Integer(t.HINCRBY(w[1], IntegerOf(w[2]))); }},
      {"HINCRBYFLOAT",
       [](const Words& w,
          Txn& t) { return BytesReply(t.HINCRBYFLOAT(w[1], ScoreOf(w[2]))); }},
  };
  return *commands;
}

}  // namespace

std::set<std::string> CommandNames() {
  std::set<std::string> names;
  for (const auto& command : Commands()) names.insert(command.first);
  return names;
}

std::string RunOnTxn(const Words& words, Txn& txn) {
  const auto command = Commands().find(words[0]);
  if (command == Commands().end()) return "-unknown: " + words[0];
  const std::string reply = command->second(words, txn);
  const std::string_view error = txn.TakeError();
  return error.empty() ? reply : "-" + std::string(error);
}

}  // namespace testing
}  // namespace weir
