// Keys for benchmarks: 20 bytes each, asked in an order without a pattern, all
// made before the clock runs. Each as often as any other, or, by Zipf's law,
// the n-th most frequent 1 / n^0.99 as often as the first.
#ifndef WEIR_BENCH_KEYS_H_
#define WEIR_BENCH_KEYS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

enum class Spread { kUniform, kZipf };

class Keys {
 public:
  explicit Keys(size_t count, Spread spread = Spread::kUniform) {
    std::mt19937_64 random(20);
    names_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      char name[40];
      std::snprintf(name, sizeof(name), "client:%013zu", i);
      names_.emplace_back(name);
    }
    order_.resize(1 << 20);
    if (spread == Spread::kUniform) {
      for (uint32_t& i : order_) i = static_cast<uint32_t>(random() % count);
      return;
    }
    std::vector<double> weights(count);
    for (size_t i = 0; i < count; ++i) {
      weights[i] = 1 / std::pow(static_cast<double>(i + 1), 0.99);
    }
    // Which keys are frequent has nothing to do with where they lie.
    std::shuffle(weights.begin(), weights.end(), random);
    std::discrete_distribution<uint32_t> draw(weights.begin(), weights.end());
    for (uint32_t& i : order_) i = draw(random);
  }

  std::string_view Next(size_t* position) const {
    return names_[order_[(*position)++ & (order_.size() - 1)]];
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::vector<uint32_t> order_;
};

}  // namespace weir::bench

#endif  // WEIR_BENCH_KEYS_H_
