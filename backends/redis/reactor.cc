#include "backends/redis/reactor.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"

namespace weir::redis {
namespace {

using std::chrono::nanoseconds;
using Steady = std::chrono::steady_clock;

// How many new calls, and calls that lost their connection, are served in one
// turn. Each may be told its end at once, and its callback may submit the next:
// without a bound, calls that fail would keep all others waiting.
constexpr int kShare = 256;
// Deadlines are not to be late themselves, and there are no more of them than
// were submitted some time ago.
constexpr int kDeadlines = 4096;

constexpr std::string_view kTooSlow =
    "answers take longer than this call has time: too many are under way";

// Which reactor this thread is driving.
const void*& Driven() {
  static thread_local const void* reactor = nullptr;
  return reactor;
}

void Empty(int fd) {
  uint64_t count;
  while (read(fd, &count, sizeof count) > 0) {
  }
}

// Whether this thread is telling a caller that a call was refused.
bool& Refusing() {
  static thread_local bool refusing = false;
  return refusing;
}

}  // namespace

Reactor::Reactor(const ClientOptions& options, ClusterMap* map, Tally* tally)
    : options_(options), map_(map), tally_(tally) {}

absl::Status Reactor::Open() {
  if (IsOpen()) return absl::OkStatus();
  MutexLock lock(&open_mutex_);
  if (IsOpen()) return absl::OkStatus();
  std::string words;
  if (const int result = OpenDescriptors(); result != 0) {
    words = absl::StrCat("no event loop: ", ErrnoText(result));
  } else if (options_.io_threads > 0) {
    try {
      // It waits here for us before its first turn.
      thread_ = std::thread([this] {
        while (!stopping_.load(std::memory_order_acquire)) Process(true);
      });
    } catch (const std::system_error& error) {
      words = absl::StrCat("no I/O thread: ", error.what());
    }
  }
  if (!words.empty()) {
    CloseDescriptors();
    return MakeError(Reason::kUnreachable, "client", words);
  }
  open_.store(true, std::memory_order_release);
  // Calls that were refused may be in the inbox, and nobody was woken for them.
  Wake();
  return absl::OkStatus();
}

int Reactor::OpenDescriptors() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return errno;
  wake_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd_ < 0) return errno;
  timer_fd_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_fd_ < 0) return errno;
  for (int* fd : {&wake_fd_, &timer_fd_}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = fd;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, *fd, &event) != 0) return errno;
  }
  return 0;
}

void Reactor::CloseDescriptors() {
  for (int* fd : {&epoll_, &wake_fd_, &timer_fd_}) {
    if (*fd >= 0) close(std::exchange(*fd, -1));
  }
}

Reactor::~Reactor() {
  // Release: pairs with the acquire of the thread's loop.
  stopping_.store(true, std::memory_order_release);
  if (thread_.joinable()) {
    Wake();
    thread_.join();
  }
  driver_.Lock();
  Driven() = this;
  TakeInbox();
  // A callback may submit more; that is answered in Submit.
  while (!timers_.empty()) {
    AsyncCall* const call = timers_.first();
    timers_.Remove(call);
    call->done(absl::CancelledError("redis: the client is gone"));
    delete call;
  }
  channels_.clear();
  Driven() = nullptr;
  driver_.Unlock();
  CloseDescriptors();
}

void Reactor::Wake() {
  const uint64_t one = 1;
  // Fails only if the counter is full, and then it is readable.
  if (write(wake_fd_, &one, sizeof one) < 0) return;
}

void Reactor::Submit(std::unique_ptr<AsyncCall> call) {
  tally_->calls.Add();
  absl::Status refused;
  if (stopping_.load(std::memory_order_acquire)) {
    refused = absl::CancelledError("redis: the client is gone");
  } else if (refused = Open(); !refused.ok()) {
    tally_->Met(Reason::kUnreachable);
  } else if (in_flight_.load(std::memory_order_relaxed) >=
             options_.max_in_flight) {
    refused =
        MakeError(Reason::kOverloaded, "client", "max_in_flight is reached");
    tally_->Met(Reason::kOverloaded);
  }
  // A callback that submits again at once would call itself for ever, so what
  // it submits is refused in its turn.
  const bool later =
      ReasonOf(refused) != Reason::kNone && (Driven() == this || Refusing());
  if (later) {
    // Whoever tells it may do so at once: nothing of it is kept here.
    call->course.Refuse(std::move(refused));
  } else if (!refused.ok()) {
    const bool before = std::exchange(Refusing(), true);
    call->done(refused);
    Refusing() = before;
    // What the callback has submitted may have no loop that tells it.
    if (!IsOpen()) Process(false);
    return;
  }
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  bool wake = false;
  {
    MutexLock lock(&inbox_mutex_);
    inbox_.push_back(call.release());
    // Whoever drives looks here once more before it sleeps.
    if (Driven() != this) wake = !std::exchange(woken_, true);
  }
  // Else whoever opens it does.
  if (wake && IsOpen()) Wake();
}

