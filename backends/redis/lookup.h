// The addresses of a host.
#ifndef WEIR_BACKENDS_REDIS_LOOKUP_H_
#define WEIR_BACKENDS_REDIS_LOOKUP_H_

#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/redis/options.h"

namespace weir::redis {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// The system's resolver can't be given a deadline, so a name is looked up on a
// thread that lives as long as that takes. Numbers and unix sockets need none.
class Lookup {
 public:
  explicit Lookup(const Address& address);
  // These are the answer.
  explicit Lookup(std::vector<SocketAddress> addresses);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // Readable once the answer is there.
  int fd() const;
  // Takes the answer: false as long as there is none. After true: either
  // addresses, or an error in words.
  bool Take(std::vector<SocketAddress>* addresses, std::string* error);

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_LOOKUP_H_
