#include "core/waiting_room.h"

#include <algorithm>

namespace weir {

// Locks are taken in this order: the room's or a cancellation's, then a
// ticket's. A ticket's owner takes neither while it holds its ticket's.
struct Cancellation::State {
  std::mutex mutex;
  bool cancelled = false;
  std::vector<WaitingRoom::Ticket*> tickets;
};

Cancellation::Cancellation() : state_(std::make_shared<State>()) {}
Cancellation::~Cancellation() = default;

void Cancellation::Cancel() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  state_->cancelled = true;
  for (WaitingRoom::Ticket* t : state_->tickets) WaitingRoom::Wake(t, true);
}

void WaitingRoom::Wake(Ticket* ticket, bool call_off) {
  const std::lock_guard<std::mutex> lock(ticket->mutex_);
  ticket->woken_ = true;
  ticket->called_off_ = ticket->called_off_ || call_off;
  ticket->changed_.notify_all();
}

WaitingRoom::Stay::InRoom::InRoom(WaitingRoom* r, Ticket* t)
    : room(r), ticket(t) {
  const std::lock_guard<std::mutex> lock(room->mutex_);
  room->all_.push_back(ticket);
  ++room->present_;
  if (room->closed_) Wake(ticket, true);
}

WaitingRoom::Stay::InRoom::~InRoom() {
  const std::lock_guard<std::mutex> lock(room->mutex_);
  auto& all = room->all_;
  all.erase(std::find(all.begin(), all.end(), ticket));
  --room->present_;
}

WaitingRoom::Stay::Stay(WaitingRoom* room, Ticket* ticket, Cancellation* cancel)
    : in_room_(room, ticket) {
  if (cancel == nullptr) return;
  const std::lock_guard<std::mutex> lock(cancel->state_->mutex);
  cancel->state_->tickets.push_back(ticket);
  cancel_ = cancel->state_;
  if (cancel_->cancelled) Wake(ticket, true);
}

WaitingRoom::Stay::~Stay() {
  if (cancel_ == nullptr) return;
  const std::lock_guard<std::mutex> lock(cancel_->mutex);
  auto& tickets = cancel_->tickets;
  tickets.erase(std::find(tickets.begin(), tickets.end(), in_room_.ticket));
}

std::vector<int64_t> WaitingRoom::Join(const std::string& line,
                                       Ticket* ticket) {
  std::vector<int64_t> ahead(ticket->costs_.size(), 0);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::deque<Ticket*>& waiting = lines_[line];
  for (const Ticket* t : waiting) {
    for (size_t i = 0; i < ahead.size(); ++i) {
      ahead[i] = std::min(kMaxExact, ahead[i] + t->costs_[i]);
    }
  }
  waiting.push_back(ticket);
  return ahead;
}

bool WaitingRoom::First(const std::string& line, const Ticket* ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return lines_[line].front() == ticket;
}

void WaitingRoom::Leave(const std::string& line, Ticket* ticket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = lines_.find(line);
  std::deque<Ticket*>& waiting = it->second;
  waiting.erase(std::find(waiting.begin(), waiting.end(), ticket));
  if (waiting.empty()) {
    lines_.erase(it);
  } else {
    Wake(waiting.front(), false);
  }
}

// Under the ticket's lock.
absl::Status WaitingRoom::StatusOf(const Ticket& ticket) {
  if (!ticket.called_off_) return absl::OkStatus();
  return absl::CancelledError(
      "acquire: the wait was called off; nothing is charged");
}

absl::Status WaitingRoom::StillWaits(Ticket* ticket) {
  const std::lock_guard<std::mutex> lock(ticket->mutex_);
  return StatusOf(*ticket);
}

absl::Status WaitingRoom::Wait(const Clock& clock, Time t, Ticket* ticket) {
  std::unique_lock<std::mutex> lock(ticket->mutex_);
  while (!ticket->woken_ && clock.Now() < t) {
    clock.WaitUntil(t, ticket->changed_, lock);
  }
  ticket->woken_ = false;
  return StatusOf(*ticket);
}

void WaitingRoom::WakeAll() {
  if (present_ == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Ticket* t : all_) Wake(t, false);
}

void WaitingRoom::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  for (Ticket* t : all_) Wake(t, true);
}

}  // namespace weir
