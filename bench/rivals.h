// What weir is measured beside: the limiters that existing parts give. Each
// keeps one arrival time a key (gcra, integers, the steady clock).
#ifndef WEIR_BENCH_RIVALS_H_
#define WEIR_BENCH_RIVALS_H_

#include <cstdint>
#include <memory>
#include <string_view>

namespace weir::bench {

class Rival {
 public:
  virtual ~Rival() = default;
  // Thread safe. May this key pass now?
  virtual bool Check(std::string_view key) = 0;
  // At a time that the caller gives.
  virtual bool CheckAt(std::string_view key, int64_t ns) = 0;
};

// One std::mutex before one std::unordered_map.
std::unique_ptr<Rival> OneMap();

// 64 pairs of a std::mutex and an absl::flat_hash_map.
std::unique_ptr<Rival> StripedMap();

}  // namespace weir::bench

#endif  // WEIR_BENCH_RIVALS_H_
