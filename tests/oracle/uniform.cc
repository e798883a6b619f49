// uniform: one call, then none for an interval. Only whole numbers are needed:
// the time at which the gate opens again.
#include <algorithm>
#include <optional>

#include "tests/oracle/model.h"

namespace weir_oracle {
namespace {

class Uniform : public Model {
 public:
  explicit Uniform(const LimitSpec& spec)
      : Model(spec),
        interval_(spec.Duration("interval")),
        max_wait_(spec.Duration("max_wait", 60'000'000)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<Uniform>(*this);
  }

  int64_t Capacity() const override { return 1; }

  // A call of cost 0 asks whether the key is within its limit: only a clock
  // that went back, or a longer interval before, can put it outside.
  bool Admits(int64_t t, int64_t cost) const override {
    if (cost > 1) return false;
    return cost == 1 ? Closed(t) == 0 : Closed(t) <= interval_;
  }

  bool Fresh(int64_t t) const override { return Closed(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    opens_ = t + Closed(t) + cost * interval_;
  }

  void Refund(int64_t t, int64_t n) override {
    // More than the gate has to give back needs no product.
    const int64_t calls = std::min(n, Closed(t) / interval_ + 1);
    opens_ = t + std::max<int64_t>(0, Closed(t) - calls * interval_);
  }

  bool Jumped(int64_t t) const override {
    return Closed(t) > 2 * interval_ + max_wait_;
  }

  void Empty(int64_t t) override { opens_ = t + interval_; }

  void TakeOver(const Model& old, int64_t t) override {
    const Uniform& from = dynamic_cast<const Uniform&>(old);
    const int64_t used = (from.Closed(t) + from.interval_ - 1) / from.interval_;
    opens_ = t + used * interval_;
  }

 private:
  int64_t Closed(int64_t t) const {
    return opens_ ? std::max<int64_t>(0, *opens_ - t) : 0;
  }

  int64_t interval_;
  int64_t max_wait_;
  std::optional<int64_t> opens_;
};

}  // namespace

std::unique_ptr<Model> MakeUniform(const LimitSpec& spec) {
  return std::make_unique<Uniform>(spec);
}

}  // namespace weir_oracle
