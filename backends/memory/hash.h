// The hash of a key: multiply and fold, under 128 random bits that are drawn
// when the store is made, so that nobody can choose keys that collide.
#ifndef WEIR_BACKENDS_MEMORY_HASH_H_
#define WEIR_BACKENDS_MEMORY_HASH_H_

#include <cstdint>
#include <cstring>
#include <random>
#include <string_view>

#include "absl/base/attributes.h"

namespace weir {

class KeyHash {
 public:
  KeyHash() {
    std::random_device random;
    a_ = Draw(&random);
    b_ = Draw(&random);
  }

  // The seed of a rule's keys: tells apart the keys of different rules.
  uint64_t Seed(uint32_t id) const { return a_ ^ Fold(id ^ b_, kOdd); }

  // Two multiplications, one after the other, for keys of up to 32 bytes.
  ABSL_ATTRIBUTE_ALWAYS_INLINE uint64_t operator()(uint64_t seed,
                                                   std::string_view key) const {
    const char* p = key.data();
    const size_t n = key.size();
    uint64_t x = 0;
    uint64_t y = 0;
    uint64_t h = seed;
    if (n > 16) {
      h = Fold(Load8(p) ^ a_, Load8(p + 8) ^ seed ^ kOdd);
      if (__builtin_expect(n > 32, 0)) h = Long(h, p + 16, n - 16);
      x = Load8(p + n - 16);
      y = Load8(p + n - 8);
    } else if (n >= 8) {
      x = Load8(p);
      y = Load8(p + n - 8);
    } else if (n >= 4) {
      x = Load4(p);
      y = Load4(p + n - 4);
    } else {
      for (size_t i = 0; i < n; ++i) {
        x = x << 8 | static_cast<unsigned char>(p[i]);
      }
    }
    const uint64_t tail = Fold(x ^ b_, y ^ seed);
    return Fold(tail ^ h, kOdd ^ b_ ^ n);
  }

 private:
  static constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;

  static uint64_t Draw(std::random_device* random) {
    const uint64_t high = (*random)();
    return high << 32 | (*random)();
  }

  // All but the last 16 bytes, in steps of 16.
  ABSL_ATTRIBUTE_NOINLINE uint64_t Long(uint64_t h, const char* p,
                                        size_t n) const {
    for (; n > 16; n -= 16, p += 16) h = Fold(Load8(p) ^ a_, Load8(p + 8) ^ h);
    return h;
  }

  // Both halves of the 128-bit product, folded into one.
  static uint64_t Fold(uint64_t x, uint64_t y) {
    __extension__ typedef unsigned __int128 Product;
    const Product product = Product{x} * y;
    return static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64);
  }

  static uint64_t Load8(const char* p) {
    uint64_t v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }
  static uint64_t Load4(const char* p) {
    uint32_t v;
    std::memcpy(&v, p, sizeof(v));
    return v;
  }

  uint64_t a_;
  uint64_t b_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_HASH_H_
