// What a limiter answers while its store cannot decide: Redis is down, slow or
// failing over.
//
//   weir::LimiterOptions options;
//   options.outage = weir::OutagePolicy::Open();
//
// A policy is asked only about outages (Store::IsOutage): what somebody has to
// put right, such as a wrong password or a bad argument, stays an error. It
// answers checks (also many at once, asynchronous and bound ones), peeks,
// refunds and whoever waits for a turn; Reset stays an error, and so does
// giving back a turn that the store gave. What it decided says so:
// Decision::source is kPolicy.
//
// Thread safety: a value; as safe as a std::shared_ptr.
#ifndef WEIR_OUTAGE_H_
#define WEIR_OUTAGE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "weir/time.h"

namespace weir {

class Store;

class OutagePolicy {
 public:
  enum class Answer : uint8_t { kError, kOpen, kClosed, kLocal };

  OutagePolicy() = default;

  // The store's Status. The default.
  static OutagePolicy Error() { return OutagePolicy(); }

  // Everything passes that a fresh key would let pass, and nothing is counted:
  // how much is too much is bounded by the length of the outage alone.
  static OutagePolicy Open() { return OutagePolicy(Answer::kOpen); }

  // Nothing passes. `retry_after` is what callers are told, above 0.
  static OutagePolicy Closed(Micros retry_after = std::chrono::seconds(1)) {
    OutagePolicy policy(Answer::kClosed);
    policy.retry_after_ = retry_after;
    return policy;
  }

  // A store of this process decides, with one part in `instances` of every
  // limit: a call costs `instances` times as much there. So `instances`
  // processes admit together at most what the limits let pass, on top of what
  // the shared store had admitted before. No limit may be smaller than
  // `instances`, since nothing would pass it.
  // `store`: an embedded one (weir/memory_store.h). Where it has no room for a
  // key its ResourceExhausted is the answer. Each outage goes on where
  // the last one ended; what had passed time has given back.
  static OutagePolicy Local(std::shared_ptr<Store> store, int64_t instances) {
    OutagePolicy policy(Answer::kLocal);
    policy.store_ = std::move(store);
    policy.instances_ = instances;
    return policy;
  }

  Answer answer() const { return answer_; }
  Micros retry_after() const { return retry_after_; }
  int64_t instances() const { return instances_; }
  const std::shared_ptr<Store>& store() const { return store_; }

 private:
  explicit OutagePolicy(Answer answer) : answer_(answer) {}

  Answer answer_ = Answer::kError;
  Micros retry_after_{0};
  int64_t instances_ = 1;
  std::shared_ptr<Store> store_;
};

}  // namespace weir

#endif  // WEIR_OUTAGE_H_
