// The faults, as templates over a right engine.
//
// Faulty<Fault, E> is E with its view replaced by Fault<E, T>. A fault that
// lies in a pure function of one engine is a struct of its own.
#ifndef WEIR_TESTS_MUTANTS_FAULTS_H_
#define WEIR_TESTS_MUTANTS_FAULTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/engines/ar1.h"
#include "core/engines/sliding_window_counter.h"
#include "core/engines/windowed_token_bucket.h"
#include "weir/engine.h"

namespace weir_mutants {

template <template <class, class> class Fault, class E>
struct Faulty : E {
  template <class T>
  using View = Fault<E, T>;
};

// A call passes 1 us before its time.
template <class E, class T>
class EdgeEarly : public E::template View<T> {
  using Right = typename E::template View<T>;

 public:
  EdgeEarly(T& txn, const typename E::Params& p, const typename E::Params* old,
            int64_t t)
      : Right(txn, p, old, t), later_(txn, p, old, t + 1) {}
  bool Admits(int64_t cost) const { return later_.Admits(cost); }

 private:
  Right later_;
};

// Refused calls are recorded; where they should be, they are not.
template <class E, class T>
class RefusalsTurned : public E::template View<T> {
  using Right = typename E::template View<T>;

 public:
  RefusalsTurned(T& txn, const typename E::Params& p,
                 const typename E::Params* old, int64_t t)
      : Right(txn, p, old, t), counts_(E::TraitsOf(p).count_denied) {}
  bool Admits(int64_t cost) const {
    refused_ = Right::Admits(cost) ? 0 : cost;
    return refused_ == 0;
  }
  void Charge(int64_t cost) {
    if (counts_ && refused_ > 0) {
      Right::Settle();
    } else {
      Right::Charge(cost);
    }
  }
  void Settle() {
    if (refused_ > 0) {
      Right::Charge(refused_);
    } else {
      Right::Settle();
    }
  }

 private:
  bool counts_;
  mutable int64_t refused_ = 0;
};

// Of the calls that share a microsecond only the first counts.
template <class E, class T>
class EqualTimesMerged : public E::template View<T> {
  using Right = typename E::template View<T>;

 public:
  EqualTimesMerged(T& txn, const typename E::Params& p,
                   const typename E::Params* old, int64_t t)
      : Right(txn, p, old, t), t_(t) {}
  void Charge(int64_t cost) {
    if (last_ == t_) return;
    last_ = t_;
    Right::Charge(cost);
  }

 private:
  static inline thread_local int64_t last_ = INT64_MIN;
  int64_t t_;
};

// Every call costs 1.
template <class E, class T>
class CostIgnored : public E::template View<T> {
  using Right = typename E::template View<T>;

 public:
  using Right::Right;
  bool Admits(int64_t cost) const { return Right::Admits(One(cost)); }
  void Charge(int64_t cost) { Right::Charge(One(cost)); }
  int64_t Wait(int64_t cost) const { return Right::Wait(One(cost)); }

 private:
  static int64_t One(int64_t cost) { return std::min<int64_t>(cost, 1); }
};

// What a charge leaves behind is cut.
template <class E, void (*kCut)(typename E::State*)>
struct StateCut : E {
  using Params = typename E::Params;
  using State = typename E::State;
  template <class T>
  using View = weir::WordView<StateCut, T>;
  static State Charge(const Params& p, const State& s, int64_t t,
                      int64_t cost) {
    State n = E::Charge(p, s, t, cost);
    kCut(&n);
    return n;
  }
};

// The part of a microsecond in the arrival time is dropped.
template <class E>
void DropTicks(typename E::State* s) {
  s->ticks = 0;
}
template <class E>
using ArrivalCut = StateCut<E, &DropTicks<E>>;

// The part of a token that has arrived is dropped.
inline void DropParts(weir::engines::WindowedTokenBucket::State* s) {
  s->parts = 0;
}
using TokenCut = StateCut<weir::engines::WindowedTokenBucket, &DropParts>;

// The fraction of the value is cut when it is read back.
inline void DropFraction(weir::engines::Ar1::State* s) {
  s->value = std::floor(s->value);
}
using FractionCut = StateCut<weir::engines::Ar1, &DropFraction>;

// The weight of the window before is rounded to whole calls.
struct WeightCut : weir::engines::SlidingWindowCounter {
  using Right = weir::engines::SlidingWindowCounter;
  template <class T>
  using View = weir::WordView<WeightCut, T>;
  static bool Admits(const Params& p, const State& s, int64_t t, int64_t cost) {
    return cost <= Right::Remaining(p, s, t) ||
           (cost == Right::Remaining(p, s, t) + 1 && s.previous > 0 &&
            Right::Admits(p, s, t, cost - 1));
  }
};

}  // namespace weir_mutants

#endif  // WEIR_TESTS_MUTANTS_FAULTS_H_
