// The layout of an entry: one key of one rule, and its state.
//
//   bytes 0-3   record id (20 bits), bound, held, key length (8 bits)
//   bytes 4-    the key, if it is short; else, from byte 8, a pointer to it
//   the end     the state, aligned to 8 bytes
//
// A 20-byte key with a state of 16 bytes takes 40 bytes. The state is at the
// end, so that finding it takes the entry's size and the record.
#ifndef WEIR_BACKENDS_MEMORY_SLOT_H_
#define WEIR_BACKENDS_MEMORY_SLOT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/base/attributes.h"
#include "backends/memory/dense_array.h"
#include "backends/memory/limit_record.h"

namespace weir {

// A pointer that lies among the bytes of an entry.
template <class T>
T* LoadPointer(const char* from) {
  uintptr_t bits;
  std::memcpy(&bits, from, sizeof(bits));
  return reinterpret_cast<T*>(bits);
}
inline void StorePointer(char* to, const void* pointer) {
  const auto bits = reinterpret_cast<uintptr_t>(pointer);
  std::memcpy(to, &bits, sizeof(bits));
}

// Keys that lie apart from their entries: their hash, so that moving an entry
// costs the same whatever its key, their length, then their bytes.
class LongKey {
 public:
  static constexpr size_t kHeader = 12;

  static std::unique_ptr<char[]> Make(uint64_t hash, std::string_view key) {
    const auto size = static_cast<uint32_t>(key.size());
    std::unique_ptr<char[]> p(new char[kHeader + key.size()]);
    std::memcpy(p.get(), &hash, sizeof(hash));
    std::memcpy(p.get() + 8, &size, sizeof(size));
    std::memcpy(p.get() + kHeader, key.data(), key.size());
    return p;
  }
  static uint64_t HashOf(const char* p) {
    uint64_t hash;
    std::memcpy(&hash, p, sizeof(hash));
    return hash;
  }
  static std::string_view Of(const char* p) {
    uint32_t size;
    std::memcpy(&size, p + 8, sizeof(size));
    return {p + kHeader, size};
  }
};

// Up to 32 bytes with two branches: what the ends have in common is compared
// twice.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline bool SameBytes(const char* a, const char* b,
                                                   size_t n) {
  const auto differ = [a, b](size_t at) {
    uint64_t x;
    uint64_t y;
    std::memcpy(&x, a + at, sizeof(x));
    std::memcpy(&y, b + at, sizeof(y));
    return x ^ y;
  };
  if (__builtin_expect(n - 16 <= 16, 1)) {
    return (differ(0) | differ(8) | differ(n - 16) | differ(n - 8)) == 0;
  }
  if (n < 8) return std::memcmp(a, b, n) == 0;
  for (size_t at = 0; at + 8 < n; at += 8) {
    if (differ(at) != 0) return false;
  }
  return differ(n - 8) == 0;
}

// A view of an entry.
class Slot {
 public:
  static constexpr size_t kHeader = 4;
  static constexpr size_t kMost = DenseArray::kMaxStride;

  explicit Slot(char* p) : p_(p) {}

  // How large an entry of this key is: a multiple of 8, at most kMost.
  static size_t BytesFor(size_t key_size, size_t state_bytes) {
    if (LiesApart(key_size, state_bytes)) return 16 + state_bytes;
    return BytesInPlace(key_size, state_bytes);
  }
  // If the key lies in it.
  static size_t BytesInPlace(size_t key_size, size_t state_bytes) {
    return (kHeader + key_size + 7) / 8 * 8 + state_bytes;
  }

  // Does a key of this size lie apart? Alike for all the forms of a state, so
  // that a key stays where it is when its state's form changes.
  static bool LiesApart(size_t key_size, size_t state_bytes) {
    return BytesInPlace(key_size, std::max(state_bytes, kAlike)) > kMost;
  }

