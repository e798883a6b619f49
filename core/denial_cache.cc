#include "core/denial_cache.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "absl/hash/hash.h"
#include "core/math.h"
#include "core/text.h"

namespace weir {
namespace {

// For how long one who asks the store is waited for, us: twice what asking
// usually takes, within these.
constexpr int64_t kLeastPatience = 2'000;
constexpr int64_t kMostPatience = 100'000;
// After an Update, us.
constexpr int64_t kLongestRepeated = 1'000'000;
// A clock that is this far behind what was learnt, us, has been set back.
constexpr int64_t kSetBack = 1'000'000;
// Two clocks run apart by at most one part in so many.
constexpr int64_t kDrift = 32'768;

// What is left of a wait; never stays never.
std::optional<Micros> Left(std::optional<Micros> wait, Micros passed) {
  if (!wait.has_value()) return wait;
  return std::max(Micros(0), *wait - passed);
}

// A denial as it is some time later.
void Age(Micros passed, Micros wait, Decision* d) {
  d->source = Source::kDenialCache;
  d->retry_after = wait;
  d->reset_after = std::max(wait, d->reset_after - passed);
  for (size_t i = 0; i < d->verdicts.size(); ++i) {
    RuleVerdict& v = d->verdicts[i];
    v.retry_after = Left(v.retry_after, passed);
    v.reset_after = std::max(Micros(0), v.reset_after - passed);
    if (static_cast<int>(i) == d->rule) {
      v.retry_after = wait;
      v.reset_after = std::max(wait, v.reset_after);
    } else {
      v.allowed = v.allowed || v.retry_after == Micros(0);
    }
  }
}

// The first rule that an allowed call leaves with less than the next one costs;
// nothing if there is room. Nor is there one where what is used comes back in
// less than `apart` for each such call, on the average: those who were told to
// wait that long would leave some of it.
std::optional<size_t> ScarceRule(const Decision& allowed,
                                 absl::Span<const int64_t> costs,
                                 int64_t apart) {
  const absl::Span<const RuleVerdict> rules = allowed.rules();
  for (size_t i = 0; i < rules.size(); ++i) {
    const RuleVerdict& v = rules[i];
    if (v.observe || v.remaining >= costs[i]) continue;
    const int64_t used = v.limit - v.remaining;
    if (Times(v.reset_after.count(), costs[i]) >= Times(used, apart)) return i;
  }
  return std::nullopt;
}

}  // namespace

DenialCache::DenialCache(size_t max_keys)
    : buckets_((max_keys + kWays - 1) / kWays) {}

size_t DenialCache::BucketOf(std::string_view keys) const {
  return absl::Hash<absl::string_view>()(Sv(keys)) % buckets_.size();
}

bool DenialCache::Entry::Answers(const Question& q) const {
  // What is denied to a cost is denied to a greater one.
  return form == q.form && keys == q.keys &&
         absl::MakeConstSpan(limits) == q.limits &&
         std::equal(costs.begin(), costs.end(), q.costs.begin(), q.costs.end(),
                    std::less_equal<int64_t>());
}

int64_t DenialCache::Patience() const {
  return std::clamp(2 * usual_.load(std::memory_order_relaxed), kLeastPatience,
                    kMostPatience);
}

void DenialCache::NoteRoundTrip(int64_t took) {
  // Of two at once one may be lost: nothing hangs on it.
  const int64_t usual = usual_.load(std::memory_order_relaxed);
  took = std::clamp(took, int64_t{0}, kMostPatience);
  usual_.store(usual + (took - usual) / 8, std::memory_order_relaxed);
}

bool DenialCache::Repeat(const Question& q, int64_t now, Decision* d,
                         Asking* asking) {
  asking->bucket = BucketOf(q.keys);
  Lock& lock = LockOf(asking->bucket);
  MutexLock held(&lock.mutex);
  asking->changes = lock.changes;
  asking->at = now;
  for (Entry& e : buckets_[asking->bucket]) {
    if (e.epoch != lock.epoch || now >= e.ends || now < e.learnt - kSetBack ||
        !e.Answers(q)) {
      continue;
    }
    const int64_t until = now < e.until ? e.until : e.asked_by;
    if (now >= until || (now >= e.until && e.asker == asking->asker)) {
      e.asked_by = now + Patience();
      e.asker = asking->asker;
      return false;
    }
    *d = e.denial;
    // Until it is asked for again it is the wait that was told.
    const int64_t told = e.learnt + d->retry_after->count();
    Age(Micros(now - e.learnt), Micros(std::max(until, told) - now), d);
    return true;
  }
  return false;
}

// There is nothing to wait for, but one who asks for the others. Once the rule
// is fresh again everybody may ask.
void DenialCache::MakeGate(const Decision& allowed, size_t scarce, int64_t now,
                           Entry* e) {
  const RuleVerdict& rule = allowed.rules()[scarce];
  e->learnt = now;
  e->until = now;
  e->ends = now + rule.reset_after.count();
  e->denial = allowed;
  e->denial.allowed = false;
  if (allowed.verdicts.empty()) return;
  e->denial.rule = static_cast<int>(scarce);
  e->denial.name = rule.name;
  e->denial.limit = rule.limit;
  e->denial.verdicts[scarce].allowed = false;
}

void DenialCache::Learn(const Question& q, const Asking& asking, int64_t now,
                        const Decision* d) {
  const bool keep = d != nullptr && !d->allowed &&
                    d->source == Source::kStore && d->retry_after.has_value() &&
                    *d->retry_after > Micros(0);
  if (d != nullptr) NoteRoundTrip(now - asking.at);
  Lock& lock = LockOf(asking.bucket);
  MutexLock held(&lock.mutex);
  Entry* place = nullptr;
  for (Entry& e : buckets_[asking.bucket]) {
    const bool used = e.epoch == lock.epoch;
    if (used && e.form == q.form && e.keys == q.keys) {
      place = &e;
      break;
    }
    // One that is free, else the one whose wait is over first.
    if (place == nullptr || !used ||
        (place->epoch == lock.epoch && e.until < place->until)) {
      place = &e;
    }
  }
  const bool known = place->epoch == lock.epoch && place->form == q.form &&
                     place->keys == q.keys;
  if (known) place->asked_by = 0;
  if (keep && asking.changes == lock.changes) {
    place->keys = q.keys;
    place->form = q.form;
    place->limits.assign(q.limits.begin(), q.limits.end());
    place->costs.assign(q.costs.begin(), q.costs.end());
    place->denial = *d;
    // The wait counts from the store's reading, which lies between the two;
    // from the answer's arrival, unless that was late.
    place->learnt = std::min(now, asking.at + Patience());
    const int64_t wait = d->retry_after->count();
    const int64_t repeated = updated_.load(std::memory_order_relaxed)
                                 ? std::min(wait, kLongestRepeated)
                                 : wait;
    place->until = place->learnt + repeated - repeated / kDrift;
    place->ends = std::numeric_limits<int64_t>::max();
    place->asked_by = 0;
    place->epoch = lock.epoch;
  } else if (known && d != nullptr && d->allowed && place->Answers(q)) {
    std::optional<size_t> scarce;
    if (d->source == Source::kStore && asking.changes == lock.changes) {
      scarce = ScarceRule(*d, place->costs, Patience());
    }
    if (scarce.has_value()) {
      MakeGate(*d, *scarce, now, place);
    } else {
      place->epoch = 0;
    }
  }
}

void DenialCache::Forget(std::string_view keys) {
  const size_t bucket = BucketOf(keys);
  Lock& lock = LockOf(bucket);
  MutexLock held(&lock.mutex);
  ++lock.changes;
  for (Entry& e : buckets_[bucket]) {
    if (e.keys == keys) e.epoch = 0;
  }
}

void DenialCache::NoteUpdate() {
  updated_.store(true, std::memory_order_relaxed);
  ForgetAll();
}

void DenialCache::ForgetAll() {
  for (Lock& lock : locks_) {
    MutexLock held(&lock.mutex);
    ++lock.changes;
    ++lock.epoch;
  }
}

}  // namespace weir
