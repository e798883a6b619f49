// weir: a rate limiter for C++ services.
//
//   auto store = weir::MemoryStore::Create();
//   auto limiter = weir::Limiter::Create(*store, weir::Limit::Gcra(100, 1s));
//   absl::StatusOr<weir::Decision> d = limiter->Check("user:42");
//   if (d.ok() && !d->allowed) reject(d->retry_after);
//
// A limiter holds one or more rules that are asked together: a call passes if
// all of them allow it, and then all are charged; otherwise none is.
//
// Thread safety: every const method from any thread at the same time. A
// Limiter can be moved and is cheap to move; copies do not exist. It keeps its
// store alive.
//
// Cost on the embedded store: a call is one hash and one lock for each rule;
// nothing is allocated for a key that is known.
#ifndef WEIR_LIMITER_H_
#define WEIR_LIMITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/registry.h"
#include "weir/store.h"
#include "weir/time.h"

namespace weir {

// A key may be any bytes, also none, up to this many.
inline constexpr size_t kMaxKeyBytes = 64 * 1024;

// A named limit inside a limiter.
struct Rule {
  std::string name;
  Limit limit;
  // Is charged as if enforced but never denies, and is left out of the
  // overall numbers. Its own verdict is in Decision::rules().
  bool observe = false;
  // In (0, 1]: the decision is flagged `soft` above this share of the limit.
  std::optional<double> soft;
};

struct LimiterOptions {
  // Where algorithms are looked up. Null: Registry::BuiltIn(). Must outlive
  // the limiter.
  const Registry* registry = nullptr;
  // Calls need not show that their tag begins every key: whoever makes the
  // keys answers for it that equal keys come with equal tags.
  bool trust_tags = false;
};

// A call in full. What is short below is made of it.
struct Call {
  // One key for each rule, or one for all of them.
  absl::Span<const std::string_view> keys;
  // One cost for each rule, or one for all. Empty: 1.
  absl::Span<const int64_t> costs;
  // What the keys have in common: needed if they differ. A leading part of
  // every key; on a cluster it decides where they live.
  std::optional<std::string_view> tag;
  // The time of the call. Nothing: the store's own clock.
  std::optional<Time> now;
};

class Limiter {
 public:
  // A limiter with one rule, named "default".
  // InvalidArgument: the limit is wrong; the message names the field.
  static absl::StatusOr<Limiter> Create(std::shared_ptr<Store> store,
                                        Limit limit,
                                        const LimiterOptions& options = {});

  // A limiter with several rules, each with a name of its own.
  // InvalidArgument names the rule and the field; no rules at all is one too.
  static absl::StatusOr<Limiter> Create(std::shared_ptr<Store> store,
                                        std::vector<Rule> rules,
                                        const LimiterOptions& options = {});

  Limiter(Limiter&&) noexcept;
  Limiter& operator=(Limiter&&) noexcept;
  ~Limiter();

  // May this call pass? If yes it is charged. `cost` is how much of the limit
  // it takes; 0 asks whether the key is within its limit and changes nothing.
  // Errors: InvalidArgument (negative cost, key too long), and what the store
  // reports when it can't decide. After an error nothing has changed.
  absl::StatusOr<Decision> Check(std::string_view key, int64_t cost = 1) const;

  // The same for several rules, a key for each. They must be all alike, or
  // the call is made in full with a tag.
  absl::StatusOr<Decision> Check(const Call& call) const;

  // What would Check answer? Changes nothing. With a cost: when would it pass?
  // `remaining` and `reset_after` are those of the state as it is.
  absl::StatusOr<Decision> Peek(std::string_view key, int64_t cost = 1) const;
  absl::StatusOr<Decision> Peek(const Call& call) const;

  // Gives back `cost` to each rule, at most what makes its key fresh. A key
  // that is not there stays away. The decision is always `allowed` and tells
  // the numbers afterwards.
  absl::StatusOr<Decision> Refund(std::string_view key, int64_t cost = 1) const;
  absl::StatusOr<Decision> Refund(const Call& call) const;

  // Makes the keys fresh. The decision is that of a fresh key.
  absl::StatusOr<Decision> Reset(std::string_view key) const;
  absl::StatusOr<Decision> Reset(const Call& call) const;

  // Any of the four.
  absl::StatusOr<Decision> Run(Op op, const Call& call) const;

  // As they were given.
  absl::Span<const Rule> rules() const;

 private:
  struct Config;
  explicit Limiter(std::unique_ptr<Config> config);

  std::unique_ptr<Config> config_;
};

}  // namespace weir

#endif  // WEIR_LIMITER_H_
