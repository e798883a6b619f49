#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "backends/redis/socket.h"
#include "backends/redis/tls.h"
#include "core/mutex.h"
#include "core/text.h"

namespace weir::redis {
namespace {

// The most that one record holds.
constexpr size_t kRecordBytes = 16 * 1024;

// What OpenSSL says of its last error on this thread.
std::string LastWords() {
  const unsigned long error = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason =
      error == 0 ? nullptr : ERR_reason_error_string(error);
  return reason == nullptr ? "not told why" : reason;
}

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct FreeSession {
  void operator()(SSL* session) const { SSL_free(session); }
};

class OpenSslSession final : public TlsSession {
 public:
  OpenSslSession(SSL_CTX* context, const TlsOptions& options,
                 const std::string& host)
      : ssl_(SSL_new(context)),
        in_(BIO_new(BIO_s_mem())),
        out_(BIO_new(BIO_s_mem())) {
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(ssl_.get(), in_, out_);  // owns both
    SSL_set_connect_state(ssl_.get());
    const std::string& name =
        options.server_name.empty() ? host : options.server_name;
    // An address is checked as one, and is not sent as a name.
    const bool is_address = X509_VERIFY_PARAM_set1_ip_asc(
                                SSL_get0_param(ssl_.get()), name.c_str()) == 1;
    if (!is_address) {
      SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
      SSL_set1_host(ssl_.get(), name.c_str());
    }
  }

  Step Handshake(int fd) override {
    while (true) {
      bool done = false;
      bool needs_more = false;
      {
        MutexLock lock(&mutex_);
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl_.get());
        done = result == 1;
        needs_more = SSL_get_error(ssl_.get(), result) == SSL_ERROR_WANT_READ;
        if (!done && !needs_more) Explain();
        TakeOut();
      }
      // If it failed, an alert that tells the server why.
      if (!Flush(fd)) return errno == EAGAIN ? Step::kWantWrite : Step::kFailed;
      if (done) return Step::kDone;
      if (!needs_more) {
        errno = EPROTO;
        return Step::kFailed;
      }
      const ssize_t n = Fill(fd);
      if (n > 0) continue;
      if (n < 0 && errno == EAGAIN) return Step::kWantRead;
      if (n == 0) errno = 0;
      return Step::kFailed;
    }
  }

  ssize_t Send(int fd, const char* data, size_t size) override {
    if (out_sent_ == cipher_.size()) {
      MutexLock lock(&mutex_);
      ERR_clear_error();
      const int n = SSL_write(ssl_.get(), data,
                              static_cast<int>(std::min(size, kRecordBytes)));
      if (n <= 0) {
        errno = EPROTO;
        return -1;
      }
      plain_ = n;
      TakeOut();
    }
    if (!Flush(fd)) return -1;
    return plain_;
  }

  ssize_t Receive(int fd, char* data, size_t size) override {
    while (true) {
      const ssize_t n = Decipher(data, size);
      more_.store(n == static_cast<ssize_t>(size), std::memory_order_relaxed);
      if (n >= 0 || errno != EAGAIN) return n;
      const ssize_t got = Fill(fd);
      if (got <= 0) return got;
    }
  }

  std::string Why() const override {
    MutexLock lock(&mutex_);
    return why_;
  }

  bool HasMore() const override {
    return more_.load(std::memory_order_relaxed);
  }

 private:
  // As recv, from what has come.
  ssize_t Decipher(char* data, size_t size) {
    MutexLock lock(&mutex_);
    size_t total = 0;
    while (total < size) {
      ERR_clear_error();
      const int n =
          SSL_read(ssl_.get(), data + total, static_cast<int>(size - total));
      if (n > 0) {
        total += static_cast<size_t>(n);
        continue;
      }
      const int error = SSL_get_error(ssl_.get(), n);
      // What came before an end is handed out first.
      if (total > 0) break;
      if (error == SSL_ERROR_ZERO_RETURN) return 0;
      if (error != SSL_ERROR_WANT_READ) Explain();
      errno = error == SSL_ERROR_WANT_READ ? EAGAIN : EPROTO;
      return -1;
    }
    return static_cast<ssize_t>(total);
  }

