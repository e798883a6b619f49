// RESP2 as bytes: commands are written by us, and so are read the replies that
// are whole and simple; any other by hiredis's reader, held to bounds here.
#ifndef WEIR_BACKENDS_REDIS_RESP_H_
#define WEIR_BACKENDS_REDIS_RESP_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "backends/redis/call.h"

namespace weir::redis {

// Appends one command.
void AppendCommand(absl::Span<const std::string_view> words, std::string* out);

enum class How : uint8_t {
  kEvalSha,
  kEval,
};
// Appends the command that runs the script, in one pass over the words.
template <class Words>
void AppendCall(How how, const Script& script, const Words& keys,
                const Words& args, std::string* out);

extern template void AppendCall(How, const Script&,
                                const absl::Span<const std::string_view>&,
                                const absl::Span<const std::string_view>&,
                                std::string*);
extern template void AppendCall(How, const Script&,
                                const std::vector<std::string>&,
                                const std::vector<std::string>&, std::string*);

// Takes the bytes of one connection and gives its replies in order.
// Not thread safe. After an error it stays in error.
class ReplyReader {
 public:
  enum class Result { kReply, kNeedsMore, kError };

  ReplyReader(size_t max_bytes, size_t max_elements);
  ~ReplyReader();
  ReplyReader(const ReplyReader&) = delete;
  ReplyReader& operator=(const ReplyReader&) = delete;

  // Once Next has said kNeedsMore, until which the bytes stay as they are.
  void Feed(std::string_view bytes);
  // kError: what came is not RESP2, or is larger than allowed; see error().
  Result Next(Reply* reply);
  const std::string& error() const { return error_; }

 private:
  struct State;

  // To hiredis's reader.
  void FeedReader(std::string_view bytes);

  const size_t max_bytes_;
  std::unique_ptr<State> state_;
  // What was fed last, as far as hiredis's reader does not have it.
  std::string_view fresh_;
  // Bytes that the reader was given since the last whole reply.
  size_t fed_ = 0;
  std::string error_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_RESP_H_
