// Division by a known number beside the division of the language.
#include "core/math.h"

#include <cstdint>
#include <random>
#include <set>

#include "gtest/gtest.h"

namespace weir {
namespace {

constexpr int64_t kEnd = Divisor::kEnd;

// As many bits as any other, then any of such numbers.
int64_t Draw(std::mt19937_64* random, int64_t most) {
  const uint64_t bits = (*random)() % 63 + 1;
  const auto n = static_cast<int64_t>((*random)() >> (64 - bits));
  return n <= most ? n : n % most + 1;
}

// Powers of two, and what lies beside them.
std::set<int64_t> Edges(int64_t first, int64_t last) {
  std::set<int64_t> edges;
  for (int bit = 0; bit <= 62; ++bit) {
    for (const int64_t beside : {-1, 0, 1}) {
      const int64_t n = (int64_t{1} << bit) + beside;
      if (n >= first && n <= last) edges.insert(n);
    }
  }
  return edges;
}

void Compare(int64_t by, const Divisor& divisor, int64_t a) {
  if (a < 0 || a >= kEnd) return;
  ASSERT_EQ(divisor.Floor(a), a / by) << a << " / " << by;
  if (a == 0) return;
  ASSERT_EQ(divisor.Ceil(a), a / by + (a % by != 0 ? 1 : 0)) << a << "/" << by;
}

// The multiples of the divisor are where a quotient that is a little off shows.
void CompareAround(int64_t by, const Divisor& divisor, int64_t a) {
  const int64_t multiple = a / by * by;
  for (const int64_t beside : {-1, 0, 1}) {
    Compare(by, divisor, multiple + beside);
    Compare(by, divisor, a + beside);
  }
}

TEST(DivisorTest, DividesAsTheLanguageDoesAtTheEdges) {
  for (const int64_t by : Edges(1, kEnd)) {
    const Divisor divisor(by);
    for (const int64_t a : Edges(0, kEnd - 1)) CompareAround(by, divisor, a);
  }
}

TEST(DivisorTest, DividesAsTheLanguageDoesAnyNumbers) {
  std::mt19937_64 random(20);
  for (int i = 0; i < 400'000; ++i) {
    const int64_t by = Draw(&random, kEnd);
    const Divisor divisor(by == 0 ? 1 : by);
    for (int j = 0; j < 4; ++j) {
      CompareAround(by == 0 ? 1 : by, divisor, Draw(&random, kEnd - 1));
    }
    CompareAround(by == 0 ? 1 : by, divisor, kEnd - 1);
  }
}

TEST(DivisorTest, DividesByOneIfNothingIsSaid) {
  EXPECT_EQ(Divisor().Floor(7), 7);
  EXPECT_EQ(Divisor().Floor(kEnd - 1), kEnd - 1);
}

}  // namespace
}  // namespace weir
