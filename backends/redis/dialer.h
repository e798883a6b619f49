// Makes a connection ready step by step: look up, connect, TLS, AUTH, SELECT.
// It blocks nobody, so that one caller can go on where another's deadline
// passed. Not thread safe.
#ifndef WEIR_BACKENDS_REDIS_DIALER_H_
#define WEIR_BACKENDS_REDIS_DIALER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/lookup.h"
#include "backends/redis/options.h"
#include "backends/redis/resp.h"
#include "backends/redis/socket.h"

namespace weir::redis {

class Dialer {
 public:
  enum class Step { kReady, kWantRead, kWantWrite, kFailed };

  // `options` outlive it.
  Dialer(const Address& address, const ClientOptions& options, SteadyTime now);

  // Goes as far as it can.
  Step Advance(SteadyTime now);
  // What to wait on after kWantRead and kWantWrite. It changes.
  int fd() const;
  // What it is at, for the words "the deadline passed ...".
  std::string Doing() const;
  // Since when it has been at that, without a sign of the server.
  SteadyTime since() const { return since_; }
  // When this attempt is given up.
  SteadyTime give_up() const { return give_up_; }
  // After kFailed: an error of errors.h.
  const absl::Status& error() const { return error_; }
  // After kReady.
  Socket TakeSocket() { return std::move(socket_); }
  // INFO said it: this is a server, and not what stands before several.
  bool knows_version() const { return knows_version_; }

 private:
  enum class Stage {
    kLookup,
    kNextAddress,
    kConnect,
    kTls,
    kGreet,
    kReply,
    kDone
  };

  Step GoOn();
  Step ConnectNext();
  // Connected: TLS comes next, if any.
  void Begin();
  Step Handshake();
  Step Greet();
  Step ReadReplies();
  void WriteGreeting();
  // Checks the reply to the greeting's command of that number.
  bool Accept(size_t number, const Reply& reply);
  Step Fail(absl::Status error);
  Step Unreachable(std::string_view what, std::string_view words);
  // The socket's errno, or 0 if it was closed.
  Step Broken(std::string_view what, int error);

  const Address address_;
  const ClientOptions& options_;
  SteadyTime since_;
  const SteadyTime give_up_;
  const std::string name_;
  std::unique_ptr<Lookup> lookup_;
  std::vector<SocketAddress> addresses_;
  size_t next_address_ = 0;
  Stage stage_ = Stage::kLookup;
  Socket socket_;
  // Still open, since somebody may be watching it.
  Socket previous_;
  std::string greeting_;
  size_t greeting_sent_ = 0;
  std::vector<std::string_view> expected_;  // the commands of the greeting
  size_t answered_ = 0;
  ReplyReader reader_;
  bool heard_ = false;  // anything, of the greeting's replies
  bool knows_version_ = false;
  std::string last_words_;
  absl::Status error_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_DIALER_H_
