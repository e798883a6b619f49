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

#include "weir/txn.h"

namespace weir {
namespace testing {

class NaiveKey {
 public:
  enum class Type { kMissing, kString, kSortedSet };

  // Every later command happens at this time.
  void SetTime(int64_t now_ms);
  Type type() const { return type_; }

  bool Exists() const { return type_ != Type::kMissing; }
  bool Del();
  bool Pexpire(int64_t ms);
  int64_t Pttl() const;

  std::optional<std::string> Get() const;
  void Set(const std::string& value, int64_t px);

  bool Zadd(double score, const std::string& member);
  int64_t Zcard() const { return static_cast<int64_t>(scores_.size()); }
  int64_t Zcount(ScoreBound min, ScoreBound max) const;
  std::optional<double> Zscore(const std::string& member) const;
  std::vector<std::pair<std::string, double>> Zrange(int64_t start,
                                                     int64_t stop) const;
  bool Zrem(const std::string& member);
  int64_t Zremrangebyrank(int64_t start, int64_t stop);
  int64_t Zremrangebyscore(ScoreBound min, ScoreBound max);

 private:
  // Ordered by score, then by member as bytes.
  std::vector<std::pair<std::string, double>> InOrder() const;
  void DropIfEmpty();

  Type type_ = Type::kMissing;
  std::string value_;
  std::map<std::string, double> scores_;
  std::optional<int64_t> expire_ms_;
  int64_t now_ms_ = 0;
};

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_NAIVE_KEY_H_
