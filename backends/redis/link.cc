#include "backends/redis/link.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/errors.h"

namespace weir::redis {

using Steady = std::chrono::steady_clock;

std::shared_ptr<SharedStream> Link::Current() {
  MutexLock lock(&mutex_);
  return stream_ != nullptr && !stream_->broken() ? stream_ : nullptr;
}

absl::StatusOr<std::shared_ptr<SharedStream>> Link::Get(SteadyTime deadline) {
  Dialer* dialer = nullptr;
  bool resumed = false;
  {
    MutexLock lock(&mutex_);
    const uint64_t failures = failures_;
    while (true) {
      if (stream_ != nullptr && !stream_->broken()) return stream_;
      if (failures_ != failures) return Detached(last_error_);
      if (!dialing_) break;
      if (!changed_.WaitUntil(&mutex_, deadline) && dialing_) {
        return TimedOut();
      }
    }
    stream_ = nullptr;
    dialing_ = true;
    resumed = dialer_ != nullptr;
    if (!resumed) {
      dialer_ = std::make_unique<Dialer>(address_, options_, Steady::now(),
                                         first_address_);
      since_ = dialer_->since();
    }
    dialer = dialer_.get();
  }
  const Dialer::Step step = Dial(dialer, deadline);
  absl::Status error;
  {
    MutexLock lock(&mutex_);
    dialing_ = false;
    if (step == Dialer::Step::kReady) {
      stream_ = std::make_shared<SharedStream>(dialer_->TakeSocket(), options_,
                                               tally_);
      knows_version_.store(dialer_->knows_version(), std::memory_order_relaxed);
      first_address_ = 0;
      dialer_ = nullptr;
      tally_->connects.Add();
      changed_.NotifyAll();
      return stream_;
    }
    if (step != Dialer::Step::kFailed) {
      changed_.NotifyOne();
      return TimedOut();
    }
    error = Detached(dialer_->error());
    last_error_ = Detached(error);
    ++failures_;
    first_address_ = dialer_->next_first();
    dialer_ = nullptr;
    changed_.NotifyAll();
  }
  on_failure_(error);
  // What others had begun may have been hopeless for long.
  if (resumed) return Get(deadline);
  return error;
}

absl::Status Link::TimedOut() {
  return MakeError(Reason::kTimeout, address_.ToString(),
                   absl::StrCat("the deadline passed ", doing_));
}

Dialer::Step Link::Dial(Dialer* dialer, SteadyTime deadline) {
  while (true) {
    const Dialer::Step step = dialer->Advance(Steady::now());
    if (step == Dialer::Step::kReady || step == Dialer::Step::kFailed) {
      return step;
    }
    {
      MutexLock lock(&mutex_);
      doing_ = dialer->Doing();
      since_ = dialer->since();
    }
    const short events = step == Dialer::Step::kWantRead ? POLLIN : POLLOUT;
    const SteadyTime until = std::min(deadline, dialer->due());
    if (PollUntil(dialer->fd(), events, until) == 0 &&
        Steady::now() >= deadline) {
      return step;
    }
  }
}

void Link::Drop(const SharedStream* stream) {
  MutexLock lock(&mutex_);
  if (stream_.get() == stream) stream_ = nullptr;
}

void Link::Reset() {
  MutexLock lock(&mutex_);
  stream_ = nullptr;
}

std::chrono::microseconds Link::Silence(SteadyTime now) {
  MutexLock lock(&mutex_);
  if (dialer_ == nullptr) return std::chrono::microseconds(0);
  return std::chrono::duration_cast<std::chrono::microseconds>(now - since_);
}

size_t Link::load() {
  MutexLock lock(&mutex_);
  return stream_ == nullptr ? 0 : stream_->load();
}

}  // namespace weir::redis
