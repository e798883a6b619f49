// A handle for one key that is asked all the time.
//
//   absl::StatusOr<weir::BoundKey> tenant = limiter->Bind("tenant:7");
//   absl::StatusOr<weir::BoundDecision> d = tenant->Check();
//   if (d.ok() && !d->allowed()) reject(d->retry_after());
//
// It answers as Limiter::Check does for its key, sooner: where the limiter has
// one rule (without plans) and the rule's state is a few words, the embedded
// store keeps that state in a place of its own, and a handle decides there
// without a lock that other keys share. Any other limiter or store is asked in
// the ordinary way. Calls by key, by other handles and with several rules may
// go on at the same time; all count as one.
//
// The key holds its place in the store for as long as there is a handle, also
// when it equals a fresh one, and counts in max_keys. A handle's calls leave
// other keys alone: they take no part in the removal of entries that equal a
// fresh key. Where most calls are of handles, calls by key or the store's
// Sweep() do it.
//
// A handle keeps what it needs (about 160 bytes and the key) for each set of
// rules under which it was asked; one that comes again is not kept twice.
//
// Thread safety: Check from any thread at the same time. Can be moved, not
// copied. It keeps the limiter's rules and its store alive, and obeys
// Limiter::Update at the next call.
#ifndef WEIR_BOUND_KEY_H_
#define WEIR_BOUND_KEY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "weir/limiter.h"
#include "weir/store.h"
#include "weir/time.h"

namespace weir {

// What a handle answers. The numbers are computed when they are read, as of the
// call. Valid as long as the handle.
class BoundDecision {
 public:
  // Not defaulted, so that a value of it is not zeroed before it is filled.
  BoundDecision() {}  // NOLINT(modernize-use-equals-default)

  bool allowed() const { return outcome_.allowed; }
  Source source() const { return outcome_.source; }
  // The most that can pass at once.
  int64_t limit() const {
    return outcome_.of != nullptr ? outcome_.of->limit : outcome_.known.limit;
  }
  // As in Decision.
  int64_t remaining() const {
    const StateNumbers* of = outcome_.of;
    return of != nullptr ? of->remaining(of->params, outcome_.state, outcome_.t)
                         : outcome_.known.numbers.remaining;
  }
  // 0 if allowed; nothing if no wait ever helps.
  std::optional<Micros> retry_after() const {
    if (allowed()) return Micros(0);
    const StateNumbers* of = outcome_.of;
    return WaitOf(of != nullptr ? of->wait(of->params, outcome_.state,
                                           outcome_.t, outcome_.cost)
                                : outcome_.known.numbers.wait);
  }
  Micros reset_after() const {
    const StateNumbers* of = outcome_.of;
    return Micros(of != nullptr
                      ? of->reset_after(of->params, outcome_.state, outcome_.t)
                      : outcome_.known.numbers.reset_after);
  }
  bool never() const { return !retry_after().has_value(); }

 private:
  friend class BoundKey;
  BoundOutcome outcome_;
};

class BoundKey {
 public:
  BoundKey(BoundKey&&) noexcept;
  BoundKey& operator=(BoundKey&&) noexcept;
  ~BoundKey();

  // As Limiter::Check for this key. InvalidArgument: the cost is below 0 or
  // above 2^53 - 1.
  absl::StatusOr<BoundDecision> Check(int64_t cost = 1) const;
  // At a time that the caller gives. InvalidArgument also: the time is out of
  // range (weir/time.h).
  absl::StatusOr<BoundDecision> CheckAt(Time now, int64_t cost = 1) const;

  std::string_view key() const;

 private:
  friend class Limiter;
  struct State;
  explicit BoundKey(std::unique_ptr<State> state);
  void CheckSlowly(int64_t cost, const Time* now,
                   absl::StatusOr<BoundDecision>* d) const;

  std::unique_ptr<State> state_;
};

}  // namespace weir

#endif  // WEIR_BOUND_KEY_H_
