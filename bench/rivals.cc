#include "bench/rivals.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace weir::bench {
namespace {

// A billion a second, a second's worth at once: nobody is denied.
constexpr int64_t kShareNs = 1;
constexpr int64_t kBurstNs = 1'000'000'000;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool Pass(int64_t* tat, int64_t now) {
  const int64_t next = std::max(*tat, now) + kShareNs;
  if (next - now > kBurstNs) return false;
  *tat = next;
  return true;
}

class OneMapRival final : public Rival {
 public:
  bool Check(std::string_view key) override { return CheckAt(key, NowNs()); }
  bool CheckAt(std::string_view key, int64_t ns) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return Pass(&map_[std::string(key)], ns);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, int64_t> map_;
};

class StripedMapRival final : public Rival {
 public:
  bool Check(std::string_view key) override { return CheckAt(key, NowNs()); }
  bool CheckAt(std::string_view key, int64_t ns) override {
    Stripe& s = stripes_[std::hash<std::string_view>()(key) % kStripes];
    const absl::string_view k(key.data(), key.size());
    const std::lock_guard<std::mutex> lock(s.mutex);
    auto it = s.map.find(k);
    if (it == s.map.end()) it = s.map.emplace(std::string(key), 0).first;
    return Pass(&it->second, ns);
  }

 private:
  static constexpr size_t kStripes = 64;
  struct alignas(64) Stripe {
    std::mutex mutex;
    absl::flat_hash_map<std::string, int64_t> map;
  };
  Stripe stripes_[kStripes];
};

}  // namespace

std::unique_ptr<Rival> OneMap() { return std::make_unique<OneMapRival>(); }
std::unique_ptr<Rival> StripedMap() {
  return std::make_unique<StripedMapRival>();
}

}  // namespace weir::bench
