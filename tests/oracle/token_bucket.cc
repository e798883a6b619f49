// token_bucket from the textbook: a level, and when it was true.
//
// The level is kept in 1/interval of a token, of which `refill` arrive in each
// microsecond. A reading before the level's own time takes them away again,
// which may leave less than nothing.
#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class TokenBucket : public Model {
 public:
  explicit TokenBucket(const LimitSpec& spec)
      : Model(spec),
        capacity_(spec.Count("capacity")),
        refill_(spec.Count("refill")),
        interval_(spec.Duration("interval")),
        max_wait_(spec.Duration("max_wait", 60'000'000)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<TokenBucket>(*this);
  }

  int64_t Capacity() const override { return capacity_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Wide(cost) * interval_ <= Level(t);
  }

  bool Fresh(int64_t t) const override { return Level(t) == Full(); }

  void Charge(int64_t t, int64_t cost) override {
    Set(t, Level(t) - Wide(cost) * interval_);
  }

  void Refund(int64_t t, int64_t n) override {
    Set(t, Min(Level(t) + Wide(n) * interval_, Full()));
  }

  // Time until full, against twice the time from empty to full.
  bool Jumped(int64_t t) const override {
    const Wide longest = Full().CeilDiv(refill_);
    return Full() - Level(t) > (Wide(2) * longest + max_wait_) * refill_;
  }

  void Empty(int64_t t) override { Set(t, 0); }

  // Tokens that are missing stay missing; a part of one counts as one.
  void TakeOver(const Model& old, int64_t t) override {
    const TokenBucket& from = dynamic_cast<const TokenBucket&>(old);
    const Wide used = (from.Full() - from.Level(t)).CeilDiv(from.interval_);
    Set(t, Full() - used * interval_);
  }

 private:
  Wide Full() const { return Wide(capacity_) * interval_; }
  Wide Level(int64_t t) const {
    if (!known_) return Full();
    return Min(level_ + (Wide(t) - at_) * refill_, Full());
  }
  void Set(int64_t t, Wide level) {
    known_ = true;
    at_ = t;
    level_ = level;
  }

  int64_t capacity_;
  int64_t refill_;
  int64_t interval_;
  int64_t max_wait_;
  bool known_ = false;
  int64_t at_ = 0;
  Wide level_;
};

}  // namespace

std::unique_ptr<Model> MakeTokenBucket(const LimitSpec& spec) {
  return std::make_unique<TokenBucket>(spec);
}

}  // namespace weir_oracle
