#include "backends/redis/stream.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;
using Steady = std::chrono::steady_clock;

// With several callers, one that has to wait first lets others run and looks
// again, so many times, before it sleeps: what it waits for mostly comes
// meanwhile, and to sleep and be woken costs more than all else that is done
// here. The count bounds what is spent where nobody else is ready to run, the
// time what is lost where others take the processor and keep it.
constexpr int kReaderLooks = 16;
constexpr int kWaiterLooks = 6;
constexpr microseconds kLooking(1000);

// Over TLS each send is a record, which costs both sides more than the system
// call: with so many commands on their way others queue theirs first.
constexpr size_t kCrowd = 16;

// How often one that sleeps for replies looks whether a writer has left it
// something to send. Such a writer has met a full socket, which is rare, and
// replies mostly come sooner than this.
constexpr std::chrono::milliseconds kRestLook(5);

constexpr size_t kReadBytes = 16 * 1024;
// Buffers that a peak made larger than this are given back.
constexpr size_t kKeptBytes = 256 * 1024;

// Forgets what is in it, and keeps its memory.
void Empty(std::string* buffer) {
  if (buffer->capacity() > kKeptBytes) std::string().swap(*buffer);
  buffer->clear();
}

class Looks {
 public:
  Looks(int count, SteadyTime deadline) : left_(count) {
    if (count > 0) until_ = std::min(deadline, Steady::now() + kLooking);
  }
  // Others have run, and it is worth another look; or time to sleep.
  bool Again() {
    if (left_ == 0 || Steady::now() >= until_) return false;
    --left_;
    std::this_thread::yield();
    return true;
  }

 private:
  int left_;
  SteadyTime until_{};
};

}  // namespace

SharedStream::SharedStream(Socket socket, const ClientOptions& options,
                           Tally* tally)
    : options_(options),
      tally_(tally),
      made_(Steady::now()),
      socket_(std::move(socket)),
      last_reply_(made_),
      reader_(options.max_reply_bytes, options.max_reply_elements),
      bytes_(kReadBytes) {}

bool SharedStream::Refuse(Batch* batch, Reason reason, std::string words) {
  for (Ticket& ticket : batch->tickets) ticket.failed = reason;
  batch->words = std::move(words);
  batch->left_ = 0;
  return false;
}

Reason SharedStream::CheckBefore(SteadyTime now, std::string* words) {
  if (broken()) {
    *words = broken_words_;
    return why_broken_;
  }
  if (slots_.empty()) {
    if (reading_ || now - last_reply_ < kIdle) return Reason::kNone;
    const int error = socket_.CheckIdle();
    if (error == 0) return Reason::kNone;
    Break(Reason::kClosed, ErrnoText(error));
  } else if (now - slots_.front().since > options_.max_call_age) {
    Break(Reason::kClosed, kTooOld);
  } else {
    return Reason::kNone;
  }
  *words = broken_words_;
  return Reason::kClosed;
}

bool SharedStream::Start(Batch* batch, SteadyTime now, SteadyTime deadline) {
  const size_t count = batch->tickets.size();
  bool fail_all = false;
  bool crowded = false;
  {
    MutexLock lock(&mutex_);
    batch->signal_.Clear();
    batch->waiting_ = false;
    batch->words.clear();  // of another stream
    std::string words;
    const Reason reason = CheckBefore(now, &words);
    if (reason == Reason::kNone &&
        slots_.size() + count <= static_cast<size_t>(options_.max_in_flight)) {
      batch->first_ = slots_.end_number();
      batch->left_ = count;
      for (const size_t end : batch->ends) {
        slots_.Push(Slot{batch, queued_end_ + end, now});
      }
      load_.store(slots_.size(), std::memory_order_relaxed);
      queued_end_ += batch->bytes.size();
      crowded = socket_.has_tls() && slots_.size() - count >= kCrowd;
      if (writing_ || crowded || HasRest()) queued_.append(batch->bytes);
      if (writing_) return true;
      writing_ = true;
      // Nothing goes before it.
      if (queued_.empty()) sending_.swap(batch->bytes);
    } else if (reason == Reason::kNone) {
      return Refuse(batch, Reason::kOverloaded, "max_in_flight is reached");
    } else {
      Refuse(batch, reason, std::move(words));
      // Those who wait are told at once if nobody reads.
      fail_all = !reading_ && !slots_.empty();
      reading_ |= fail_all;
      if (!fail_all) return false;
    }
  }
  if (fail_all) {
    FailAll(nullptr);
    return false;
  }
  if (crowded) std::this_thread::yield();
  Write(deadline);
  return true;
}

bool SharedStream::TakeQueued() {
  MutexLock lock(&mutex_);
  if (queued_.empty() || broken()) {
    writing_ = false;
    return false;
  }
  sending_.swap(queued_);
  return true;
}