  // `apart`: the key, if it lies apart; the entry's own from here on.
  void Make(const LimitRecord& record, std::string_view key, size_t bytes,
            std::unique_ptr<char[]> apart) {
    SetHeader(record.id |
              (apart != nullptr ? kApart : static_cast<uint32_t>(key.size()))
                  << kLengthShift);
    if (apart != nullptr) {
      StorePointer(p_ + 8, apart.release());
    } else if (!key.empty()) {
      std::memcpy(p_ + kHeader, key.data(), key.size());
    }
    std::memset(p_ + bytes - record.state_bytes, 0, record.state_bytes);
  }
  // Before the entry goes for good.
  void FreeKey() {
    if (IsApart()) delete[] Apart();
  }

  // What the key takes on the heap.
  size_t heap_bytes() const {
    return IsApart() ? LongKey::kHeader + key().size() : 0;
  }
  // The hash that the entry was made with, if its key lies apart.
  std::optional<uint64_t> kept_hash() const {
    if (!IsApart()) return std::nullopt;
    return LongKey::HashOf(Apart());
  }

  uint32_t record_id() const { return Header() & kIdMask; }
  void set_record_id(uint32_t id) { SetHeader((Header() & ~kIdMask) | id); }
  // Of this record, not bound and not held: its state can be used as it is.
  bool IsPlain(uint32_t id) const {
    return (Header() & (kIdMask | kFlags)) == id;
  }
  // Its state is that of a handle's cell: see bound_cell.h.
  bool bound() const { return (Header() & kBound) != 0; }
  void set_bound(bool on) { SetFlag(kBound, on); }
  // A call with several rules works on it: it does not leave.
  bool held() const { return (Header() & kHeld) != 0; }
  void set_held(bool on) { SetFlag(kHeld, on); }

  std::string_view key() const {
    if (IsApart()) return LongKey::Of(Apart());
    return {p_ + kHeader, Header() >> kLengthShift};
  }

  // Written under this very record, and of this key?
  bool IsOf(const LimitRecord& record, std::string_view wanted) const {
    return Matches(Header() & ~kFlags, record, wanted);
  }
  // IsOf and IsPlain.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool IsPlainOf(const LimitRecord& record,
                                              std::string_view wanted) const {
    return Matches(Header(), record, wanted);
  }
  // The same, for a key that would not lie apart.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool IsPlainOfInPlace(
      const LimitRecord& record, std::string_view wanted) const {
    return Header() == HeaderFor(record, wanted) && HasKey(wanted);
  }

  char* at(size_t offset) const { return p_ + offset; }

 private:
  static constexpr uint32_t kIdMask = (1U << RecordId::kBits) - 1;
  static constexpr uint32_t kBound = 1U << 20;
  static constexpr uint32_t kHeld = 1U << 21;
  static constexpr uint32_t kFlags = kBound | kHeld;
  static constexpr uint32_t kLengthShift = 24;
  static constexpr uint32_t kApart = 255;
  static constexpr size_t kAlike = 16;  // a state that may be packed, and less
  static_assert((RecordId::kNone &
                 (kIdMask | kFlags | kApart << kLengthShift)) == 0,
                "no header is like that of a record without an id");

  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Matches(uint32_t header,
                                            const LimitRecord& record,
                                            std::string_view wanted) const {
    // A length is at most kMost here, so a key that lies apart is not alike.
    return header == HeaderFor(record, wanted) && wanted.size() <= kMost &&
           HasKey(wanted);
  }
  static uint32_t HeaderFor(const LimitRecord& record, std::string_view key) {
    return record.id | static_cast<uint32_t>(key.size()) << kLengthShift;
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool HasKey(std::string_view wanted) const {
    return SameBytes(p_ + kHeader, wanted.data(), wanted.size());
  }

  uint32_t Header() const {
    uint32_t header;
    std::memcpy(&header, p_, sizeof(header));
    return header;
  }
  void SetHeader(uint32_t header) { std::memcpy(p_, &header, sizeof(header)); }
  void SetFlag(uint32_t flag, bool on) {
    SetHeader(on ? Header() | flag : Header() & ~flag);
  }
  bool IsApart() const { return Header() >> kLengthShift == kApart; }
  char* Apart() const { return LoadPointer<char>(p_ + 8); }

  char* p_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_SLOT_H_
