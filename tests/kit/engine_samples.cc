#include "weir/testing/engine_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "weir/engine.h"

namespace weir {
namespace testing {
namespace {

constexpr int64_t kUs = 1;
constexpr int64_t kMs = 1000 * kUs;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kHour = 3600 * kSecond;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kYear = 365 * kDay;
constexpr int64_t kTrillion = 1'000'000'000'000;
// Shares no divisor with the counts below; count * window is far above 2^53.
constexpr int64_t kOddCentury = 3'155'759'999'999'983;

__extension__ typedef __int128 Int128;  // -Wpedantic does not know it.

// count * us / per, rounded down, at most INT64_MAX.
int64_t MulDiv(int64_t count, int64_t us, int64_t per) {
  const Int128 value = static_cast<Int128>(count) * us / per;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return value > most ? most : static_cast<int64_t>(value);
}

int64_t Add(int64_t a, int64_t b) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  return a > most - b ? most : a + b;
}

// The names under which an algorithm of the gcra family keeps its numbers.
struct GcraNames {
  std::string_view burst;
  std::string_view limit;
  std::string_view window;
};

EngineUnderTest GcraLike(const GcraNames& names) {
  EngineUnderTest engine;
  engine.at_most = [names](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t rate = fields.Count(names.limit, 1);
    return Add(fields.Count(names.burst, rate),
               MulDiv(rate, us, fields.Duration(names.window)));
  };
  // Time goes by whole microseconds. Where the next call does not fall due on
  // one, a caller comes up to 1 us late, and a bucket that has no room for what
  // flows in meanwhile spills it.
  engine.taken_greedily = [names, at_most = engine.at_most](const Limit& limit,
                                                            int64_t us) {
    const Fields fields(limit);
    const int64_t rate = fields.Count(names.limit, 1);
    const int64_t window = fields.Duration(names.window);
    const int64_t burst = fields.Count(names.burst, rate);
    const bool spills =
        window % rate != 0 && static_cast<Int128>(burst - 1) * window < rate;
    return spills ? -1 : at_most(limit, us);
  };
  return engine;
}

Limit GcraLimit(int64_t limit, int64_t window, int64_t burst) {
  return Limit::Gcra(limit, Micros(window)).Burst(burst);
}

EngineUnderTest Gcra() {
  EngineUnderTest engine = GcraLike({"burst", "limit", "window"});
  engine.samples = {
      Limit::Gcra(5, Micros(10 * kSecond)),
      GcraLimit(1, kSecond, 1),
      GcraLimit(7, 3 * kSecond, 3),
      GcraLimit(3, kSecond, 10),
      GcraLimit(1'500, kSecond, 20),
      GcraLimit(7'000, kSecond, 7),
      GcraLimit(980'000'000, 10 * kSecond, 980'000'000),
      GcraLimit(5, kYear, 5),
      GcraLimit(1, 100 * kYear, 1),
      GcraLimit(999'999'999'989, kOddCentury, 999'999'999'989),
      GcraLimit(kTrillion, kUs, kTrillion),
      Limit::Gcra(kTrillion, Micros(100 * kYear)),
      Limit::Gcra(10, Micros(kSecond)).MaxWait(Micros(0)),
      Limit::Gcra(10, Micros(kSecond)).MaxWait(Micros(kHour)),
  };
  return engine;
}

EngineUnderTest TokenBucket() {
  EngineUnderTest engine = GcraLike({"capacity", "refill", "interval"});
  engine.samples = {
      Limit::TokenBucket(10, 1, Micros(kSecond)),
      Limit::TokenBucket(1, 7, Micros(3 * kSecond)),
      Limit::TokenBucket(100, 1'500, Micros(kSecond)),
      Limit::TokenBucket(3, 1, Micros(10 * kYear)),
      Limit::TokenBucket(kTrillion, 999'999'999'989, Micros(kOddCentury)),
      Limit::TokenBucket(kTrillion, 999'983, Micros(7)),
  };
  return engine;
}

EngineUnderTest LeakyBucket() {
  EngineUnderTest engine = GcraLike({"capacity", "leak", "interval"});
  engine.samples = {
      Limit::LeakyBucket(10, 1, Micros(kSecond)),
      Limit::LeakyBucket(4, 11, Micros(3 * kSecond)),
      Limit::LeakyBucket(1, 1, Micros(kUs)),
      Limit::LeakyBucket(2, 1, Micros(30 * kDay)),
      Limit::LeakyBucket(999'999'999'989, kTrillion, Micros(kOddCentury)),
  };
  return engine;
}

EngineUnderTest Uniform() {
  EngineUnderTest engine;
  engine.at_most = [](const Limit& limit, int64_t us) {
    return Add(1, us / Fields(limit).Duration("interval"));
  };
  engine.taken_greedily = engine.at_most;
  engine.samples = {
      Limit::Uniform(Micros(kUs)),         Limit::Uniform(Micros(333)),
      Limit::Uniform(Micros(kSecond)),     Limit::Uniform(Micros(5 * kHour)),
      Limit::Uniform(Micros(kOddCentury)),
  };
  return engine;
}

EngineUnderTest FixedWindow() {
  EngineUnderTest engine;
  // A span of s us touches at most ceil(s / window) + 1 windows.
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t window = fields.Duration("window");
    const int64_t windows = us / window + (us % window != 0 ? 1 : 0) + 1;
    return MulDiv(fields.Count("limit"), windows, 1);
  };
  // From the start of a window; later windows open as soon as they can.
  engine.taken_greedily = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    return MulDiv(fields.Count("limit"), us / fields.Duration("window") + 1, 1);
  };
  const auto epoch = [](int64_t limit, int64_t window, int64_t offset) {
    return Limit::FixedWindow(limit, Micros(window))
        .Align(Limit::kEpoch)
        .Offset(Micros(offset));
  };
  engine.samples = {
      Limit::FixedWindow(5, Micros(10 * kSecond)),
      Limit::FixedWindow(1, Micros(kUs)),
      Limit::FixedWindow(1'000, Micros(333)),
      Limit::FixedWindow(3, Micros(100 * kYear)),
      Limit::FixedWindow(kTrillion, Micros(kOddCentury)),
      Limit::FixedWindow(kTrillion, Micros(kUs)),
      Limit::FixedWindow(5, Micros(10 * kSecond)).Align(Limit::kEpoch),
      epoch(7, kDay, 5 * kHour),
      epoch(2, 7, 3),
      epoch(999'999'999'989, 30 * kDay + 1, kDay),
  };
  return engine;
}

EngineUnderTest SlidingLog() {
  EngineUnderTest engine;
  // A charge and one that comes exactly a window later are in no common window.
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    return MulDiv(fields.Count("limit"), us / fields.Duration("window") + 1, 1);
  };
  engine.taken_greedily = engine.at_most;
  engine.samples = {
      Limit::SlidingLog(5, Micros(10 * kSecond)),
      Limit::SlidingLog(1, Micros(kUs)),
      Limit::SlidingLog(3, Micros(7)),
      Limit::SlidingLog(500, Micros(kSecond)),
      Limit::SlidingLog(2, Micros(100 * kYear)),
      Limit::SlidingLog(9'999'991, Micros(kOddCentury)),
      Limit::SlidingLog(10'000'000, Micros(kHour)),
  };
  return engine;
}

EngineUnderTest SlidingLogList() {
  EngineUnderTest engine;
  // A call leaves 1 us after the window has passed over it.
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t stay = fields.Duration("window") + 1;
    return MulDiv(fields.Count("limit"), us / stay + 1, 1);
  };
  engine.taken_greedily = engine.at_most;
  engine.samples = {
      Limit::SlidingLogList(5, Micros(10 * kSecond)),
      Limit::SlidingLogList(1, Micros(kUs)),
      Limit::SlidingLogList(300, Micros(kSecond)),
      Limit::SlidingLogList(2, Micros(100 * kYear)),
      Limit::SlidingLogList(9'999'991, Micros(kOddCentury)),
      Limit::SlidingLogList(10'000'000, Micros(kHour)),
  };
  return engine;
}

EngineUnderTest BucketedWindow() {
  EngineUnderTest engine;
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t window = fields.Duration("window");
    const int64_t slot = fields.Duration("resolution");
    // A span of window - resolution holds at most the limit; so does a window
    // that begins with a slot, and they may follow each other by whole slots.
    const int64_t spans = us / (window - slot + 1) + 1;
    const int64_t step = window / slot * slot;
    const int64_t beyond = std::max<int64_t>(0, us - (window - slot));
    const int64_t windows = 1 + beyond / step + (beyond % step != 0 ? 1 : 0);
    return MulDiv(fields.Count("limit"), std::min(spans, windows), 1);
  };
  const auto make = [](int64_t limit, int64_t window, int64_t resolution) {
    return Limit::BucketedWindow(limit, Micros(window), Micros(resolution));
  };
  engine.samples = {
      make(5, 10 * kSecond, kSecond).CountDenied(false),
      make(5, 10 * kSecond, kSecond),
      make(1, kUs, kUs),
      make(7, 10 * kSecond, 3 * kSecond).CountDenied(false),
      make(100, kHour, 1).CountDenied(false),
      make(3, 100 * kYear, 7 * kDay),
      make(999'999'999'989, kOddCentury, kOddCentury).CountDenied(false),
      make(kTrillion, kDay, 999'983),
  };
  return engine;
}

EngineUnderTest SlidingWindowCounter() {
  EngineUnderTest engine;
  engine.remains_what_is_not_used = false;
  // What comes in the last microsecond of one window leaves room again as it
  // fades in the next.
  engine.at_most = [](const Limit& limit, int64_t us) {
    const Fields fields(limit);
    const int64_t count = fields.Count("limit");
    if (us == 0) return count;
    return Add(count, MulDiv(count, us - 1, fields.Duration("window")));
  };
  engine.worst_case = [](const Limit& limit, int64_t t) {
    const int64_t window = Fields(limit).Duration("window");
    const int64_t into = (t % window + window) % window;
    return std::vector<EngineUnderTest::Ask>{{t - into + window - 1, 0}};
  };
  engine.samples = {
      Limit::SlidingWindowCounter(5, Micros(10 * kSecond)),
      Limit::SlidingWindowCounter(1, Micros(kUs)),
      Limit::SlidingWindowCounter(1'000, Micros(333)),
      Limit::SlidingWindowCounter(3, Micros(50 * kYear)),
      Limit::SlidingWindowCounter(999'999'999'989, Micros(kOddCentury)),
      Limit::SlidingWindowCounter(kTrillion, Micros(kUs)),
  };
  return engine;
}

// The most within a span that goes over the beginnings of `opened` windows.
int64_t OfWindowedTokens(const Limit& limit, int64_t us, int64_t opened) {
  const Fields fields(limit);
  const int64_t window = fields.Duration("window");
  const int64_t burst = fields.Count("burst");
  const int64_t flow = fields.Count("limit") - burst;
  // No token comes at the end itself.
  const int64_t whole = Add(burst, MulDiv(flow, window - 1, window));
  const int64_t windows = MulDiv(whole, opened + 1, 1);
  if (fields.Bool("capped", true)) {
    return std::min(windows, Add(MulDiv(burst, opened + 1, 1),
                                 MulDiv(flow, us - opened, window)));
  }
  // All that piled up in the first window, then what the last one has so far.
  if (opened == 0) return whole;
  const int64_t open = std::max<int64_t>(0, us - 1 - (opened - 1) * window);
  return std::min(windows, Add(MulDiv(whole, opened, 1),
                               Add(burst, MulDiv(flow, open, window))));
}

EngineUnderTest WindowedTokenBucket() {
  EngineUnderTest engine;
  engine.remains_what_is_not_used = false;
  engine.cut_equals_drained = false;
  engine.piles_up = [](const Limit& limit) {
    return !Fields(limit).Bool("capped", true);
  };
  engine.at_most = [](const Limit& limit, int64_t us) {
    const int64_t window = Fields(limit).Duration("window");
    const int64_t least = us / window;
    const int64_t most = us == 0 ? 0 : (us - 1) / window + 1;
    return std::max(OfWindowedTokens(limit, us, least),
                    OfWindowedTokens(limit, us, most));
  };
  // In the first window, where no token is lost because the bucket is full.
  engine.taken_greedily = [](const Limit& limit, int64_t us) -> int64_t {
    const Fields fields(limit);
    const int64_t window = fields.Duration("window");
    if (fields.Bool("capped", true) || us >= window) return -1;
    const int64_t burst = fields.Count("burst");
    return burst + MulDiv(fields.Count("limit") - burst, us, window);
  };
  // Around the end of a window. Where tokens pile up, the first call takes as
  // little as opens one.
  engine.worst_case = [](const Limit& limit, int64_t t) {
    const Fields fields(limit);
    const int64_t window = fields.Duration("window");
    return std::vector<EngineUnderTest::Ask>{
        {t, fields.Bool("capped", true) ? 0 : 1},
        {t + window - 1, 0},
        {t + window, 0}};
  };
  const auto make = [](int64_t limit, int64_t window, int64_t burst) {
    return Limit::WindowedTokenBucket(limit, Micros(window), burst);
  };
  engine.samples = {
      make(10, 10 * kSecond, 3),
      make(10, 10 * kSecond, 3).Capped(false),
      make(1, kUs, 1),
      make(5, kUs, 2).Capped(false),
      make(7, 3 * kSecond, 7),
      make(3, 100 * kYear, 1).Capped(false),
      make(999'999'999'989, kOddCentury, 999'983),
      make(999'999'999'989, kOddCentury, 999'983).Capped(false),
      make(kTrillion, 7, 1),
  };
  return engine;
}

// What a value of `used` leaves room for.
int64_t RoomBeside(double used, double limit) {
  if (!(used + 1 <= limit)) return 0;
  // The difference of doubles may be rounded to just below a whole number.
  return std::max<int64_t>(1, static_cast<int64_t>(limit - used));
}

int64_t OfFading(const Limit& limit, int64_t slots) {
  const Fields fields(limit);
  const double most = fields.Real("limit");
  const double decay = fields.Real("decay_factor");
  const int64_t whole = static_cast<int64_t>(most);
  const auto room_after = [&](int64_t n) {
    const double power = std::pow(decay, static_cast<double>(n));
    return RoomBeside(static_cast<double>(whole) / power, most);
  };
  // Calls are whole: after the first there is no room for a while, and then
  // for what has faded by then.
  if (room_after(slots) == 0) {
    return whole + (room_after(slots + 1) > 0 ? 1 : 0);  // rounded otherwise
  }
  if (room_after(slots - 1) == 0) return whole + room_after(slots);
  const double sum = most + static_cast<double>(slots) * most * (1 - 1 / decay);
  return sum < 9e18 ? static_cast<int64_t>(sum * (1 + 1e-12)) + 1
                    : std::numeric_limits<int64_t>::max();
}

EngineUnderTest Ar1() {
  EngineUnderTest engine;
  engine.exact = false;
  engine.remains_what_is_not_used = false;
  engine.cut_equals_drained = false;
  // What fades in a slot makes room in the next.
  engine.at_most = [](const Limit& limit, int64_t us) {
    const int64_t slot = Fields(limit).Duration("resolution");
    const int64_t more = us / slot + (us % slot != 0 ? 1 : 0);
    if (more == 0) return static_cast<int64_t>(Fields(limit).Real("limit"));
    return OfFading(limit, more);
  };
  engine.worst_case = [](const Limit& limit, int64_t t) {
    const int64_t slot = Fields(limit).Duration("resolution");
    const int64_t into = (t % slot + slot) % slot;
    return std::vector<EngineUnderTest::Ask>{{t - into + slot - 1, 0}};
  };
  engine.samples = {
      Limit::Ar1(10, 2, Micros(kSecond)).CountDenied(false),
      Limit::Ar1(10, 2, Micros(kSecond)),
      Limit::Ar1(2.5, 1.1, Micros(kHour)).CountDenied(false),
      Limit::Ar1(1, 1.001, Micros(kUs)).CountDenied(false),
      Limit::Ar1(100.75, 1'000, Micros(30 * kDay)).CountDenied(false),
      Limit::Ar1(1e12, 1.5, Micros(333)).CountDenied(false),
  };
  return engine;
}

std::optional<EngineUnderTest> Describe(std::string_view algorithm) {
  if (algorithm == "gcra") return Gcra();
  if (algorithm == "token_bucket") return TokenBucket();
  if (algorithm == "leaky_bucket") return LeakyBucket();
  if (algorithm == "uniform") return Uniform();
  if (algorithm == "fixed_window") return FixedWindow();
  if (algorithm == "sliding_log") return SlidingLog();
  if (algorithm == "sliding_log_list") return SlidingLogList();
  if (algorithm == "bucketed_window") return BucketedWindow();
  if (algorithm == "sliding_window_counter") return SlidingWindowCounter();
  if (algorithm == "windowed_token_bucket") return WindowedTokenBucket();
  if (algorithm == "ar1") return Ar1();
  return std::nullopt;
}

FieldValue RandomWord(std::string_view words, Rng& rng) {
  std::vector<std::string> choices(1);
  for (const char c : words) {
    if (c == '|') {
      choices.emplace_back();
    } else {
      choices.back() += c;
    }
  }
  return choices[static_cast<size_t>(
      rng.Uniform(0, static_cast<int64_t>(choices.size()) - 1))];
}

int64_t RandomWithin(const Field& field, Rng& rng) {
  if (field.min < 1 && rng.OneIn(4)) return rng.OneIn(2) ? 0 : field.min;
  return rng.LogUniform(field.min < 1 ? 1 : field.min, field.max);
}

FieldValue RandomValue(const Field& field, Rng& rng) {
  switch (field.type) {
    case FieldType::kCount:
      return RandomWithin(field, rng);
    case FieldType::kDuration:
      return Micros(RandomWithin(field, rng));
    case FieldType::kReal:
      return 1.0 + static_cast<double>(rng.LogUniform(1, 1'000'000)) / 1000.0;
    case FieldType::kBool:
      return rng.OneIn(2);
    case FieldType::kWord:
      return RandomWord(field.words, rng);
  }
  return int64_t{0};
}

// The first count and the first duration share no divisor, and their product
// is above 2^53.
bool IsCoprimeAndLarge(const Limit& limit) {
  int64_t count = 1;
  int64_t us = 0;
  for (const auto& [name, value] : limit.fields()) {
    if (const int64_t* n = std::get_if<int64_t>(&value)) {
      if (count == 1) count = *n;
    } else if (const Micros* d = std::get_if<Micros>(&value)) {
      if (us == 0) us = d->count();
    }
  }
  return us > 0 && std::gcd(count, us) == 1 &&
         static_cast<Int128>(count) * us > kMaxExact;
}

Limit Draw(const EngineInfo& info, Rng& rng) {
  Limit limit = Limit::Of(info.name);
  for (const Field& field : info.fields) {
    if (!field.fallback.empty() && rng.OneIn(2)) continue;
    limit = std::move(limit).With(field.name, RandomValue(field, rng));
  }
  return limit;
}

}  // namespace

std::vector<Limit> SampleLimits(std::string_view algorithm) {
  std::optional<EngineUnderTest> engine = Describe(algorithm);
  return engine ? engine->samples : std::vector<Limit>();
}

std::vector<EngineUnderTest> BuiltInEngines() {
  std::vector<EngineUnderTest> engines;
  for (const EngineInfo* info : Registry::BuiltIn().engines()) {
    EngineUnderTest engine = Describe(info->name).value_or(EngineUnderTest());
    engine.algorithm = std::string(info->name);
    engine.registry = &Registry::BuiltIn();
    engines.push_back(std::move(engine));
  }
  return engines;
}

Limit RandomLimit(const EngineUnderTest& engine, Rng& rng, Time now) {
  const EngineInfo* info = engine.registry->Find(engine.algorithm);
  if (info == nullptr) {
    ADD_FAILURE() << "no engine " << engine.algorithm << " in its registry";
    return Limit::Of(engine.algorithm);
  }
  // Not every engine has a count and a duration that can be made so.
  const bool coprime = rng.OneIn(3);
  for (int tries = 0; tries < 10'000; ++tries) {
    Limit limit = Draw(*info, rng);
    if (coprime && tries < 1'000 && !IsCoprimeAndLarge(limit)) continue;
    if (engine.registry->Compile(limit, now).ok()) return limit;
  }
  ADD_FAILURE() << "no random limit of " << engine.algorithm
                << " was accepted; the last was refused with "
                << engine.registry->Compile(Draw(*info, rng), now).status();
  return Limit::Of(engine.algorithm);
}

std::vector<Limit> LimitsToTry(const EngineUnderTest& engine, int random,
                               Rng& rng, Time now) {
  std::vector<Limit> limits = engine.samples;
  for (int i = 0; i < random; ++i) {
    limits.push_back(RandomLimit(engine, rng, now));
  }
  return limits;
}

std::string ToText(const Limit& limit) {
  std::string text = limit.algorithm();
  for (const auto& [name, value] : limit.fields()) {
    text += ' ' + name + '=';
    if (const int64_t* n = std::get_if<int64_t>(&value)) {
      text += std::to_string(*n);
    } else if (const double* d = std::get_if<double>(&value)) {
      text += std::to_string(*d);
    } else if (const bool* b = std::get_if<bool>(&value)) {
      text += *b ? "true" : "false";
    } else if (const Micros* us = std::get_if<Micros>(&value)) {
      text += std::to_string(us->count()) + "us";
    } else {
      text += std::get<std::string>(value);
    }
  }
  return text;
}

}  // namespace testing
}  // namespace weir
