// gcra, as its description says it: one exact arrival time.
//
// Kept in ticks of 1/limit of a microsecond, in which window/limit, the time
// that one call takes, is the whole number `window`.
#include <optional>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class Gcra : public Model {
 public:
  explicit Gcra(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")),
        burst_(spec.Count("burst", spec.Count("limit"))),
        max_wait_(spec.Duration("max_wait", 60'000'000)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<Gcra>(*this);
  }

  int64_t Capacity() const override { return burst_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Ahead(t) + Wide(cost) * window_ <= Wide(burst_) * window_;
  }

  bool Fresh(int64_t t) const override { return Ahead(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    arrival_ = Ticks(t) + Ahead(t) + Wide(cost) * window_;
  }

  void Refund(int64_t t, int64_t n) override {
    arrival_ = Ticks(t) + Max(Ahead(t) - Wide(n) * window_, 0);
  }

  bool Jumped(int64_t t) const override {
    const Wide longest = (Wide(burst_) * window_).CeilDiv(limit_);
    return Ahead(t) > (Wide(2) * longest + max_wait_) * limit_;
  }

  void Empty(int64_t t) override {
    arrival_ = Ticks(t) + Wide(burst_) * window_;
  }

  void TakeOver(const Model& old, int64_t t) override {
    const Gcra& from = dynamic_cast<const Gcra&>(old);
    const Wide used = from.Ahead(t).CeilDiv(from.window_);
    arrival_ = Ticks(t) + used * window_;
  }

 private:
  Wide Ticks(int64_t t) const { return Wide(t) * limit_; }
  Wide Ahead(int64_t t) const {
    return arrival_ ? Max(*arrival_ - Ticks(t), 0) : Wide(0);
  }

  int64_t limit_;
  int64_t window_;
  int64_t burst_;
  int64_t max_wait_;
  std::optional<Wide> arrival_;
};

}  // namespace

std::unique_ptr<Model> MakeGcra(const LimitSpec& spec) {
  return std::make_unique<Gcra>(spec);
}

}  // namespace weir_oracle
