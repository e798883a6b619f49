// `weir list`: the algorithms, as their engines describe themselves.
#ifndef WEIR_TOOLS_CLI_LIST_H_
#define WEIR_TOOLS_CLI_LIST_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "weir/registry.h"

namespace weir::cli {

// Every algorithm of `registry` and "unlimited", or only `algorithm` if that
// is not empty, and then with an example. InvalidArgument: there is no such
// algorithm; the message names those that are.
absl::StatusOr<std::string> ListText(const Registry& registry,
                                     std::string_view algorithm);

// The same as JSON: an array of objects. docs/replay.md lists the fields.
absl::StatusOr<std::string> ListJson(const Registry& registry,
                                     std::string_view algorithm);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_LIST_H_
