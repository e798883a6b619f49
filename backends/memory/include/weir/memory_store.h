// The embedded store: state in this process, shared by all its threads.
//
//   auto store = weir::MemoryStore::Create();
//   auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
//
// Lock-striped: calls for different keys seldom meet. No thread is started;
// entries that equal a fresh key are removed in small steps by the calls
// themselves, and by Sweep(). The table grows in small steps, so no call pays
// for a rehash. A call without a time of its own reads a clock of the caller's
// while it holds the locks of its keys, and the store's own then or just
// before.
//
// Memory: an entry is removed once it equals a fresh key and the calls' own
// sweep has come round: at the latest after 32 * (entries + 16) further calls
// with a cost to its stripe. (Calls of handles, weir/bound_key.h, do not
// count.) A value above 128 KiB, which is a long log, is freed in pieces: one
// with each further such call, or by Sweep. Where the times are given by the
// caller, or by a clock of the caller's own, it must equal a fresh key at every
// recent reading (the last 256 to 512 calls of its stripe), so that a clock
// that jumps ahead and comes back takes nothing with it: at the latest after
// 512 calls more. `slack` is added to this.
//
// What a call throws (std::bad_alloc, or whatever a clock or an engine of the
// user's own throws) leaves no lock held; a call with several rules may have
// charged some of them.
#ifndef WEIR_MEMORY_STORE_H_
#define WEIR_MEMORY_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weir/clock.h"
#include "weir/store.h"

namespace weir {

// What becomes of a call for a key that the store does not know, and has no
// room for.
enum class WhenFull : uint8_t {
  // It is not decided: ResourceExhausted.
  kDeny,
  // It is decided on a state that all such keys of its rule share, and charged
  // there. This state is at least as strict as one of the key's own: what
  // passes would have passed there too. (Readings that go back are those of one
  // clock to it: law 7 of docs/design.md. ar1: but for the rounding of the last
  // bit.) Nobody is refilled by leaving it: once there is room, a key without
  // an entry still reads it, until it equals a fresh key; the first charge
  // gives the key an entry of its own, which starts from a copy.
  //  - Refund, Reset and a cancelled Reservation of a key without an entry give
  //    nothing back while the state is in use: what the key took of it can't be
  //    told from what others took. They answer with its numbers. After Reset of
  //    a key that had an entry, it goes by the shared state too.
  //  - It is charged under one limit at a time. Calls under another one (a plan
  //    of the rule, or the new limit after an Update) are decided on it, but,
  //    where one would have to be charged, are as under kDeny until the state
  //    equals a fresh key.
  //  - Bind does not fail for want of room; such a handle goes by key.
  //  - Limits of engines from outside the tree are as under kDeny: that their
  //    state is stricter the more it is charged is not known.
  // Memory: one state for each rule name and algorithm, which takes no more
  // than a key of its limit (of a log: its whole log); it counts in max_bytes,
  // and may pass it by that. Cost: every call for a key without an entry takes
  // one lock that they all share; a key that leaves copies its log.
  kShare,
};

struct MemoryStoreOptions {
  // Null: a SteadyClock of its own. Read under a lock by most calls, so it does
  // not call the store.
  std::shared_ptr<const Clock> clock = {};
  // The most keys held (a key counts once for each rule that has state for
  // it). When it is reached, only entries that equal a fresh key make room; if
  // a bounded search finds none, `when_full` says what becomes of a call for an
  // unknown key. A time that the caller gives, or a clock of the caller's own,
  // is believed for this once 32 calls that found no room agree. 0: no bound.
  int64_t max_keys = 1'000'000;
  // The most memory, in bytes, that keys and their states may take (logs above
  // all: see docs/sizing.md). When it is reached, room is looked for in the
  // same way; if there is none, `when_full` says what becomes of a call for an
  // unknown key, and one that would add to a known key's log is not decided.
  // Calls under way may pass it by what they add; the memory taken from the
  // system can be about a tenth more. 0: no bound.
  int64_t max_bytes = int64_t{1} << 30;
  WhenFull when_full = WhenFull::kDeny;
  // How long an entry that equals a fresh key is left all the same, for callers
  // whose times are not in order: one that is earlier than times before it, by
  // up to this much, finds what its key has seen. The keys of that time are
  // held meanwhile, and count. Neither a store that is full heeds it, nor
  // Sweep. 0 or more; Micros::max(): for good.
  Micros slack{0};
  // Locks. A power of two, 1 to 65536.
  int stripes = 64;
};

class MemoryStore final : public Store {
 public:
  struct Counters {
    int64_t keys = 0;     // held now
    int64_t bytes = 0;    // that these take, as max_bytes counts
    int64_t expired = 0;  // removed because they equalled a fresh key
    int64_t refused = 0;  // calls not decided: no room
    int64_t shared = 0;   // calls with a cost decided on a shared state
    int64_t limits = 0;   // known now, also of limiters that are gone
  };

  // InvalidArgument names the option and what is allowed.
  static absl::StatusOr<std::shared_ptr<MemoryStore>> Create(
      const MemoryStoreOptions& options = {});
  ~MemoryStore() override;

  Time Now() const override;
  const Clock& WaitingClock() const override;
  absl::StatusOr<std::shared_ptr<const StoreRule>> Attach(
      std::string_view rule_name, const CompiledLimit& limit) override;
  absl::Status Run(Op op, std::optional<Time> now, const Step* steps,
                   Outcome* outcomes, size_t count) override;

  QuickChecks QuickChecksOf(const StoreRule& rule) const override;
  void RunEach(Op op, std::optional<Time> now, const Step* steps,
               Outcome* outcomes, absl::Status* statuses,
               size_t count) override;
  // For engines whose state is one small struct: the handle decides without
  // the stripe's lock. No room for the key: ResourceExhausted, or null under
  // WhenFull::kShare.
  absl::StatusOr<std::unique_ptr<Binding>> Bind(const StoreRule& rule,
                                                std::string_view key) override;

  // Removes entries that equal a fresh key at `now` (nothing: by the store's
  // clock), examining at most `budget` entries (0: all of them; a piece of a
  // long log that is freed counts as one). Returns how many went. Takes one
  // stripe's lock at a time.
  int64_t Sweep(int64_t budget = 0, std::optional<Time> now = std::nullopt);

  Counters counters() const;

 private:
  friend struct MemoryStorePeer;  // in tests
  struct Impl;
  explicit MemoryStore(std::unique_ptr<Impl> impl);

  // The most limits under which keys are held at one time, before the first.
  void SetMostLimits(uint32_t most);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_MEMORY_STORE_H_
