#include "backends/redis/errors.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "core/text.h"

namespace weir::redis {
namespace {

constexpr char kPayload[] = "weir.redis";
constexpr std::string_view kMayHaveRun = ", may have run";

struct Entry {
  Reason reason;
  std::string_view name;
  // The word that begins the server's reply, if there is one of its own.
  std::string_view word;
  absl::StatusCode code;
  bool outage;
  std::string_view advice;
};

// In the order of the enum.
constexpr Entry kTable[] = {
    {Reason::kNone, "none", "", absl::StatusCode::kUnknown, false, ""},
    {Reason::kTimeout, "timeout", "", absl::StatusCode::kDeadlineExceeded, true,
     ""},
    {Reason::kUnreachable, "unreachable", "", absl::StatusCode::kUnavailable,
     true, ""},
    {Reason::kClosed, "closed", "", absl::StatusCode::kUnavailable, true, ""},
    {Reason::kProtocol, "protocol", "", absl::StatusCode::kUnavailable, true,
     ""},
    {Reason::kBreakerOpen, "breaker_open", "", absl::StatusCode::kUnavailable,
     true, ""},
    {Reason::kOverloaded, "overloaded", "",
     absl::StatusCode::kResourceExhausted, true,
     "too many calls are waiting: raise max_in_flight, or ask less"},
    {Reason::kLoading, "loading", "LOADING", absl::StatusCode::kUnavailable,
     true, ""},
    {Reason::kBusy, "busy", "BUSY", absl::StatusCode::kUnavailable, true,
     "somebody's script is running too long: SCRIPT KILL ends it"},
    {Reason::kMasterDown, "master_down", "MASTERDOWN",
     absl::StatusCode::kUnavailable, true, ""},
    {Reason::kReadOnly, "read_only", "READONLY", absl::StatusCode::kUnavailable,
     true,
     "this server is a replica: name the master, or wait for the failover"},
    {Reason::kNoReplicas, "no_replicas", "NOREPLICAS",
     absl::StatusCode::kUnavailable, true,
     "fewer replicas are connected than min-replicas-to-write asks for"},
    {Reason::kMisconf, "misconf", "MISCONF", absl::StatusCode::kUnavailable,
     true, "the server cannot save to its disk and refuses writes"},
    {Reason::kOutOfMemory, "out_of_memory", "OOM",
     absl::StatusCode::kUnavailable, true,
     "raise the server's maxmemory, or let it evict"},
    {Reason::kClusterDown, "cluster_down", "CLUSTERDOWN",
     absl::StatusCode::kUnavailable, true, ""},
    {Reason::kTryAgain, "try_again", "TRYAGAIN", absl::StatusCode::kUnavailable,
     true, ""},
    {Reason::kTooManyRedirects, "too_many_redirects", "",
     absl::StatusCode::kUnavailable, true, ""},
    {Reason::kMaxClients, "max_clients", "", absl::StatusCode::kUnavailable,
     true, "raise the server's maxclients"},
    {Reason::kTls, "tls", "", absl::StatusCode::kPermissionDenied, false,
     "TLS failed: check the tls_ parameters of the URL and the certificates of "
     "both sides"},
    {Reason::kNoAuth, "no_auth", "NOAUTH", absl::StatusCode::kPermissionDenied,
     false, "the server wants a password: redis://user:password@host"},
    {Reason::kWrongPass, "wrong_pass", "WRONGPASS",
     absl::StatusCode::kPermissionDenied, false,
     "check user and password, and that the user is enabled"},
    {Reason::kNoPermission, "no_permission", "NOPERM",
     absl::StatusCode::kPermissionDenied, false,
     "give the user +evalsha, +eval, the commands of the scripts, and the "
     "pattern of the keys (ACL SETUSER)"},
    {Reason::kCrossSlot, "cross_slot", "CROSSSLOT",
     absl::StatusCode::kFailedPrecondition, false,
     "all keys of a call must share their tag"},
    {Reason::kWrongType, "wrong_type", "WRONGTYPE",
     absl::StatusCode::kFailedPrecondition, false,
     "something else wrote this key: use a namespace of your own"},
    {Reason::kNotACluster, "not_a_cluster", "",
     absl::StatusCode::kFailedPrecondition, false,
     "this server belongs to a cluster: use redis+cluster://"},
    {Reason::kNoScript, "no_script", "NOSCRIPT", absl::StatusCode::kInternal,
     false, "the server lost the script at once; is it flushed all the time?"},
    {Reason::kScriptError, "script_error", "",
     absl::StatusCode::kFailedPrecondition, false,
     "what was asked can't be done there: is it Redis 5 or later, with this "
     "command, and does nothing else, nor a later version of weir, write this "
     "key?"},
    {Reason::kMoved, "moved", "MOVED", absl::StatusCode::kUnavailable, true,
     ""},
    {Reason::kAsk, "ask", "ASK", absl::StatusCode::kUnavailable, true, ""},
};
static_assert(sizeof(kTable) / sizeof(kTable[0]) == kReasonCount,
              "one entry for each reason");

const Entry& EntryOf(Reason reason) {
  return kTable[static_cast<size_t>(reason)];
}

// How a script begins to say that it can't read a key's state: lua/record.lua.
constexpr std::string_view kForeignState = "WEIRSTATE ";

bool BeginsWithWord(std::string_view text, std::string_view word) {
  return text.substr(0, word.size()) == word &&
         (text.size() == word.size() || text[word.size()] == ' ');
}

// Anywhere, but as a word of its own or behind a dash: "@user_script: 1:
// -READONLY You can't write ...".
bool ContainsWord(std::string_view text, std::string_view word) {
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '-';
    if (begins && BeginsWithWord(text.substr(at), word)) return true;
  }
  return false;
}

}  // namespace

