// The course of one call: where it goes next, as what, and when it is over.
// Blocking and asynchronous calls follow the same one.
#ifndef WEIR_BACKENDS_REDIS_COURSE_H_
#define WEIR_BACKENDS_REDIS_COURSE_H_

#include <chrono>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "backends/redis/call.h"
#include "backends/redis/cluster_map.h"
#include "backends/redis/errors.h"
#include "backends/redis/node.h"
#include "backends/redis/options.h"
#include "backends/redis/resp.h"
#include "backends/redis/tally.h"

namespace weir::redis {

// How one attempt ended.
struct Attempt {
  Reply* reply = nullptr;  // null: there is none
  Reason failed = Reason::kNone;
  bool may_have_run = false;
  // In full, if the attempt was not made at all; else the words of it.
  absl::Status status;
  std::string_view words;
  // What the reply says of the node was said to another call of this attempt.
  bool told = false;
};

class Course {
 public:
  // `slot`: of the first key; -1 without keys.
  Course(int slot, bool charging) : slot_(slot), charging_(charging) {}

  // Where and how the next attempt is made. Null: there is no node to ask, and
  // GiveUp says what then.
  Node* Choose(ClusterMap* map, SteadyTime now);
  How how() const { return how_; }
  bool asking() const { return asking_; }
  // A node that can't tell who owns its slots now: it did not answer the last
  // attempt, or does not answer anybody and is next. Null: there is none.
  const Node* Silent(ClusterMap* map) const;
  // Not sooner than after this pause.
  std::chrono::microseconds pause() const { return pause_; }

  // Judges an attempt that was made on `node`. True: the call is over, with
  // status(); if that is ok the reply is its result.
  bool Judge(const Attempt& attempt, Node* node, const ClientOptions& options,
             ClusterMap* map, Tally* tally);
  // Over before it began.
  void Refuse(absl::Status status) { status_ = std::move(status); }
  // Choose found no node. True: the call is over. False: the map is being asked
  // for, and may name one after pause().
  bool GiveUp();
  // Over because no time is left. `may_have_run` of the last attempt is kept.
  void RunOut(Node* node);
  const absl::Status& status() const { return status_; }

 private:
  bool Over(absl::Status status);
  bool Again(std::chrono::microseconds pause = {});
  bool JudgeError(const Attempt& attempt, Node* node, ClusterMap* map,
                  const ClientOptions& options);
  bool JudgeFailure(const Attempt& attempt, Node* node, ClusterMap* map,
                    const ClientOptions& options);
  bool Redirect(Reason reason, std::string_view text, Node* node,
                ClusterMap* map);
  // One more redirection, since the last pause; one more pause. False: there
  // were too many.
  bool SpendRedirect(const ClientOptions& options);
  bool SpendPause(const ClientOptions& options);

  const int slot_;
  const bool charging_;
  How how_ = How::kEvalSha;
  bool asking_ = false;
  Node* target_ = nullptr;       // null: the owner of the slot
  const Node* avoid_ = nullptr;  // did not answer just now
  bool map_comes_ = false;
  int no_scripts_ = 0;
  int redirects_ = 0;
  int pauses_ = 0;
  bool reconnected_ = false;
  std::chrono::microseconds pause_{0};
  absl::Status last_;  // why it is not over yet
  absl::Status status_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_COURSE_H_
