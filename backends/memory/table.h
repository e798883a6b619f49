// The keys of one stripe and their states.
//
// Entries lie in dense arrays, one for each entry size: where one leaves, the
// array's last one takes its place, so that memory is what the entries need,
// and goes back as they go. An index of their hashes finds them.
//
// What one call can cost: an insertion splits at most one line of the index
// and begins at most one block in each array; a removal moves one entry and
// merges at most one line. moves() and the arrays' sizes let tests count it.
//
// Not thread safe, but for Glimpse: its stripe's lock is held.
#ifndef WEIR_BACKENDS_MEMORY_TABLE_H_
#define WEIR_BACKENDS_MEMORY_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/base/attributes.h"
#include "backends/memory/dead_values.h"
#include "backends/memory/dense_array.h"
#include "backends/memory/hash.h"
#include "backends/memory/index.h"
#include "backends/memory/limit_record.h"
#include "backends/memory/record_table.h"
#include "backends/memory/slot.h"
#include "backends/memory/value.h"

namespace weir {

// What all tables of a store share.
struct TableContext {
  RecordTable records;
  KeyHash hash;
  BlockPool pool;
  // Entries of one size in one table: what a reference of 28 bits tells apart,
  // less what calls may add that asked before the others of their own keys.
  uint32_t most_of_a_size = (1U << 28) - (1U << 20);  // less in tests
  // A table had no room for a key. relaxed: only for the wording of an error.
  std::atomic<bool> size_was_full{false};
  // There was no id for a record. relaxed: the same.
  std::atomic<bool> ids_were_out{false};
  // Keys that come and go change these two, so they lie on another line than
  // what every call reads. relaxed everywhere: bare counts; the entries
  // themselves are under their locks.
  //
  // What the entries, their shares of the index and their values take.
  alignas(64) std::atomic<int64_t> bytes{0};
  // How many keys there are, or are about to be.
  std::atomic<int64_t> keys{0};

  void CountBytes(int64_t change) {
    bytes.fetch_add(change, std::memory_order_relaxed);
  }
};

class Table {
 public:
  // An entry, until the next removal.
  struct Entry {
    char* p = nullptr;
    uint32_t ref = 0;

    explicit operator bool() const { return p != nullptr; }
    Slot slot() const { return Slot(p); }
    size_t bytes() const { return BytesOf(ref); }
    char* state(size_t state_bytes) const { return p + bytes() - state_bytes; }
    char* state(const LimitRecord& record) const {
      return state(size_t{record.state_bytes});
    }
  };

  explicit Table(TableContext* context)
      : index_(&context->pool), context_(context) {}
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  size_t size() const { return index_.size(); }
  // What the table takes, values on the heap aside, in bytes.
  size_t bytes() const {
    size_t sum = index_.bytes();
    for (const auto& a : arrays_) sum += a == nullptr ? 0 : a->bytes();
    return sum;
  }
  // Changes whenever an entry may have moved.
  uint32_t removals() const { return removals_; }
  // References moved within the index, and entries to another place, so far.
  int64_t moved() const { return index_.moved() + removals_; }

