// bucketed_window: a count for each slot of time, all of them walked.
#include <algorithm>
#include <iterator>
#include <map>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class BucketedWindow : public Model {
 public:
  explicit BucketedWindow(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")),
        resolution_(spec.Duration("resolution")),
        counts_denied_(spec.Flag("count_denied", true)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<BucketedWindow>(*this);
  }

  int64_t Capacity() const override { return limit_; }
  bool CountsDenied() const override { return counts_denied_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Used(t) + cost <= limit_;
  }

  bool Fresh(int64_t t) const override { return Used(t) == 0; }

  // What is inside stays a number that a double holds.
  void Charge(int64_t t, int64_t cost) override {
    Drop(t);
    const int64_t room = (Wide(kMaxExact) - Used(t)).Narrow();
    if (room > 0) slots_[SlotOf(Now(t))] += std::min(cost, room);
  }

  // Newest first.
  void Refund(int64_t t, int64_t n) override {
    Drop(t);
    while (n > 0 && !slots_.empty()) {
      auto newest = std::prev(slots_.end());
      const int64_t taken = std::min(n, newest->second);
      newest->second -= taken;
      n -= taken;
      if (newest->second == 0) slots_.erase(newest);
    }
  }

  bool Jumped(int64_t t) const override {
    return !slots_.empty() && Wide(Newest()) - t > Wide(2) * window_;
  }

  void Empty(int64_t t) override { slots_ = {{SlotOf(t), limit_}}; }

  // As with a log; slots of another length can't be told apart any more, so
  // there too all counts as made now.
  void TakeOver(const Model& old, int64_t t) override {
    BucketedWindow from = dynamic_cast<const BucketedWindow&>(old);
    const bool stay =
        window_ >= from.window_ && resolution_ == from.resolution_;
    if (!stay || window_ != from.window_) from.Drop(t);
    if (stay) {
      slots_ = from.slots_;
    } else if (!from.Fresh(t)) {
      slots_ = {{SlotOf(from.Now(t)), from.Used(t).Narrow()}};
    }
  }

 private:
  int64_t SlotOf(int64_t t) const {
    return Wide(t).FloorDiv(resolution_).Narrow();
  }
  int64_t Start(int64_t slot) const { return slot * resolution_; }
  int64_t Newest() const { return Start(slots_.rbegin()->first); }
  // Time never goes back behind the start of the newest slot.
  int64_t Now(int64_t t) const {
    return slots_.empty() ? t : std::max(t, Newest());
  }
  bool Counts(int64_t slot, int64_t now) const {
    return Start(slot) > now - window_;
  }
  Wide Used(int64_t t) const {
    Wide sum = 0;
    for (const auto& [slot, count] : slots_) {
      if (Counts(slot, Now(t))) sum = sum + count;
    }
    return sum;
  }
  // Forgets what has left.
  void Drop(int64_t t) {
    const int64_t now = Now(t);
    while (!slots_.empty() && !Counts(slots_.begin()->first, now)) {
      slots_.erase(slots_.begin());
    }
  }

  int64_t limit_;
  int64_t window_;
  int64_t resolution_;
  bool counts_denied_;
  std::map<int64_t, int64_t> slots_;  // what was charged in each
};

}  // namespace

std::unique_ptr<Model> MakeBucketedWindow(const LimitSpec& spec) {
  return std::make_unique<BucketedWindow>(spec);
}

}  // namespace weir_oracle
