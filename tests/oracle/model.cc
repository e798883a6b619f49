#include "tests/oracle/model.h"

#include <cstdlib>
#include <functional>

namespace weir_oracle {
namespace {

template <class Map, class Value>
Value Find(const Map& map, const std::string& name, Value fallback) {
  auto it = map.find(name);
  return it == map.end() ? fallback : it->second;
}

// The smallest d in (lo, hi] for which `holds` is true, given that it is false
// at lo, true at hi, and turns once.
int64_t FirstTrue(int64_t lo, int64_t hi,
                  const std::function<bool(int64_t)>& holds) {
  while (hi - lo > 1) {
    const int64_t mid = lo + (hi - lo) / 2;
    (holds(mid) ? hi : lo) = mid;
  }
  return hi;
}

}  // namespace

int64_t LimitSpec::Count(const std::string& name, int64_t fallback) const {
  return Find(counts, name, fallback);
}
int64_t LimitSpec::Duration(const std::string& name, int64_t fallback) const {
  return Find(durations, name, fallback);
}
std::string LimitSpec::Word(const std::string& name,
                            const std::string& fallback) const {
  return Find(words, name, fallback);
}
bool LimitSpec::Flag(const std::string& name, bool fallback) const {
  return Find(flags, name, fallback);
}

bool LimitSpec::zero() const {
  return Count("limit", 1) == 0 || Count("capacity", 1) == 0;
}

bool operator==(const LimitSpec& a, const LimitSpec& b) {
  return a.algorithm == b.algorithm && a.counts == b.counts &&
         a.durations == b.durations && a.words == b.words &&
         a.flags == b.flags && a.reals == b.reals;
}

int64_t Model::Remaining(int64_t t) const {
  if (!Admits(t, 1)) return 0;
  if (Admits(t, Capacity())) return Capacity();
  // Calls of cost 1 back to back add up, so n of them pass iff one of cost n
  // does.
  return FirstTrue(1, Capacity(), [&](int64_t n) { return !Admits(t, n); }) - 1;
}

std::optional<int64_t> Model::Wait(int64_t t, int64_t cost) const {
  if (Admits(t, cost)) return 0;
  if (cost > Capacity()) return std::nullopt;
  return FirstTrue(0, ResetAfter(t),
                   [&](int64_t d) { return Admits(t + d, cost); });
}

int64_t Model::ResetAfter(int64_t t) const {
  if (Fresh(t)) return 0;
  int64_t hi = 1;
  while (!Fresh(t + hi)) {
    if (hi > (int64_t{1} << 58)) std::abort();
    hi *= 2;
  }
  return FirstTrue(0, hi, [&](int64_t d) { return Fresh(t + d); });
}

const std::map<std::string, std::unique_ptr<Model> (*)(const LimitSpec&)>&
Algorithms() {
  static const auto* const kAlgorithms =
      new std::map<std::string, std::unique_ptr<Model> (*)(const LimitSpec&)>{
          {"gcra", &MakeGcra},
          {"token_bucket", &MakeTokenBucket},
          {"leaky_bucket", &MakeLeakyBucket},
          {"uniform", &MakeUniform},
          {"fixed_window", &MakeFixedWindow},
          {"sliding_log", &MakeSlidingLog},
      };
  return *kAlgorithms;
}

std::unique_ptr<Model> MakeModel(const LimitSpec& spec) {
  auto it = Algorithms().find(spec.algorithm);
  return it == Algorithms().end() ? nullptr : it->second(spec);
}

}  // namespace weir_oracle
