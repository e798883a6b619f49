// A socket with TLS against a server that is taken by the hand: what comes
// when, and how much of it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "backends/redis/socket.h"
#include "backends/redis/tls.h"
#include "gtest/gtest.h"
#include "tests/redis/certificates.h"

namespace weir::redis {
namespace {

// The server's side. Its bytes go to the client only when they are let go.
class HeldServer {
 public:
  explicit HeldServer(const testing::CertificateFiles& files)
      : context_(SSL_CTX_new(TLS_server_method())),
        ssl_(nullptr),
        in_(BIO_new(BIO_s_mem())),
        out_(BIO_new(BIO_s_mem())) {
    SSL_CTX_use_certificate_chain_file(context_, files.cert.c_str());
    SSL_CTX_use_PrivateKey_file(context_, files.key.c_str(), SSL_FILETYPE_PEM);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, in_, out_);
    SSL_set_accept_state(ssl_);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto* name = reinterpret_cast<sockaddr_in*>(&address.storage);
    name->sin_family = AF_INET;
    name->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.size = sizeof *name;
    auto* any = reinterpret_cast<sockaddr*>(name);
    bind(listener_, any, address.size);
    listen(listener_, 1);
    getsockname(listener_, any, &address.size);
  }
  ~HeldServer() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    CloseConnection();
    close(listener_);
  }
  HeldServer(const HeldServer&) = delete;
  HeldServer& operator=(const HeldServer&) = delete;

  void Accept() { fd_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); }
  void CloseConnection() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  // Takes what the client sent; blocks until there is something.
  void Take() {
    char bytes[4096];
    const ssize_t n = read(fd_, bytes, sizeof bytes);
    if (n > 0) BIO_write(in_, bytes, static_cast<int>(n));
  }
  bool Handshake() { return SSL_do_handshake(ssl_) == 1; }
  void Write(const std::string& text) {
    SSL_write(ssl_, text.data(), static_cast<int>(text.size()));
  }
  // Says that it will use a new key: nothing that the client's user sees.
  void UpdateKey() {
    SSL_key_update(ssl_, SSL_KEY_UPDATE_NOT_REQUESTED);
    SSL_do_handshake(ssl_);
  }
  size_t Held() const { return BIO_ctrl_pending(out_); }
  void LetGo(size_t count) {
    std::string bytes(count, 0);
    BIO_read(out_, bytes.data(), static_cast<int>(count));
    ASSERT_EQ(write(fd_, bytes.data(), count), static_cast<ssize_t>(count));
  }
  // What the protocol does not know.
  void WriteRaw(const std::string& text) const {
    ASSERT_EQ(write(fd_, text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }
  void LetAllGo() { LetGo(Held()); }

  SocketAddress address;

 private:
  SSL_CTX* context_;
  SSL* ssl_;
  BIO* in_;
  BIO* out_;
  int listener_ = -1;
  int fd_ = -1;
};

class TlsSocketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "/weir-tls-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    ASSERT_TRUE(files_.MakeIn(folder_));
    server_ = std::make_unique<HeldServer>(files_.server);
    TlsOptions options;
    options.ca_file = files_.authority.cert;
    const auto context = TlsContext::Create(options);
    ASSERT_TRUE(context.ok()) << context.status();
    socket_.Connect(server_->address);
    server_->Accept();
    PollUntil(socket_.fd(), POLLOUT, SteadyTime::max());
    socket_.StartTls((*context)->NewSession("127.0.0.1"));
    for (bool both = false; !both;) {
      const TlsSession::Step step = socket_.Handshake();
      ASSERT_NE(step, TlsSession::Step::kFailed) << socket_.Words(errno);
      server_->Take();
      both = server_->Handshake() && step == TlsSession::Step::kDone;
      server_->LetAllGo();
      if (!both) PollUntil(socket_.fd(), POLLIN, SteadyTime::max());
    }
  }
  void TearDown() override {
    server_ = nullptr;
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  ssize_t Receive() { return socket_.Receive(bytes_, sizeof bytes_); }
  void AwaitBytes() { PollUntil(socket_.fd(), POLLIN, SteadyTime::max()); }

  std::string folder_;
  testing::Certificates files_;
  std::unique_ptr<HeldServer> server_;
  Socket socket_;
  char bytes_[16 * 1024];
};

TEST_F(TlsSocketTest, WhatPollDoesNotKnowOfIsTold) {
  // A full record, of which the last byte comes with the next record.
  server_->Write(std::string(sizeof bytes_, 'a'));
  server_->LetGo(server_->Held() - 1);
  // The tickets for another connection may come first.
  while (Receive() < 0 && PollUntil(socket_.fd(), POLLIN, SteadyTime::min())) {
  }
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(socket_.HasMore());
  server_->Write("bcd");
  server_->LetAllGo();
  AwaitBytes();
  ASSERT_EQ(Receive(), static_cast<ssize_t>(sizeof bytes_));
  EXPECT_EQ(bytes_[sizeof bytes_ - 1], 'a');
  EXPECT_EQ(PollUntil(socket_.fd(), POLLIN, SteadyTime::min()), 0);
  EXPECT_TRUE(socket_.HasMore());
  ASSERT_EQ(Receive(), 3);
  EXPECT_EQ(std::string(bytes_, 3), "bcd");
  EXPECT_FALSE(socket_.HasMore());
}

TEST_F(TlsSocketTest, OnlyWhatIsForTheUserMakesAnIdleConnectionUnfit) {
  EXPECT_EQ(socket_.CheckIdle(), 0);
  server_->UpdateKey();
  server_->LetAllGo();
  AwaitBytes();
  EXPECT_EQ(socket_.CheckIdle(), 0);
  server_->Write("unasked");
  server_->LetAllGo();
  AwaitBytes();
  EXPECT_EQ(socket_.CheckIdle(), EPROTO);
}

TEST_F(TlsSocketTest, TheEndIsTheEnd) {
  server_->CloseConnection();
  AwaitBytes();
  EXPECT_NE(socket_.CheckIdle(), 0);
  EXPECT_LE(Receive(), 0);
  // The second one meets a connection that is known to be gone. That is no
  // signal (a test that gets SIGPIPE ends here).
  std::string data(1000, 'x');
  ssize_t sent = 0;
  for (int i = 0; i < 100 && sent >= 0; ++i) {
    sent = socket_.Send(data.data(), data.size());
  }
  EXPECT_LT(sent, 0);
}

TEST_F(TlsSocketTest, BytesThatAreNotTlsAreAnErrorWithWords) {
  server_->Write("fine");
  std::string junk(100, 'j');
  server_->LetAllGo();
  AwaitBytes();
  ssize_t n = Receive();
  while (n < 0 && errno == EAGAIN) n = Receive();
  ASSERT_EQ(n, 4);
  server_->WriteRaw(junk);
  AwaitBytes();
  EXPECT_EQ(Receive(), -1);
  EXPECT_EQ(errno, EPROTO);
  EXPECT_FALSE(socket_.Words(errno).empty());
  EXPECT_NE(socket_.Words(EPROTO), ErrnoText(EPROTO));
}

}  // namespace
}  // namespace weir::redis
