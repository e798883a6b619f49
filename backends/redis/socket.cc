#include "backends/redis/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

namespace weir::redis {

Socket::Socket(Socket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = std::exchange(other.fd_, -1);
    tls_ = std::move(other.tls_);
  }
  return *this;
}

int Socket::Connect(const SocketAddress& address) {
  Close();
  fd_ = socket(address.storage.ss_family,
               SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0) return errno;
  const int on = 1;
  if (address.storage.ss_family != AF_UNIX) {
    // Best effort: without them it is slower, or notices a dead peer later.
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd_, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    const int idle = 15;
    setsockopt(fd_, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  }
  const auto* name = reinterpret_cast<const sockaddr*>(&address.storage);
  while (connect(fd_, name, address.size) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

int Socket::ConnectResult() const {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
  return error;
}

void Socket::StartTls(std::unique_ptr<TlsSession> session) {
  tls_ = std::move(session);
}

ssize_t Socket::Send(const char* data, size_t size) const {
  return tls_ != nullptr ? tls_->Send(fd_, data, size)
                         : SendBytes(fd_, data, size);
}

ssize_t Socket::Receive(char* data, size_t size) const {
  return tls_ != nullptr ? tls_->Receive(fd_, data, size)
                         : ReceiveBytes(fd_, data, size);
}

int Socket::CheckIdle() const {
  char byte;
  const ssize_t n = recv(fd_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : errno;
  if (n == 0) return ECONNRESET;
  if (tls_ == nullptr) return EPROTO;
  // May be TLS's own, as a ticket for the next connection is.
  const ssize_t got = tls_->Receive(fd_, &byte, 1);
  if (got < 0) return errno == EAGAIN ? 0 : errno;
  return got == 0 ? ECONNRESET : EPROTO;
}

void Socket::Shutdown() const { shutdown(fd_, SHUT_RDWR); }

void Socket::Close() {
  if (fd_ < 0) return;
  // A child made by fork() may still hold it.
  Shutdown();
  close(fd_);
  fd_ = -1;
  tls_ = nullptr;
}

ssize_t SendBytes(int fd, const char* data, size_t size) {
  while (true) {
    const ssize_t n = send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0 || errno != EINTR) return n;
  }
}

ssize_t ReceiveBytes(int fd, char* data, size_t size) {
  while (true) {
    const ssize_t n = recv(fd, data, size, MSG_DONTWAIT);
    if (n >= 0 || errno != EINTR) return n;
  }
}

int PollUntil(int fd, short events, SteadyTime deadline) {
  pollfd poll_fd{fd, events, 0};
  while (true) {
    const SteadyTime now = std::chrono::steady_clock::now();
    const int64_t ns = deadline > now ? (deadline - now).count() : 0;
    const timespec timeout{static_cast<time_t>(ns / 1'000'000'000),
                           static_cast<long>(ns % 1'000'000'000)};
    const int n = ppoll(&poll_fd, 1, &timeout, nullptr);
    if (n > 0) return poll_fd.revents;
    if (n == 0) return 0;
    if (errno != EINTR) return POLLERR;
  }
}

std::string Socket::Words(int error) const {
  if (error == 0) return "closed by the server";
  return error == EPROTO && tls_ != nullptr ? tls_->Why() : ErrnoText(error);
}

std::string ErrnoText(int error) {
  return std::generic_category().message(error);
}

}  // namespace weir::redis
