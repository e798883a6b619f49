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
// Thread safety: every const method, Update and Shutdown from any thread at the
// same time. Assigning to a limiter and destroying it need that nobody calls it
// meanwhile; only those who wait in Acquire may still be there. A Limiter can
// be moved and is cheap to move; copies do not exist. It keeps its store alive.
//
// Cost on the embedded store: a call is one hash and one lock for each rule.
// For a key that is known nothing is allocated with one rule that is enforced,
// else one block of memory for the verdicts. For a key that is asked all the
// time there are handles (Bind), for many keys at once CheckMany.
#ifndef WEIR_LIMITER_H_
#define WEIR_LIMITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/outage.h"
#include "weir/registry.h"
#include "weir/store.h"
#include "weir/time.h"

namespace weir {

class RuleSet;

// A key may be any bytes, also none, up to this many.
inline constexpr size_t kMaxKeyBytes = 64 * 1024;

// A named limit inside a limiter.
struct Rule {
  std::string name = {};
  Limit limit;
  // Is charged as if enforced but never denies, and is left out of the
  // overall numbers. Its own verdict is in Decision::rules().
  bool observe = false;
  // In (0, 1]: the decision is flagged `soft` above this share of the limit.
  std::optional<double> soft = std::nullopt;
  // Limits of their own for some keys (free, pro, partner): `plan_of` gives a
  // key's index in `plans`; anything else means the rule's own limit. It is
  // called once for each call, on the caller's thread, from many threads at a
  // time. A key whose plan changes keeps what it has used, if both limits are
  // of one algorithm; else it starts afresh.
  std::vector<Limit> plans = {};
  std::function<int(std::string_view key)> plan_of = nullptr;
};

struct LimiterOptions {
  // Where algorithms are looked up. Null: Registry::BuiltIn(). Must outlive
  // the limiter.
  const Registry* registry = nullptr;
  // Gives the tag of a key (Call::tag): a leading part of it, the same for all
  // keys of a call. Then no call names it, and a key has one state on Redis
  // however it is asked: alone, with others, or by a handle. A pure function of
  // the key; called at least once for each call, on the caller's thread, from
  // many threads at a time. Cost: calls by key are made in full.
  std::function<std::string_view(std::string_view key)> tag_of = nullptr;
  // Calls need not show that their tag begins every key: whoever makes the
  // keys answers for it that equal keys come with equal tags. Not with tag_of.
  bool trust_tags = false;
  // What is answered while the store can't decide.
  OutagePolicy outage = {};
  // Denials of this many keys are kept and repeated without asking the store
  // until their wait is over (Decision::source is kDenialCache then): for calls
  // of the same keys whose costs are not lower and which bring no time of their
  // own. Of those who ask when it is over one is sent; until that is answered,
  // or 100 ms later, the others are still denied. So it goes on while the
  // answers leave no room for another such call. What another process, or
  // another limiter, gives back meanwhile is seen when the wait is over; what
  // this one does (Refund, Reset, Update) at once. 0: none. For stores that are
  // far away; refused with rules that count denied calls. Memory: about 400
  // bytes a key, taken at once; keys up to 512 bytes.
  size_t denial_cache_keys = 0;
};

// A call in full. What is short below is made of it.
struct Call {
  // One key for each rule, or one for all of them.
  absl::Span<const std::string_view> keys = {};
  // One cost for each rule, or one for all. Empty: 1.
  absl::Span<const int64_t> costs = {};
  // What the keys have in common: needed if they differ. A leading part of
  // every key; on a cluster it decides where they live. A key goes with one tag
  // always, or with none: on Redis the two would be two states. A limiter with
  // a tag_of is told none.
  std::optional<std::string_view> tag = {};
  // The time of the call. Nothing: the store's own clock.
  std::optional<Time> now = {};
};

// Calls off the waiting of callers that were given it. Thread safe; may be
// cancelled before, during or after the wait, and outlive it or not. Before:
// who comes is told Cancelled even if there is no need to wait.
class Cancellation {
 public:
  Cancellation();
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  void Cancel();

