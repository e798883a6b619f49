#include "backends/redis/resp.h"

#include <hiredis/hiredis.h>

#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/base/macros.h"

namespace weir::redis {
namespace {

constexpr char kNotResp2[] = "a reply is not RESP2";
// Arrays within arrays.
constexpr int kMostNested = 8;

// Writes one command at the end of a string, which grows once for it.
class CommandWriter {
 public:
  // What a word takes besides its bytes: $, at most 20 digits, two line ends.
  static constexpr size_t kWord = 25;

  // `room` is enough for all that is written.
  CommandWriter(size_t room, std::string* out)
      : out_(out), begin_(out->size()) {
    out->resize(begin_ + room);
    at_ = out->data() + begin_;
  }
  ~CommandWriter() { out_->resize(static_cast<size_t>(at_ - out_->data())); }
  CommandWriter(const CommandWriter&) = delete;
  CommandWriter& operator=(const CommandWriter&) = delete;

  // First of all: how many words follow.
  void Count(size_t words) { Head('*', words); }
  void Word(std::string_view word) {
    Head('$', word.size());
    Bytes(word);
    Bytes("\r\n");
  }
  // A number as a word.
  void Number(size_t n) {
    char digits[20];
    const char* const end =
        std::to_chars(digits, digits + sizeof digits, n).ptr;
    Word({digits, static_cast<size_t>(end - digits)});
  }
  void Bytes(std::string_view bytes) {
    std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }

 private:
  void Head(char type, size_t n) {
    *at_++ = type;
    at_ = std::to_chars(at_, at_ + 20, n).ptr;
    Bytes("\r\n");
  }

  std::string* const out_;
  const size_t begin_;
  char* at_;
};

template <class Words>
size_t RoomFor(const Words& words) {
  size_t room = 0;
  for (const auto& word : words) room += word.size() + CommandWriter::kWord;
  return room;
}

}  // namespace

void AppendCommand(absl::Span<const std::string_view> words, std::string* out) {
  CommandWriter writer(CommandWriter::kWord + RoomFor(words), out);
  writer.Count(words.size());
  for (const std::string_view word : words) writer.Word(word);
}

template <class Words>
void AppendCall(How how, const Script& script, const Words& keys,
                const Words& args, std::string* out) {
  const bool by_sha1 = how == How::kEvalSha;
  const std::string_view text = by_sha1 ? script.sha1 : script.text;
  CommandWriter writer(4 * CommandWriter::kWord + text.size() + RoomFor(keys) +
                           RoomFor(args) + 32,
                       out);
  writer.Count(3 + keys.size() + args.size());
  writer.Bytes(by_sha1 ? "$7\r\nEVALSHA\r\n" : "$4\r\nEVAL\r\n");
  writer.Word(text);
  writer.Number(keys.size());
  for (const auto& key : keys) writer.Word(key);
  for (const auto& arg : args) writer.Word(arg);
}

template void AppendCall(How, const Script&,
                         const absl::Span<const std::string_view>&,
                         const absl::Span<const std::string_view>&,
                         std::string*);
template void AppendCall(How, const Script&, const std::vector<std::string>&,
                         const std::vector<std::string>&, std::string*);

// hiredis's reader calls these to make the parts of a reply. They fill a tree
// of our own at once; a null pointer stops the reader for good.
struct ReplyReader::State {
  redisReader* reader = nullptr;
  size_t max_elements = 0;
  size_t elements = 0;
  const char* refused = nullptr;  // why the reader was stopped
  Reply root;

  static State* Of(const redisReadTask* task) {
    // Only the first task of a reply has it: hiredis hands it down.
    return static_cast<State*>(task->privdata);
  }

  static void* Refuse(const redisReadTask* task, const char* why) {
    Of(task)->refused = why;
    return nullptr;
  }

  // hiredis reads RESP3 too since 1.0, and nests as deep as it is told to.
  static bool IsResp2(const redisReadTask* task) {
    return task->type <= REDIS_REPLY_ERROR;
  }
  static bool IsTooDeep(const redisReadTask* task) {
    int arrays = 0;
    for (; task->parent != nullptr; task = task->parent) ++arrays;
    return arrays >= kMostNested;
  }

  static Reply* Place(const redisReadTask* task) {
    State* state = Of(task);
    if (task->parent == nullptr) return &state->root;
    auto* array = static_cast<Reply*>(task->parent->obj);
    return &array->elements[static_cast<size_t>(task->idx)];
  }

  static void* CreateString(const redisReadTask* task, char* text,
                            size_t size) {
    if (!IsResp2(task)) return Refuse(task, kNotResp2);
    Reply* reply = Place(task);
    reply->type = task->type == REDIS_REPLY_ERROR ? Reply::Type::kError
                                                  : Reply::Type::kString;
    reply->text.assign(text, size);
    reply->elements.clear();
    return reply;
  }

  // `Size` is int in hiredis 0.14 and size_t since 1.0.
  template <class Size>
  static void* CreateArray(const redisReadTask* task, Size size) {
    if (!IsResp2(task)) return Refuse(task, kNotResp2);
    if (IsTooDeep(task)) return Refuse(task, "a reply is nested too deeply");
    State* state = Of(task);
    const auto count = static_cast<size_t>(size);
    if (count > state->max_elements - state->elements) {
      return Refuse(task, "a reply has too many elements");
    }
    state->elements += count;
    Reply* reply = Place(task);
    reply->type = Reply::Type::kArray;
    reply->text.clear();
    reply->elements.clear();
    reply->elements.resize(count);
    return reply;
  }

