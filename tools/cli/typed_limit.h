// A limit as it is typed on a command line: "gcra limit=10 window=60s".
#ifndef WEIR_TOOLS_CLI_TYPED_LIMIT_H_
#define WEIR_TOOLS_CLI_TYPED_LIMIT_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "tools/limits_json/limits_file.h"
#include "weir/registry.h"
#include "weir/time.h"

namespace weir::cli {

// The algorithm, then fields of a rule of limits.json as name=value, separated
// by spaces. `key`: the template of a rule that names none; empty: {key}.
// InvalidArgument shows the text, and says what limits.json would say.
absl::StatusOr<LimitsFile> ParseTypedLimit(std::string_view text,
                                           std::string_view key,
                                           const Registry& registry, Time now);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_TYPED_LIMIT_H_
