// The keys of a trace, each once, with counters.
//
// Memory grows with the keys: their bytes, and about 50 bytes a key plus 8 a
// counter. Nothing is allocated for a key that is known.
#ifndef WEIR_TOOLS_CLI_KEY_TABLE_H_
#define WEIR_TOOLS_CLI_KEY_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace weir::cli {

class KeyTable {
 public:
  // `counters`: how many each key has, all 0 at first.
  explicit KeyTable(size_t counters) : counters_(counters) {}

  // The key's counters; the pointer holds until the next call.
  uint64_t* Find(std::string_view key);

  size_t size() const { return keys_.size(); }
  std::string_view key(size_t i) const { return keys_[i]; }
  const uint64_t* counts(size_t i) const { return &counts_[i * counters_]; }

 private:
  std::string_view Keep(std::string_view key);

  const size_t counters_;
  absl::flat_hash_map<absl::string_view, size_t> index_;
  std::vector<std::string_view> keys_;
  std::vector<uint64_t> counts_;
  // The keys' bytes, in blocks; what is left of the last one.
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;
  size_t free_bytes_ = 0;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_KEY_TABLE_H_
