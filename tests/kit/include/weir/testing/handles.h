// A limiter asked through bound keys, as if it were asked by key.
#ifndef WEIR_TESTING_HANDLES_H_
#define WEIR_TESTING_HANDLES_H_

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "weir/bound_key.h"
#include "weir/decision.h"
#include "weir/limiter.h"

namespace weir {
namespace testing {

// The handles of one limiter's keys. A limiter with several rules, or with one
// that only watches, is asked by key: a handle does not tell their verdicts.
// Thread safe.
class Handles {
 public:
  // As limiter.Run. The key is bound first, and stays so; a check is made by
  // its handle, anything else by key.
  absl::StatusOr<Decision> Run(const Limiter& limiter, Op op, const Call& call);

 private:
  absl::StatusOr<const BoundKey*> Of(const Limiter& limiter,
                                     std::string_view key);

  std::mutex mutex_;  // guards `handles_`
  std::map<std::string, BoundKey, std::less<>> handles_;
};

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTING_HANDLES_H_
