// Plain blocking hiredis, for tests that look at a server from outside.
#ifndef WEIR_TESTS_REDIS_HIREDIS_CLIENT_H_
#define WEIR_TESTS_REDIS_HIREDIS_CLIENT_H_

#include <cstdint>
#include <string>
#include <vector>

struct redisContext;
struct redisReply;

namespace weir::testing {

// A reply, copied: `type` is one of hiredis's, 0 if there was none.
struct RawReply {
  static constexpr int kString = 1;
  static constexpr int kArray = 2;
  static constexpr int kInteger = 3;
  static constexpr int kNil = 4;
  static constexpr int kStatus = 5;
  static constexpr int kError = 6;

  int type = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<RawReply> elements;

  bool ok() const;  // there is one, and it is no error
};

// Connects when it is made; a call that fails connects anew next time.
// One thread at a time. Waits at most 5 s for a reply.
class HiredisClient {
 public:
  HiredisClient(std::string host, int port);
  ~HiredisClient();
  HiredisClient(const HiredisClient&) = delete;
  HiredisClient& operator=(const HiredisClient&) = delete;

  RawReply Call(const std::vector<std::string>& words);
  // All at once; as many replies.
  std::vector<RawReply> CallAll(
      const std::vector<std::vector<std::string>>& commands);

 private:
  bool Connect();
  void CloseAfterError();

  const std::string host_;
  const int port_;
  redisContext* context_ = nullptr;
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_HIREDIS_CLIENT_H_
