// Denials that a limiter repeats by itself: while a key has to wait, asking the
// store again gives the same answer. A bounded table, four places to a bucket;
// what does not fit costs a round trip and nothing else.
#ifndef WEIR_CORE_DENIAL_CACHE_H_
#define WEIR_CORE_DENIAL_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "core/mutex.h"
#include "weir/decision.h"

namespace weir {

struct AttachedLimit;

// Thread safe.
class DenialCache {
 public:
  // What is asked: the call's keys and tag as one text of one form, and one
  // limit and one cost for each rule.
  struct Question {
    std::string_view keys;
    size_t form = 0;
    absl::Span<const AttachedLimit* const> limits;
    absl::Span<const int64_t> costs;
  };

  // Between a question that has to be asked and its answer.
  struct Asking {
    const void* asker = nullptr;  // one caller, with all that it asks at once
    size_t bucket = 0;
    uint64_t changes = 0;
    int64_t at = 0;
  };

  // `max_keys`: above 0. Their memory is taken at once, but for the keys'.
  explicit DenialCache(size_t max_keys);

  // True: `d` is the denial, with the waits that are left at `now` (us of any
  // steady clock). False: the store has to be asked, and what it answers goes
  // to Learn. Of those who ask when a wait is over one is sent to the store;
  // until it is back, or has taken twice as long as usual, the others are told
  // to wait. So it goes on, one at a time, while what passes leaves no room for
  // another such call.
  bool Repeat(const Question& q, int64_t now, Decision* d, Asking* asking);

  // What the store said, at `now`; null if it could not decide.
  void Learn(const Question& q, const Asking& asking, int64_t now,
             const Decision* d);

  // These keys are not what they were. What the store was asked before is not
  // learnt any more.
  void Forget(std::string_view keys);
  void ForgetAll();
  // Nor are the limits. What a key had used drains by its old limit until it is
  // charged, so the waits that are told by the new one need not be true: from
  // now on none is repeated for longer than a second.
  void NoteUpdate();

  // Longer keys are not kept.
  static constexpr size_t kMostKeyBytes = 512;

 private:
  static constexpr size_t kWays = 4;
  static constexpr size_t kLocks = 16;

  struct Entry {
    bool Answers(const Question& q) const;

    std::string keys;
    size_t form = 0;
    std::vector<const AttachedLimit*> limits;
    std::vector<int64_t> costs;
    Decision denial;
    int64_t learnt = 0;
    int64_t until = 0;
    int64_t ends = 0;      // from then on it is no answer to anybody
    int64_t asked_by = 0;  // one caller is asking the store, and has until then
    const void* asker = nullptr;
    uint64_t epoch = 0;  // another than its lock's: empty
  };
  using Bucket = std::array<Entry, kWays>;
  struct Lock {
    Mutex mutex;
    uint64_t epoch ABSL_GUARDED_BY(mutex) = 1;    // moves with each ForgetAll
    uint64_t changes ABSL_GUARDED_BY(mutex) = 0;  // and with each Forget
  };

  static void MakeGate(const Decision& allowed, size_t scarce, int64_t now,
                       Entry* e);
  size_t BucketOf(std::string_view keys) const;
  int64_t Patience() const;
  void NoteRoundTrip(int64_t took);
  Lock& LockOf(size_t bucket) { return locks_[bucket % kLocks]; }

  // Relaxed: a denial that is learnt meanwhile is forgotten with the rest.
  std::atomic<bool> updated_{false};
  // What asking the store takes, us, the latest answers counting most.
  std::atomic<int64_t> usual_{0};
  std::vector<Bucket> buckets_;  // each under its lock
  std::array<Lock, kLocks> locks_;
};

}  // namespace weir

#endif  // WEIR_CORE_DENIAL_CACHE_H_
