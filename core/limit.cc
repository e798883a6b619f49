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

Limit Limit::Offset(Micros offset) const { return With("offset", offset); }

}  // namespace weir
