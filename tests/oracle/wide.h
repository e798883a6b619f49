// A whole number of 128 bits that stops the program instead of wrapping.
//
// Everything that the oracle compares is a whole number in a unit of its own
// (1/limit of a microsecond, 1/interval of a token). The largest product that
// the accepted parameters allow is 2^54 us * 10^12, far below 2^127; what a
// faulty caller might build beyond that ends the run rather than the truth.
#ifndef WEIR_TESTS_ORACLE_WIDE_H_
#define WEIR_TESTS_ORACLE_WIDE_H_

#include <cstdint>
#include <cstdlib>

namespace weir_oracle {

class Wide {
 public:
  // Implicit on purpose: formulas mix it with plain numbers.
  constexpr Wide(int64_t value = 0) : v_(value) {}  // NOLINT

  friend Wide operator+(Wide a, Wide b) {
    Wide r;
    if (__builtin_add_overflow(a.v_, b.v_, &r.v_)) std::abort();
    return r;
  }
  friend Wide operator-(Wide a, Wide b) {
    Wide r;
    if (__builtin_sub_overflow(a.v_, b.v_, &r.v_)) std::abort();
    return r;
  }
  friend Wide operator*(Wide a, Wide b) {
    Wide r;
    if (__builtin_mul_overflow(a.v_, b.v_, &r.v_)) std::abort();
    return r;
  }

  // Quotients by a positive number, rounded down and up.
  Wide FloorDiv(Wide by) const {
    if (by.v_ <= 0) std::abort();
    Wide r;
    r.v_ = v_ / by.v_;
    if (v_ % by.v_ < 0) --r.v_;
    return r;
  }
  Wide CeilDiv(Wide by) const {
    if (by.v_ <= 0) std::abort();
    Wide r;
    r.v_ = v_ / by.v_;
    if (v_ % by.v_ > 0) ++r.v_;
    return r;
  }

  int64_t Narrow() const {
    if (v_ > INT64_MAX || v_ < INT64_MIN) std::abort();
    return static_cast<int64_t>(v_);
  }

  friend bool operator<(Wide a, Wide b) { return a.v_ < b.v_; }
  friend bool operator>(Wide a, Wide b) { return a.v_ > b.v_; }
  friend bool operator<=(Wide a, Wide b) { return a.v_ <= b.v_; }
  friend bool operator>=(Wide a, Wide b) { return a.v_ >= b.v_; }
  friend bool operator==(Wide a, Wide b) { return a.v_ == b.v_; }
  friend bool operator!=(Wide a, Wide b) { return a.v_ != b.v_; }

 private:
  __extension__ typedef __int128 Int128;
  Int128 v_;
};

inline Wide Max(Wide a, Wide b) { return a < b ? b : a; }
inline Wide Min(Wide a, Wide b) { return a < b ? a : b; }

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_WIDE_H_
