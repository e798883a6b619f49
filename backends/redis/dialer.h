// Makes a connection ready step by step: look up, connect, TLS, AUTH, SELECT,
// INFO.
// It blocks nobody, so that one caller can go on where another's deadline
// passed. Not thread safe.
//
// A host's addresses are tried one after the other, until one is a server or
// answers as one that refuses us: each has its share of the time that is left.
#ifndef WEIR_BACKENDS_REDIS_DIALER_H_
#define WEIR_BACKENDS_REDIS_DIALER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/redis/errors.h"
#include "backends/redis/lookup.h"
#include "backends/redis/options.h"
#include "backends/redis/resp.h"
#include "backends/redis/socket.h"

namespace weir::redis {

class Dialer {
 public:
  enum class Step { kReady, kWantRead, kWantWrite, kFailed };

  // `options` outlive it. `first`: which of the host's addresses, in a ring, is
  // tried first.
  Dialer(const Address& address, const ClientOptions& options, SteadyTime now,
         size_t first = 0);

  // Goes as far as it can.
  Step Advance(SteadyTime now);
  // What to wait on after kWantRead and kWantWrite. It changes.
  int fd() const;
  // What it is at, for the words "the deadline passed ...".
  std::string Doing() const;
  // Since when it has been at that, without a sign of the server.
  SteadyTime since() const { return since_; }
  // When to Advance at the latest: this address is given up then, or all is.
  SteadyTime due() const { return due_; }
  // After kFailed: `first` for the next one. It begins behind an address that
  // took all the time, so that each is reached even where callers come seldom.
  size_t next_first() const { return next_first_; }
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

  Step GoOn(SteadyTime now);
  // One step: either goes on to another stage, or says what to wait for.
  Step GoOnHere(SteadyTime now);
  Step LookUp();
  Step ConnectNext(SteadyTime now);
  Step FinishConnect();
  // Connected: TLS comes next, if any.
  void Begin();
  Step Handshake();
  Step Greet();
  Step ReadReplies();
  void WriteGreeting();
  // Checks the reply to the greeting's command of that number.
  bool Accept(size_t number, const Reply& reply);
  bool HasNext() const { return tried_ < addresses_.size(); }
  // The next address, if any is left; else it fails for that reason.
  Step Next(Reason reason, std::string words);
  Step Fail(absl::Status error);
  Step Unreachable(std::string_view what, std::string_view words);
  // The socket's errno, or 0 if it was closed.
  Step Broken(std::string_view what, int error);

  const Address address_;
  const ClientOptions& options_;
  SteadyTime since_;
  const SteadyTime give_up_;
  SteadyTime due_;
  const std::string name_;
  std::unique_ptr<Lookup> lookup_;
  std::vector<SocketAddress> addresses_;
  const size_t first_;
  size_t next_first_;
  size_t tried_ = 0;  // of the addresses
  Stage stage_ = Stage::kLookup;
  Socket socket_;
  // Still open until the next Advance, since somebody may be watching one: none
  // of their numbers is given to another socket meanwhile.
  std::vector<Socket> previous_;
  std::string greeting_;
  size_t greeting_sent_ = 0;
  std::vector<std::string_view> expected_;  // the commands of the greeting
  size_t answered_ = 0;
  std::optional<ReplyReader> reader_;
  bool heard_ = false;  // anything, of the greeting's replies
  bool knows_version_ = false;
  std::string last_words_;  // of the addresses tried before
  absl::Status error_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_DIALER_H_
