// JSON as a person wrote it: a tree that keeps the order of the members and
// how each number was spelt, and that refuses what a reader could take in two
// ways (the same member twice).
#ifndef WEIR_TOOLS_LIMITS_JSON_JSON_TREE_H_
#define WEIR_TOOLS_LIMITS_JSON_JSON_TREE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace weir::cli {

struct JsonNode {
  enum class Kind { kNull, kBool, kInt, kReal, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  int64_t integer = 0;  // kInt
  // kReal; a whole number beyond 64 bits is one too. Infinite: what is written
  // is beyond what a double holds.
  double real = 0;
  // kString: the string. A number: a text of the same value.
  std::string text;
  std::vector<JsonNode> items;
  std::vector<std::pair<std::string, JsonNode>> members;

  // For messages: `"10s"`, `10`, `true`, `an object`; long strings shortened.
  std::string Describe() const;
};

// InvalidArgument: "line 3, column 5: ..." where the text is no JSON,
// "rules[1].limit: stands twice" where a member is repeated. Nothing may
// follow the value.
absl::StatusOr<JsonNode> ParseJson(std::string_view text);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_JSON_TREE_H_