void Reactor::Process(bool wait) {
  if (Driven() != nullptr || !driver_.TryLock()) return;
  Driven() = this;
  if (Open().ok()) {
    Turn(wait);
  } else {
    TellRefused();
  }
  Driven() = nullptr;
  driver_.Unlock();
}

void Reactor::TellRefused() {
  TakeInbox();
  LaunchSome();
}

void Reactor::Turn(bool wait) {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_, events.data(),
                               static_cast<int>(events.size()), wait ? -1 : 0);
  now_ = Steady::now();
  bool woken = !wait;
  for (int i = 0; i < count; ++i) {
    void* const source = events[static_cast<size_t>(i)].data.ptr;
    if (source == &wake_fd_) {
      woken = true;
    } else if (source == &timer_fd_) {
      Empty(timer_fd_);
      armed_ = {};
    } else {
      static_cast<Channel*>(source)->OnReady(
          events[static_cast<size_t>(i)].events, now_);
    }
  }
  if (woken) {
    Empty(wake_fd_);
    MutexLock lock(&inbox_mutex_);
    woken_ = false;
  }
  TakeInbox();
  RunTimers();
  LaunchSome();
  TellLost();
  // More may be lost by it.
  FlushAll();
  {
    MutexLock lock(&inbox_mutex_);
    const bool more = !line_.empty() || !inbox_.empty() || !lost_.empty();
    if (more && !std::exchange(woken_, true)) Wake();
  }
  ArmTimer();
}

void Reactor::TakeInbox() {
  taken_.clear();
  {
    MutexLock lock(&inbox_mutex_);
    taken_.swap(inbox_);
  }
  for (AsyncCall* const call : taken_) {
    call->wake_at = call->deadline;
    timers_.Add(call);
    call->in_line = true;
    call->in_line_since = now_;
    call->number = line_.Push(call);
  }
}

void Reactor::LaunchSome() {
  for (int i = 0; i < kShare; ++i) {
    // What callbacks submit meanwhile is sent with the rest.
    if (line_.empty()) TakeInbox();
    if (line_.empty()) return;
    AsyncCall* const call = NextInLine();
    if (call == nullptr) continue;
    call->in_line = false;
    Launch(call);
  }
}

AsyncCall* Reactor::NextInLine() {
  const AsyncCall* const first = line_.front();
  const bool crowded =
      first != nullptr && now_ - first->in_line_since > first->deadline - now_;
  return crowded ? line_.PopBack() : line_.Pop();
}

void Reactor::TellLost() {
  for (int left = kShare; left > 0 && !lost_.empty();) {
    left -= lost_.Pop()->TellLost(left, now_);
  }
}

Channel* Reactor::ChannelOf(Node* node) {
  std::unique_ptr<Channel>& channel = channels_[node];
  if (channel == nullptr) {
    channel = std::make_unique<Channel>(node, options_, tally_, this);
  }
  return channel.get();
}

void Reactor::Launch(AsyncCall* call) {
  if (!call->course.status().ok()) return Finish(call, nullptr);
  if (now_ >= call->deadline) {
    tally_->Met(Reason::kTimeout);
    call->course.RunOut(call->node);
    return Finish(call, nullptr);
  }
  const bool refresh = map_->ClaimRefresh(now_);
  const Node* const silent = refresh ? call->course.Silent(map_) : nullptr;
  Node* const node = call->node = call->course.Choose(map_, now_);
  if (refresh) Refresh(silent, node);
  if (node == nullptr) {
    return call->course.GiveUp() ? Finish(call, nullptr) : Pause(call);
  }
  const Breaker::Verdict verdict = node->breaker().Ask(now_, call->deadline);
  if (verdict == Breaker::Verdict::kNo) {
    Attempt attempt;
    attempt.status = node->breaker().Why();
    attempt.failed = ReasonOf(attempt.status);
    return OnAttempt(call, attempt);
  }
  if (verdict == Breaker::Verdict::kProbe) tally_->probes.Add();
  Channel* const channel = ChannelOf(node);
  if (channel->WouldBeLate(call->deadline, now_)) {
    Attempt attempt;
    attempt.failed = Reason::kOverloaded;
    attempt.words = kTooSlow;
    return OnAttempt(call, attempt);
  }
  channel->Queue(call, now_);
}

