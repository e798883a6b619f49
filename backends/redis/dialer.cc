#include "backends/redis/dialer.h"

#include <poll.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"
#include "core/text.h"

namespace weir::redis {
namespace {

// Scripts write after they have read the time, which Redis allows since 5.0.
constexpr int kLeastMajorVersion = 5;

// What a record of TLS begins with that says what is wrong, and no reply does.
constexpr char kTlsAlert = 0x15;
constexpr char kWrongPass[] = "WRONGPASS invalid username-password pair";

// The major version in what INFO answers; 0 if it does not say.
int MajorVersion(std::string_view info) {
  constexpr std::string_view kField = "redis_version:";
  const size_t at = info.find(kField);
  if (at == std::string_view::npos) return 0;
  info.remove_prefix(at + kField.size());
  int version = 0;
  std::from_chars(info.data(), info.data() + info.size(), version);
  return version;
}

}  // namespace

Dialer::Dialer(const Address& address, const ClientOptions& options,
               SteadyTime now, size_t first)
    : address_(address),
      options_(options),
      since_(now),
      give_up_(now + options.connect_timeout),
      due_(give_up_),
      name_(address.ToString()),
      lookup_(options.resolver
                  ? std::make_unique<Lookup>(options.resolver(address))
                  : std::make_unique<Lookup>(address)),
      first_(first),
      next_first_(first) {
  WriteGreeting();
}

void Dialer::WriteGreeting() {
  if (!options_.password.empty()) {
    if (options_.user.empty()) {
      AppendCommand({"AUTH", options_.password}, &greeting_);
    } else {
      AppendCommand({"AUTH", options_.user, options_.password}, &greeting_);
    }
    expected_.push_back("AUTH");
  }
  if (options_.database != 0) {
    AppendCommand({"SELECT", std::to_string(options_.database)}, &greeting_);
    expected_.push_back("SELECT");
  }
  // Also shows that somebody answers: the system's connect() succeeds with a
  // server that hangs or has no room for clients.
  AppendCommand({"INFO", "server"}, &greeting_);
  expected_.push_back("INFO");
}

int Dialer::fd() const {
  return stage_ == Stage::kLookup ? lookup_->fd() : socket_.fd();
}

std::string Dialer::Doing() const {
  switch (stage_) {
    case Stage::kLookup:
      return "while its address was looked up";
    case Stage::kNextAddress:
    case Stage::kConnect:
      return "while connecting";
    case Stage::kTls:
      // A server of plain text mostly waits for the end of a line.
      return "in the TLS handshake; does this port speak TLS?";
    default:
      return absl::StrCat("while waiting for the answer to ",
                          Sv(expected_[answered_]));
  }
}

Dialer::Step Dialer::Advance(SteadyTime now) {
  previous_.clear();
  const Stage stage = stage_;
  const size_t answered = answered_;
  Step step = GoOn(now);
  if (stage_ != stage || answered_ != answered) since_ = now;
  // Looked at last: what came meanwhile counts, however late we look.
  while (stage_ != Stage::kDone && now >= due_) {
    if (now >= give_up_) {
      next_first_ = first_ + tried_;
      return Unreachable(absl::StrCat("connect_timeout passed ", Doing()),
                         last_words_);
    }
    Next(Reason::kUnreachable,
         absl::StrCat("its share of connect_timeout passed ", Doing()));
    step = GoOn(now);
  }
  return step;
}

Dialer::Step Dialer::GoOn(SteadyTime now) {
  while (true) {
    const Stage stage = stage_;
    const Step step = GoOnHere(now);
    if (stage_ == stage || stage_ == Stage::kDone) return step;
  }
}

Dialer::Step Dialer::GoOnHere(SteadyTime now) {
  switch (stage_) {
    case Stage::kLookup:
      return LookUp();
    case Stage::kNextAddress:
      return ConnectNext(now);
    case Stage::kConnect:
      return FinishConnect();
    case Stage::kTls:
      return Handshake();
    case Stage::kGreet:
      return Greet();
    case Stage::kReply:
      return ReadReplies();
    case Stage::kDone:
      break;
  }
  return error_.ok() ? Step::kReady : Step::kFailed;
}

Dialer::Step Dialer::LookUp() {
  std::string error;
  if (!lookup_->Take(&addresses_, &error)) return Step::kWantRead;
  if (error.empty() && addresses_.empty()) error = "it has none";
  if (!error.empty()) {
    return Unreachable("looking up its address", error);
  }
  stage_ = Stage::kNextAddress;
  return Step::kWantWrite;
}

Dialer::Step Dialer::ConnectNext(SteadyTime now) {
  while (HasNext()) {
    const size_t left = addresses_.size() - tried_;
    due_ = left == 1 ? give_up_
                     : now + (give_up_ - now) / static_cast<int64_t>(left);
    const size_t number = (first_ + tried_++) % addresses_.size();
    const int result = socket_.Connect(addresses_[number]);
    if (result == 0) {
      Begin();
      return Step::kWantWrite;
    }
    if (result == EINPROGRESS) {
      stage_ = Stage::kConnect;
      return Step::kWantWrite;
    }
    Next(Reason::kUnreachable, "connecting: " + ErrnoText(result));
  }
  return Step::kFailed;
}

Dialer::Step Dialer::FinishConnect() {
  if (PollUntil(socket_.fd(), POLLOUT, SteadyTime::min()) == 0) {
    return Step::kWantWrite;
  }
  const int result = socket_.ConnectResult();
  if (result != 0) {
    return Next(Reason::kUnreachable, "connecting: " + ErrnoText(result));
  }
  Begin();
  return Step::kWantWrite;
}

Dialer::Step Dialer::Next(Reason reason, std::string words) {
  if (!HasNext()) return Fail(MakeError(reason, name_, words));
  last_words_ = std::move(words);
  if (socket_.is_open()) previous_.push_back(std::move(socket_));
  stage_ = Stage::kNextAddress;
  return Step::kWantWrite;
}

void Dialer::Begin() {
  greeting_sent_ = 0;
  answered_ = 0;
  reader_.emplace(options_.max_reply_bytes, options_.max_reply_elements);
  heard_ = false;
  knows_version_ = false;
  stage_ = Stage::kGreet;
  if (options_.tls == nullptr) return;
  stage_ = Stage::kTls;
  socket_.StartTls(options_.tls->NewSession(address_.host));
}

Dialer::Step Dialer::Handshake() {
  switch (socket_.Handshake()) {
    case TlsSession::Step::kDone:
      stage_ = Stage::kGreet;
      return Step::kWantWrite;
    case TlsSession::Step::kWantRead:
      return Step::kWantRead;
    case TlsSession::Step::kWantWrite:
      return Step::kWantWrite;
    case TlsSession::Step::kFailed:
      break;
  }
  return Broken("TLS", errno);
}

Dialer::Step Dialer::Greet() {
  while (greeting_sent_ < greeting_.size()) {
    const ssize_t n = socket_.Send(greeting_.data() + greeting_sent_,
                                   greeting_.size() - greeting_sent_);
    if (n < 0 && errno == EAGAIN) return Step::kWantWrite;
    if (n < 0) return Broken("greeting", errno);
    greeting_sent_ += static_cast<size_t>(n);
  }
  stage_ = Stage::kReply;
  return Step::kWantRead;
}

Dialer::Step Dialer::ReadReplies() {
  char bytes[4096];
  while (true) {
    Reply reply;
    const ReplyReader::Result result = reader_->Next(&reply);
    if (result == ReplyReader::Result::kError) {
      return Next(Reason::kProtocol, reader_->error());
    }
    if (result == ReplyReader::Result::kReply) {
      if (!Accept(answered_, reply)) return Step::kFailed;
      if (++answered_ == expected_.size()) {
        stage_ = Stage::kDone;
        return Step::kReady;
      }
      continue;
    }
    const ssize_t n = socket_.Receive(bytes, sizeof bytes);
    if (n < 0 && errno == EAGAIN) return Step::kWantRead;
    if (n <= 0) return Broken("greeting", n == 0 ? 0 : errno);
    if (!std::exchange(heard_, true) && bytes[0] == kTlsAlert) {
      return Next(Reason::kTls, "it answers in TLS: rediss:// is meant");
    }
    reader_->Feed({bytes, static_cast<size_t>(n)});
  }
}

bool Dialer::Accept(size_t number, const Reply& reply) {
  const std::string_view command = expected_[number];
  if (command == "INFO") {
    const bool error = reply.type == Reply::Type::kError;
    const Reason reason = error ? ClassifyReply(reply.text) : Reason::kNone;
    // A user need not be allowed to ask for the version, nor know the word.
    if (reason == Reason::kNoPermission || reason == Reason::kScriptError) {
      return true;
    }
    if (error) {
      Fail(MakeError(reason, name_, reply.text));
      return false;
    }
    const int version = MajorVersion(reply.text);
    knows_version_ = version != 0;
    if (knows_version_ && version < kLeastMajorVersion) {
      Fail(MakeError(Reason::kScriptError, name_,
                     absl::StrCat("it is Redis ", version, "; ",
                                  kLeastMajorVersion, " or newer is needed")));
      return false;
    }
    return true;
  }
  if (reply.type != Reply::Type::kError) return true;
  // A server that does not know the word repeats what it was sent. (Those that
  // know it say the same whatever that is, and a password may be "password".)
  std::string words = reply.text.substr(0, reply.text.find(", with args"));
  if (!options_.password.empty() && !absl::StartsWith(words, kWrongPass) &&
      words.find(options_.password) != std::string::npos) {
    words = "its answer repeats the password";
  }
  Fail(MakeError(ClassifyReply(reply.text), name_,
                 absl::StrCat(Sv(command), ": ", words)));
  return false;
}

Dialer::Step Dialer::Fail(absl::Status error) {
  error_ = std::move(error);
  stage_ = Stage::kDone;
  return Step::kFailed;
}

Dialer::Step Dialer::Broken(std::string_view what, int error) {
  std::string words = socket_.Words(error);
  if (error == EPROTO) return Next(Reason::kTls, words);
  if (options_.tls != nullptr && stage_ != Stage::kTls && !heard_) {
    // A server looks at the client's certificate after its own part of the
    // handshake, and what it says of it may be lost with the connection.
    words += "; does the server ask for a certificate (tls_cert_file)?";
  }
  if (options_.tls == nullptr && !heard_) {
    // What one that speaks TLS does when it is greeted in plain text.
    words += "; does this port speak TLS (rediss://)?";
  }
  return Next(Reason::kUnreachable, absl::StrCat(Sv(what), ": ", words));
}

Dialer::Step Dialer::Unreachable(std::string_view what,
                                 std::string_view words) {
  return Fail(MakeError(Reason::kUnreachable, name_,
                        words.empty()
                            ? std::string(what)
                            : absl::StrCat(Sv(what), ": ", Sv(words))));
}

}  // namespace weir::redis
