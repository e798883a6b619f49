// The queue that logs are kept in, beside a deque.
#include "backends/memory/ring.h"

#include <algorithm>
#include <deque>

#include "gtest/gtest.h"
#include "weir/testing/random.h"

namespace weir {
namespace {

TEST(Ring, IsADeque) {
  testing::Rng rng = testing::TestRng();
  Ring<int64_t> ring;
  std::deque<int64_t> deque;
  for (int round = 0; round < 400; ++round) {
    // Now about empty, now past the size at which it is taken apart.
    const int64_t pushes = rng.LogUniform(1, 6'000);
    for (int64_t i = 0; i < pushes; ++i) {
      ring.push_back(i * round);
      deque.push_back(i * round);
    }
    const auto size = static_cast<int64_t>(deque.size());
    const auto front = static_cast<size_t>(
        rng.OneIn(4) ? rng.Uniform(0, size) : rng.Uniform(0, size / 4));
    ring.pop_front(front);
    deque.erase(deque.begin(), deque.begin() + static_cast<int64_t>(front));
    const auto back = static_cast<size_t>(
        rng.Uniform(0, static_cast<int64_t>(deque.size()) / 3));
    ring.pop_back(back);
    deque.erase(deque.end() - static_cast<int64_t>(back), deque.end());
    ASSERT_EQ(ring.size(), deque.size());
    for (size_t i = 0; i < deque.size(); ++i) ASSERT_EQ(ring[i], deque[i]);
  }
}

TEST(Ring, GivesBackWhatItNoLongerNeeds) {
  Ring<int64_t> ring;
  for (int64_t i = 0; i < 100'000; ++i) ring.push_back(i);
  EXPECT_LE(ring.bytes(), size_t{100'000 * 8 + 8'192});
  ring.pop_front(99'990);
  EXPECT_LE(ring.bytes(), size_t{1'000});
  EXPECT_EQ(ring[0], 99'990);
}

}  // namespace
}  // namespace weir