 private:
  friend class WaitingRoom;
  struct State;
  std::shared_ptr<State> state_;
};

using DecisionCallback = std::function<void(absl::StatusOr<Decision>)>;

class Reservation;
class BoundKey;

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
  // Errors: InvalidArgument (a cost below 0 or above 2^53 - 1, a key that is
  // too long), and what the store reports when it can't decide. After an error
  // nothing has changed, but for a store that is far away, where
  // RedisStore::MayHaveCharged tells.
  absl::StatusOr<Decision> Check(std::string_view key, int64_t cost = 1) const;

  // The same for several rules, a key for each. They must be all alike, or
  // the call is made in full with a tag, or the limiter has a tag_of.
  // InvalidArgument also: keys, costs or a tag that do not fit the rules, and a
  // time out of range (weir/time.h).
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

  // Check, Peek, Refund or Reset. (kReserve is an InvalidArgument.)
  absl::StatusOr<Decision> Run(Op op, const Call& call) const;

  // A handle for a key that is asked all the time: see weir/bound_key.h.
  // InvalidArgument: the key is too long. ResourceExhausted: there is no room
  // for it.
  absl::StatusOr<BoundKey> Bind(std::string_view key) const;

  // One Check for each key, each on its own. Cheaper than as many calls: on
  // Redis they are one batch for each node, with one rule 32 keys are one
  // command and have one reading of the clock; in memory, with one rule, memory
  // is fetched for 64 keys at once, and most of them share a reading of the
  // clock. (A key that is new, or was asked at a later time, has its own.)
  std::vector<absl::StatusOr<Decision>> CheckMany(
      absl::Span<const std::string_view> keys, int64_t cost = 1) const;
  // The same for calls with a key or a cost for each rule. Those that bring a
  // time of their own go out together as far as neighbours bring the same.
  std::vector<absl::StatusOr<Decision>> CheckMany(
      absl::Span<const Call> calls) const;

  // A Check that blocks nobody. `done` is told the answer exactly once: by
  // whatever carries the store's calls (weir/redis_store.h), or before this
  // returns where the store decides at once. It must not block, must not
  // destroy the store, and may make further asynchronous calls. What the call
  // points to is needed no longer once this has returned. The store, going
  // away, first answers Cancelled to the calls that are still open. An empty
  // `done` could be told nothing: then nothing is asked, and nothing charged.
  void CheckAsync(std::string_view key, int64_t cost,
                  DecisionCallback done) const;
  void CheckAsync(const Call& call, DecisionCallback done) const;

  // Waits until the call may pass, then lets it pass; or says at once that
  // this would take longer than `max_wait`, and charges nothing. First come,
  // first served for each key, among the callers of this limiter. Nobody waits
  // for more than 200 years.
  // InvalidArgument: `max_wait` is negative, the call has a time of its own, or
  // as for Check.
  // A limiter whose only rule is of the gcra family takes the place in the line
  // at once (see Reserve, whose errors these are too), and keeps it whatever
  // limits an Update brings; any other waits by Peek, under the limits of now,
  // and looks again after a Refund, Reset or Update of this limiter; then it
  // makes one Check. (Of those who stand before it as much as passes at once is
  // counted when it comes; the rest shows while it waits.)
  // Cancelled: called off, or the limiter was shut down; what was taken has
  // been given back. If the store could not be told so, its Status instead:
  // what was taken stands. Where a clock of the user's own throws it has been
  // given back, too.
  absl::StatusOr<Decision> Acquire(std::string_view key, int64_t cost,
                                   Micros max_wait,
                                   Cancellation* cancel = nullptr) const;
  absl::StatusOr<Decision> Acquire(const Call& call, Micros max_wait,
                                   Cancellation* cancel = nullptr) const;

