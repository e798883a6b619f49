#include "weir/testing/random.h"

#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace weir {
namespace testing {
namespace {

uint64_t ChooseSeed() {
  uint64_t seed = 0;
  if (const char* given = std::getenv("WEIR_TEST_SEED")) {
    seed = std::strtoull(given, nullptr, 10);
  } else {
    std::random_device device;
    seed = device();
  }
  std::cout << "WEIR_TEST_SEED=" << seed << std::endl;
  return seed;
}

bool IsOne(const char* value) {
  return value != nullptr && std::string(value) == "1";
}

// FNV-1a: std::hash may differ from one platform to the next.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return hash;
}

}  // namespace

uint64_t Seed() {
  static const uint64_t seed = ChooseSeed();
  return seed;
}

bool FullRun() { return IsOne(std::getenv("WEIR_TEST_FULL")); }

bool ShortRun() { return IsOne(std::getenv("WEIR_TEST_SHORT")); }

uint64_t Rng::Next() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int64_t Rng::Uniform(int64_t low, int64_t high) {
  if (high <= low) return low;
  const uint64_t span =
      static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  // The bias of the remainder is far below what a test could see. A span of 0
  // is the whole range of int64_t.
  const uint64_t drawn = span == 0 ? Next() : Next() % span;
  return static_cast<int64_t>(static_cast<uint64_t>(low) + drawn);
}

int64_t Rng::LogUniform(int64_t low, int64_t high) {
  if (high <= low) return low;
  const auto bits = [](int64_t v) {
    int n = 0;
    for (; v > 0; v >>= 1) ++n;
    return n;
  };
  // A number of bits first, then a number of that many bits: no libm, whose
  // last digits differ between platforms.
  const int64_t n = Uniform(bits(low), bits(high));
  const int64_t least = int64_t{1} << (n - 1);
  const int64_t most = least + (least - 1);
  return Uniform(least > low ? least : low, most < high ? most : high);
}

Rng TestRng() {
  const ::testing::TestInfo* test =
      ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string name =
      test == nullptr
          ? ""
          : std::string(test->test_suite_name()) + "." + test->name();
  return Rng(Seed() ^ HashOf(name));
}

}  // namespace testing
}  // namespace weir
