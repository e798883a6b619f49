#include "weir/limit.h"

#include <utility>

namespace weir {

Limit Limit::Of(std::string_view algorithm) { return Limit(algorithm); }

Limit Limit::Gcra(int64_t limit, Micros window) {
  return Of("gcra").With("limit", limit).With("window", window);
}

Limit Limit::TokenBucket(int64_t capacity, int64_t refill, Micros interval) {
  return Of("token_bucket")
      .With("capacity", capacity)
      .With("refill", refill)
      .With("interval", interval);
}

Limit Limit::LeakyBucket(int64_t capacity, int64_t leak, Micros interval) {
  return Of("leaky_bucket")
      .With("capacity", capacity)
      .With("leak", leak)
      .With("interval", interval);
}

Limit Limit::Uniform(Micros interval) {
  return Of("uniform").With("interval", interval);
}

Limit Limit::FixedWindow(int64_t limit, Micros window) {
  return Of("fixed_window").With("limit", limit).With("window", window);
}

Limit Limit::SlidingLog(int64_t limit, Micros window) {
  return Of("sliding_log").With("limit", limit).With("window", window);
}

Limit Limit::SlidingLogList(int64_t limit, Micros window) {
  return Of("sliding_log_list").With("limit", limit).With("window", window);
}

Limit Limit::BucketedWindow(int64_t limit, Micros window, Micros resolution) {
  return Of("bucketed_window")
      .With("limit", limit)
      .With("window", window)
      .With("resolution", resolution);
}

Limit Limit::SlidingWindowCounter(int64_t limit, Micros window) {
  return Of("sliding_window_counter")
      .With("limit", limit)
      .With("window", window);
}

Limit Limit::WindowedTokenBucket(int64_t limit, Micros window, int64_t burst) {
  return Of("windowed_token_bucket")
      .With("limit", limit)
      .With("window", window)
      .With("burst", burst);
}

Limit Limit::Ar1(double limit, double decay_factor, Micros resolution) {
  return Of("ar1")
      .With("limit", limit)
      .With("decay_factor", decay_factor)
      .With("resolution", resolution);
}

Limit Limit::Unlimited() { return Of("unlimited"); }

Limit Limit::With(std::string_view field, FieldValue value) && {
  for (auto& [name, old] : fields_) {
    if (name == field) {
      old = std::move(value);
      return std::move(*this);
    }
  }
  fields_.emplace_back(std::string(field), std::move(value));
  return std::move(*this);
}

Limit Limit::With(std::string_view field, FieldValue value) const& {
  return Limit(*this).With(field, std::move(value));
}

Limit Limit::Burst(int64_t burst) const { return With("burst", burst); }

Limit Limit::MaxWait(Micros max_wait) const {
  return With("max_wait", max_wait);
}

Limit Limit::Align(std::string_view align) const {
  return With("align", std::string(align));
}

Limit Limit::CountDenied(bool count_denied) const {
  return With("count_denied", count_denied);
}

Limit Limit::Capped(bool capped) const { return With("capped", capped); }

Limit Limit::Offset(Micros offset) const { return With("offset", offset); }

}  // namespace weir
