// fixed_window: a counter, and the window that it counts in.
#include <algorithm>
#include <optional>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class FixedWindow : public Model {
 public:
  explicit FixedWindow(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")),
        epoch_(spec.Word("align", "first") == "epoch"),
        offset_(spec.Duration("offset", 0)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<FixedWindow>(*this);
  }

  int64_t Capacity() const override { return limit_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Wide(Used(t)) + cost <= limit_;
  }

  bool Fresh(int64_t t) const override { return Used(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    if (!Open(t)) {
      used_ = 0;
      start_ = WindowStart(t);
    }
    used_ += cost;
  }

  void Refund(int64_t t, int64_t n) override {
    if (Open(t)) used_ -= std::min(n, used_);
  }

  bool Jumped(int64_t t) const override {
    return start_.has_value() && Wide(*start_) - t > Wide(2) * window_;
  }

  void Empty(int64_t t) override {
    start_ = WindowStart(t);
    used_ = limit_;
  }

  // An open window keeps its start and its used. Where the new length would
  // have ended it already, it opens at the reading instead: a change of the
  // limit refills nobody.
  void TakeOver(const Model& old, int64_t t) override {
    const FixedWindow& from = dynamic_cast<const FixedWindow&>(old);
    if (!from.Open(t)) return;
    start_ = from.start_;
    used_ = from.used_;
    if (!Open(t)) start_ = WindowStart(t);
  }

 private:
  // A reading from before the window counts as in it.
  bool Open(int64_t t) const {
    return start_.has_value() && std::max(t, *start_) < *start_ + window_;
  }
  int64_t Used(int64_t t) const { return Open(t) ? used_ : 0; }
  // Where the window of a call at t begins if none is open.
  int64_t WindowStart(int64_t t) const {
    if (!epoch_) return t;
    const Wide number = (Wide(t) - offset_).FloorDiv(window_);
    return (number * window_ + offset_).Narrow();
  }

  int64_t limit_;
  int64_t window_;
  bool epoch_;
  int64_t offset_;
  std::optional<int64_t> start_;
  int64_t used_ = 0;
};

}  // namespace

std::unique_ptr<Model> MakeFixedWindow(const LimitSpec& spec) {
  return std::make_unique<FixedWindow>(spec);
}

}  // namespace weir_oracle
