// The arguments of the commands: where the corners are.
#include <algorithm>
#include <limits>

#include "tests/kit/txn_draw.h"

namespace weir {
namespace testing {
namespace {

// 7 bytes, highest first, as entries of the built-in logs have them.
std::string SevenBytes(int64_t value) {
  std::string bytes;
  for (int shift = 48; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> shift);
  }
  return bytes;
}

}  // namespace

std::string TxnDraw::Milliseconds() {
  if (rng_.OneIn(40)) return std::to_string(kMost - rng_.Uniform(0, 2));
  return std::to_string(rng_.LogUniform(1, 100'000));
}

std::string TxnDraw::Bytes() {
  std::string value(static_cast<size_t>(rng_.LogUniform(1, 200) - 1), '\0');
  for (char& c : value) c = static_cast<char>(rng_.Uniform(0, 255));
  return value;
}

// Text that is, or looks like, a number.
std::string TxnDraw::Number() {
  static const char* const kTexts[] = {"0",
                                       "-0",
                                       "+1",
                                       "01",
                                       " 1",
                                       "1 ",
                                       "abc",
                                       "",
                                       "1.5",
                                       "-2.25",
                                       "1e3",
                                       "0x10",
                                       "inf",
                                       "nan",
                                       "1e-5",
                                       "3.0e3",
                                       ".5",
                                       "1.",
                                       "-",
                                       "--1",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "-9223372036854775808",
                                       "-9223372036854775809",
                                       "1e5000",
                                       "1e-5000",
                                       "0.1",
                                       "17179869184.00001",
                                       "100000000000000000000",
                                       "1e300"};
  if (rng_.OneIn(2)) return kTexts[rng_.Uniform(0, 29)];
  if (rng_.OneIn(8)) return std::string("1\0", 2);
  return std::to_string(rng_.Uniform(-1000, 1000));
}

std::string TxnDraw::WholeIncrement() {
  switch (rng_.Uniform(0, 9)) {
    case 0:
      return std::to_string(kMost - rng_.Uniform(0, 2));
    case 1:
      return std::to_string(kLeast + rng_.Uniform(0, 2));
    default:
      return std::to_string(rng_.Uniform(-100, 100));
  }
}

std::string TxnDraw::Increment() {
  static const double kNumbers[] = {0,     -0.0, 0.1,   -0.1,   0.5,   3,
                                    1e15,  1e17, 1e-17, 1e-5,   1e300, -1e300,
                                    -1e20, kInf, -kInf, 2.5e-18};
  if (rng_.OneIn(60)) return "nan";
  if (rng_.OneIn(2)) return NumberWord(kNumbers[rng_.Uniform(0, 15)]);
  return NumberWord(static_cast<double>(rng_.Uniform(-1'000'000, 1'000'000)) /
                    1000);
}

std::string TxnDraw::Short() {
  static const char* const kTexts[] = {"",     "a",    "b",  "ab", "A",
                                       "a ",   "10",   "9",  "-1", "\xff",
                                       "\x7f", "\x80", "aa", "%s", "{x}"};
  std::string text = kTexts[rng_.Uniform(0, 14)];
  if (rng_.OneIn(4)) text += std::string(1, '\0');
  // Enough of them to pass from one encoding to the next.
  if (rng_.OneIn(3)) text += std::to_string(rng_.LogUniform(1, 2'000));
  if (rng_.OneIn(200)) text += std::string(300, 'z');
  return text;
}

// The sum so far and its own cost, sometimes with the cost behind it.
std::string TxnDraw::EntryMember() {
  const int64_t cost = rng_.OneIn(6) ? rng_.LogUniform(2, 1'000'000) : 1;
  sums_.push_back(NewestSum() + cost);
  std::string member = SevenBytes(NewestSum());
  if (cost != 1) member += SevenBytes(cost);
  // What no log would have.
  if (rng_.OneIn(clean_)) member += SevenBytes(rng_.Uniform(0, 3));
  return member;
}

void TxnDraw::NewestGoes(int64_t n) {
  sums_.resize(sums_.size() - std::min(sums_.size(), static_cast<size_t>(n)));
}

// One that may be there.
std::string TxnDraw::Member() {
  if (use_ == Use::kSetOfEntries && !Stray()) {
    std::string member = SevenBytes(NewestSum() - rng_.LogUniform(1, 300) + 1);
    if (rng_.OneIn(8)) member += SevenBytes(rng_.Uniform(1, 3));
    return member;
  }
  if (use_ == Use::kSetOfTimes && !Stray()) {
    return std::to_string(time_ - rng_.LogUniform(1, 10'000) + 1);
  }
  return Short();
}

// One to add.
std::string TxnDraw::NewMember() {
  if (Stray()) return Member();
  return use_ == Use::kSetOfEntries ? EntryMember() : std::to_string(time_);
}

std::string TxnDraw::Element() {
  if (Stray()) return rng_.OneIn(10) ? Bytes() : Short();
  time_ += rng_.LogUniform(1, 1000) - 1;
  if (use_ == Use::kListOfTimes) {
    if (rng_.OneIn(clean_)) return Number();
    return std::to_string(rng_.OneIn(clean_) ? kLeast : time_);
  }
  return SevenBytes(time_ + (int64_t{1} << 54)) + EntryMember();
}

double TxnDraw::Score() {
  if (!Stray()) {
    time_ += rng_.LogUniform(1, 1000) - (rng_.OneIn(2) ? 1 : 0);
    return static_cast<double>(time_);
  }
  static const double kScores[] = {kInf,
                                   -kInf,
                                   0.0,
                                   -0.0,
                                   1e300,
                                   -1e300,
                                   5e-324,
                                   -5e-324,
                                   0.1,
                                   1e-10,
                                   1e15,
                                   1e17,
                                   2.5e-308,
                                   9007199254740991.0,
                                   9007199254740992.0,
                                   9007199254740994.0,
                                   123456789.125};
  switch (rng_.Uniform(0, 9)) {
    case 0:
    case 1:
      return kScores[rng_.Uniform(0, 16)];
    case 2:
      return static_cast<double>(rng_.Uniform(-30, 30)) / 4;
    case 3:
      return static_cast<double>(rng_.Uniform(0, 1'000));
    default:
      return static_cast<double>(rng_.Uniform(-5, 5));
  }
}

// About where the scores are.
ScoreBound TxnDraw::Bound() {
  ScoreBound bound;
  bound.exclusive = rng_.OneIn(2);
  if (Stray()) {
    bound.value = Score();
  } else {
    bound.value = static_cast<double>(
        time_ - rng_.LogUniform(1, rng_.OneIn(4) ? 10'000'000 : 20'000));
  }
  if (rng_.OneIn(100)) bound.value = std::numeric_limits<double>::quiet_NaN();
  return bound;
}

int64_t TxnDraw::Rank(int64_t size) {
  if (rng_.OneIn(20)) return rng_.OneIn(2) ? kLeast : kMost;
  return rng_.Uniform(-size - 2, size + 2);
}

}  // namespace testing
}  // namespace weir
