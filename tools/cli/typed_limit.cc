#include "tools/cli/typed_limit.h"

#include <string>

#include "core/text.h"
#include "tools/cli/json_writer.h"
#include "tools/limits_json/json_tree.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

// A value as limits.json has it: numbers, true and false bare, else a string.
std::string JsonValue(std::string_view text) {
  const absl::StatusOr<JsonNode> node = ParseJson(text);
  if (node.ok() && (node->kind == JsonNode::Kind::kInt ||
                    node->kind == JsonNode::Kind::kReal ||
                    node->kind == JsonNode::Kind::kBool)) {
    return std::string(text);
  }
  std::string quoted;
  AppendJsonBytes(text, &quoted);
  return quoted;
}

}  // namespace

absl::StatusOr<LimitsFile> ParseTypedLimit(std::string_view text,
                                           std::string_view key,
                                           const Registry& registry, Time now) {
  const std::string shown =
      absl::StrCat("--limit \"", Printable(text, 200), "\"");
  std::string rule;
  bool has_key = false;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    const std::string_view word = text.substr(at, text.find(' ', at) - at);
    at += word.size();
    std::string_view name = "algorithm";
    std::string_view value = word;
    if (!rule.empty()) {
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) {
        return InvalidArgument(shown, ": \"", Printable(word, 60),
                               "\" is no name=value; allowed: an algorithm and "
                               "its parameters, like \"gcra limit=10 "
                               "window=60s\"");
      }
      name = word.substr(0, equals);
      value = word.substr(equals + 1);
    }
    rule += rule.empty() ? "{" : ", ";
    has_key = has_key || name == "key";
    AppendJsonBytes(name, &rule);
    rule += ": ";
    // A key of digits is a key.
    if (name == "key" || name == "name" || name == "algorithm") {
      AppendJsonBytes(value, &rule);
    } else {
      rule += JsonValue(value);
    }
  }
  if (rule.empty()) {
    return InvalidArgument(shown,
                           ": is empty; allowed: an algorithm and its "
                           "parameters, like \"gcra limit=10 "
                           "window=60s\"");
  }
  if (!has_key && !key.empty()) {
    rule += ", \"key\": ";
    AppendJsonBytes(key, &rule);
  }
  return ParseLimits(absl::StrCat("{\"rules\": [", rule, "}]}"), shown,
                     registry, now);
}

}  // namespace weir::cli
