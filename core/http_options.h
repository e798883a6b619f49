// What is checked of the options for HTTP fields before anything is made of
// them.
#ifndef WEIR_CORE_HTTP_OPTIONS_H_
#define WEIR_CORE_HTTP_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "weir/http.h"

namespace weir {

// Since -08 policies have names, and all of them are told; before, clients
// heard of one limit and told policies apart by their quota.
constexpr bool NamesPolicies(RateLimitDraft draft) {
  return draft == RateLimitDraft::k11;
}

// The names of the fields that can be written with these options. They point
// into the options.
std::vector<const std::string*> HttpNamesInUse(const HttpOptions& options);

// InvalidArgument names the option and what is allowed. Rules are checked
// where they are known (core/http_policies.h).
absl::Status CheckHttpOptions(const HttpOptions& options);

}  // namespace weir

#endif  // WEIR_CORE_HTTP_OPTIONS_H_