std::string_view ReasonName(Reason reason) { return EntryOf(reason).name; }

Reason ClassifyReply(std::string_view error_text) {
  for (const Entry& entry : kTable) {
    if (!entry.word.empty() && BeginsWithWord(error_text, entry.word)) {
      return entry.reason;
    }
  }
  // What follows names the key, whose bytes are anything.
  error_text = error_text.substr(0, error_text.find(kForeignState));
  if (BeginsWithWord(error_text, "ERR")) {
    if (error_text.find("max number of clients") != std::string_view::npos) {
      return Reason::kMaxClients;
    }
    if (error_text.find("AUTH") != std::string_view::npos ||
        error_text.find("invalid password") != std::string_view::npos) {
      return Reason::kWrongPass;
    }
    // What the script's user may not do is told in the script's own error.
    if (error_text.find("The user executing the script") !=
        std::string_view::npos) {
      return Reason::kNoPermission;
    }
  }
  // Wrapped by an older server. What only a server says of a whole command is
  // not looked for: a script can't meet it.
  for (const Reason reason :
       {Reason::kReadOnly, Reason::kOutOfMemory, Reason::kNoReplicas,
        Reason::kMisconf, Reason::kMasterDown, Reason::kWrongType}) {
    if (ContainsWord(error_text, EntryOf(reason).word)) return reason;
  }
  return Reason::kScriptError;
}

bool CannotServe(const Reply& reply) {
  if (reply.type != Reply::Type::kError) return false;
  for (const Reason reason :
       {Reason::kLoading, Reason::kBusy, Reason::kReadOnly, Reason::kMasterDown,
        Reason::kClusterDown}) {
    if (BeginsWithWord(reply.text, EntryOf(reason).word)) return true;
  }
  return false;
}

Reason ReasonOfUnasked(const Reply& reply) {
  return reply.type == Reply::Type::kError ? ClassifyReply(reply.text)
                                           : Reason::kProtocol;
}

std::string WordsOfUnasked(const Reply& reply) {
  return reply.type == Reply::Type::kError ? reply.text
                                           : "a reply that nobody asked for";
}

bool IsOutage(Reason reason) { return EntryOf(reason).outage; }

bool IsOutage(const absl::Status& status) { return IsOutage(ReasonOf(status)); }

// The payload, which a status prints too, is the reason's name, and the words
// below if the call may have been run.
Reason ReasonOf(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (!payload.has_value()) return Reason::kNone;
  std::string text;
  absl::CopyCordToString(*payload, &text);
  text.resize(std::min(text.size(), text.find(',')));
  for (const Entry& entry : kTable) {
    if (entry.name == text) return entry.reason;
  }
  return Reason::kNone;
}

bool MayHaveCharged(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  return payload.has_value() && payload->EndsWith(Sv(kMayHaveRun));
}

absl::Status Detached(const absl::Status& status) {
  absl::Status copy(status.code(), status.message());
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayload);
  if (payload.has_value()) {
    copy.SetPayload(kPayload, absl::Cord(static_cast<std::string>(*payload)));
  }
  return copy;
}

absl::Status MakeError(Reason reason, std::string_view node,
                       std::string_view detail, bool may_have_charged) {
  const Entry& entry = EntryOf(reason);
  std::string message = absl::StrCat("redis ", Sv(node), ": ", Sv(detail));
  if (!entry.advice.empty()) {
    absl::StrAppend(&message, " (", Sv(entry.advice), ")");
  }
  if (may_have_charged) {
    absl::StrAppend(&message, "; the call may have been charged");
  }
  absl::Status status(entry.code, message);
  status.SetPayload(
      kPayload, absl::Cord(absl::StrCat(
                    Sv(entry.name), may_have_charged ? Sv(kMayHaveRun) : "")));
  return status;
}

}  // namespace weir::redis
