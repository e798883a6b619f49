// Keys for benchmarks: 20 bytes each, asked in an order without a pattern, all
// made before the clock runs. Each as often as any other, or, by Zipf's law,
// the n-th most frequent 1 / n^0.99 as often as the first.
//
// They lie one after another as they are asked: a caller has its key in the
// cache, so what misses it is the limiter's.
#ifndef WEIR_BENCH_KEYS_H_
#define WEIR_BENCH_KEYS_H_

#include <algorithm>
#include <array>
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
    asked_.resize(kAsked);
    if (spread == Spread::kUniform) {
      for (Name& name : asked_) name = NameOf(random() % count);
      return;
    }
    std::vector<double> weights(count);
    for (size_t i = 0; i < count; ++i) {
      weights[i] = 1 / std::pow(static_cast<double>(i + 1), 0.99);
    }
    // Which keys are frequent has nothing to do with where they lie.
    std::shuffle(weights.begin(), weights.end(), random);
    std::discrete_distribution<size_t> draw(weights.begin(), weights.end());
    for (Name& name : asked_) name = NameOf(draw(random));
  }

  std::string_view Next(size_t* position) const {
    const Name& name = asked_[(*position)++ & (kAsked - 1)];
    return {name.data(), name.size()};
  }
  const std::vector<std::string>& all() const { return names_; }

 private:
  static constexpr size_t kAsked = 1 << 20;
  using Name = std::array<char, 20>;

  Name NameOf(size_t i) const {
    Name name;
    names_[i].copy(name.data(), name.size());
    return name;
  }

  std::vector<std::string> names_;
  std::vector<Name> asked_;
};

}  // namespace weir::bench

#endif  // WEIR_BENCH_KEYS_H_
