// An entry of a log that is kept as a sorted set: its score is its time, its
// member the sum of all costs up to and including its own (7 bytes, highest
// first), then its cost (4 bytes) if that is not 1. Members are unique, and
// entries of one microsecond stay in the order in which they came.
#ifndef WEIR_CORE_ENGINES_LOG_ENTRY_H_
#define WEIR_CORE_ENGINES_LOG_ENTRY_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "weir/txn.h"

namespace weir::engines {

struct LogEntry {
  static constexpr size_t kSumBytes = 7;
  static constexpr size_t kCostBytes = 4;

  int64_t time;
  int64_t sum;
  int64_t cost;

  std::string Member() const {
    std::string bytes;
    Put(sum, kSumBytes, &bytes);
    if (cost != 1) Put(cost, kCostBytes, &bytes);
    return bytes;
  }

  static LogEntry Decode(const ScoredMember& m) {
    const std::string_view bytes = m.member;
    LogEntry e = {static_cast<int64_t>(m.score), 0, 1};
    e.sum = Take(bytes.substr(0, kSumBytes));
    if (bytes.size() > kSumBytes) e.cost = Take(bytes.substr(kSumBytes));
    return e;
  }

 private:
  static void Put(int64_t value, size_t width, std::string* bytes) {
    for (size_t i = width; i > 0; --i) {
      bytes->push_back(static_cast<char>(value >> (8 * (i - 1))));
    }
  }

  static int64_t Take(std::string_view bytes) {
    int64_t value = 0;
    for (char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_LOG_ENTRY_H_
