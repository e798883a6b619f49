#include <hiredis/hiredis.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>

#include "bench/redis/runs.h"
#include "bench/redis/samples.h"
#include "bench/redis/script.h"

namespace weir::bench {
namespace {

// The EVALSHA of the script with the n-th key, as it goes over the wire.
std::string Command(const Target& target, uint64_t n) {
  const std::string sha1(target.script.sha1);
  const std::string& key = KeyOf(n);
  const char* words[] = {"EVALSHA", sha1.c_str(), "1", key.c_str(), "1"};
  const size_t sizes[] = {7, sha1.size(), 1, key.size(), 1};
  char* text = nullptr;
  const int size = redisFormatCommandArgv(&text, 5, words, sizes);
  std::string command(text, size < 0 ? 0 : static_cast<size_t>(size));
  redisFreeCommand(text);
  return command;
}

// Whether a whole reply of one line came, an integer.
bool Spin(int fd) {
  char reply[64];
  size_t size = 0;
  while (size < sizeof(reply)) {
    const ssize_t got =
        recv(fd, reply + size, sizeof(reply) - size, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return false;
    if (got < 0) continue;
    size += static_cast<size_t>(got);
    if (reply[size - 1] == '\n') return reply[0] == ':';
  }
  return false;
}

}  // namespace

Speed RunBareSpin(const Target& target) {
  redisContext* context = redisConnect("127.0.0.1", target.port);
  if (context == nullptr || context->err != 0) return {};
  const Speed speed = TimeEach(target.time, [&](uint64_t n) {
    const std::string command = Command(target, n);
    const ssize_t sent = send(context->fd, command.data(), command.size(), 0);
    return sent == static_cast<ssize_t>(command.size()) && Spin(context->fd);
  });
  redisFree(context);
  return speed;
}

}  // namespace weir::bench
