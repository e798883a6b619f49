// Names never meet, and a key's tag is what Redis takes for it.
#include "backends/redis/key_name.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "weir/testing/random.h"

namespace weir::redis {
namespace {

// The part of a key that Redis Cluster hashes, as its specification tells it.
std::string_view HashedPart(std::string_view key) {
  const size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

TEST(KeyName, IsReadableWhereKeysAreOrdinary) {
  EXPECT_EQ(KeyName(KeyPrefix("weir", "default", "gcra"), "user:42", "user:42"),
            "weir:default:gcra:{user:42}");
  EXPECT_EQ(KeyName(KeyPrefix("shop", "consumer", "sliding_log"), "host",
                    "host/alice"),
            "shop:consumer:sliding_log:{host}/alice");
}

std::string RandomBytes(testing::Rng& rng) {
  static constexpr std::string_view kBytes("{}%:=a\0\n\xff", 9);
  std::string bytes;
  for (int64_t n = rng.Uniform(0, 3); n > 0; --n) {
    bytes.push_back(kBytes[static_cast<size_t>(rng.Uniform(0, 8))]);
  }
  return bytes;
}

TEST(KeyName, NamesNeverMeetAndEqualTagsShareASlot) {
  testing::Rng rng = testing::TestRng();
  std::map<std::string, std::vector<std::string>> owner;
  std::map<std::string, std::string> tag_of;
  for (int i = 0; i < 300'000; ++i) {
    const std::string space = RandomBytes(rng);
    const std::string rule = RandomBytes(rng);
    const std::string algorithm = RandomBytes(rng);
    const std::string tag = RandomBytes(rng);
    const std::string rest = RandomBytes(rng);
    // Mostly the tag begins the key.
    const std::string key = rng.OneIn(4) ? rest : tag + rest;
    const std::string name =
        KeyName(KeyPrefix(space, rule, algorithm), tag, key);
    const std::vector<std::string> who = {space, rule, algorithm, tag, key};
    const auto [at, is_new] = owner.emplace(name, who);
    ASSERT_EQ(at->second, who) << name;
    const std::string hashed(HashedPart(name));
    EXPECT_FALSE(hashed.empty());
    const auto [tag_at, tag_is_new] = tag_of.emplace(hashed, tag);
    ASSERT_EQ(tag_at->second, tag) << name;
  }
}

}  // namespace
}  // namespace weir::redis
