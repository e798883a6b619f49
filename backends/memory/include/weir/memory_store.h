// The embedded store: state in this process, shared by all its threads.
//
//   auto store = weir::MemoryStore::Create();
//   auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
//
// Lock-striped: calls for different keys seldom meet. No thread is started;
// entries that equal a fresh key are removed in small steps by the calls
// themselves, and by Sweep(). The table grows in small steps, so no call pays
// for a rehash. A call without a time of its own reads the clock while it holds
// the locks of its keys.
//
// Memory: an entry is removed once it equals a fresh key and the calls' own
// sweep has come round: at the latest after 32 * (entries + 16) further calls
// with a cost to its stripe. (Calls of handles, weir/bound_key.h, do not
// count.) Where the times are given by the caller, or by a clock of the
// caller's own, it must equal a fresh key at every recent reading (the last 256
// to 512 calls of its stripe), so that a clock that jumps ahead and comes back
// takes nothing with it: at the latest after 512 calls more.
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

struct MemoryStoreOptions {
  // Null: a SteadyClock of its own.
  std::shared_ptr<const Clock> clock;
  // The most keys held (a key counts once for each rule that has state for
  // it). When it is reached, only entries that equal a fresh key make room; if
  // a bounded search finds none, a call for an unknown key is not decided:
  // ResourceExhausted. A time that the caller gives, or a clock of the caller's
  // own, is believed for this once 32 calls that found no room agree.
  // 0: no bound.
  int64_t max_keys = 1'000'000;
  // The most memory, in bytes, that keys and their states may take (logs above
  // all: see docs/sizing.md). When it is reached, room is looked for in the
  // same way; if there is none, a call for an unknown key, or one that would
  // add to a log, is not decided. Calls under way may pass it by what they add;
  // the memory taken from the system can be about a tenth more. 0: no bound.
  int64_t max_bytes = int64_t{1} << 30;
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

  absl::Status CheckOne(const StoreRule& rule, const Time* now,
                        std::string_view key, int64_t cost,
                        Outcome* outcome) override;
  void RunEach(Op op, std::optional<Time> now, const Step* steps,
               Outcome* outcomes, absl::Status* statuses,
               size_t count) override;
  // For engines whose state is one small struct: the handle decides without
  // the stripe's lock. ResourceExhausted: no room for the key.
  absl::StatusOr<std::unique_ptr<Binding>> Bind(const StoreRule& rule,
                                                std::string_view key) override;

  // Removes entries that equal a fresh key at `now` (nothing: by the store's
  // clock), examining at most `budget` entries (0: all of them). Returns how
  // many went. Takes one stripe's lock at a time.
  int64_t Sweep(int64_t budget = 0, std::optional<Time> now = std::nullopt);

  Counters counters() const;

 private:
  struct Impl;
  explicit MemoryStore(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace weir

#endif  // WEIR_MEMORY_STORE_H_
