// ar1: what was used fades, slot by slot.
//
// The only model in doubles, for that is what its description promises: the
// same operations in the same order.
#include <algorithm>
#include <cstdint>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

// Less than this of one call no longer matters.
constexpr double kNothing = 1.0 / (int64_t{1} << 53);

// By repeated squaring, from the lowest bit up.
double Power(double base, int64_t n) {
  double power = 1;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) power *= base;
    base *= base;
  }
  return power;
}

class Ar1 : public Model {
 public:
  explicit Ar1(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Real("limit", 0)),
        decay_(spec.Real("decay_factor", 0)),
        resolution_(spec.Duration("resolution")),
        counts_denied_(spec.Flag("count_denied", true)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<Ar1>(*this);
  }

  // Whole calls, though the limit may have a fraction.
  int64_t Capacity() const override { return static_cast<int64_t>(limit_); }
  bool CountsDenied() const override { return counts_denied_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Value(t) + static_cast<double>(cost) <= limit_;
  }

  // Each sum is rounded, so that calls of cost 1 don't always add up to one
  // call: counted one by one, but for as many as add up without rounding.
  int64_t Remaining(int64_t t) const override {
    double value = Value(t);
    int64_t passed = 0;
    while (value + 1 <= limit_) {
      const auto rounded = [&](int64_t n) {
        const double sum = value + static_cast<double>(n);
        const double added = sum - value;
        const double lost =
            (value - (sum - added)) + (static_cast<double>(n) - added);
        return sum > limit_ || lost != 0;
      };
      const int64_t n =
          rounded(1) ? 1 : FirstTrue(1, Capacity() + 1, rounded) - 1;
      value += static_cast<double>(n);
      passed += n;
    }
    return passed;
  }

  bool Fresh(int64_t t) const override { return Value(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    const double sum = Value(t) + static_cast<double>(cost);
    Set(t, std::min(sum, static_cast<double>(kMaxExact)));
  }

  void Refund(int64_t t, int64_t n) override {
    Set(t, std::max(Value(t) - static_cast<double>(n), 0.0));
  }

  // Against the time in which `limit` fades away.
  bool Jumped(int64_t t) const override {
    if (value_ == 0) return false;
    int64_t enough = 1;
    while (Fade(limit_, enough) > 0) enough *= 2;
    const int64_t slots =
        FirstTrue(0, enough, [&](int64_t n) { return Fade(limit_, n) == 0; });
    return Wide(slot_) * resolution_ - t > Wide(2) * slots * resolution_;
  }

  void Empty(int64_t t) override {
    slot_ = SlotOf(t);
    value_ = limit_;
  }

  // The value is kept, as it is at this reading if it fades otherwise from now
  // on.
  void TakeOver(const Model& old, int64_t t) override {
    const auto& from = dynamic_cast<const Ar1&>(old);
    if (decay_ == from.decay_ && resolution_ == from.resolution_) {
      slot_ = from.slot_;
      value_ = from.value_;
      return;
    }
    value_ = from.Value(t);
    slot_ = SlotOf(std::max(t, from.value_ == 0 ? t : from.Start()));
  }

 private:
  int64_t SlotOf(int64_t t) const {
    return Wide(t).FloorDiv(resolution_).Narrow();
  }
  int64_t Start() const { return (Wide(slot_) * resolution_).Narrow(); }
  // A reading from before the slot counts as in it.
  int64_t Now(int64_t t) const {
    return value_ == 0 ? SlotOf(t) : std::max(SlotOf(t), slot_);
  }
  double Fade(double value, int64_t slots) const {
    const double faded = value / Power(decay_, slots);
    return faded < kNothing ? 0 : faded;
  }
  double Value(int64_t t) const {
    return value_ == 0 ? 0 : Fade(value_, Now(t) - slot_);
  }
  void Set(int64_t t, double value) {
    slot_ = Now(t);
    value_ = value < kNothing ? 0 : value;
  }

  double limit_;
  double decay_;
  int64_t resolution_;
  bool counts_denied_;
  int64_t slot_ = 0;
  double value_ = 0;  // 0: nothing was ever used
};

}  // namespace

std::unique_ptr<Model> MakeAr1(const LimitSpec& spec) {
  return std::make_unique<Ar1>(spec);
}

}  // namespace weir_oracle
