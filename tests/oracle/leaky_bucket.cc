// leaky_bucket from the textbook: water in a bucket with a hole.
//
// The water is kept in 1/interval of a unit, of which `leak` drip out in each
// microsecond. A call pours its cost in; one that would make it overflow is
// denied. Read before the last pouring, the bucket holds more, not less.
#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class LeakyBucket : public Model {
 public:
  explicit LeakyBucket(const LimitSpec& spec)
      : Model(spec),
        capacity_(spec.Count("capacity")),
        leak_(spec.Count("leak")),
        interval_(spec.Duration("interval")),
        max_wait_(spec.Duration("max_wait", 60'000'000)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<LeakyBucket>(*this);
  }

  int64_t Capacity() const override { return capacity_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Water(t) + Wide(cost) * interval_ <= Wide(capacity_) * interval_;
  }

  bool Fresh(int64_t t) const override { return Water(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    Pour(t, Wide(cost) * interval_);
  }

  void Refund(int64_t t, int64_t n) override {
    Pour(t, Wide(0) - Min(Wide(n) * interval_, Water(t)));
  }

  bool Jumped(int64_t t) const override {
    const Wide longest = (Wide(capacity_) * interval_).CeilDiv(leak_);
    return Water(t) > (Wide(2) * longest + max_wait_) * leak_;
  }

  void Empty(int64_t t) override {
    water_ = Wide(capacity_) * interval_;
    at_ = t;
  }

  void TakeOver(const Model& old, int64_t t) override {
    const LeakyBucket& from = dynamic_cast<const LeakyBucket&>(old);
    water_ = from.Water(t).CeilDiv(from.interval_) * interval_;
    at_ = t;
  }

 private:
  Wide Water(int64_t t) const {
    if (water_ == 0) return 0;
    return Max(water_ - (Wide(t) - at_) * leak_, 0);
  }
  void Pour(int64_t t, Wide amount) {
    water_ = Water(t) + amount;
    at_ = t;
  }

  int64_t capacity_;
  int64_t leak_;
  int64_t interval_;
  int64_t max_wait_;
  Wide water_;
  int64_t at_ = 0;
};

}  // namespace

std::unique_ptr<Model> MakeLeakyBucket(const LimitSpec& spec) {
  return std::make_unique<LeakyBucket>(spec);
}

}  // namespace weir_oracle
