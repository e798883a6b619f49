#include "backends/redis/lookup.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "core/mutex.h"

namespace weir::redis {

struct Lookup::Shared {
  Shared() : fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Shared() {
    if (fd >= 0) close(fd);
  }

  const int fd;
  Mutex mutex;
  bool done ABSL_GUARDED_BY(mutex) = false;
  std::vector<SocketAddress> addresses ABSL_GUARDED_BY(mutex);
  std::string error ABSL_GUARDED_BY(mutex);

  void Finish(std::vector<SocketAddress> found, std::string words) {
    {
      MutexLock lock(&mutex);
      done = true;
      addresses = std::move(found);
      error = std::move(words);
    }
    const uint64_t one = 1;
    // Fails only if the counter is full, and then it is readable.
    if (write(fd, &one, sizeof one) < 0) return;
  }

  bool Resolve(const std::string& host, int port, int flags) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int result =
        getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (result != 0) {
      if ((flags & AI_NUMERICHOST) == 0) Finish({}, gai_strerror(result));
      return false;
    }
    std::vector<SocketAddress> found;
    for (const addrinfo* info = list; info != nullptr; info = info->ai_next) {
      SocketAddress& one = found.emplace_back();
      std::memcpy(&one.storage, info->ai_addr, info->ai_addrlen);
      one.size = info->ai_addrlen;
    }
    freeaddrinfo(list);
    Finish(std::move(found), "");
    return true;
  }
};

Lookup::Lookup(const Address& address) : shared_(std::make_shared<Shared>()) {
  if (address.is_unix()) {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, address.path.c_str(), address.path.size() + 1);
    SocketAddress one;
    std::memcpy(&one.storage, &name, sizeof name);
    one.size = sizeof name;
    shared_->Finish({one}, "");
    return;
  }
  if (shared_->Resolve(address.host, address.port, AI_NUMERICHOST)) return;
  try {
    std::thread([shared = shared_, host = address.host, port = address.port] {
      shared->Resolve(host, port, 0);
    }).detach();
  } catch (const std::system_error& error) {
    shared_->Finish({}, error.what());
  }
}

Lookup::Lookup(std::vector<SocketAddress> addresses)
    : shared_(std::make_shared<Shared>()) {
  shared_->Finish(std::move(addresses), "");
}

Lookup::~Lookup() = default;

int Lookup::fd() const { return shared_->fd; }

bool Lookup::Take(std::vector<SocketAddress>* addresses, std::string* error) {
  MutexLock lock(&shared_->mutex);
  if (!shared_->done) return false;
  *addresses = std::move(shared_->addresses);
  *error = std::move(shared_->error);
  return true;
}

}  // namespace weir::redis
