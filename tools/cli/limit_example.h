// An algorithm's own example (EngineDoc::example), as the three texts that
// people need.
#ifndef WEIR_TOOLS_CLI_LIMIT_EXAMPLE_H_
#define WEIR_TOOLS_CLI_LIMIT_EXAMPLE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/engine.h"
#include "weir/registry.h"

namespace weir::cli {

struct LimitExample {
  std::string json;   // of limits.json
  std::string typed;  // of --limit
  std::string cpp;    // with std::chrono_literals
};

// `fields`: the algorithm's parameters. Those without a default are arguments
// in C++, in their order, and the others are set by name. InvalidArgument: the
// example is no limit.
absl::StatusOr<LimitExample> MakeLimitExample(const Registry& registry,
                                              std::string_view algorithm,
                                              std::string_view example,
                                              absl::Span<const Field> fields);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_LIMIT_EXAMPLE_H_
