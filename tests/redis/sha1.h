// The SHA-1 of a script, as a server makes it, for scripts that only tests
// have.
#ifndef WEIR_TESTS_REDIS_SHA1_H_
#define WEIR_TESTS_REDIS_SHA1_H_

#include <array>
#include <cstdint>
#include <string>

namespace weir::testing {

// FIPS 180-4. 40 lower-case hex digits.
inline std::string Sha1Hex(std::string text) {
  const uint64_t bits = uint64_t{text.size()} * 8;
  text += '\x80';
  while (text.size() % 64 != 56) text += '\0';
  for (int i = 7; i >= 0; --i) text += static_cast<char>(bits >> (8 * i));
  const auto rotate = [](uint32_t x, int n) {
    return (x << n) | (x >> (32 - n));
  };
  std::array<uint32_t, 5> h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                               0xc3d2e1f0};
  for (size_t at = 0; at < text.size(); at += 64) {
    std::array<uint32_t, 80> w{};
    for (size_t i = 0; i < 16; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        w[i] = w[i] << 8 | static_cast<uint8_t>(text[at + 4 * i + j]);
      }
    }
    for (size_t i = 16; i < 80; ++i) {
      w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    }
    auto [a, b, c, d, e] = h;
    for (size_t i = 0; i < 80; ++i) {
      uint32_t f;
      uint32_t k;
      if (i < 20) {
        f = (b & c) | (~b & d);
        k = 0x5a827999;
      } else if (i < 40) {
        f = b ^ c ^ d;
        k = 0x6ed9eba1;
      } else if (i < 60) {
        f = (b & c) | (b & d) | (c & d);
        k = 0x8f1bbcdc;
      } else {
        f = b ^ c ^ d;
        k = 0xca62c1d6;
      }
      const uint32_t next = rotate(a, 5) + f + e + k + w[i];
      e = d;
      d = c;
      c = rotate(b, 30);
      b = a;
      a = next;
    }
    h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
  }
  std::string hex;
  for (const uint32_t word : h) {
    for (int i = 7; i >= 0; --i) {
      hex += "0123456789abcdef"[(word >> (4 * i)) & 15];
    }
  }
  return hex;
}

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_SHA1_H_
