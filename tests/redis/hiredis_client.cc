#include "tests/redis/hiredis_client.h"

#include <hiredis/hiredis.h>

#include <csignal>
#include <utility>

namespace weir::testing {
namespace {

RawReply Copy(const redisReply* from) {
  RawReply to;
  if (from == nullptr) return to;
  to.type = from->type;
  to.integer = from->integer;
  if (from->str != nullptr) to.text.assign(from->str, from->len);
  for (size_t i = 0; i < from->elements; ++i) {
    to.elements.push_back(Copy(from->element[i]));
  }
  return to;
}

}  // namespace

bool RawReply::ok() const { return type != 0 && type != REDIS_REPLY_ERROR; }

HiredisClient::HiredisClient(std::string host, int port)
    : host_(std::move(host)), port_(port) {
  // hiredis writes to closed sockets; a test may ignore what its host may not.
  signal(SIGPIPE, SIG_IGN);
}

HiredisClient::~HiredisClient() {
  if (context_ != nullptr) redisFree(context_);
}

bool HiredisClient::Connect() {
  if (context_ != nullptr) return true;
  context_ = redisConnectWithTimeout(host_.c_str(), port_, {1, 0});
  if (context_ != nullptr && context_->err == 0 &&
      redisSetTimeout(context_, {5, 0}) == REDIS_OK) {
    return true;
  }
  if (context_ != nullptr) redisFree(context_);
  context_ = nullptr;
  return false;
}

void HiredisClient::CloseAfterError() {
  if (context_->err == 0) return;
  redisFree(context_);
  context_ = nullptr;
}

RawReply HiredisClient::Call(const std::vector<std::string>& words) {
  return CallAll({words}).front();
}

std::vector<RawReply> HiredisClient::CallAll(
    const std::vector<std::vector<std::string>>& commands) {
  std::vector<RawReply> replies(commands.size());
  if (!Connect()) return replies;
  for (const std::vector<std::string>& words : commands) {
    std::vector<const char*> data;
    std::vector<size_t> sizes;
    for (const std::string& word : words) {
      data.push_back(word.data());
      sizes.push_back(word.size());
    }
    redisAppendCommandArgv(context_, static_cast<int>(words.size()),
                           data.data(), sizes.data());
  }
  for (RawReply& copy : replies) {
    void* reply = nullptr;
    if (redisGetReply(context_, &reply) != REDIS_OK) break;
    copy = Copy(static_cast<redisReply*>(reply));
    freeReplyObject(reply);
  }
  CloseAfterError();
  return replies;
}

static_assert(RawReply::kString == REDIS_REPLY_STRING);
static_assert(RawReply::kArray == REDIS_REPLY_ARRAY);
static_assert(RawReply::kInteger == REDIS_REPLY_INTEGER);
static_assert(RawReply::kNil == REDIS_REPLY_NIL);
static_assert(RawReply::kStatus == REDIS_REPLY_STATUS);
static_assert(RawReply::kError == REDIS_REPLY_ERROR);

}  // namespace weir::testing