  static void* CreateInteger(const redisReadTask* task, long long value) {
    Reply* reply = Place(task);
    reply->type = Reply::Type::kInteger;
    reply->integer = value;
    reply->text.clear();
    reply->elements.clear();
    return reply;
  }

  static void* CreateNil(const redisReadTask* task) {
    Reply* reply = Place(task);
    reply->type = Reply::Type::kNil;
    reply->text.clear();
    reply->elements.clear();
    return reply;
  }

  static void Free(void*) {}  // the tree is ours

  template <class Size>
  static constexpr void Set(void* (**slot)(const redisReadTask*, Size)) {
    *slot = &CreateArray<Size>;
  }

#if HIREDIS_MAJOR >= 1
  static void* RefuseDouble(const redisReadTask* task, double, char*, size_t) {
    return Refuse(task, kNotResp2);
  }
  static void* RefuseBool(const redisReadTask* task, int) {
    return Refuse(task, kNotResp2);
  }
#endif

  static constexpr redisReplyObjectFunctions MakeFunctions() {
    redisReplyObjectFunctions f{};
    f.createString = &CreateString;
    Set(&f.createArray);
    f.createInteger = &CreateInteger;
    f.createNil = &CreateNil;
    f.freeObject = &Free;
#if HIREDIS_MAJOR >= 1
    f.createDouble = &RefuseDouble;
    f.createBool = &RefuseBool;
#endif
    return f;
  }
};

namespace {

// A whole bulk string or integer at the beginning, as nearly all replies are:
// how many bytes it takes. 0: it is something else, cut short, or not as it
// should be, which the reader tells.
size_t TakeSimple(std::string_view bytes, Reply* reply) {
  if (bytes.size() < 4 || (bytes[0] != ':' && bytes[0] != '$')) return 0;
  constexpr size_t kMostDigits = 18;  // any of so many fits int64_t
  size_t at = 1;
  int64_t number = 0;
  while (at < bytes.size() && bytes[at] >= '0' && bytes[at] <= '9') {
    number = number * 10 + (bytes[at] - '0');
    if (++at > kMostDigits) return 0;
  }
  if (at == 1 || (bytes[1] == '0' && at > 2)) return 0;
  const auto ends_at = [bytes](size_t end) {
    return bytes.size() - end >= 2 && bytes[end] == '\r' &&
           bytes[end + 1] == '\n';
  };
  if (!ends_at(at)) return 0;
  at += 2;
  std::string_view text;
  if (bytes[0] == '$') {
    const auto size = static_cast<size_t>(number);
    if (bytes.size() - at < size || !ends_at(at + size)) return 0;
    text = bytes.substr(at, size);
    at += size + 2;
    number = 0;
    reply->type = Reply::Type::kString;
  } else {
    reply->type = Reply::Type::kInteger;
  }
  reply->integer = number;
  reply->text.assign(text);
  reply->elements.clear();
  return at;
}

}  // namespace

ReplyReader::ReplyReader(size_t max_bytes, size_t max_elements)
    : max_bytes_(max_bytes), state_(std::make_unique<State>()) {
  state_->max_elements = max_elements;
  // Made by the compiler: a child of fork() would wait for ever for a thread
  // that it does not have and that was about to make it.
  static constexpr redisReplyObjectFunctions kFunctions =
      State::MakeFunctions();
  // hiredis takes it without const, but only reads it.
  state_->reader = redisReaderCreateWithFunctions(
      const_cast<redisReplyObjectFunctions*>(&kFunctions));
  if (state_->reader == nullptr) {
    error_ = "out of memory";
    return;
  }
  state_->reader->privdata = state_.get();
}

ReplyReader::~ReplyReader() {
  if (state_->reader != nullptr) redisReaderFree(state_->reader);
}

void ReplyReader::Feed(std::string_view bytes) {
  if (!error_.empty()) return;
  ABSL_ASSERT(fresh_.empty());
  fresh_ = bytes;
}

void ReplyReader::FeedReader(std::string_view bytes) {
  if (bytes.empty()) return;
  fed_ += bytes.size();
  if (redisReaderFeed(state_->reader, bytes.data(), bytes.size()) != REDIS_OK) {
    error_ = state_->reader->errstr;
  }
}

ReplyReader::Result ReplyReader::Next(Reply* reply) {
  if (fed_ == 0 && error_.empty()) {
    const size_t taken = TakeSimple(fresh_, reply);
    fresh_.remove_prefix(taken);
    if (taken > 0) return Result::kReply;
    if (fresh_.empty()) return Result::kNeedsMore;
  }
  FeedReader(std::exchange(fresh_, {}));
  if (!error_.empty()) return Result::kError;
  void* whole = nullptr;
  const int result = redisReaderGetReply(state_->reader, &whole);
  if (result != REDIS_OK) {
    error_ =
        state_->refused != nullptr ? state_->refused : state_->reader->errstr;
    if (error_.empty()) error_ = kNotResp2;
    return Result::kError;
  }
  if (whole == nullptr) {
    if (fed_ > max_bytes_) {
      error_ = "a reply is larger than allowed";
      return Result::kError;
    }
    return Result::kNeedsMore;
  }
  fed_ = state_->reader->len - state_->reader->pos;
  state_->elements = 0;
  std::swap(*reply, state_->root);
  return Result::kReply;
}

}  // namespace weir::redis
