// Random limits, log-uniform over everything that is accepted.
#ifndef WEIR_TESTS_ORACLE_DRAW_LIMIT_H_
#define WEIR_TESTS_ORACLE_DRAW_LIMIT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/oracle/model.h"
#include "weir/testing/random.h"

namespace weir_oracle {

inline constexpr int64_t kMaxCount = 1'000'000'000'000;
inline constexpr int64_t kMaxWindow = int64_t{100} * 366 * 86'400 * 1'000'000;
inline constexpr int64_t kMaxLog = 10'000'000;

// The longest reset_after that is drawn: what a limit reaches into the future
// from the present day must stay below 2^53 us.
inline constexpr int64_t kMaxReset = 7'000'000'000'000'000;

// A limit of this algorithm. A third of them are coprime with their window and
// above 2^53 in product, where the algorithm accepts that.
LimitSpec DrawLimit(const std::string& algorithm, weir::testing::Rng& rng);

// Another limit for the same rule, near to `spec` or far from it.
LimitSpec DrawVariant(const LimitSpec& spec, weir::testing::Rng& rng);

// The longest reset_after of any of these limits of one rule, when any of them
// may have to carry what was used under another.
// Nothing if it is above kMaxReset.
bool FitsTogether(const std::vector<LimitSpec>& specs, int64_t* longest_reset);

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_DRAW_LIMIT_H_
