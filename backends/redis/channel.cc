#include "backends/redis/channel.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/redis/errors.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kKeptBytes = 1024 * 1024;

// So many calls under way are what makes answers slow. With fewer it is the
// server or the way to it, which may be faster with the next one.
constexpr size_t kMany = 256;
// A server that was silent for longer may have paused, which says nothing of
// what comes next.
constexpr std::chrono::milliseconds kFresh(50);

}  // namespace

Channel::Channel(Node* node, const ClientOptions& options, Tally* tally,
                 Owner* owner)
    : node_(node),
      options_(options),
      tally_(tally),
      owner_(owner),
      bytes_(kReadBytes) {}

bool Channel::WouldBeLate(SteadyTime deadline, SteadyTime now) {
  if (losing_ || slots_.size() < kMany || now - last_reply_ > kFresh) {
    return false;
  }
  // With a quarter to spare, or those that are sent are answered when it is
  // just too late.
  return now - slots_.front().since > (deadline - now) * 3 / 4;
}

void Channel::Queue(AsyncCall* call, SteadyTime now) {
  call->channel = this;
  if (socket_.is_open()) {
    if (!slots_.empty()) {
      if (now - slots_.front().since > options_.max_call_age) {
        Break(Reason::kClosed, kTooOld);
      }
    } else if (now - last_reply_ > kIdle && socket_.CheckIdle() != 0) {
      Break(Reason::kClosed, "closed by the server");
    }
  }
  if (socket_.is_open() && !IsOutdated()) return Send(call, now);
  call->sent = false;
  call->number = waiting_.Push(call);
  if (socket_.is_open()) {
    ReplaceIfOutdated();
  } else if (WantsToDial()) {
    Dial(now);
  }
}

bool Channel::WantsToDial() const {
  return (!waiting_.empty() || map_wanted_) && !losing_ && dialer_ == nullptr &&
         !socket_.is_open();
}

bool Channel::IsOutdated() const { return generation_ != node_->generation(); }

void Channel::ReplaceIfOutdated() {
  if (!socket_.is_open() || !slots_.empty() || waiting_.empty()) return;
  Break(Reason::kClosed, "made anew");
}

void Channel::QueueMapRefresh(SteadyTime now) {
  map_wanted_ = !socket_.is_open();
  if (map_wanted_) return WantsToDial() ? Dial(now) : void();
  AppendCommand({"CLUSTER", "SLOTS"}, &out_);
  Push(nullptr, Kind::kMap, now);
}

void Channel::Push(AsyncCall* call, Kind kind, SteadyTime now) {
  const uint64_t unsent = out_.size() - out_sent_;
  const uint64_t number =
      slots_.Push(Slot{call, kind, sent_end_ + unsent, now});
  if (call != nullptr) {
    call->number = number;
    call->sent = true;
  }
  if (!queued) {
    queued = true;
    owner_->OnQueued(this);
  }
}

void Channel::Send(AsyncCall* call, SteadyTime now) {
  if (call->course.asking()) {
    AppendCommand({"ASKING"}, &out_);
    Push(nullptr, Kind::kAsking, now);
  }
  How how = call->course.how();
  if (how == How::kEval) {
    const Script* const script = call->call.script;
    texts_.erase(std::remove_if(texts_.begin(), texts_.end(),
                                [this](const auto& text) {
                                  return !slots_.Has(text.second);
                                }),
                 texts_.end());
    const bool on_its_way =
        std::any_of(texts_.begin(), texts_.end(),
                    [&](const auto& text) { return text.first == script; });
    if (on_its_way) {
      how = How::kEvalSha;
    } else {
      texts_.emplace_back(script, slots_.end_number());
      tally_->evals.Add();
    }
  }
  AppendCall(how, *call->call.script, call->call.keys, call->call.args, &out_);
  Push(call, Kind::kCall, now);
}

