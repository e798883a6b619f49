#include "tests/kit/naive_key.h"

#include <algorithm>

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

void NaiveKey::SetTime(int64_t now_ms) {
  now_ms_ = now_ms;
  if (expire_ms_ && now_ms_ >= *expire_ms_) Del();
}

bool NaiveKey::Del() {
  const bool was = Exists();
  type_ = Type::kMissing;
  value_.clear();
  scores_.clear();
  expire_ms_.reset();
  return was;
}

bool NaiveKey::Pexpire(int64_t ms) {
  if (!Exists()) return false;
  if (ms <= 0) {
    Del();
  } else {
    expire_ms_ = now_ms_ + ms;
  }
  return true;
}

int64_t NaiveKey::Pttl() const {
  if (!Exists()) return -2;
  if (!expire_ms_) return -1;
  return *expire_ms_ - now_ms_;
}

std::optional<std::string> NaiveKey::Get() const {
  if (type_ != Type::kString) return std::nullopt;
  return value_;
}

void NaiveKey::Set(const std::string& value, int64_t px) {
  Del();
  type_ = Type::kString;
  value_ = value;
  expire_ms_ = now_ms_ + px;
}

bool NaiveKey::Zadd(double score, const std::string& member) {
  type_ = Type::kSortedSet;
  const bool added = scores_.count(member) == 0;
  scores_[member] = score;
  return added;
}

int64_t NaiveKey::Zcount(ScoreBound min, ScoreBound max) const {
  return std::count_if(
      scores_.begin(), scores_.end(),
      [&](const auto& element) { return Within(element.second, min, max); });
}

std::optional<double> NaiveKey::Zscore(const std::string& member) const {
  const auto found = scores_.find(member);
  if (found == scores_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::pair<std::string, double>> NaiveKey::InOrder() const {
  std::vector<std::pair<std::string, double>> all(scores_.begin(),
                                                  scores_.end());
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    if (a.second != b.second) return a.second < b.second;
    return BytesBefore(a.first, b.first);
  });
  return all;
}

std::vector<std::pair<std::string, double>> NaiveKey::Zrange(
    int64_t start, int64_t stop) const {
  const std::vector<std::pair<std::string, double>> all = InOrder();
  std::vector<std::pair<std::string, double>> some;
  const int64_t size = static_cast<int64_t>(all.size());
  for (int64_t i = 0; i < size; ++i) {
    // The rank counted from the end is i - size, and -1 is the last.
    const bool after = start >= 0 ? i >= start : i - size >= start;
    const bool before = stop >= 0 ? i <= stop : i - size <= stop;
    if (after && before) some.push_back(all[static_cast<size_t>(i)]);
  }
  return some;
}

void NaiveKey::DropIfEmpty() {
  if (type_ == Type::kSortedSet && scores_.empty()) Del();
}

bool NaiveKey::Zrem(const std::string& member) {
  const bool was = scores_.erase(member) > 0;
  DropIfEmpty();
  return was;
}

int64_t NaiveKey::Zremrangebyrank(int64_t start, int64_t stop) {
  const auto some = Zrange(start, stop);
  for (const auto& element : some) scores_.erase(element.first);
  DropIfEmpty();
  return static_cast<int64_t>(some.size());
}

int64_t NaiveKey::Zremrangebyscore(ScoreBound min, ScoreBound max) {
  int64_t removed = 0;
  for (const auto& element : InOrder()) {
    if (!Within(element.second, min, max)) continue;
    scores_.erase(element.first);
    ++removed;
  }
  DropIfEmpty();
  return removed;
}

}  // namespace testing
}  // namespace weir
