// One Redis key, as the documentation of its commands tells it, and nothing
// clever: the model that a Txn is compared with.
#ifndef WEIR_TESTS_KIT_NAIVE_KEY_H_
#define WEIR_TESTS_KIT_NAIVE_KEY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/kit/txn_words.h"
#include "weir/txn.h"

namespace weir {
namespace testing {

class NaiveKey {
 public:
  // Every later command happens at this time.
  void SetTime(int64_t now_ms);

  // Runs a command; what it replies.
  std::string Do(const Words& words);

  // none, string, list, zset or hash.
  const std::string& type() const { return type_; }
  // How many elements it has, or bytes.
  int64_t size() const;
  int64_t Pttl() const;

 private:
  using Scored = std::vector<std::pair<std::string, double>>;

  std::string Run(const Words& words);
  std::string Keys(const Words& words);
  std::string Strings(const Words& words);
  std::string Lists(const Words& words);
  std::string Sets(const Words& words);
  std::string Hashes(const Words& words);

  void Drop();
  std::string Expire(int64_t at_ms, const Words& words);
  std::string Set(const Words& words);
  std::string Zadd(const Words& words);
  std::string Range(const Words& words) const;
  std::string Remove(const Scored& some);

  // Ordered by score, then by member as bytes.
  Scored InOrder() const;
  Scored ByRank(int64_t start, int64_t stop, bool down) const;
  Scored ByScore(ScoreBound min, ScoreBound max) const;

  std::string type_ = "none";
  std::string value_;
  std::vector<std::string> list_;
  std::map<std::string, double> scores_;
  std::map<std::string, std::string> fields_;
  std::optional<int64_t> expire_ms_;
  int64_t now_ms_ = 0;
};

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_NAIVE_KEY_H_
