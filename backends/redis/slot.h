// The slot of a key on a cluster: CRC-16/XMODEM of its tag, or of all of it,
// modulo 16384 (Redis Cluster specification).
#ifndef WEIR_BACKENDS_REDIS_SLOT_H_
#define WEIR_BACKENDS_REDIS_SLOT_H_

#include <string_view>

namespace weir::redis {

inline constexpr int kSlots = 16384;

// The tag is what lies between the first { and the first } after it, if that
// is not empty.
int SlotOf(std::string_view key);

// That of a call's first key; -1 if it has none, and where there is no cluster.
template <class Keys>
int SlotOfFirst(const Keys& keys, bool cluster) {
  return keys.empty() || !cluster ? -1 : SlotOf(keys[0]);
}

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SLOT_H_
