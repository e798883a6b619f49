// From hashes to 32-bit references: linear hashing (Litwin 1980) over lines of
// 64 bytes. It grows and shrinks by one line at a time, so no call moves more
// references than one chain of lines holds (5 on average).
//
// A line holds up to 12 references, each with 8 bits of its hash, so that a
// search reads one line and, as a rule, no entry but the right one. What does
// not fit goes on in overflow lines.
//
// Not thread safe, but for Glimpse: the lock of its stripe is held.
#ifndef WEIR_BACKENDS_MEMORY_INDEX_H_
#define WEIR_BACKENDS_MEMORY_INDEX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "backends/memory/dense_array.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir {

class Index {
 public:
  explicit Index(BlockPool* pool)
      : lines_(pool, sizeof(Line)), more_(pool, sizeof(Line)) {}

  size_t size() const { return size_; }
  size_t bytes() const { return lines_.bytes() + more_.bytes(); }
  // How many references were moved from one line's chain to another's so far.
  int64_t moved() const { return moved_; }

  // Where the search for a hash begins, and the geometry for which that is so.
  struct Spot {
    const void* line;
    uint64_t geometry;
  };
  // Needs no lock, and holds for as long as the geometry: who has the lock can
  // tell, and anybody may ask for that memory.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Spot Glimpse(uint64_t hash) const {
    // acquire: pairs with the release in SetGeometry, so that the pieces of all
    // these lines are seen. If the lines are being changed now, so is this.
    const uint64_t geometry = geometry_.load(std::memory_order_acquire);
    const auto lines = static_cast<uint32_t>(geometry);
    if (__builtin_expect(lines == 0, 0)) return {&kNone, geometry};
    return {lines_.Glimpse(NumberOf(hash, lines), sizeof(Line)), geometry};
  }

  // The reference under this hash for which match(ref) holds.
  template <class Match>
  ABSL_ATTRIBUTE_ALWAYS_INLINE std::optional<uint32_t> Find(
      uint64_t hash, const Match& match) const {
    if (size_ == 0) return std::nullopt;
    return FindFrom(LineAt(NumberOf(hash)), hash, match);
  }
  // The same, for a spot that was glimpsed.
  template <class Match>
  ABSL_ATTRIBUTE_ALWAYS_INLINE std::optional<uint32_t> FindAt(
      Spot spot, uint64_t hash, const Match& match) const {
    // relaxed: it is written under the lock.
    if (__builtin_expect(
            spot.geometry != geometry_.load(std::memory_order_relaxed), 0)) {
      spot = Glimpse(hash);
    }
    return FindFrom(static_cast<const Line*>(spot.line), hash, match);
  }

 private:
  struct Line;

  template <class Match>
  ABSL_ATTRIBUTE_ALWAYS_INLINE std::optional<uint32_t> FindFrom(
      const Line* line, uint64_t hash, const Match& match) const {
    const uint8_t tag = TagOf(hash);
    for (;; line = More(line->next)) {
      for (uint32_t hits = line->Hits(tag); hits != 0; hits &= hits - 1) {
        const uint32_t ref = line->refs[__builtin_ctzll(hits)];
        if (__builtin_expect(match(ref), 1)) return ref;
      }
      if (__builtin_expect(line->next == 0, 1)) return std::nullopt;
    }
  }

 public:
  // `hash_of(ref)` gives the hash of a reference that is held, fetch(ref) asks
  // for what that reads. At most one line is split. Throws as operator new
  // does; then the same references are held as before.
  template <class HashOf, class Fetch>
  void Insert(uint64_t hash, uint32_t ref, HashOf hash_of, Fetch fetch) {
    if (lines_.size() == 0) {
      *LineOf(lines_.Append()) = Line();
      SetGeometry();
    }
    if (size_ >= lines_.size() * kFull) Split(hash_of);
    Put(NumberOf(hash), TagOf(hash), ref);
    ++size_;
    // What the next split reads is asked for some insertions before it.
    const size_t left = lines_.size() * kFull - size_;
    if (left == 2) __builtin_prefetch(LineAt(NextToSplit()), 1);
    if (left == 1) {
      const Line& line = *LineAt(NextToSplit());
      for (int i = 0; i < kRefs && line.tags[i] != 0; ++i) fetch(line.refs[i]);
    }
  }

  // `ref` is held under this hash. Throws nothing.
  template <class HashOf>
  void Erase(uint64_t hash, uint32_t ref, HashOf hash_of) {
    const uint32_t number = NumberOf(hash);
    const Place place = Locate(number, ref);
    // The chain's last reference takes its place.
    const auto [before, last] = EndOf(number);
    const int n = last->Count() - 1;
    place.line->Set(place.slot, last->tags[n], last->refs[n]);
    last->Set(n, 0, 0);
    --size_;
    if (n == 0 && before != nullptr) {
      FreeMore(std::exchange(before->next, 0), hash_of);
    }
    // Not below half of what makes it grow, so that it does not go to and fro.
    if (lines_.size() > 1 && size_ < (lines_.size() - 1) * kSparse) {
      Merge(hash_of);
    }
    if (size_ == 0) Release();
  }

  // What `from` referred to lies at `to` now.
  void Replace(uint64_t hash, uint32_t from, uint32_t to) {
    const Place place = Locate(NumberOf(hash), from);
    place.line->refs[place.slot] = to;
  }

 private:
  static constexpr int kRefs = 12;
  static constexpr size_t kFull = 5;    // references a line, on average
  static constexpr size_t kSparse = 2;  // fewer: a line goes

  struct alignas(64) Line {
    uint8_t tags[kRefs] = {};  // 0: free; what is used comes first
    uint32_t refs[kRefs] = {};
    uint32_t next = 0;  // an overflow line, counted from 1

    // A bit for each reference with this tag.
    uint32_t Hits(uint8_t tag) const {
#if defined(__SSE2__)
      static_assert(offsetof(Line, tags) == 0 && sizeof(Line) >= 16);
      const __m128i all =
          _mm_load_si128(reinterpret_cast<const __m128i*>(this));
      const __m128i same =
          _mm_cmpeq_epi8(all, _mm_set1_epi8(static_cast<char>(tag)));
      return static_cast<uint32_t>(_mm_movemask_epi8(same)) &
             ((1U << kRefs) - 1);
#else
      uint32_t hits = 0;
      for (int i = 0; i < kRefs; ++i) {
        hits |= static_cast<uint32_t>(tags[i] == tag) << i;
      }
      return hits;
#endif
    }
    int Count() const {
      const uint32_t free = Hits(0);
      return free == 0 ? kRefs : __builtin_ctz(free);
    }
    void Set(int slot, uint8_t tag, uint32_t ref) {
      tags[slot] = tag;
      refs[slot] = ref;
    }
  };
  static_assert(sizeof(Line) == 64);
  static const Line kNone;

  struct Place {
    Line* line;
    int slot;
  };

  // The stripe uses bits from 48 on, the line the low ones.
  static uint8_t TagOf(uint64_t hash) {
    const auto tag = static_cast<uint8_t>(hash >> 40);
    return static_cast<uint8_t>(tag + (tag == 0 ? 1 : 0));
  }

  static Line* LineOf(char* p) { return reinterpret_cast<Line*>(p); }
  ABSL_ATTRIBUTE_ALWAYS_INLINE Line* LineAt(uint32_t n) const {
    return LineOf(lines_.At(n, sizeof(Line)));
  }
  Line* More(uint32_t n) const { return LineOf(more_.At(n - 1, sizeof(Line))); }

  // Lines [0, size) exist; those below half of the next power of two that were
  // split already use one more bit of the hash.
  uint32_t NumberOf(uint64_t hash) const {
    return NumberOf(hash, lines_.size());
  }
  static uint32_t NumberOf(uint64_t hash, uint32_t lines) {
    const uint32_t mask = MaskFor(lines);
    const uint32_t n = static_cast<uint32_t>(hash) & mask;
    // Without a branch: which way it goes is as random as the hash.
    const uint32_t beyond = 0U - static_cast<uint32_t>(n >= lines);
    return n & ~(beyond & ~(mask >> 1));
  }

  // The bits of a hash that the last of so many lines may use; at least one.
  static uint32_t MaskFor(uint32_t lines) {
    return UINT32_MAX >> __builtin_clz((lines - 1) | 1);
  }

  // A chain's last line, and the one before it, if there is one.
  struct End {
    Line* before;
    Line* last;
  };
  End EndOf(uint32_t number) const {
    End end = {nullptr, LineAt(number)};
    for (; end.last->next != 0; end.last = More(end.last->next)) {
      end.before = end.last;
    }
    return end;
  }

  void Put(uint32_t number, uint8_t tag, uint32_t ref) {
    Line* line = EndOf(number).last;
    int n = line->Count();
    if (n == kRefs) {
      Line* fresh = LineOf(more_.Append());
      *fresh = Line();
      line->next = more_.size();
      line = fresh;
      n = 0;
    }
    line->Set(n, tag, ref);
  }

  Place Locate(uint32_t number, uint32_t ref) const {
    for (Line* line = LineAt(number);; line = More(line->next)) {
      for (int i = 0; i < kRefs; ++i) {
        if (line->refs[i] == ref && line->tags[i] != 0) return {line, i};
      }
    }
  }

  struct Held {
    uint8_t tag;
    uint32_t ref;
  };
  using Chain = absl::InlinedVector<Held, 4 * kRefs>;

  // Takes everything out of a line's chain, from its end, so that the rest of
  // it is whole while overflow lines move. `chain` has room for all of it.
  template <class HashOf>
  void TakeOut(uint32_t number, Chain* chain, HashOf hash_of) {
    for (;;) {
      const auto [before, last] = EndOf(number);
      const int n = last->Count();
      for (int i = 0; i < n; ++i) {
        chain->push_back({last->tags[i], last->refs[i]});
      }
      if (before == nullptr) {
        *last = Line();
        moved_ += static_cast<int64_t>(chain->size());
        return;
      }
      FreeMore(std::exchange(before->next, 0), hash_of);
    }
  }
  size_t LinesOf(uint32_t number) const {
    size_t n = 1;
    for (const Line* line = LineAt(number); line->next != 0; ++n) {
      line = More(line->next);
    }
    return n;
  }

  // The line that shares its hashes with the next one.
  uint32_t NextToSplit() const {
    const uint32_t added = lines_.size();
    return added & (MaskFor(added + 1) >> 1);
  }

  // Both take out under the old geometry and put under the new one, and take
  // the memory they need before they change anything.

  template <class HashOf>
  void Split(HashOf hash_of) {
    const uint32_t from = NextToSplit();
    Chain chain;
    chain.reserve(LinesOf(from) * kRefs);
    lines_.Reserve();
    // Two chains need no more overflow lines than the one that they were.
    more_.Hold();
    TakeOut(from, &chain, hash_of);
    *LineOf(lines_.Append()) = Line();
    SetGeometry();
    for (const Held& h : chain) Put(NumberOf(hash_of(h.ref)), h.tag, h.ref);
    more_.Release();
  }

  // Without memory for it nothing is merged: the next Erase tries again.
  template <class HashOf>
  void Merge(HashOf hash_of) {
    const uint32_t last = lines_.size() - 1;
    const uint32_t to = last & (MaskFor(last + 1) >> 1);
    Chain chain;
    try {
      chain.reserve(LinesOf(last) * kRefs);
      // One chain may need an overflow line more than the two that it was.
      more_.Reserve();
    } catch (const std::bad_alloc&) {
      return;
    }
    more_.Hold();
    TakeOut(last, &chain, hash_of);
    lines_.Pop();
    SetGeometry();
    for (const Held& h : chain) Put(to, h.tag, h.ref);
    more_.Release();
  }

  // The overflow line `n` is in no chain. The last one moves into its place.
  template <class HashOf>
  void FreeMore(uint32_t n, HashOf hash_of) {
    const uint32_t last = more_.size();
    if (n != last) {
      Line* moving = More(last);
      Relink(moving, last, n, hash_of);
      *More(n) = *moving;
    }
    more_.Pop();
  }

  // An overflow line is never empty, and its first reference tells its chain.
  template <class HashOf>
  void Relink(Line* moving, uint32_t from, uint32_t to, HashOf hash_of) {
    Line* line = LineAt(NumberOf(hash_of(moving->refs[0])));
    for (; line->next != 0; line = More(line->next)) {
      if (line->next != from) continue;
      line->next = to;
      return;
    }
  }

  void Release() {
    while (lines_.size() > 0) lines_.Pop();
    SetGeometry();
  }

  // After each change of the number of lines: no two times have the same
  // geometry, but for one in 2^32.
  void SetGeometry() {
    const uint64_t change =
        (geometry_.load(std::memory_order_relaxed) >> 32) + 1;
    // release: see Glimpse.
    geometry_.store(change << 32 | lines_.size(), std::memory_order_release);
  }

  // How many lines there are, and a number that changes with them above it.
  std::atomic<uint64_t> geometry_{0};
  DenseArray lines_;
  size_t size_ = 0;
  int64_t moved_ = 0;
  DenseArray more_;
};

inline constexpr Index::Line Index::kNone;

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_INDEX_H_
