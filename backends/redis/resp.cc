#include "backends/redis/resp.h"

#include <hiredis/hiredis.h>

#include <charconv>
#include <vector>

namespace weir::redis {
namespace {

constexpr char kNotResp2[] = "a reply is not RESP2";
// Arrays within arrays.
constexpr int kMostNested = 8;

// A number in decimal digits.
class Digits {
 public:
  explicit Digits(size_t n)
      : end_(std::to_chars(digits_, digits_ + sizeof digits_, n).ptr) {}
  std::string_view view() const {
    return {digits_, static_cast<size_t>(end_ - digits_)};
  }

 private:
  char digits_[20];
  const char* const end_;
};

void AppendArrayHead(size_t n, std::string* out) {
  out->push_back('*');
  out->append(Digits(n).view());
  out->append("\r\n", 2);
}

void AppendWord(std::string_view word, std::string* out) {
  out->push_back('$');
  out->append(Digits(word.size()).view());
  out->append("\r\n", 2);
  out->append(word);
  out->append("\r\n", 2);
}

}  // namespace

void AppendCommand(absl::Span<const std::string_view> words, std::string* out) {
  AppendArrayHead(words.size(), out);
  for (const std::string_view word : words) AppendWord(word, out);
}

template <class Words>
void AppendCall(How how, const Script& script, const Words& keys,
                const Words& args, std::string* out) {
  AppendArrayHead(3 + keys.size() + args.size(), out);
  if (how == How::kEvalSha) {
    out->append("$7\r\nEVALSHA\r\n");
    AppendWord(script.sha1, out);
  } else {
    out->append("$4\r\nEVAL\r\n");
    AppendWord(script.text, out);
  }
  AppendWord(Digits(keys.size()).view(), out);
  for (const auto& key : keys) AppendWord(key, out);
  for (const auto& arg : args) AppendWord(arg, out);
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
  fed_ += bytes.size();
  if (redisReaderFeed(state_->reader, bytes.data(), bytes.size()) != REDIS_OK) {
    error_ = state_->reader->errstr;
  }
}

ReplyReader::Result ReplyReader::Next(Reply* reply) {
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
