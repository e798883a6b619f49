#include "tools/cli/generate.h"

#include <algorithm>

#include "core/text.h"
#include "tools/cli/generate_draw.h"
#include "tools/cli/generate_writer.h"
#include "tools/cli/time_units.h"

namespace weir::cli {
namespace {

constexpr int64_t kNever = INT64_MAX;

constexpr uint32_t Address(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// Addresses that are nobody's: private, shared, and for documentation.
constexpr uint32_t kBrowsing = Address(10, 0, 0, 0);
constexpr uint32_t kStorm = Address(100, 64, 0, 0);
constexpr uint32_t kScraper = Address(192, 0, 2, 1);
constexpr uint32_t kBurst = Address(198, 51, 100, 1);

// Clients that come as a Poisson process whose rate follows the day: calls at
// the peak's rate, of which each is kept with the share that its time has of
// the peak.
class Browsing {
 public:
  explicit Browsing(const GenerateOptions& o)
      : random_(o.seed), zipf_(static_cast<uint64_t>(o.clients)) {
    start_us_ = o.start_s * kS;
    end_us_ = start_us_ + o.duration_s * kS;
    if (o.rate_per_1000s == 0) {
      time_us_ = kNever;
      return;
    }
    // 1000 s over 1.8 times the rate.
    const uint64_t rate = static_cast<uint64_t>(o.rate_per_1000s);
    mean_gap_ = (uint64_t{10000 * kS} << kFine) / (18 * rate);
    Advance();
  }

  int64_t time_us() const { return time_us_; }

  void Take(GeneratedCall* call) {
    call->client = kBrowsing + static_cast<uint32_t>(zipf_.Draw(&random_));
    call->agent = "Mozilla/5.0";
    call->method = "GET";
    call->status = 200;
    call->item = -1;
    const uint32_t kind = random_.Below(100);
    const uint32_t size = random_.Below(1 << 14);
    call->bytes = 200 + size * int64_t{size} / 4096;
    if (kind < 30) {
      call->path = "/";
    } else if (kind < 60) {
      call->path = "/item/";
      call->item = 1 + random_.Below(5000);
    } else if (kind < 80) {
      call->path = "/search";
    } else if (kind < 92) {
      call->path = "/static/site.css";
      call->status = 304;
      call->bytes = 0;
    } else if (kind < 97) {
      call->method = "POST";
      call->path = "/cart";
    } else {
      call->path = "/old/";
      call->item = 1 + random_.Below(100);
      call->status = 404;
      call->bytes = 162;
    }
    Advance();
  }

 private:
  // Time within the trace is kept in units of 2^-10 us, so that gaps of a few
  // microseconds keep their mean.
  static constexpr int kFine = 10;

  void Advance() {
    do {
      fine_ += (Exponential(&random_) * mean_gap_) >> 16;
      time_us_ = start_us_ + static_cast<int64_t>(fine_ >> kFine);
      if (time_us_ >= end_us_) {
        time_us_ = kNever;
        return;
      }
    } while (random_.Below(DayCurve::kPeak) >= DayCurve::At(time_us_ / kS));
  }

  Random random_;
  const Zipf zipf_;
  int64_t start_us_ = 0;
  int64_t end_us_ = 0;
  uint64_t mean_gap_ = 0;
  uint64_t fine_ = 0;
  int64_t time_us_ = 0;
};

// `count` calls of which call n is n * span / count behind the start, without
// a product that could overflow.
class Evenly {
 public:
  Evenly() = default;
  Evenly(int64_t start_us, int64_t span_us, int64_t count)
      : count_(count), time_us_(count == 0 ? kNever : start_us) {
    if (count == 0) return;
    step_ = span_us / count;
    step_rest_ = span_us % count;
  }

  int64_t time_us() const { return time_us_; }

  void Advance() {
    time_us_ += step_;
    rest_ += step_rest_;
    if (rest_ >= count_) {
      rest_ -= count_;
      ++time_us_;
    }
  }

  void Stop() { time_us_ = kNever; }

 private:
  int64_t count_ = 0;
  int64_t time_us_ = kNever;
  int64_t step_ = 0;
  int64_t step_rest_ = 0;
  int64_t rest_ = 0;
};

class Scraper {
 public:
  explicit Scraper(const GenerateOptions& o)
      : end_us_((o.start_s + o.duration_s) * kS),
        steps_(o.start_s * kS, 1000 * kS, o.scraper_per_1000s) {}

  int64_t time_us() const { return steps_.time_us(); }

  void Take(GeneratedCall* call) {
    call->client = kScraper;
    call->method = "GET";
    call->path = "/item/";
    call->item = ++page_;
    call->status = 200;
    call->bytes = 4096;
    call->agent = "ExampleScraper/1.0";
    steps_.Advance();
    if (steps_.time_us() >= end_us_) steps_.Stop();
  }

 private:
  const int64_t end_us_;
  Evenly steps_;
  int64_t page_ = 0;
};

class Burst {
 public:
  explicit Burst(const GenerateOptions& o)
      : left_(o.burst_calls),
        steps_((o.start_s + o.duration_s / 2) * kS, kS, o.burst_calls) {}

  int64_t time_us() const { return steps_.time_us(); }

  void Take(GeneratedCall* call) {
    call->client = kBurst;
    call->method = "GET";
    call->path = "/search";
    call->item = -1;
    call->status = 200;
    call->bytes = 1024;
    call->agent = "ExampleClient/2.0";
    steps_.Advance();
    if (--left_ == 0) steps_.Stop();
  }

 private:
  int64_t left_;
  Evenly steps_;
};

class Storm {
 public:
  explicit Storm(const GenerateOptions& o)
      : clients_(o.storm_clients),
        left_(o.storm_clients *
              std::min(o.storm_s, o.duration_s - o.duration_s * 3 / 4)),
        steps_((o.start_s + o.duration_s * 3 / 4) * kS, kS,
               left_ == 0 ? 0 : o.storm_clients) {}

  int64_t time_us() const { return steps_.time_us(); }

  void Take(GeneratedCall* call) {
    call->client = kStorm + static_cast<uint32_t>(1 + next_client_);
    next_client_ = next_client_ + 1 == clients_ ? 0 : next_client_ + 1;
    call->method = "POST";
    call->path = "/api/sync";
    call->item = -1;
    call->status = 503;
    call->bytes = 0;
    call->agent = "ExampleApp/3.0";
    steps_.Advance();
    if (--left_ == 0) steps_.Stop();
  }

 private:
  const int64_t clients_;
  int64_t left_;
  int64_t next_client_ = 0;
  Evenly steps_;
};

absl::Status CheckRange(const char* name, int64_t value, int64_t least,
                        int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return InvalidArgument(name, ": ", value, "; allowed: ", least, " to ", most);
}

}  // namespace

absl::Status Validate(const GenerateOptions& o) {
  constexpr int64_t kMostRate = 1000000000;
  const absl::Status checks[] = {
      CheckRange("clients", o.clients, 1, 10000000),
      CheckRange("start", o.start_s, 0, 8000000000),
      CheckRange("duration", o.duration_s, 1, 3650 * kDaySeconds),
      CheckRange("rate", o.rate_per_1000s, 0, kMostRate),
      CheckRange("lines", o.max_lines, 0, INT64_MAX),
      CheckRange("scraper", o.scraper_per_1000s, 0, kMostRate),
      CheckRange("burst", o.burst_calls, 0, kMostRate),
      CheckRange("storm clients", o.storm_clients, 0, 1000000),
      CheckRange("storm seconds", o.storm_s, 0, kDaySeconds),
  };
  for (const absl::Status& check : checks) {
    if (!check.ok()) return check;
  }
  return absl::OkStatus();
}

absl::Status Generate(const GenerateOptions& options, std::FILE* out) {
  if (absl::Status s = Validate(options); !s.ok()) return s;
  Browsing browsing(options);
  Scraper scraper(options);
  Burst burst(options);
  Storm storm(options);
  TraceWriter writer(options.format, out);
  writer.Header();
  GeneratedCall call;
  for (int64_t line = 0;; ++line) {
    if (options.max_lines > 0 && line == options.max_lines) break;
    call.time_us = std::min({browsing.time_us(), scraper.time_us(),
                             burst.time_us(), storm.time_us()});
    if (call.time_us == kNever) break;
    if (call.time_us == browsing.time_us()) {
      browsing.Take(&call);
    } else if (call.time_us == scraper.time_us()) {
      scraper.Take(&call);
    } else if (call.time_us == burst.time_us()) {
      burst.Take(&call);
    } else {
      storm.Take(&call);
    }
    if (absl::Status s = writer.Line(call); !s.ok()) return s;
  }
  return writer.Finish();
}

}  // namespace weir::cli
