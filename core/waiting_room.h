// Where callers of Acquire wait: a line for each key, first come, first
// served, and a way to call the waiting off.
#ifndef WEIR_CORE_WAITING_ROOM_H_
#define WEIR_CORE_WAITING_ROOM_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "weir/clock.h"
#include "weir/limiter.h"

namespace weir {

class WaitingRoom {
 public:
  // One caller. Lives on that caller's stack.
  class Ticket {
   public:
    explicit Ticket(std::vector<int64_t> costs) : costs_(std::move(costs)) {}

   private:
    friend class WaitingRoom;
    friend class Cancellation;
    const std::vector<int64_t> costs_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;  // something has changed: look again
    bool called_off_ = false;
  };

  // Enters and leaves the room, and the cancellation that was given.
  class Stay {
   public:
    Stay(WaitingRoom* room, Ticket* ticket, Cancellation* cancel);
    ~Stay();
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

   private:
    struct InRoom {
      InRoom(WaitingRoom* r, Ticket* t);
      ~InRoom();
      InRoom(const InRoom&) = delete;
      InRoom& operator=(const InRoom&) = delete;

      WaitingRoom* const room;
      Ticket* const ticket;
    };

    const InRoom in_room_;
    // Null: it was given none.
    std::shared_ptr<Cancellation::State> cancel_;
  };

  // Joins the line of a key; returns the costs of all who stand before.
  std::vector<int64_t> Join(const std::string& line, Ticket* ticket);
  bool First(const std::string& line, const Ticket* ticket);
  void Leave(const std::string& line, Ticket* ticket);

  // Cancelled if called off.
  static absl::Status StillWaits(Ticket* ticket);
  // Waits until `t`, or something changes. Cancelled if called off.
  absl::Status Wait(const Clock& clock, Time t, Ticket* ticket);

  // Everybody looks again.
  void WakeAll();
  // Calls off all who wait and all who come.
  void Close();

 private:
  friend class Cancellation;
  static absl::Status StatusOf(const Ticket& ticket);
  static void Wake(Ticket* ticket, bool call_off);

  std::mutex mutex_;
  bool closed_ = false;
  std::vector<Ticket*> all_;
  // How many are in it. Sequentially consistent, as the locks of the stores are
  // not: who enters and then looks at a key, and who changes the key and then
  // looks here, do not both miss the other.
  std::atomic<size_t> present_{0};
  std::map<std::string, std::deque<Ticket*>> lines_;
};

}  // namespace weir

#endif  // WEIR_CORE_WAITING_ROOM_H_
