#include "tests/kit/naive_key.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kit/naive_parts.h"

namespace weir {
namespace testing {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

std::string Bytes(const std::string& s) {
  return BytesReply(std::string_view(s));
}

}  // namespace

void NaiveKey::SetTime(int64_t now_ms) {
  now_ms_ = now_ms;
  if (expire_ms_ && now_ms_ >= *expire_ms_) Drop();
}

void NaiveKey::Drop() {
  type_ = "none";
  value_.clear();
  list_.clear();
  scores_.clear();
  fields_.clear();
  expire_ms_.reset();
}

int64_t NaiveKey::size() const {
  return static_cast<int64_t>(value_.size() + list_.size() + scores_.size() +
                              fields_.size());
}

int64_t NaiveKey::Pttl() const {
  if (type_ == "none") return -2;
  if (!expire_ms_) return -1;
  return *expire_ms_ - now_ms_;
}

std::string NaiveKey::Do(const Words& words) {
  std::string reply = Run(words);
  // The last element takes the key with it.
  if (type_ != "none" && type_ != "string" && size() == 0) Drop();
  return reply;
}

std::string NaiveKey::Run(const Words& w) {
  static const std::vector<std::string> keys = {
      "EXISTS",    "DEL",  "TYPE",        "PEXPIRE",
      "PEXPIREAT", "PTTL", "PEXPIRETIME", "PERSIST"};
  if (IsOneOf(w[0], keys)) return Keys(w);
  if (w[0][0] == 'L' || w[0][0] == 'R') return Lists(w);
  if (w[0][0] == 'Z') return Sets(w);
  if (w[0][0] == 'H') return Hashes(w);
  return Strings(w);
}

std::string NaiveKey::Keys(const Words& w) {
  const bool is = type_ != "none";
  if (w[0] == "EXISTS") return BoolReply(is);
  if (w[0] == "TYPE") return "+" + type_;
  if (w[0] == "DEL") {
    Drop();
    return BoolReply(is);
  }
  if (w[0] == "PTTL") return IntegerReply(Pttl());
  if (w[0] == "PEXPIRETIME") {
    return IntegerReply(expire_ms_ ? *expire_ms_ : Pttl());
  }
  if (w[0] == "PERSIST") {
    const bool had = expire_ms_.has_value();
    expire_ms_.reset();
    return BoolReply(had);
  }
  const int64_t number = IntegerOf(w[1]);
  if (w[0] == "PEXPIREAT") return Expire(number, w);
  if (number > kMost - now_ms_) {
    return "-ERR invalid expire time in 'pexpire' command";
  }
  return Expire(now_ms_ + number, w);
}

std::string NaiveKey::Expire(int64_t at_ms, const Words& w) {
  if (type_ == "none") return BoolReply(false);
  const int64_t current = expire_ms_.value_or(kMost);
  if ((HasOption(w, "NX") && expire_ms_) ||
      (HasOption(w, "XX") && !expire_ms_) ||
      (HasOption(w, "GT") && at_ms <= current) ||
      (HasOption(w, "LT") && at_ms >= current)) {
    return BoolReply(false);
  }
  if (at_ms <= now_ms_) {
    Drop();
  } else {
    expire_ms_ = at_ms;
  }
  return BoolReply(true);
}

std::string NaiveKey::Set(const Words& w) {
  std::optional<int64_t> px;
  for (size_t i = 2; i < w.size(); ++i) {
    if (w[i] == "PX") px = IntegerOf(w[++i]);
  }
  const bool keep = HasOption(w, "KEEPTTL");
  if (px && keep) return "-ERR syntax error";
  if (px && (*px <= 0 || *px > kMost - now_ms_)) {
    return "-ERR invalid expire time in 'set' command";
  }
  const bool is = type_ != "none";
  if ((HasOption(w, "NX") && is) || (HasOption(w, "XX") && !is)) return "nil";
  std::optional<int64_t> expiry;
  if (keep) expiry = expire_ms_;
  if (px) expiry = now_ms_ + *px;
  Drop();
  type_ = "string";
  value_ = w[1];
  expire_ms_ = expiry;
  return "+OK";
}

std::string NaiveKey::Strings(const Words& w) {
  const bool is = type_ != "none";
  if (w[0] == "SET") return Set(w);
  if (w[0] == "SETNX") {
    if (!is) Set({"SET", w[1]});
    return BoolReply(!is);
  }
  if (is && type_ != "string") return kWrongType;
  const std::string before = is ? Bytes(value_) : "nil";
  if (w[0] == "GET") return before;
  if (w[0] == "STRLEN") return IntegerReply(size());
  if (w[0] == "GETDEL") {
    Drop();
    return before;
  }
  if (w[0] == "GETSET") {
    Set({"SET", w[1]});
    return before;
  }
  if (w[0] == "APPEND") {
    type_ = "string";
    value_ += w[1];
    return IntegerReply(size());
  }
  std::string reply;
  std::string after;
  const std::string number = is ? value_ : "0";
  if (w[0] == "INCRBY") {
    reply = AddWhole(number, IntegerOf(w[1]),
                     "-ERR value is not an integer or out of range", &after);
  } else if (!Real(w[1])) {
    return kNotFloat;
  } else {
    reply = AddReal(number, w[1], kNotFloat, &after);
  }
  if (reply[0] == '-') return reply;
  type_ = "string";
  value_ = after;
  return reply;
}

std::string NaiveKey::Lists(const Words& w) {
  const bool is = type_ != "none";
  if (is && type_ != "list") return kWrongType;
  const auto count = static_cast<int64_t>(list_.size());
  const std::string& name = w[0];
  if (name == "LLEN") return IntegerReply(count);
  if (name.substr(1, 4) == "PUSH") {
    if (name.back() == 'X' && !is) return IntegerReply(0);
    type_ = "list";
    list_.insert(name[0] == 'L' ? list_.begin() : list_.end(), w[1]);
    return IntegerReply(count + 1);
  }
  if (name.substr(1) == "POP") {
    if (!is) return "nil";
    const auto place = name[0] == 'L' ? list_.begin() : list_.end() - 1;
    const std::string element = *place;
    list_.erase(place);
    return Bytes(element);
  }
  if (name == "LINDEX" || name == "LSET") {
    if (!is) return name == "LSET" ? "-ERR no such key" : "nil";
    int64_t i = IntegerOf(w[1]);
    if (i < 0) i += count;
    if (i < 0 || i >= count) {
      return name == "LSET" ? "-ERR index out of range" : "nil";
    }
    std::string& element = list_[static_cast<size_t>(i)];
    if (name == "LINDEX") return Bytes(element);
    element = w[2];
    return "+OK";
  }
  std::vector<std::string> some;
  for (int64_t i = 0; i < count; ++i) {
    if (InRange(i, count, IntegerOf(w[1]), IntegerOf(w[2]))) {
      some.push_back(list_[static_cast<size_t>(i)]);
    }
  }
  if (name == "LTRIM") {
    list_ = some;
    return "+OK";
  }
  for (std::string& element : some) element = Bytes(element);
  return ArrayReply(some);
}

std::string NaiveKey::Hashes(const Words& w) {
  if (w[0] == "HINCRBYFLOAT") {
    const std::optional<long double> n = Real(w[2]);
    if (!n) return kNotFloat;
    if (std::isinf(*n)) return "-ERR value is NaN or Infinity";
  }
  if (type_ != "none" && type_ != "hash") return kWrongType;
  if (w[0] == "HLEN") return IntegerReply(size());
  if (w[0] == "HGETALL") {
    return FieldsReply({fields_.begin(), fields_.end()});
  }
  const auto text = [&](const std::string& field) {
    const auto found = fields_.find(field);
    return found == fields_.end() ? "nil" : Bytes(found->second);
  };
  if (w[0] == "HMGET") {
    std::vector<std::string> values;
    for (size_t i = 1; i < w.size(); ++i) values.push_back(text(w[i]));
    return ArrayReply(values);
  }
  const bool is = fields_.count(w[1]) > 0;
  if (w[0] == "HGET") return text(w[1]);
  if (w[0] == "HEXISTS") return BoolReply(is);
  if (w[0] == "HSTRLEN") {
    return IntegerReply(is ? static_cast<int64_t>(fields_[w[1]].size()) : 0);
  }
  if (w[0] == "HDEL") return BoolReply(fields_.erase(w[1]) > 0);
  if (w[0] == "HSET" || w[0] == "HSETNX") {
    if (is && w[0] == "HSETNX") return BoolReply(false);
    type_ = "hash";
    fields_[w[1]] = w[2];
    return BoolReply(!is);
  }
  const std::string before = is ? fields_[w[1]] : "0";
  std::string after;
  std::string reply;
  if (w[0] == "HINCRBY") {
    reply = AddWhole(before, IntegerOf(w[2]),
                     "-ERR hash value is not an integer", &after);
  } else {
    reply = AddReal(before, w[2], "-ERR hash value is not a float", &after);
  }
  if (reply[0] == '-') return reply;
  type_ = "hash";
  fields_[w[1]] = after;
  return reply;
}

}  // namespace testing
}  // namespace weir
