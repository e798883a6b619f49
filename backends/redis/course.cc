#include "backends/redis/course.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"
#include "core/text.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;

// Waits grow from the first to the second, doubling.
constexpr microseconds kFirstPause = std::chrono::milliseconds(1);
constexpr microseconds kLongestPause = std::chrono::milliseconds(50);

constexpr std::string_view kNoReply =
    "the deadline passed while waiting for the reply";

}  // namespace

Node* Course::Choose(ClusterMap* map, SteadyTime now) {
  if (target_ != nullptr) return target_;
  // Before the owner: an answer between the two is then seen, or waited for.
  map_comes_ = map->IsRefreshing(now);
  Node* const owner = map->Owner(slot_);
  if (owner == nullptr) return map->Any(avoid_);
  // It did not answer, and nobody else has its slots yet.
  return owner == avoid_ ? nullptr : owner;
}

const Node* Course::Silent(ClusterMap* map) const {
  if (avoid_ != nullptr) return avoid_;
  Node* const next = target_ != nullptr ? target_ : map->Owner(slot_);
  return next != nullptr && next->breaker().is_open() ? next : nullptr;
}

bool Course::Over(absl::Status status) {
  status_ = std::move(status);
  return true;
}

bool Course::Again(microseconds pause) {
  pause_ = pause;
  return false;
}

bool Course::SpendRedirect(const ClientOptions& options) {
  return redirects_++ < options.max_redirects;
}

bool Course::SpendPause(const ClientOptions& options) {
  // What was found out before it may not hold after it.
  redirects_ = 0;
  return pauses_++ < options.max_redirects;
}

bool Course::Judge(const Attempt& attempt, Node* node,
                   const ClientOptions& options, ClusterMap* map,
                   Tally* tally) {
  if (attempt.reply == nullptr) {
    tally->Met(attempt.failed);
    return JudgeFailure(attempt, node, map, options);
  }
  if (attempt.reply->type != Reply::Type::kError) {
    return Over(absl::OkStatus());
  }
  const Reason reason = ClassifyReply(attempt.reply->text);
  tally->Met(reason);
  return JudgeError(attempt, node, map, options);
}

// The command was run, or rather was refused: it can be sent again.
bool Course::JudgeError(const Attempt& attempt, Node* node, ClusterMap* map,
                        const ClientOptions& options) {
  const Reply& reply = *attempt.reply;
  const Reason reason = ClassifyReply(reply.text);
  last_ = MakeError(reason, node->name(), reply.text);
  const microseconds pause =
      std::min(kLongestPause, kFirstPause * (1 << std::min(pauses_, 10)));
  switch (reason) {
    case Reason::kNoScript:
      // Twice: of a batch, only the first call sends the text.
      how_ = How::kEval;
      return ++no_scripts_ <= 2 ? Again() : Over(last_);
    case Reason::kMoved:
    case Reason::kAsk:
      if (!options.cluster) {
        return Over(MakeError(Reason::kNotACluster, node->name(), reply.text));
      }
      if (!SpendRedirect(options)) {
        return Over(
            MakeError(Reason::kTooManyRedirects, node->name(), reply.text));
      }
      return Redirect(reason, reply.text, node, map);
    case Reason::kTryAgain:
      asking_ = false;
      target_ = nullptr;
      return SpendPause(options) ? Again(pause) : Over(last_);
    case Reason::kReadOnly:
    case Reason::kMasterDown:
      // Whoever was the master is not any more: look again who is.
      map->MarkStale();
      if (!std::exchange(reconnected_, true)) {
        node->Reconnect();
        target_ = nullptr;
        return Again(kFirstPause);
      }
      break;
    case Reason::kClusterDown:
      map->MarkStale();
      target_ = nullptr;
      if (SpendPause(options)) return Again(pause);
      break;
    case Reason::kLoading:
      if (SpendPause(options)) return Again(pause);
      break;
    case Reason::kBusy:
      break;
    default:
      return Over(last_);
  }
  // It answers, but each such call takes its time.
  if (!attempt.told) node->NoteFailure(last_);
  return Over(last_);
}

bool Course::Redirect(Reason reason, std::string_view text, Node* node,
                      ClusterMap* map) {
  // "MOVED 3999 127.0.0.1:6381"
  const size_t first = text.find(' ');
  const size_t second =
      first == std::string_view::npos ? first : text.find(' ', first + 1);
  int slot = -1;
  Node* to = nullptr;
  if (second != std::string_view::npos) {
    std::from_chars(text.data() + first + 1, text.data() + second, slot);
    to = map->Find(text.substr(second + 1), *node);
  }
  if (to == nullptr || slot < 0 || slot >= kSlots) {
    return Over(MakeError(Reason::kProtocol, node->name(), text));
  }
  target_ = to;
  asking_ = reason == Reason::kAsk;
  if (reason == Reason::kMoved) {
    map->SetOwner(slot, to);
    map->MarkStale();
  }
  return Again();
}

bool Course::JudgeFailure(const Attempt& attempt, Node* node, ClusterMap* map,
                          const ClientOptions& options) {
  last_ = attempt.status.ok() ? MakeError(attempt.failed, node->name(),
                                          attempt.failed == Reason::kTimeout &&
                                                  attempt.words.empty()
                                              ? kNoReply
                                              : attempt.words,
                                          charging_ && attempt.may_have_run)
                              : attempt.status;
  const bool may_go_again = !charging_ || !attempt.may_have_run;
  if (attempt.failed == Reason::kTimeout || !may_go_again ||
      attempt.failed == Reason::kOverloaded ||
      attempt.failed == Reason::kProtocol) {
    return Over(last_);
  }
  // The connection went before or while we used it; a new one will show.
  if (attempt.failed == Reason::kClosed && !std::exchange(reconnected_, true)) {
    return Again();
  }
  if (!options.cluster) return Over(last_);
  // Another node may have its slots by now.
  if (!IsOutage(attempt.failed) || !SpendRedirect(options)) return Over(last_);
  map->MarkStale();
  target_ = nullptr;
  asking_ = false;
  avoid_ = node;
  return Again();
}

bool Course::GiveUp() {
  if (map_comes_) return Again(kFirstPause);
  return Over(last_.ok() ? MakeError(Reason::kUnreachable, "cluster",
                                     "there is no node to ask")
                         : last_);
}

void Course::RunOut(Node* node) {
  // It took all the time there was.
  if (node != nullptr && ReasonOf(last_) == Reason::kLoading) {
    node->NoteFailure(last_);
  }
  const std::string name = node == nullptr ? "" : node->name();
  status_ = MakeError(
      Reason::kTimeout, name,
      last_.ok() ? std::string("the deadline passed before it was sent")
                 : absl::StrCat("the deadline passed after: ", last_.message()),
      MayHaveCharged(last_));
}

}  // namespace weir::redis
