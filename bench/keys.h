// Keys for benchmarks: 20 bytes each, asked in an order without a pattern, all
// made before the clock runs.
#ifndef WEIR_BENCH_KEYS_H_
#define WEIR_BENCH_KEYS_H_

#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

class Keys {
 public:
  explicit Keys(size_t count) {
    std::mt19937_64 random(20);
    names_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      char name[40];
      std::snprintf(name, sizeof(name), "client:%013zu", i);
      names_.emplace_back(name);
    }
    order_.resize(1 << 20);
    for (uint32_t& i : order_) i = static_cast<uint32_t>(random() % count);
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