  // Where a search for this hash begins, and asks for it. Needs no lock.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Index::Spot Glimpse(uint64_t hash) const {
    const Index::Spot spot = index_.Glimpse(hash);
    __builtin_prefetch(spot.line);
    return spot;
  }
  // The entry that a search for this key is likely to end at, on its way.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Entry Guess(Index::Spot spot,
                                           uint64_t hash) const {
    Entry guess;
    index_.FindAt(
        spot, hash, [&](uint32_t ref) __attribute__((always_inline)) {
          guess = {At(ref), ref};
          PrefetchEntry(guess.p, BytesOf(ref));
          return true;
        });
    return guess;
  }
  // Is it the one, and can its state be used as it is? There was no removal
  // since it was guessed.
  ABSL_ATTRIBUTE_ALWAYS_INLINE bool IsPlain(Entry entry,
                                            const LimitRecord& record,
                                            std::string_view key) const {
    return entry && entry.slot().IsPlainOf(record, key);
  }
  // As Find, and none also if the state can't be used as it is.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Entry FindPlain(uint64_t hash,
                                               const LimitRecord& record,
                                               std::string_view key) const {
    if (__builtin_expect(Slot::LiesApart(key.size(), record.state_bytes), 0)) {
      return FindPlainApart(hash, record, key);
    }
    const size_t bytes = Slot::BytesInPlace(key.size(), record.state_bytes);
    return FindPlainAt(index_.Glimpse(hash), hash, record, bytes, key);
  }
  // The same, from a spot that was glimpsed, for a key that lies in its entry
  // of so many bytes: see Slot::BytesInPlace. They tell the entry's array, so
  // that both that and the index are on their way at once.
  ABSL_ATTRIBUTE_ALWAYS_INLINE Entry FindPlainAt(Index::Spot spot,
                                                 uint64_t hash,
                                                 const LimitRecord& record,
                                                 size_t bytes,
                                                 std::string_view key) const {
    Entry found;
    const auto size = static_cast<uint32_t>(bytes / 8 - 1);
    const uint32_t first = size << kIndexBits;
    // Null if no such entry was ever there, and then none is found either.
    const DenseArray* const array = arrays_[size].get();
    index_.FindAt(
        spot, hash, [&](uint32_t ref) __attribute__((always_inline)) {
          const uint32_t i = ref ^ first;
          if (__builtin_expect(i >> kIndexBits != 0, 0)) return false;
          char* const p = array->At(i, bytes);
          if (!Slot(p).IsPlainOfInPlace(record, key)) return false;
          found = {p, ref};
          return true;
        });
    return found;
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE Entry Find(uint64_t hash,
                                          const LimitRecord& record,
                                          std::string_view key) const {
    Entry found;
    index_.Find(
        hash, [ this, &found, &record, key ](uint32_t ref)
                  __attribute__((always_inline)) {
                    char* const p = At(ref);
                    if (!Matches(Slot(p), record, key)) return false;
                    found = {p, ref};
                    return true;
                  });
    return found;
  }

  // There may be another entry for such a key: see most_of_a_size. That there
  // may not is remembered in size_was_full.
  bool HasRoom(const LimitRecord& record, std::string_view key) const {
    const size_t bytes = Slot::BytesFor(key.size(), record.state_bytes);
    const DenseArray* array = arrays_[bytes / 8 - 1].get();
    if (array == nullptr || array->size() < context_->most_of_a_size) {
      return true;
    }
    context_->size_was_full.store(true, std::memory_order_relaxed);
    return false;
  }
  // A new entry, its state all zero. HasRoom was true, of this call's entries
  // for all together. The caller's hold of the record becomes the entry's.
  // Throws as operator new does; then the table holds what it held.
  Entry Insert(uint64_t hash, const LimitRecord& record, std::string_view key);
  // Sees to it that Refit for this record and a key of this size does not
  // throw, once, until Unbook; HasRoom was true. Throws as operator new does;
  // then nothing is booked.
  void Book(const LimitRecord& record, size_t key_size) {
    ArrayOf(Slot::BytesFor(key_size, record.state_bytes)).Book();
  }
  void Unbook(const LimitRecord& record, size_t key_size) {
    ArrayOf(Slot::BytesFor(key_size, record.state_bytes)).Unbook();
  }
  // The same key in an entry for states of `to` bytes instead of `from`, which
  // was booked: a removal, and the state is whatever it is.
  Entry Refit(uint64_t hash, Entry entry, size_t from, size_t to);
  // Frees its value too, or buries it, and lets go of its record.
  void Remove(uint64_t hash, Entry entry);
  void Remove(Entry entry) { Remove(HashOf(entry.slot()), entry); }

  // Frees a value that no entry has any more, and takes it from the count. One
  // that is large is only buried: FreeSome does both, piece by piece.
  void Free(std::unique_ptr<Value> value);
  // False: nothing was buried here.
  bool FreeSome() {
    if (__builtin_expect(dead_.empty(), 1)) return false;
    context_->CountBytes(-dead_.FreeSome());
    return true;
  }

  const LimitRecord& RecordOf(Slot slot) const {
    return context_->records[slot.record_id()];
  }

  // The next visits begin a round.
  void BeginRound() {
    visit_size_ = kSizes - 1;
    visit_left_ = 0;
  }
  // The entry whose turn it is; none if there are none. Each array is gone
  // through from its end, so that what takes the place of an entry that leaves
  // has been seen.
  Entry Next();
  // Asks for it, if it is in the array that is gone through.
  ABSL_ATTRIBUTE_ALWAYS_INLINE void PrefetchNext() const {
    if (visit_left_ == 0) return;
    const DenseArray& array = *arrays_[visit_size_];
    // It may have become shorter since.
    if (visit_left_ <= array.size()) {
      PrefetchEntry(array[visit_left_ - 1], array.stride());
    }
  }

  // The value of an entry that is not a word, and its expiry.
  static Value* ValueOf(const char* state) { return LoadPointer<Value>(state); }
  static void SetValue(char* state, Value* value) {
    StorePointer(state, value);
  }
  static int64_t ExpiryOf(const char* state) {
    int64_t us;
    std::memcpy(&us, state + 8, sizeof(us));
    return us;
  }
  static void SetExpiry(char* state, int64_t us) {
    std::memcpy(state + 8, &us, sizeof(us));
  }
  // Does a state that was written under this record equal a fresh key's?
  static bool IsOver(const LimitRecord& record, const char* state,
                     int64_t now) {
    return record.word != nullptr ? record.word->over(record.params, state, now)
                                  : ExpiryOf(state) <= now;
  }

 private:
  // An entry's share of the index, at most (on average 13).
  static constexpr size_t kIndexShare = 16;
  // What is counted for an entry without its value.
  static int64_t CountOf(Slot slot, size_t bytes) {
    return static_cast<int64_t>(bytes + kIndexShare + slot.heap_bytes());
  }

  static constexpr int kIndexBits = 28;
  static constexpr size_t kSizes = Slot::kMost / 8;

  // It may lie on two lines. Always inline, as all that only asks for memory:
  // to compilers a call of it has no effect, and can go.
  ABSL_ATTRIBUTE_ALWAYS_INLINE static void PrefetchEntry(const char* p,
                                                         size_t bytes) {
    __builtin_prefetch(p, 1);
    __builtin_prefetch(p + bytes - 1, 1);
  }
  static size_t BytesOf(uint32_t ref) {
    return ((ref >> kIndexBits) + 1) * size_t{8};
  }
  ABSL_ATTRIBUTE_ALWAYS_INLINE char* At(uint32_t ref) const {
    return (*arrays_[ref >> kIndexBits])[ref & ((1U << kIndexBits) - 1)];
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE bool Matches(Slot slot,
                                            const LimitRecord& record,
                                            std::string_view key) const {
    if (__builtin_expect(slot.IsOf(record, key), 1)) return true;
    return MatchesOther(slot, record, key);
  }
  // For a key that lies apart.
  Entry FindPlainApart(uint64_t hash, const LimitRecord& record,
                       std::string_view key) const;
  // Written under another record of the same state, or with a long key.
  bool MatchesOther(Slot slot, const LimitRecord& record,
                    std::string_view key) const;

  DenseArray& ArrayOf(size_t bytes) {
    std::unique_ptr<DenseArray>& array = arrays_[bytes / 8 - 1];
    if (array == nullptr) {
      array = std::make_unique<DenseArray>(&context_->pool, bytes);
    }
    return *array;
  }
  // The array's last entry takes the place of this one, which nothing refers
  // to.
  void Vacate(Entry entry);

  uint64_t HashOf(Slot slot) const {
    const std::optional<uint64_t> kept = slot.kept_hash();
    if (__builtin_expect(kept.has_value(), 0)) return *kept;
    return context_->hash(RecordOf(slot).seed, slot.key());
  }

  Index index_;  // first: see Stripe
  TableContext* const context_;
  uint32_t removals_ = 0;
  std::array<std::unique_ptr<DenseArray>, kSizes> arrays_;
  uint32_t used_ = 0;        // a bit for each array that has entries
  uint32_t visit_size_ = 0;  // the array that is visited, and
  uint32_t visit_left_ = 0;  // how much of it is left
  DeadValues dead_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_TABLE_H_
