// Random numbers for tests: the same on every platform, from a seed that is
// printed and can be given back.
//
//   WEIR_TEST_SEED=123 ./memory_conformance_test     the run of that seed
//   WEIR_TEST_FULL=1 ./memory_conformance_test       the long run
//   WEIR_TEST_SHORT=1 ./memory_conformance_test      half of the usual one
#ifndef WEIR_TESTING_RANDOM_H_
#define WEIR_TESTING_RANDOM_H_

#include <cstdint>

namespace weir {
namespace testing {

// The seed of this process: WEIR_TEST_SEED, else drawn once. Printed when it is
// first asked for.
uint64_t Seed();

// Whether the long runs are wanted (WEIR_TEST_FULL=1).
bool FullRun();

// Whether half is enough (WEIR_TEST_SHORT=1), where every step takes long. The
// long run goes before it.
bool ShortRun();

// How often to repeat: `quick`, half of that in the short run, or `full` in the
// long one.
inline int Rounds(int quick, int full) {
  if (FullRun()) return full;
  return ShortRun() ? (quick + 1) / 2 : quick;
}

// A generator of its own for each test (splitmix64).
class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t Next();
  // Evenly from [low, high], both ends included.
  int64_t Uniform(int64_t low, int64_t high);
  // From [low, high], low >= 1, each order of magnitude as likely as another.
  int64_t LogUniform(int64_t low, int64_t high);
  // True once in `n` on average.
  bool OneIn(int64_t n) { return Uniform(1, n) == 1; }

 private:
  uint64_t state_;
};

// Seeded by Seed() and the name of the running test, so that a test draws the
// same numbers whether it runs alone or with others.
Rng TestRng();

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTING_RANDOM_H_
