// A non-blocking stream socket that is closed once, and never sends SIGPIPE.
#ifndef WEIR_BACKENDS_REDIS_SOCKET_H_
#define WEIR_BACKENDS_REDIS_SOCKET_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "backends/redis/call.h"
#include "backends/redis/lookup.h"
#include "backends/redis/tls.h"

namespace weir::redis {

// A connection that was idle this long may have been closed meanwhile: see
// CheckIdle.
inline constexpr std::chrono::microseconds kIdle = std::chrono::milliseconds(1);

// Why a connection is closed whose oldest call is too old.
inline constexpr char kTooOld[] =
    "its oldest call was not answered in max_call_age";

class Socket {
 public:
  Socket() = default;
  ~Socket() { Close(); }
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

  // Begins to connect. 0, EINPROGRESS or another errno.
  int Connect(const SocketAddress& address);
  // How connecting ended: 0 or an errno.
  int ConnectResult() const;
  // From here on everything goes through TLS; first its Handshake.
  void StartTls(std::unique_ptr<TlsSession> session);
  bool has_tls() const { return tls_ != nullptr; }
  TlsSession::Step Handshake() const { return tls_->Handshake(fd_); }
  // As send and recv: a count, 0 for the end (Receive), or -1 and errno. After
  // a Send with EAGAIN the next one must begin with the same bytes.
  ssize_t Send(const char* data, size_t size) const;
  ssize_t Receive(char* data, size_t size) const;
  // There may be more to receive than poll knows of.
  bool HasMore() const { return tls_ != nullptr && tls_->HasMore(); }
  // The words for the errno of Receive and Handshake.
  std::string Words(int error) const;
  // 0: nothing has come and the other side is there. Else it is not fit to
  // send on any more: closed, or something came that nobody asked for.
  int CheckIdle() const;
  // Ends both directions; wakes whoever polls. Safe beside Send and Receive.
  void Shutdown() const;
  void Close();

 private:
  int fd_ = -1;
  std::unique_ptr<TlsSession> tls_;
};

// send and recv that do not block, raise no signal, and go on after one.
ssize_t SendBytes(int fd, const char* data, size_t size);
ssize_t ReceiveBytes(int fd, char* data, size_t size);

// Waits for POLLIN and so on. > 0: what came; 0: the deadline passed.
int PollUntil(int fd, short events, SteadyTime deadline);

// The system's words for an errno.
std::string ErrnoText(int error);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SOCKET_H_
