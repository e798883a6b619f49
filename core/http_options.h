// What is checked of the options for HTTP fields before anything is made of
// them.
#ifndef WEIR_CORE_HTTP_OPTIONS_H_
#define WEIR_CORE_HTTP_OPTIONS_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "weir/http.h"

namespace weir {

// Since -08 policies have names, and all of them are told; before, clients
// heard of one limit and told policies apart by their quota.
constexpr bool NamesPolicies(RateLimitDraft draft) {
  return draft == RateLimitDraft::k11;
}

struct HttpNameInUse {
  std::string_view option;  // a member of HttpFieldNames
  std::string_view name;    // in the options
};
// The names of the fields that can be written with these options.
std::vector<HttpNameInUse> HttpNamesInUse(const HttpOptions& options);

// InvalidArgument names the option and what is allowed. Rules are checked
// where they are known (core/http_policies.h).
absl::Status CheckHttpOptions(const HttpOptions& options);

}  // namespace weir

#endif  // WEIR_CORE_HTTP_OPTIONS_H_
