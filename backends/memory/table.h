// The hash table of one stripe: linear hashing (Litwin 1980). It grows and
// shrinks one bucket at a time, so no call moves more than the entries of one
// bucket, and memory is taken in segments of a fixed size.
//
// Not thread safe: its stripe's lock is held.
#ifndef WEIR_BACKENDS_MEMORY_TABLE_H_
#define WEIR_BACKENDS_MEMORY_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/memory/entry.h"

namespace weir {

class Table {
 public:
  static constexpr size_t kFewest = 16;            // buckets
  static constexpr size_t kSegmentBuckets = 4096;  // 32 KiB

  Table() : buckets_(kFewest) { first_.resize(kFewest); }
  ~Table() {
    for (size_t i = 0; i < buckets_; ++i) {
      for (Entry* e = Bucket(i); e != nullptr;) {
        Entry::Owned owned(e);
        e = e->next;
      }
    }
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  size_t size() const { return size_; }
  size_t buckets() const { return buckets_; }

  Entry* Find(uint64_t hash, uint32_t state_id, std::string_view key) {
    for (Entry* e = Bucket(IndexOf(hash)); e != nullptr; e = e->next) {
      if (e->Matches(hash, state_id, key)) return e;
    }
    return nullptr;
  }

  Entry* Insert(Entry::Owned entry) {
    if (size_ >= buckets_) Grow();
    Entry* e = entry.release();
    Push(IndexOf(e->hash), e);
    ++size_;
    return e;
  }

  void Remove(Entry* entry) {
    Entry** link = &Bucket(IndexOf(entry->hash));
    while (*link != entry) link = &(*link)->next;
    *link = entry->next;
    Entry::Owned owned(entry);
    --size_;
    if (buckets_ > kFewest && size_ < buckets_ / 4) ShrinkByTwo();
  }

  // The next visits begin a round.
  void BeginRound() { cursor_ = buckets_; }

  // Calls visit(Entry*) for each entry of the next bucket; it may not change
  // the table. The last bucket comes first: one that goes while the table
  // shrinks has its entries moved to where the visits have not been yet.
  template <class Visit>
  void VisitNextBucket(Visit visit) {
    if (cursor_ == 0 || cursor_ > buckets_) cursor_ = buckets_;
    --cursor_;
    for (Entry* e = Bucket(cursor_); e != nullptr; e = e->next) visit(e);
  }

 private:
  // Buckets [0, buckets_) exist; those below half of the next power of two
  // that were split already use one more bit of the hash.
  size_t IndexOf(uint64_t hash) const {
    const size_t i = static_cast<size_t>(hash) & mask_;
    return i < buckets_ ? i : i & (mask_ >> 1);
  }

  Entry*& Bucket(size_t i) {
    if (i < first_.size()) return first_[i];
    return segments_[i / kSegmentBuckets - 1][i % kSegmentBuckets];
  }

  void Push(size_t bucket, Entry* e) {
    Entry*& head = Bucket(bucket);
    e->next = head;
    head = e;
  }

  // Moves every entry of a bucket to where it belongs now.
  void Redistribute(size_t bucket) {
    Entry* e = Bucket(bucket);
    Bucket(bucket) = nullptr;
    while (e != nullptr) {
      Entry* next = e->next;
      Push(IndexOf(e->hash), e);
      e = next;
    }
  }

  void Grow() {
    if (buckets_ > mask_) mask_ = 2 * mask_ + 1;
    const size_t added = buckets_++;
    if (added < kSegmentBuckets) {
      if (added >= first_.size()) first_.resize(2 * first_.size());
    } else if (added % kSegmentBuckets == 0) {
      segments_.push_back(std::make_unique<Entry*[]>(kSegmentBuckets));
    }
    Redistribute(added & (mask_ >> 1));
  }

  void ShrinkByTwo() {
    for (int i = 0; i < 2 && buckets_ > kFewest; ++i) {
      const size_t last = --buckets_;
      if (buckets_ <= mask_ >> 1) mask_ >>= 1;
      Redistribute(last);
      if (last < kSegmentBuckets) {
        if (last <= first_.size() / 2) {
          first_.resize(std::max(last, kFewest));
          first_.shrink_to_fit();
        }
      } else if (last % kSegmentBuckets == 0) {
        segments_.pop_back();
      }
    }
  }

  size_t mask_ = kFewest - 1;
  size_t buckets_;
  size_t size_ = 0;
  size_t cursor_ = 0;
  // The first segment grows by doubling, the others come whole.
  std::vector<Entry*> first_;
  std::vector<std::unique_ptr<Entry*[]>> segments_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_TABLE_H_
