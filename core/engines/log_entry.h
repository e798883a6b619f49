// An entry of a log: when, and how much; and the sum of all costs up to and
// including its own, so that what lies between two entries is a difference.
#ifndef WEIR_CORE_ENGINES_LOG_ENTRY_H_
#define WEIR_CORE_ENGINES_LOG_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace weir::engines {

class LogEntryBytes;

struct LogEntry {
  int64_t time = 0;
  int64_t sum = 0;
  int64_t cost = 1;

  // As a member of a sorted set, whose score is the time: the sum, then the
  // cost if that is not 1; 7 bytes each, highest first. Members are unique,
  // and entries of one microsecond stay in the order in which they came.
  LogEntryBytes Member() const;
  // As an element of a list: the time, then as above.
  LogEntryBytes Element() const;

  // Nothing if these are not bytes that Member or Element writes.
  static std::optional<LogEntry> FromMember(double score,
                                            std::string_view bytes) {
    if (bytes.size() != kWidth && bytes.size() != 2 * kWidth) {
      return std::nullopt;
    }
    LogEntry e = {static_cast<int64_t>(score), Take(bytes, 0), 1};
    if (bytes.size() == kWidth) return e;
    e.cost = Take(bytes, kWidth);
    if (e.cost == 1) return std::nullopt;
    return e;
  }

  static std::optional<LogEntry> FromElement(std::string_view bytes) {
    if (bytes.size() < kWidth) return std::nullopt;
    std::optional<LogEntry> e = FromMember(0, bytes.substr(kWidth));
    if (e) e->time = Take(bytes, 0) - kBias;
    return e;
  }

 private:
  friend class LogEntryBytes;
  static constexpr size_t kWidth = 7;
  static constexpr int64_t kBias = int64_t{1} << 54;  // times may be negative

  static int64_t Take(std::string_view bytes, size_t at) {
    int64_t value = 0;
    for (size_t i = at; i < at + kWidth; ++i) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  }
};

// What an entry is written as, without the heap.
class LogEntryBytes {
 public:
  std::string_view view() const { return {bytes_, size_}; }
  // NOLINTNEXTLINE(google-explicit-constructor): a command's argument.
  operator std::string_view() const { return view(); }

 private:
  friend struct LogEntry;

  void Put(int64_t value) {
    for (size_t i = LogEntry::kWidth; i > 0; --i) {
      bytes_[size_++] = static_cast<char>(value >> (8 * (i - 1)));
    }
  }
  void PutMember(const LogEntry& e) {
    Put(e.sum);
    if (e.cost != 1) Put(e.cost);
  }

  char bytes_[3 * LogEntry::kWidth];
  size_t size_ = 0;
};

inline LogEntryBytes LogEntry::Member() const {
  LogEntryBytes bytes;
  bytes.PutMember(*this);
  return bytes;
}

inline LogEntryBytes LogEntry::Element() const {
  LogEntryBytes bytes;
  bytes.Put(time + kBias);
  bytes.PutMember(*this);
  return bytes;
}

}  // namespace weir::engines

#endif  // WEIR_CORE_ENGINES_LOG_ENTRY_H_
