#include "backends/redis/sha1.h"

#include <array>
#include <cstdint>

namespace weir::redis {
namespace {

constexpr size_t kBlock = 64;

uint32_t RotateLeft(uint32_t x, int n) { return x << n | x >> (32 - n); }

void AddBlock(const char* block, std::array<uint32_t, 5>* hash) {
  std::array<uint32_t, 80> w;
  for (size_t i = 0; i < 16; ++i) {
    w[i] = 0;
    for (size_t j = 0; j < 4; ++j) {
      w[i] = w[i] << 8 | static_cast<unsigned char>(block[4 * i + j]);
    }
  }
  for (size_t i = 16; i < 80; ++i) {
    w[i] = RotateLeft(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto [a, b, c, d, e] = *hash;
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
    const uint32_t next = RotateLeft(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = RotateLeft(b, 30);
    b = a;
    a = next;
  }
  (*hash)[0] += a;
  (*hash)[1] += b;
  (*hash)[2] += c;
  (*hash)[3] += d;
  (*hash)[4] += e;
}

}  // namespace

std::string Sha1(std::string_view text) {
  std::array<uint32_t, 5> hash = {0x67452301, 0xefcdab89, 0x98badcfe,
                                  0x10325476, 0xc3d2e1f0};
  const size_t whole = text.size() / kBlock * kBlock;
  for (size_t at = 0; at < whole; at += kBlock) {
    AddBlock(text.data() + at, &hash);
  }
  // A one bit, zeros, and the length in bits end a block.
  std::string tail(text.substr(whole));
  tail.push_back('\x80');
  while (tail.size() % kBlock != kBlock - 8) tail.push_back('\0');
  const uint64_t bits = uint64_t{text.size()} * 8;
  for (int i = 56; i >= 0; i -= 8) tail.push_back(static_cast<char>(bits >> i));
  for (size_t at = 0; at < tail.size(); at += kBlock) {
    AddBlock(tail.data() + at, &hash);
  }

  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const uint32_t word : hash) {
    for (int i = 28; i >= 0; i -= 4) hex.push_back(kDigits[word >> i & 15]);
  }
  return hex;
}

}  // namespace weir::redis
