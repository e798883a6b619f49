// sliding_log: every charged call is written down and the list is walked.
#include <algorithm>
#include <vector>

#include "tests/oracle/model.h"
#include "tests/oracle/wide.h"

namespace weir_oracle {
namespace {

class SlidingLog : public Model {
 public:
  explicit SlidingLog(const LimitSpec& spec)
      : Model(spec),
        limit_(spec.Count("limit")),
        window_(spec.Duration("window")) {}

  std::unique_ptr<Model> Clone() const override {
    return std::make_unique<SlidingLog>(*this);
  }

  int64_t Capacity() const override { return limit_; }

  bool Admits(int64_t t, int64_t cost) const override {
    return Used(t) + cost <= limit_;
  }

  bool Fresh(int64_t t) const override { return Used(t) == 0; }

  void Charge(int64_t t, int64_t cost) override {
    Drop(t);
    log_.push_back({Now(t), cost});
  }

  // Newest first.
  void Refund(int64_t t, int64_t n) override {
    Drop(t);
    while (n > 0 && !log_.empty()) {
      const int64_t taken = std::min(n, log_.back().cost);
      log_.back().cost -= taken;
      n -= taken;
      if (log_.back().cost == 0) log_.pop_back();
    }
  }

  bool Jumped(int64_t t) const override {
    return !log_.empty() && Wide(log_.back().time) - t > Wide(2) * window_;
  }

  void Empty(int64_t t) override { log_ = {{t, limit_}}; }

  void TakeOver(const Model& old, int64_t) override {
    log_ = dynamic_cast<const SlidingLog&>(old).log_;
  }

 private:
  struct Entry {
    int64_t time;
    int64_t cost;
  };

  // Time never goes back behind what the log has seen.
  int64_t Now(int64_t t) const {
    return log_.empty() ? t : std::max(t, log_.back().time);
  }
  bool Inside(const Entry& e, int64_t now) const {
    return e.time > now - window_;
  }
  Wide Used(int64_t t) const {
    Wide sum = 0;
    for (const Entry& e : log_) {
      if (Inside(e, Now(t))) sum = sum + e.cost;
    }
    return sum;
  }
  // Forgets what has left.
  void Drop(int64_t t) {
    const int64_t now = Now(t);
    log_.erase(std::remove_if(log_.begin(), log_.end(),
                              [&](const Entry& e) { return !Inside(e, now); }),
               log_.end());
  }

  int64_t limit_;
  int64_t window_;
  std::vector<Entry> log_;  // in the order of their times
};

}  // namespace

std::unique_ptr<Model> MakeSlidingLog(const LimitSpec& spec) {
  return std::make_unique<SlidingLog>(spec);
}

}  // namespace weir_oracle