bool Channel::Forget(AsyncCall* call) {
  if (!call->sent) {
    waiting_.At(call->number) = nullptr;
    return false;
  }
  Slot& slot = slots_.At(call->number);
  slot.call = nullptr;
  slot.kind = Kind::kDropped;
  return !losing_ || slot.end <= sent_end_;
}

void Channel::Dial(SteadyTime now) {
  generation_ = node_->generation();
  dialer_ =
      std::make_unique<Dialer>(node_->address(), options_, now, first_address_);
  GoOnDialing(now);
}

void Channel::GoOnDialing(SteadyTime now) {
  const Dialer::Step step = dialer_->Advance(now);
  if (step == Dialer::Step::kWantRead || step == Dialer::Step::kWantWrite) {
    dialer_events_ = step == Dialer::Step::kWantRead ? EPOLLIN : EPOLLOUT;
    return Watch();
  }
  const std::unique_ptr<Dialer> dialer = std::move(dialer_);
  Watch();
  const bool map_wanted = std::exchange(map_wanted_, false);
  first_address_ = 0;
  if (step == Dialer::Step::kFailed) {
    first_address_ = dialer->next_first();
    node_->NoteFailure(dialer->error());
    return Lose(ReasonOf(dialer->error()), dialer->error(), "");
  }
  tally_->connects.Add();
  socket_ = dialer->TakeSocket();
  reader_ = std::make_unique<ReplyReader>(options_.max_reply_bytes,
                                          options_.max_reply_elements);
  made_ = std::chrono::steady_clock::now();
  last_reply_ = now;
  Watch();
  if (map_wanted) QueueMapRefresh(now);
  while (!waiting_.empty()) {
    AsyncCall* const call = waiting_.Pop();
    if (call != nullptr) Send(call, now);
  }
}

void Channel::Flush() {
  queued = false;
  if (!socket_.is_open() || blocked_) return;
  while (out_sent_ < out_.size()) {
    tally_->sends.Add();
    const ssize_t n =
        socket_.Send(out_.data() + out_sent_, out_.size() - out_sent_);
    if (n < 0 && errno == EAGAIN) {
      blocked_ = true;
      return Watch();
    }
    if (n < 0) return Break(Reason::kClosed, ErrnoText(errno));
    out_sent_ += static_cast<size_t>(n);
    sent_end_ += static_cast<uint64_t>(n);
  }
  if (out_.capacity() > kKeptBytes) std::string().swap(out_);
  out_.clear();
  out_sent_ = 0;
}

void Channel::OnReady(uint32_t events, SteadyTime now) {
  if (dialer_ != nullptr) return GoOnDialing(now);
  if (!socket_.is_open()) return;
  if ((events & EPOLLOUT) != 0 && blocked_) {
    blocked_ = false;
    Watch();
    Flush();
  }
  if ((events & ~uint32_t{EPOLLOUT}) == 0) return;
  do {
    if (socket_.is_open()) Receive(now);
  } while (socket_.is_open() && socket_.HasMore());
}

void Channel::Receive(SteadyTime now) {
  tally_->receives.Add();
  const ssize_t n = socket_.Receive(bytes_.data(), bytes_.size());
  if (n < 0 && errno == EAGAIN) return;
  if (n <= 0) {
    return Break(Reason::kClosed, socket_.Words(n == 0 ? 0 : errno));
  }
  last_reply_ = now;
  reader_->Feed({bytes_.data(), static_cast<size_t>(n)});
  Reply reply;
  while (socket_.is_open()) {
    switch (reader_->Next(&reply)) {
      case ReplyReader::Result::kReply:
        HandOut(&reply);
        break;
      case ReplyReader::Result::kNeedsMore:
        return ReplaceIfOutdated();
      case ReplyReader::Result::kError:
        return Break(Reason::kProtocol, reader_->error());
    }
  }
}

