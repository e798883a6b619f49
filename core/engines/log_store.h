// Where a log lies: in a sorted set or in a list. Both know an entry by its
// rank, the oldest first.
#ifndef WEIR_CORE_ENGINES_LOG_STORE_H_
#define WEIR_CORE_ENGINES_LOG_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/engines/log_entry.h"
#include "weir/txn.h"

namespace weir::engines {

// Scores are times; ZCOUNT finds what has left.
template <class T>
class SortedSetLog {
 public:
  static constexpr bool kDropsLate = false;

  explicit SortedSetLog(T& txn) : txn_(txn) {}

  int64_t Size() const { return txn_.ZCARD(); }
  LogEntry At(int64_t rank) const {
    ScoredMember m;
    txn_.ZRANGE(rank, rank, absl::MakeSpan(&m, 1));
    return LogEntry::FromMember(m.score, m.member).value_or(LogEntry());
  }
  // How many entries are not later than `time`.
  int64_t CountUpTo(int64_t time, int64_t /*size*/) const {
    return txn_.ZCOUNT(ScoreBound::Lowest(),
                       {static_cast<double>(time), false});
  }
  void Append(const LogEntry& e) {
    txn_.ZADD(static_cast<double>(e.time), e.Member());
  }
  void RemoveOldest(int64_t n) { txn_.ZREMRANGEBYRANK(0, n - 1); }
  void RemoveFrom(int64_t rank) { txn_.ZREMRANGEBYRANK(rank, -1); }
  // `rank`: of the newest entry. There is no such command: for refunds only.
  void ReplaceNewest(int64_t rank, const LogEntry& e) {
    RemoveFrom(rank);
    Append(e);
  }

 private:
  T& txn_;
};

// A transaction may know entries as such, and read one without a copy of its
// bytes.
template <class T, class = void>
inline constexpr bool kReadsEntries = false;
template <class T>
inline constexpr bool
    kReadsEntries<T, std::void_t<decltype(std::declval<T&>().LINDEX(
                         int64_t{}, std::declval<LogEntry*>()))>> = true;

// Newest first, as LPUSH leaves them.
template <class T>
class ListLog {
 public:
  // A script drops by two commands here: up to two that have left may wait.
  static constexpr bool kDropsLate = true;

  explicit ListLog(T& txn) : txn_(txn) {}

  int64_t Size() const { return txn_.LLEN(); }
  LogEntry At(int64_t rank) const {
    if constexpr (kReadsEntries<T>) {
      LogEntry e;
      txn_.LINDEX(-1 - rank, &e);
      return e;
    } else {
      const std::optional<std::string> bytes = txn_.LINDEX(-1 - rank);
      if (!bytes) return LogEntry();
      return LogEntry::FromElement(*bytes).value_or(LogEntry());
    }
  }
  int64_t CountUpTo(int64_t time, int64_t size) const {
    int64_t low = 0;
    int64_t high = size;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (At(middle).time <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  void Append(const LogEntry& e) { txn_.LPUSH(e.Element()); }
  void RemoveOldest(int64_t n) { txn_.LTRIM(0, -1 - n); }
  void RemoveFrom(int64_t rank) {
    if (rank == 0) {
      txn_.DEL();
    } else {
      txn_.LTRIM(-rank, -1);
    }
  }
  void ReplaceNewest(int64_t /*rank*/, const LogEntry& e) {
    txn_.LSET(0, e.Element());
  }

 private:
  T& txn_;
};

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_LOG_STORE_H_