  // Takes now and says how long to wait. For limiters with one rule of the
  // gcra family; for others FailedPrecondition says which algorithms can.
  // InvalidArgument: `max_wait` is negative or above the limit's own max_wait,
  // or as for Check.
  absl::StatusOr<Reservation> Reserve(std::string_view key, int64_t cost,
                                      Micros max_wait) const;

  // Replaces the limits while calls go on: the next call of every key obeys
  // them, what is used stays used, and nobody is refilled. The rules' names
  // must be the same, in the same order. Returns the names of the rules whose
  // algorithm changed, or that of one of their plans: keys that go by it start
  // afresh. After an error nothing has changed. Who waits in Acquire obeys the
  // new limits at once, unless it has a turn reserved: then it keeps that turn.
  // Memory: each different list of rules is kept for as long as the limiter,
  // about 1,500 bytes a rule on the embedded store; one that comes again costs
  // nothing (one with a plan_of is always another). Limits that are computed
  // without end are better given to a new limiter of the same names each time:
  // what is used stays used, and nothing of the old one is kept.
  absl::StatusOr<std::vector<std::string>> Update(std::vector<Rule> rules);
  absl::StatusOr<std::vector<std::string>> Update(Limit limit);

  // Wakes everybody who waits in Acquire; they, and all who come later, are
  // told Cancelled, whether or not they would have to wait, and are not
  // charged. Other calls go on. The destructor does it too, and an assignment
  // to the limiter.
  void Shutdown();

  // As they were given last. Valid as long as the limiter.
  absl::Span<const Rule> rules() const;

 private:
  friend class BoundKey;
  friend class Reservation;
  struct State;
  explicit Limiter(std::shared_ptr<State> state);
  // Reserve, for a call of one key, by these of the state's rules.
  static absl::StatusOr<Reservation> ReserveFor(
      const std::shared_ptr<State>& state, const RuleSet& rules,
      const Call& call, Micros max_wait);

  std::shared_ptr<State> state_;
};

// What was taken ahead of time. Left alone it stands; Cancel gives it back.
// Held by one only: it is moved, not copied, so that nothing is given back
// twice. Thread safety: as a std::string. It may outlive its limiter.
class Reservation {
 public:
  // Holds nothing, as one that was moved from.
  Reservation();
  Reservation(Reservation&& other) noexcept;
  // What this one held stands.
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation();

  // Taken. If not, nothing was charged and there is nothing to cancel.
  bool reserved() const { return decision_.allowed; }
  // How long to wait before acting; if not reserved: how long it would have
  // been, or nothing if no wait helps.
  std::optional<Micros> wait() const { return wait_; }
  const Decision& decision() const { return decision_; }

  // Gives back exactly the cost, once: a Refund under the limits of now, which
  // looks at nothing else. Later reservations keep their waits, and who comes
  // next may be served before them, or at the same moment. So where some stand
  // behind it, and also after its turn has come or the key was reset, up to
  // that cost more can pass in a span than the limit allows: cancel early, and
  // never what was acted on. Where the rule is of another algorithm by now
  // (Update, another plan) nothing is given back: that one's state was never
  // charged.
  // It goes back to where it was taken (`decision().source`), and an outage
  // policy never answers for the store. Errors are the store's: what was taken
  // stands, and Cancel can be called again; but where the store cannot say
  // (RedisStore::MayHaveCharged) that does nothing and returns OK.
  absl::Status Cancel();

 private:
  friend class Limiter;
  // `now`: nothing: the store's own clock.
  absl::Status CancelAt(std::optional<Time> now);
  void Swap(Reservation& other) noexcept;

  std::shared_ptr<Limiter::State> state_;
  std::string key_;
  std::optional<std::string> tag_;
  std::string algorithm_;  // that it was taken under
  int64_t cost_ = 0;       // that may be given back yet
  std::optional<Micros> wait_;
  Decision decision_;
};

}  // namespace weir

#endif  // WEIR_LIMITER_H_
