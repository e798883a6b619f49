// Why a call to Redis failed, and what that means: is it an outage, may the
// call have been run all the same, may it be sent again?
#ifndef WEIR_BACKENDS_REDIS_ERRORS_H_
#define WEIR_BACKENDS_REDIS_ERRORS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "backends/redis/call.h"

namespace weir::redis {

enum class Reason : uint8_t {
  kNone,  // not a failure of Redis
  // Nothing was answered.
  kTimeout,      // the deadline passed
  kUnreachable,  // no connection: refused, no such host, AUTH never answered
  kClosed,       // the connection went while the call was on its way
  kProtocol,     // a reply cut short, of the wrong shape or far too large
  kBreakerOpen,  // not asked: the node failed just before
  kOverloaded,   // not asked: too many calls are waiting on the socket
  // Answered, and not in a state to decide. Goes away by itself.
  kLoading,
  kBusy,
  kMasterDown,
  kReadOnly,
  kNoReplicas,
  kMisconf,
  kOutOfMemory,
  kClusterDown,
  kTryAgain,
  kTooManyRedirects,
  kMaxClients,
  // Answered, and somebody has to change something.
  kTls,  // no handshake: a certificate, a version, or no TLS at all
  kNoAuth,
  kWrongPass,
  kNoPermission,
  kCrossSlot,
  kWrongType,
  kNotACluster,  // MOVED from a server that was not said to be a cluster
  kNoScript,     // even EVAL was answered so
  kScriptError,  // any other error reply
  // Steps on the way, which a call follows by itself.
  kMoved,
  kAsk,
};
inline constexpr int kReasonCount = static_cast<int>(Reason::kAsk) + 1;

// "timeout", "moved": stable names, for counters.
std::string_view ReasonName(Reason reason);

// The reason in the text of an error reply. Older servers wrap an error that a
// script met in one of their own, so the words are looked for there too.
Reason ClassifyReply(std::string_view error_text);

// The server answers, and can't decide for now, whatever it is asked: LOADING,
// BUSY, a replica, a cluster that is down. For those who ask as good as no
// answer.
bool CannotServe(const Reply& reply);

// What a reply that nobody asked for says of its connection, which closes: the
// server's reason, if that is what it tells.
Reason ReasonOfUnasked(const Reply& reply);
std::string WordsOfUnasked(const Reply& reply);

// Redis can't answer now, through no fault of the caller or the configuration:
// what an outage policy is for.
bool IsOutage(Reason reason);
bool IsOutage(const absl::Status& status);

// kNone if the status did not come from here.
Reason ReasonOf(const absl::Status& status);
// The call may have been run, though nobody was told its result.
bool MayHaveCharged(const absl::Status& status);

// A copy that shares nothing with the original, for another thread. (The counts
// of a shared one are in Abseil, which a thread sanitizer may not see into.)
absl::Status Detached(const absl::Status& status);

// A status with its reason. Its message says what was met, and, where somebody
// has to change something, what. `detail`: the reply or the system's words.
absl::Status MakeError(Reason reason, std::string_view node,
                       std::string_view detail, bool may_have_charged = false);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_ERRORS_H_
