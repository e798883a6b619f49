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

RawReply HiredisClient::Call(const std::vector<std::string>& words) {
  if (context_ == nullptr) {
    context_ = redisConnectWithTimeout(host_.c_str(), port_, {1, 0});
    if (context_ == nullptr || context_->err != 0 ||
        redisSetTimeout(context_, {5, 0}) != REDIS_OK) {
      if (context_ != nullptr) redisFree(context_);
      context_ = nullptr;
      return {};
    }
  }
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string& word : words) {
    data.push_back(word.data());
    sizes.push_back(word.size());
  }
  auto* reply = static_cast<redisReply*>(redisCommandArgv(
      context_, static_cast<int>(words.size()), data.data(), sizes.data()));
  RawReply copy = Copy(reply);
  if (reply != nullptr) freeReplyObject(reply);
  if (context_->err != 0) {
    redisFree(context_);
    context_ = nullptr;
  }
  return copy;
}

}  // namespace weir::testing
