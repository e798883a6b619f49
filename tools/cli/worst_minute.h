// The minute with the most denied calls.
//
// Exact, unless a call comes so late that its minute was forgotten: counts are
// kept for the kKept to 2 * kKept newest minutes that had any denied call
// (three months of them at the least), and of older ones only the worst.
#ifndef WEIR_TOOLS_CLI_WORST_MINUTE_H_
#define WEIR_TOOLS_CLI_WORST_MINUTE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "absl/container/flat_hash_map.h"

namespace weir::cli {

class WorstMinute {
 public:
  static constexpr size_t kKept = size_t{1} << 17;
  static constexpr int64_t kMinuteUs = 60'000'000;

  struct Minute {
    int64_t start_us = 0;
    uint64_t denied = 0;
  };

  // A call at `time_us` was denied.
  void Add(int64_t time_us) {
    if (time_us < start_ || time_us - start_ >= kMinuteUs) Move(time_us);
    ++open_;
  }

  // The earliest of those with the most. Nothing was denied: none.
  std::optional<Minute> Find() const;

 private:
  // Makes the minute of `time_us` the open one.
  void Move(int64_t time_us);
  void Forget();

  // The minute that is being counted, kept apart: calls mostly follow on.
  int64_t start_ = std::numeric_limits<int64_t>::max();
  uint64_t open_ = 0;
  absl::flat_hash_map<int64_t, uint64_t> closed_;  // by start
  Minute forgotten_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_WORST_MINUTE_H_
