// limits.json: the rules of a limiter as text.
//
//   {"tag": "{host}",
//    "rules": [{"name": "resource", "algorithm": "sliding_log", "limit": 5,
//               "window": "10s", "key": "{host}"},
//              {"name": "consumer", "algorithm": "sliding_log", "limit": 3,
//               "window": "10s", "key": "{host}/{client}"}]}
//
// What a rule may hold besides name, algorithm, key, observe and soft is what
// the algorithm's engine says (weir/engine.h): nothing here knows an algorithm
// by its name. docs/replay.md is the manual.
#ifndef WEIR_TOOLS_LIMITS_JSON_LIMITS_FILE_H_
#define WEIR_TOOLS_LIMITS_JSON_LIMITS_FILE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/limits_json/key_template.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/time.h"

namespace weir::cli {

struct LimitsFile {
  std::vector<Rule> rules;
  // One for each rule.
  std::vector<KeyTemplate> keys;
  // There if the rules' templates differ.
  std::optional<KeyTemplate> tag;
};

// InvalidArgument is one line that begins with `name` and the place:
// "limits.json: rules[1].window: ...", and says the value and what is allowed.
// `now`: as for Registry::Compile.
absl::StatusOr<LimitsFile> ParseLimits(std::string_view text,
                                       std::string_view name,
                                       const Registry& registry, Time now);

// The same from a file. NotFound, PermissionDenied or another status if it
// cannot be read.
absl::StatusOr<LimitsFile> ReadLimits(const std::string& path,
                                      const Registry& registry, Time now);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_LIMITS_FILE_H_
