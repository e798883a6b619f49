// The model's sorted sets.
#include <algorithm>
#include <cmath>

#include "tests/kit/naive_key.h"
#include "tests/kit/naive_parts.h"

namespace weir {
namespace testing {
namespace {

bool Within(double score, ScoreBound min, ScoreBound max) {
  const bool above = min.exclusive ? score > min.value : score >= min.value;
  const bool below = max.exclusive ? score < max.value : score <= max.value;
  return above && below;
}

// Unsigned: members compare as bytes.
bool BytesBefore(const std::string& a, const std::string& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
      });
}

}  // namespace

NaiveKey::Scored NaiveKey::InOrder() const {
  Scored all(scores_.begin(), scores_.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (a.second != b.second) return a.second < b.second;
    return BytesBefore(a.first, b.first);
  });
  return all;
}

NaiveKey::Scored NaiveKey::ByRank(int64_t start, int64_t stop,
                                  bool down) const {
  Scored all = InOrder();
  if (down) std::reverse(all.begin(), all.end());
  Scored some;
  const auto count = static_cast<int64_t>(all.size());
  for (int64_t i = 0; i < count; ++i) {
    if (InRange(i, count, start, stop)) {
      some.push_back(all[static_cast<size_t>(i)]);
    }
  }
  return some;
}

NaiveKey::Scored NaiveKey::ByScore(ScoreBound min, ScoreBound max) const {
  Scored some;
  for (const auto& element : InOrder()) {
    if (Within(element.second, min, max)) some.push_back(element);
  }
  return some;
}

std::string NaiveKey::Zadd(const Words& w) {
  const auto has = [&](const char* option) {
    return std::find(w.begin() + 1, w.end() - 2, option) != w.end() - 2;
  };
  if (has("NX") && (has("GT") || has("LT"))) {
    return "-ERR GT, LT, and/or NX options at the same time are not compatible";
  }
  const double score = ScoreOf(w[w.size() - 2]);
  if (std::isnan(score)) return kNotFloat;
  if (type_ != "none" && type_ != "zset") return kWrongType;
  const auto known = scores_.find(w.back());
  if (known == scores_.end()) {
    if (has("XX")) return BoolReply(false);
    type_ = "zset";
    scores_[w.back()] = score;
    return BoolReply(true);
  }
  if (has("NX") || (has("GT") && score <= known->second) ||
      (has("LT") && score >= known->second)) {
    return BoolReply(false);
  }
  const bool changed = known->second != score;
  known->second = score;
  return BoolReply(has("CH") && changed);
}

std::string NaiveKey::Range(const Words& w) const {
  if (w[0] == "ZRANGE" || w[0] == "ZREVRANGE") {
    return ScoredReply(
        ByRank(IntegerOf(w[1]), IntegerOf(w[2]), w[0] == "ZREVRANGE"));
  }
  const bool down = w[0] == "ZREVRANGEBYSCORE";
  Scored all = ByScore(BoundOf(w[down ? 2 : 1]), BoundOf(w[down ? 1 : 2]));
  if (down) std::reverse(all.begin(), all.end());
  const int64_t offset = w.size() < 7 ? 0 : IntegerOf(w[5]);
  const int64_t count = w.size() < 7 ? -1 : IntegerOf(w[6]);
  Scored some;
  for (size_t i = 0; i < all.size() && offset >= 0; ++i) {
    const bool full = count >= 0 && static_cast<int64_t>(some.size()) == count;
    if (static_cast<int64_t>(i) >= offset && !full) some.push_back(all[i]);
  }
  return ScoredReply(some);
}

std::string NaiveKey::Remove(const Scored& some) {
  for (const auto& element : some) scores_.erase(element.first);
  return IntegerReply(static_cast<int64_t>(some.size()));
}

std::string NaiveKey::Sets(const Words& w) {
  if (w[0] == "ZADD") return Zadd(w);
  const bool by_score = IsOneOf(w[0], {"ZCOUNT", "ZRANGEBYSCORE",
                                       "ZREVRANGEBYSCORE", "ZREMRANGEBYSCORE"});
  if (by_score &&
      (std::isnan(BoundOf(w[1]).value) || std::isnan(BoundOf(w[2]).value))) {
    return "-ERR min or max is not a float";
  }
  if (w[0] == "ZINCRBY" && std::isnan(ScoreOf(w[1]))) return kNotFloat;
  if (type_ != "none" && type_ != "zset") return kWrongType;
  if (w[0] == "ZCARD") return IntegerReply(size());
  if (w[0] == "ZCOUNT") {
    return IntegerReply(
        static_cast<int64_t>(ByScore(BoundOf(w[1]), BoundOf(w[2])).size()));
  }
  if (w[0] == "ZREMRANGEBYSCORE") {
    return Remove(ByScore(BoundOf(w[1]), BoundOf(w[2])));
  }
  if (w[0] == "ZREMRANGEBYRANK") {
    return Remove(ByRank(IntegerOf(w[1]), IntegerOf(w[2]), false));
  }
  if (w[0] == "ZPOPMIN" || w[0] == "ZPOPMAX") {
    const Scored first = ByRank(0, 0, w[0] == "ZPOPMAX");
    Remove(first);
    return ScoredReply(first);
  }
  if (w[0].find("RANGE") != std::string::npos) return Range(w);
  const std::string& member = w[0] == "ZINCRBY" ? w[2] : w[1];
  const auto known = scores_.find(member);
  const bool is = known != scores_.end();
  if (w[0] == "ZINCRBY") {
    const double sum = (is ? known->second : 0) + ScoreOf(w[1]);
    if (std::isnan(sum)) return "-ERR resulting score is not a number (NaN)";
    type_ = "zset";
    scores_[member] = sum;
    return ScoreReply(sum);
  }
  if (w[0] == "ZREM") {
    if (is) scores_.erase(known);
    return BoolReply(is);
  }
  if (!is) return "nil";
  if (w[0] == "ZSCORE") return ScoreReply(known->second);
  const Scored all = ByRank(0, -1, w[0] == "ZREVRANK");
  int64_t rank = 0;
  while (all[static_cast<size_t>(rank)].first != member) ++rank;
  return IntegerReply(rank);
}

}  // namespace testing
}  // namespace weir
