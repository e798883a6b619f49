#include "tools/cli/key_table.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::cli {
namespace {

// Keys of all lengths, many more than a block holds, each different.
std::string Key(size_t i) {
  std::string key(i * 37 % 500, static_cast<char>(i));
  if (i % 100 == 7) key.resize(20'000 + i, 'x');
  return key + '\0' + std::to_string(i);
}

TEST(KeyTable, KeepsEachKeyOnceWithItsOwnCounters) {
  constexpr size_t kKeys = 3000;
  KeyTable table(2);
  for (size_t round = 1; round <= 3; ++round) {
    for (size_t i = 0; i < kKeys; ++i) {
      // The key's bytes are gone after the call.
      const std::string key = Key(i);
      uint64_t* counts = table.Find(key);
      EXPECT_EQ(counts[0], (round - 1) * i);
      counts[0] += i;
      ++counts[1];
    }
  }
  ASSERT_EQ(table.size(), kKeys);
  for (size_t i = 0; i < kKeys; ++i) {
    ASSERT_EQ(table.key(i), Key(i));
    EXPECT_EQ(table.counts(i)[0], 3 * i);
    EXPECT_EQ(table.counts(i)[1], 3u);
  }
}

TEST(KeyTable, TakesTheEmptyKey) {
  KeyTable table(1);
  ++*table.Find("");
  ++*table.Find(std::string_view("\0", 1));
  ++*table.Find("");
  ASSERT_EQ(table.size(), 2u);
  EXPECT_EQ(table.counts(0)[0], 2u);
}

}  // namespace
}  // namespace weir::cli
