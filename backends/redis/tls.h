// TLS on a non-blocking socket. The bytes of the connection go through memory,
// so that one thread may send while another receives: hiredis' own TLS allows
// one at a time. OpenSSL stays behind this header; tls_none.cc stands in where
// weir is built without it.
#ifndef WEIR_BACKENDS_REDIS_TLS_H_
#define WEIR_BACKENDS_REDIS_TLS_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace weir::redis {

struct TlsOptions {
  // PEM files. No CA: the system's. A certificate of one's own comes with its
  // key.
  std::string ca_file;
  std::string cert_file;
  std::string key_file;
  // The name that the server's certificate must bear, on a cluster that of
  // every node. Empty: the host that is connected to.
  std::string server_name;
  // Whether the certificate is looked at.
  bool verify = true;

  friend bool operator==(const TlsOptions& a, const TlsOptions& b) {
    return a.ca_file == b.ca_file && a.cert_file == b.cert_file &&
           a.key_file == b.key_file && a.server_name == b.server_name &&
           a.verify == b.verify;
  }
};

// One connection. Thread safety: one thread may Send while another calls the
// rest.
class TlsSession {
 public:
  enum class Step { kDone, kWantRead, kWantWrite, kFailed };

  virtual ~TlsSession() = default;
  // Goes on with the handshake as far as it can. kFailed: errno is as after
  // Receive, or 0 if the server closed.
  virtual Step Handshake(int fd) = 0;
  // As send and recv on a non-blocking socket. After a Send with EAGAIN the
  // next one must begin with the same bytes. EPROTO: the two sides do not
  // understand or do not trust each other; Receive's Why() says more.
  virtual ssize_t Send(int fd, const char* data, size_t size) = 0;
  virtual ssize_t Receive(int fd, char* data, size_t size) = 0;
  // After EPROTO.
  virtual std::string Why() const = 0;
  // There may be more to receive than the socket knows of.
  virtual bool HasMore() const = 0;
};

// What the sessions of a client share. Thread safe.
class TlsContext {
 public:
  // InvalidArgument names a file that can't be used. Unimplemented: this build
  // has no TLS.
  static absl::StatusOr<std::shared_ptr<const TlsContext>> Create(
      const TlsOptions& options);
  virtual ~TlsContext() = default;
  // A client's side of a connection to `host`.
  virtual std::unique_ptr<TlsSession> NewSession(
      const std::string& host) const = 0;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_TLS_H_