  // As recv, for the session.
  ssize_t Fill(int fd) {
    char bytes[kRecordBytes];
    const ssize_t n = ReceiveBytes(fd, bytes, sizeof bytes);
    if (n > 0) {
      MutexLock lock(&mutex_);
      BIO_write(in_, bytes, static_cast<int>(n));
    }
    return n;
  }

  // What the session wants to send goes to cipher_.
  void TakeOut() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    cipher_.erase(0, out_sent_);
    out_sent_ = 0;
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out_, &bytes);
    if (size <= 0) return;
    cipher_.append(bytes, static_cast<size_t>(size));
    BIO_reset(out_);
  }

  // False: errno says why not all of it.
  bool Flush(int fd) {
    while (out_sent_ < cipher_.size()) {
      const ssize_t n =
          SendBytes(fd, cipher_.data() + out_sent_, cipher_.size() - out_sent_);
      if (n < 0) return false;
      out_sent_ += static_cast<size_t>(n);
    }
    return true;
  }

  void Explain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    why_ = LastWords();
    const long verdict = SSL_get_verify_result(ssl_.get());
    if (verdict != X509_V_OK) {
      why_ = absl::StrCat("the server's certificate: ",
                          X509_verify_cert_error_string(verdict));
    }
  }

  mutable Mutex mutex_;
  const std::unique_ptr<SSL, FreeSession> ssl_;
  BIO* const in_;
  BIO* const out_;
  std::string why_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> more_{false};

  // The sender's.
  std::string cipher_;
  size_t out_sent_ = 0;
  ssize_t plain_ = 0;  // how many of the caller's bytes cipher_ stands for
};

class OpenSslContext final : public TlsContext {
 public:
  OpenSslContext(std::unique_ptr<SSL_CTX, FreeContext> context,
                 TlsOptions options)
      : context_(std::move(context)), options_(std::move(options)) {}

  std::unique_ptr<TlsSession> NewSession(
      const std::string& host) const override {
    return std::make_unique<OpenSslSession>(context_.get(), options_, host);
  }

 private:
  const std::unique_ptr<SSL_CTX, FreeContext> context_;
  const TlsOptions options_;
};

absl::Status BadFile(std::string_view what, const std::string& file) {
  return InvalidArgument("redis option ", Sv(what), ": \"", file,
                         "\" can't be used: ", LastWords());
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::Create(
    const TlsOptions& options) {
  std::unique_ptr<SSL_CTX, FreeContext> context(
      SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const c = context.get();
  if (c == nullptr) return absl::InternalError("redis TLS: " + LastWords());
  SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION);
  SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION);
  // A Send that comes again may have its bytes elsewhere.
  SSL_CTX_set_mode(
      c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(c, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE,
                     nullptr);
  ERR_clear_error();
  if (options.ca_file.empty()) {
    SSL_CTX_set_default_verify_paths(c);
  } else if (SSL_CTX_load_verify_locations(c, options.ca_file.c_str(),
                                           nullptr) != 1) {
    return BadFile("tls_ca_file", options.ca_file);
  }
  if (options.cert_file.empty() != options.key_file.empty()) {
    return InvalidArgument(
        "redis options tls_cert_file and tls_key_file come together");
  }
  if (!options.cert_file.empty()) {
    if (SSL_CTX_use_certificate_chain_file(c, options.cert_file.c_str()) != 1) {
      return BadFile("tls_cert_file", options.cert_file);
    }
    if (SSL_CTX_use_PrivateKey_file(c, options.key_file.c_str(),
                                    SSL_FILETYPE_PEM) != 1 ||
        SSL_CTX_check_private_key(c) != 1) {
      return BadFile("tls_key_file", options.key_file);
    }
  }
  return std::make_shared<const OpenSslContext>(std::move(context), options);
}

}  // namespace weir::redis
