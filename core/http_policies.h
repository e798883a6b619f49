// What a writer of HTTP fields knows about its rules: which are shown, under
// which name and with which quota and window. Made and checked once.
#ifndef WEIR_CORE_HTTP_POLICIES_H_
#define WEIR_CORE_HTTP_POLICIES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/http.h"

namespace weir {

// A rule that clients are told about.
struct HttpPolicy {
  size_t rule;         // its index in the limiter
  std::string name;    // for clients
  std::string quoted;  // the same as a structured String; empty before -11
  std::string item;    // of RateLimit-Policy; empty: it can't be written
  int64_t quota;
  int64_t window_us;  // 0: there is none
};

// In the order of the rules. InvalidArgument as HttpWriter::Create tells.
absl::StatusOr<std::vector<HttpPolicy>> MakeHttpPolicies(
    absl::Span<const Rule> rules, const HttpOptions& options);

// Whole seconds, rounded up.
constexpr int64_t SecondsUp(int64_t us) {
  return us / 1'000'000 + (us % 1'000'000 > 0 ? 1 : 0);
}

}  // namespace weir

#endif  // WEIR_CORE_HTTP_POLICIES_H_
