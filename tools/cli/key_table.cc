#include "tools/cli/key_table.h"

#include <cstring>

#include "core/text.h"

namespace weir::cli {
namespace {

constexpr size_t kBlockBytes = size_t{64} << 10;

}  // namespace

uint64_t* KeyTable::Find(std::string_view key) {
  const auto known = index_.find(Sv(key));
  if (known != index_.end()) return &counts_[known->second * counters_];
  const std::string_view kept = Keep(key);
  index_.emplace(Sv(kept), keys_.size());
  keys_.push_back(kept);
  counts_.resize(counts_.size() + counters_);
  return &counts_[counts_.size() - counters_];
}

std::string_view KeyTable::Keep(std::string_view key) {
  if (key.empty()) return {};
  if (key.size() > kBlockBytes / 4) {
    // A block of its own leaves the last block's rest in use.
    blocks_.push_back(std::make_unique<char[]>(key.size()));
    std::memcpy(blocks_.back().get(), key.data(), key.size());
    return {blocks_.back().get(), key.size()};
  }
  if (key.size() > free_bytes_) {
    blocks_.push_back(std::make_unique<char[]>(kBlockBytes));
    free_ = blocks_.back().get();
    free_bytes_ = kBlockBytes;
  }
  std::memcpy(free_, key.data(), key.size());
  const std::string_view kept(free_, key.size());
  free_ += key.size();
  free_bytes_ -= key.size();
  return kept;
}

}  // namespace weir::cli
