// sliding_window_counter: the counts of two windows, the older one weighted by
// how much of it a window that ends now would still cover.
#include <algorithm>
#include <optional>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class SlidingWindowCounter : public Model {
 public:
  explicit SlidingWindowCounter(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<SlidingWindowCounter>(*this);
  }

  int64_t Capacity() const override { return limit_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return UsedTimesWindow(t) + Wide(cost) * window_ <= Wide(limit_) * window_;
  }

  bool Fresh(int64_t t) const override { return UsedTimesWindow(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    counts_ = At(t);
    counts_->current += cost;
  }

  // Of the current window first, then of the one before.
  void Refund(int64_t t, int64_t n) override {
    counts_ = At(t);
    const int64_t first = std::min(n, counts_->current);
    counts_->current -= first;
    counts_->previous -= std::min(n - first, counts_->previous);
  }

  // A key is fresh again two windows after the start of the one it counts in.
  bool Jumped(int64_t t) const override {
    return counts_ && Start(*counts_) - t > Wide(2) * 2 * window_;
  }

  void Empty(int64_t t) override { counts_ = {Number(t), 0, limit_}; }

  // Windows of another length lie elsewhere: there all that is used counts as
  // of the current one.
  void TakeOver(const Model& old, int64_t t) override {
    const auto& from = dynamic_cast<const SlidingWindowCounter&>(old);
    if (window_ == from.window_) {
      counts_ = from.counts_;
      return;
    }
    if (from.Fresh(t)) return;
    const Wide used = from.UsedTimesWindow(t).CeilDiv(from.window_);
    counts_ = {Number(from.Now(t)), 0, used.Narrow()};
  }

 private:
  struct Counts {
    int64_t number;
    int64_t previous;
    int64_t current;
  };

  int64_t Number(int64_t t) const { return Wide(t).FloorDiv(window_).Narrow(); }
  Wide Start(const Counts& c) const { return Wide(c.number) * window_; }
  // A reading from before the window counts as at its start.
  int64_t Now(int64_t t) const {
    return counts_ ? Max(t, Start(*counts_)).Narrow() : t;
  }
  // The counts as they are at this reading.
  Counts At(int64_t t) const {
    const int64_t number = Number(Now(t));
    if (!counts_ || number > counts_->number + 1) return {number, 0, 0};
    if (number > counts_->number) return {number, counts_->current, 0};
    return *counts_;
  }
  Wide UsedTimesWindow(int64_t t) const {
    const Counts c = At(t);
    const Wide into = Wide(Now(t)) - Start(c);
    return Wide(c.previous) * (Wide(window_) - into) +
           Wide(c.current) * window_;
  }

  int64_t limit_;
  int64_t window_;
  std::optional<Counts> counts_;
};

}  // namespace

std::unique_ptr<Model> MakeSlidingWindowCounter(const LimitSpec& spec) {
  return std::make_unique<SlidingWindowCounter>(spec);
}

}  // namespace weir_oracle