// But for TLS nothing is held back to be sent with what others may ask: on a
// quiet machine a server that has fallen asleep costs more than the system
// calls saved.
void SharedStream::Write(SteadyTime deadline) {
  while (!sending_.empty() || TakeQueued()) {
    if (SendAll(deadline)) {
      Empty(&sending_);
      taken_ = 0;
      continue;
    }
    const int error = errno;
    {
      MutexLock lock(&mutex_);
      // What is left goes first when somebody writes again.
      writing_ = false;
      if (error == EAGAIN) return;
      Break(Reason::kClosed, "sending: " + ErrnoText(error));
      if (reading_) return;
      reading_ = true;
    }
    return FailAll(nullptr);
  }
}

bool SharedStream::HasRest() {
  return !writing_ && (!sending_.empty() || !queued_.empty());
}

void SharedStream::WriteRest() {
  {
    MutexLock lock(&mutex_);
    if (!HasRest() || broken()) return;
    writing_ = true;
  }
  Write(SteadyTime::min());
}

bool SharedStream::SendAll(SteadyTime deadline) {
  while (taken_ < sending_.size()) {
    tally_->sends.Add();
    const size_t left = sending_.size() - taken_;
    // Told before: a server may run it, and close, before Send returns.
    sent_.store(written_ + left, std::memory_order_release);
    const ssize_t n = socket_.Send(sending_.data() + taken_, left);
    const size_t more = n > 0 ? static_cast<size_t>(n) : 0;
    taken_ += more;
    written_ += more;
    sent_.store(written_, std::memory_order_release);
    if (n >= 0) continue;
    if (errno != EAGAIN) return false;
    if (PollUntil(socket_.fd(), POLLOUT, deadline) == 0) {
      errno = EAGAIN;
      return false;
    }
  }
  return true;
}

void SharedStream::Wait(Batch* batch, SteadyTime deadline) {
  bool read;
  {
    MutexLock lock(&mutex_);
    batch->waiting_ = true;
    read = batch->left_ > 0 && !reading_;
    reading_ |= read;
  }
  if (read) return Read(batch, deadline);
  if (options_.spin.count() > 0) {
    const SteadyTime until = std::min(deadline, Steady::now() + options_.spin);
    while (batch->signal_.Get() == Signal::kNothing && Steady::now() < until) {
    }
  }
  Looks looks(kWaiterLooks, deadline);
  while (batch->signal_.Get() == Signal::kNothing && looks.Again()) {
  }
  // Whoever answered the last ticket still has to say so, even if it is
  // answered already: until then the batch is theirs too.
  if (!batch->signal_.Wait(deadline)) return Leave(batch);
  if (batch->signal_.Get() == Signal::kLead) {
    batch->signal_.Clear();
    Read(batch, deadline);
  }
}

void SharedStream::Leave(Batch* batch) {
  bool told = false;
  {
    MutexLock lock(&mutex_);
    told = batch->left_ == 0;
    if (!told) {
      // Made the reader at the last moment.
      if (batch->signal_.Get() == Signal::kLead) {
        batch->waiting_ = false;
        PassOn();
      }
      for (size_t i = 0; i < batch->tickets.size(); ++i) {
        const uint64_t number = batch->first_ + i;
        if (!slots_.Has(number)) continue;
        Slot& slot = slots_.At(number);
        slot.batch = nullptr;
        FailTicket(batch, i, slot.end, Reason::kTimeout);
      }
    }
  }
  if (told) batch->signal_.Wait(SteadyTime::max());
}

void SharedStream::FailTicket(Batch* batch, size_t index, uint64_t end,
                              Reason reason) {
  Ticket& ticket = batch->tickets[index];
  ticket.failed = reason;
  // A command that was not sent to its last byte can't be run by anybody, if
  // its connection is closed. Else it will be sent.
  ticket.may_have_run =
      !broken() || end <= sent_.load(std::memory_order_acquire);
  --batch->left_;
}

SteadyTime SharedStream::NextDeadline(SteadyTime deadline, short* events) {
  MutexLock lock(&mutex_);
  *events = HasRest() ? POLLIN | POLLOUT : POLLIN;
  if (slots_.empty()) return deadline;
  return std::min(deadline, slots_.front().since + options_.max_call_age);
}

bool SharedStream::AwaitBytes(SteadyTime deadline) {
  while (!socket_.HasMore()) {
    short events;
    const SteadyTime until = NextDeadline(deadline, &events);
    const int came = PollUntil(socket_.fd(), events,
                               std::min(until, Steady::now() + kRestLook));
    if ((came & POLLOUT) != 0) WriteRest();
    if ((came & ~POLLOUT) != 0) return true;
    if (came == 0 && Steady::now() >= until) return false;
  }
  return true;
}