void Channel::HandOut(Reply* reply) {
  if (slots_.empty()) {
    return Break(ReasonOfUnasked(*reply), WordsOfUnasked(*reply));
  }
  const AsyncCall* const asked = slots_.front().call;
  if (asked != nullptr && !Fits(*reply, asked->call.reply_bytes)) {
    return Break(Reason::kProtocol, kMisshapen);
  }
  if (!CannotServe(*reply)) node_->breaker().Succeed();
  const Slot slot = slots_.Pop();
  if (slot.kind == Kind::kAsking) return;
  if (slot.kind == Kind::kMap) return owner_->OnMap(*reply, node_);
  if (slot.kind == Kind::kDropped) {
    tally_->late_replies.Add();
    return;
  }
  Attempt attempt;
  attempt.reply = reply;
  slot.call->channel = nullptr;
  owner_->OnAttempt(slot.call, attempt);
}

void Channel::Break(Reason reason, std::string_view words) {
  const std::string kept(words);
  tally_->closes.Add();
  // Before the socket goes, since its number may be given to another at once.
  Socket old = std::move(socket_);
  Watch();
  old.Close();
  out_.clear();
  out_sent_ = 0;
  blocked_ = false;
  reader_ = nullptr;
  texts_.clear();
  if (!slots_.empty()) {
    node_->NoteBreak(made_, reason, kept);
    return Lose(reason, absl::OkStatus(), kept);
  }
  // Those that were held back for the next connection.
  if (WantsToDial()) Dial(std::chrono::steady_clock::now());
}

void Channel::Lose(Reason reason, const absl::Status& status,
                   std::string words) {
  losing_ = true;
  lost_reason_ = reason;
  lost_status_ = status;
  lost_words_ = std::move(words);
  // Those that come back while we tell them wait for the next connection.
  waiting_lost_ = status.ok() ? waiting_.begin_number() : waiting_.end_number();
  owner_->OnLost(this);
}

int Channel::TellLost(int most, SteadyTime now) {
  for (int told = 0; told < most; ++told) {
    Attempt attempt;
    AsyncCall* call = nullptr;
    if (!slots_.empty()) {
      const Slot slot = slots_.Pop();
      call = slot.call;
      attempt.may_have_run = slot.end <= sent_end_;
    } else if (waiting_.begin_number() < waiting_lost_) {
      call = waiting_.Pop();
    } else {
      losing_ = false;
      if (WantsToDial()) Dial(now);
      return told;
    }
    if (call == nullptr) continue;
    attempt.failed = lost_reason_;
    attempt.status = lost_status_;
    attempt.words = lost_words_;
    call->channel = nullptr;
    owner_->OnAttempt(call, attempt);
  }
  owner_->OnLost(this);
  return most;
}

void Channel::Watch() {
  if (dialer_ != nullptr) {
    return owner_->OnWatch(this, dialer_->fd(), dialer_events_);
  }
  if (!socket_.is_open()) return owner_->OnWatch(this, -1, 0);
  owner_->OnWatch(this, socket_.fd(), blocked_ ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

SteadyTime Channel::NextTime() {
  if (dialer_ != nullptr) return dialer_->due();
  if (losing_ || slots_.empty()) return SteadyTime::max();
  return slots_.front().since + options_.max_call_age;
}

void Channel::OnTime(SteadyTime now) {
  if (now < NextTime()) return;
  if (dialer_ != nullptr) return GoOnDialing(now);
  Break(Reason::kClosed, kTooOld);
}

std::string Channel::Doing() const {
  return dialer_ != nullptr ? dialer_->Doing()
                            : "while waiting for a new connection";
}

microseconds Channel::Silence(SteadyTime now) {
  SteadyTime since = now;
  if (dialer_ != nullptr) {
    since = dialer_->since();
  } else if (!losing_ && !slots_.empty()) {
    since = std::max(slots_.front().since, last_reply_);
  }
  return std::chrono::duration_cast<microseconds>(now - since);
}

}  // namespace weir::redis
