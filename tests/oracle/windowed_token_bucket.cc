// windowed_token_bucket: a bucket of tokens that lives as long as a window.
//
// Tokens are kept in 1/window of one, of which limit - burst arrive in each
// microsecond.
#include <algorithm>
#include <optional>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class WindowedTokenBucket : public Model {
 public:
  explicit WindowedTokenBucket(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")),
        burst_(spec.Count("burst")),
        capped_(spec.Flag("capped", true)) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<WindowedTokenBucket>(*this);
  }

  int64_t Capacity() const override { return burst_; }

  bool Admits(int64_t t, int64_t cost) const override {
    if (!Open(t)) return cost <= burst_;
    return Wide(cost) * window_ <= Tokens(t) &&
           Wide(open_->used) + cost <= limit_;
  }

  bool Fresh(int64_t t) const override { return !Open(t); }

  void Charge(int64_t t, int64_t cost) override {
    if (!Open(t)) open_ = {t, t, Wide(burst_) * window_, 0};
    Set(t, Tokens(t) - Wide(cost) * window_, open_->used + cost);
  }

  void Refund(int64_t t, int64_t n) override {
    if (!Open(t)) return;
    const int64_t back = std::min(n, open_->used);
    if (back == open_->used) {
      open_.reset();
      return;
    }
    Set(t, Capped(Tokens(t) + Wide(back) * window_), open_->used - back);
  }

  bool Jumped(int64_t t) const override {
    return open_ && Wide(open_->at) - t > Wide(2) * window_;
  }

  void Empty(int64_t t) override { open_ = {t, t, 0, limit_}; }

  // An open window keeps its start, what is used, and what is missing from a
  // full bucket.
  void TakeOver(const Model& old, int64_t t) override {
    const auto& from = dynamic_cast<const WindowedTokenBucket&>(old);
    if (!from.Open(t)) return;
    const Wide missing = (Wide(from.burst_) * from.window_ - from.Tokens(t))
                             .CeilDiv(from.window_);
    const int64_t now = from.Now(t);
    open_ = {from.open_->start, now, Capped((Wide(burst_) - missing) * window_),
             from.open_->used};
    if (!Open(t)) open_->start = now;
  }

  // Where tokens pile up, there may be more than a fresh key has.
  int64_t Remaining(int64_t t) const override {
    if (!Admits(t, 1)) return 0;
    return FirstTrue(1, limit_ + 1, [&](int64_t n) { return !Admits(t, n); }) -
           1;
  }

  // In an open window more and more passes, until its end takes away what has
  // piled up.
  std::optional<int64_t> Wait(int64_t t, int64_t cost) const override {
    if (Admits(t, cost)) return 0;
    if (!Open(t)) return std::nullopt;
    const int64_t end = ResetAfter(t);
    if (Admits(t + end - 1, cost)) {
      return FirstTrue(0, end - 1,
                       [&](int64_t d) { return Admits(t + d, cost); });
    }
    if (cost > burst_) return std::nullopt;
    return end;
  }

 private:
  struct Window {
    int64_t start;
    int64_t at;   // when `tokens` was true
    Wide tokens;  // in 1/window of one
    int64_t used;
  };

  // Time never goes back behind what the window has seen.
  int64_t Now(int64_t t) const { return open_ ? std::max(t, open_->at) : t; }
  bool Open(int64_t t) const {
    return open_ && Now(t) < open_->start + window_;
  }
  Wide Capped(Wide tokens) const {
    return capped_ ? Min(tokens, Wide(burst_) * window_) : tokens;
  }
  // In an open window.
  Wide Tokens(int64_t t) const {
    const Wide passed = Wide(Now(t)) - open_->at;
    return Capped(open_->tokens + passed * (limit_ - burst_));
  }
  void Set(int64_t t, Wide tokens, int64_t used) {
    open_ = {open_->start, Now(t), tokens, used};
  }

  int64_t limit_;
  int64_t window_;
  int64_t burst_;
  bool capped_;
  std::optional<Window> open_;
};

}  // namespace

std::unique_ptr<Model> MakeWindowedTokenBucket(const LimitSpec& spec) {
  return std::make_unique<WindowedTokenBucket>(spec);
}

}  // namespace weir_oracle