void SharedStream::Read(Batch* batch, SteadyTime deadline) {
  SteadyTime spin_until{};
  if (options_.spin.count() > 0) {
    spin_until = std::min(deadline, Steady::now() + options_.spin);
  }
  const auto others = [&] { return load() > batch->tickets.size(); };
  bool looking = others();
  Looks looks(looking ? kReaderLooks : 0, deadline);
  while (true) {
    Reason reason = Reason::kNone;
    std::string words;
    const bool awake =
        looking || (options_.spin.count() > 0 && Steady::now() < spin_until);
    if (!awake && !AwaitBytes(deadline)) {
      if (Steady::now() >= deadline) {
        {
          MutexLock lock(&mutex_);
          batch->waiting_ = false;
          PassOn();
        }
        return Leave(batch);
      }
      reason = Reason::kClosed;
      words = kTooOld;
    } else if (ReadSome(&reason, &words)) {
      if (reply_count_ > 0) {
        if (HandOut(batch)) return;
        looking = others();
        looks = Looks(looking ? kReaderLooks : 0, deadline);
      } else if (looking) {
        looking = looks.Again();
      }
      if (!broken()) continue;
      MutexLock lock(&mutex_);
      reason = why_broken_;
      words = broken_words_;
    }
    {
      MutexLock lock(&mutex_);
      Break(reason, std::move(words));
    }
    return FailAll(batch);
  }
}

bool SharedStream::ReadSome(Reason* reason, std::string* words) {
  reply_count_ = 0;
  tally_->receives.Add();
  const ssize_t n = socket_.Receive(bytes_.data(), bytes_.size());
  if (n < 0 && errno == EAGAIN) return true;
  if (n <= 0) {
    *reason = Reason::kClosed;
    *words = socket_.Words(n == 0 ? 0 : errno);
    return false;
  }
  reader_.Feed({bytes_.data(), static_cast<size_t>(n)});
  while (true) {
    if (reply_count_ == replies_.size()) replies_.emplace_back();
    const auto result = reader_.Next(&replies_[reply_count_]);
    if (result == ReplyReader::Result::kReply) {
      ++reply_count_;
      continue;
    }
    if (result == ReplyReader::Result::kNeedsMore) return true;
    // Whatever came before the fault is good.
    MutexLock lock(&mutex_);
    Break(Reason::kProtocol, reader_.error());
    return true;
  }
}

bool SharedStream::HandOut(Batch* own) {
  absl::InlinedVector<Batch*, 64> finished;
  bool passed_on = false;
  {
    MutexLock lock(&mutex_);
    last_reply_ = Steady::now();
    for (size_t i = 0; i < reply_count_; ++i) {
      if (slots_.empty()) {
        Break(ReasonOfUnasked(replies_[i]), WordsOfUnasked(replies_[i]));
        break;
      }
      const uint64_t number = slots_.begin_number();
      Batch* const batch = slots_.front().batch;
      if (batch == nullptr) {
        slots_.Pop();
        tally_->late_replies.Add();
        continue;
      }
      Ticket& ticket = batch->tickets[number - batch->first_];
      if (!Fits(replies_[i], ticket.reply_bytes, ticket.calls)) {
        Break(Reason::kProtocol, std::string(kMisshapen));
        break;
      }
      slots_.Pop();
      ticket.answered = true;
      if (ticket.reply != nullptr) std::swap(*ticket.reply, replies_[i]);
      if (--batch->left_ == 0) finished.push_back(batch);
    }
    load_.store(slots_.size(), std::memory_order_relaxed);
    if (own->left_ == 0 && !broken()) {
      PassOn();
      passed_on = true;
    }
  }
  // From here on somebody else may be reading.
  for (Batch* batch : finished) {
    if (batch != own) batch->signal_.Set(Signal::kDone);
  }
  return passed_on;
}

void SharedStream::PassOn() {
  for (uint64_t n = slots_.begin_number(); n != slots_.end_number(); ++n) {
    Batch* const batch = slots_.At(n).batch;
    if (batch != nullptr && batch->waiting_) {
      batch->signal_.Set(Signal::kLead);
      return;
    }
  }
  reading_ = false;
}

void SharedStream::Break(Reason reason, std::string words) {
  if (broken()) return;
  why_broken_ = reason;
  broken_words_ = std::move(words);
  broken_.store(true, std::memory_order_release);
  tally_->closes.Add();
  socket_.Shutdown();
}

void SharedStream::FailAll(Batch* own) {
  std::vector<Batch*> woken;
  {
    MutexLock lock(&mutex_);
    while (!slots_.empty()) {
      const uint64_t number = slots_.begin_number();
      const Slot slot = slots_.Pop();
      if (slot.batch == nullptr) continue;
      slot.batch->words = broken_words_;
      FailTicket(slot.batch, static_cast<size_t>(number - slot.batch->first_),
                 slot.end, why_broken_);
      if (slot.batch->left_ == 0 && slot.batch != own) {
        woken.push_back(slot.batch);
      }
    }
    load_.store(0, std::memory_order_relaxed);
    reading_ = false;
  }
  for (Batch* batch : woken) batch->signal_.Set(Signal::kDone);
}

microseconds SharedStream::Silence(SteadyTime now) {
  MutexLock lock(&mutex_);
  if (slots_.empty()) return microseconds(0);
  const SteadyTime since = std::max(slots_.front().since, last_reply_);
  return std::chrono::duration_cast<microseconds>(now - since);
}

}  // namespace weir::redis