void Reactor::Refresh(const Node* silent, Node* near) {
  Node* const node =
      silent != nullptr || near == nullptr ? map_->Any(silent) : near;
  node != nullptr ? ChannelOf(node)->QueueMapRefresh(now_) : map_->EndRefresh();
}

void Reactor::Pause(AsyncCall* call) {
  call->wake_at = std::min(call->deadline, now_ + call->course.pause());
  timers_.Update(call);
}

void Reactor::OnAttempt(AsyncCall* call, const Attempt& attempt) {
  if (call->course.Judge(attempt, call->node, options_, map_, tally_)) {
    // The reply is the channel's, which has no more use for it.
    return Finish(call, attempt.reply);
  }
  call->course.pause().count() == 0 ? Launch(call) : Pause(call);
}

void Reactor::Finish(AsyncCall* call, Reply* reply) {
  timers_.Remove(call);
  const std::unique_ptr<AsyncCall> owned(call);
  in_flight_.fetch_sub(1, std::memory_order_relaxed);
  if (call->course.status().ok()) {
    call->done(std::move(*reply));
  } else {
    call->done(call->course.status());
  }
}

void Reactor::OnMap(const Reply& slots, Node* node) {
  map_->Apply(slots, *node);
}

void Reactor::OnWatch(Channel* channel, int fd, uint32_t events) {
  if (fd == channel->watched_fd && events == channel->watched_events) return;
  epoll_event event{};
  event.events = events;
  event.data.ptr = channel;
  if (channel->watched_fd >= 0 && channel->watched_fd != fd) {
    // Fails if it is closed already, and then it is out of the set.
    epoll_ctl(epoll_, EPOLL_CTL_DEL, channel->watched_fd, nullptr);
  }
  if (fd >= 0) {
    const bool known = channel->watched_fd == fd;
    const int result =
        epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    // A new socket may have got the number of the one before.
    if (result != 0 && known) epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  channel->watched_fd = fd;
  channel->watched_events = events;
}

void Reactor::RunTimers() {
  for (int i = 0; i < kDeadlines; ++i) {
    if (timers_.empty() || timers_.first()->wake_at > now_) break;
    AsyncCall* const call = timers_.first();
    Channel* const channel = call->channel;
    if (channel == nullptr) {
      // Its pause is over, or its time.
      if (std::exchange(call->in_line, false)) line_.At(call->number) = nullptr;
      call->wake_at = call->deadline;
      timers_.Update(call);
      Launch(call);
      continue;
    }
    Attempt attempt;
    attempt.failed = Reason::kTimeout;
    std::string words;
    if (!call->sent) {
      words = absl::StrCat("the deadline passed ", channel->Doing());
    }
    attempt.words = words;
    attempt.may_have_run = channel->Forget(call);
    call->channel = nullptr;
    Node* const node = channel->node();
    node->NoteTimeout(channel->Silence(now_),
                      MakeError(Reason::kTimeout, node->name(),
                                call->sent ? kNoAnswer : attempt.words));
    OnAttempt(call, attempt);
  }
  // Those that fail may make further channels.
  std::vector<Channel*> due;
  for (const auto& [node, channel] : channels_) {
    if (channel->NextTime() <= now_) due.push_back(channel.get());
  }
  for (Channel* channel : due) channel->OnTime(now_);
}

void Reactor::ArmTimer() {
  SteadyTime next =
      timers_.empty() ? SteadyTime::max() : timers_.first()->wake_at;
  for (const auto& [node, channel] : channels_) {
    next = std::min(next, channel->NextTime());
  }
  // One that fires too early only looks again.
  if (next == SteadyTime::max() || (armed_ != SteadyTime{} && armed_ <= next)) {
    return;
  }
  armed_ = next;
  const int64_t ns =
      std::max<int64_t>(next.time_since_epoch() / nanoseconds(1), 1);
  itimerspec spec{};
  spec.it_value.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  spec.it_value.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &spec, nullptr);
}

void Reactor::FlushAll() {
  // A failure may queue more.
  for (size_t i = 0; i < unflushed_.size(); ++i) unflushed_[i]->Flush();
  unflushed_.clear();
}

}  // namespace weir::redis
