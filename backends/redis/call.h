// What is asked of Redis, and what it answers.
#ifndef WEIR_BACKENDS_REDIS_CALL_H_
#define WEIR_BACKENDS_REDIS_CALL_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weir::redis {

// Deadlines are points on the steady clock, whatever clock the limits go by.
using SteadyTime = std::chrono::steady_clock::time_point;

// A constant text. Lives longer than every client that was given it.
struct Script {
  std::string_view name;  // for messages
  std::string_view text;
  std::string_view sha1;  // 40 lower-case hex digits
};

// One run of a script. The views must stay valid until the call returns.
struct ScriptCall {
  const Script* script = nullptr;
  // On a cluster all of one slot; the first says which node is asked.
  absl::Span<const std::string_view> keys;
  absl::Span<const std::string_view> args;
  // Changes state if it is run twice. Such a call is never sent again once it
  // may have reached the server.
  bool charging = true;
  // Above 0: the reply is a string of at least so many bytes. A server that
  // answers anything else, errors aside, is not talking of this call: the
  // connection is closed.
  size_t reply_bytes = 0;
  // Of a call of one key: given several, its script runs for each on its own,
  // in their order, and answers an array of what it would answer to each alone.
  // So it may share a command with others of the script that have the same args
  // (the same span, not equal ones).
  bool each_key = false;
};

// The same, owning what it names.
struct OwnedCall {
  const Script* script = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> args;
  bool charging = true;
  size_t reply_bytes = 0;
};

// A reply of RESP2. Simple strings and bulk strings are both kString.
struct Reply {
  enum class Type : uint8_t { kNil, kString, kInteger, kArray, kError };

  Type type = Type::kNil;
  int64_t integer = 0;
  std::string text;  // kString, kError
  std::vector<Reply> elements;
};

// Told how an asynchronous call ended.
using ReplyCallback = std::function<void(absl::StatusOr<Reply>)>;

// What ScriptCall::reply_bytes says of it holds.
inline bool Fits(const Reply& reply, size_t reply_bytes) {
  return reply_bytes == 0 || reply.type == Reply::Type::kError ||
         (reply.type == Reply::Type::kString &&
          reply.text.size() >= reply_bytes);
}
// The same of what so many calls that share a command are answered: an array,
// or an error of all.
inline bool Fits(const Reply& reply, size_t reply_bytes, size_t calls) {
  if (calls == 1) return Fits(reply, reply_bytes);
  if (reply.type == Reply::Type::kError) return true;
  return reply.type == Reply::Type::kArray && reply.elements.size() == calls &&
         std::all_of(reply.elements.begin(), reply.elements.end(),
                     [reply_bytes](const Reply& element) {
                       return Fits(element, reply_bytes);
                     });
}
inline constexpr std::string_view kMisshapen = "a reply of another shape";
// Of a server that owed a reply as a deadline passed.
inline constexpr std::string_view kNoAnswer = "it does not answer";

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_CALL_H_
