// A limit as people read it, and a parameter's value.
#ifndef WEIR_TOOLS_CLI_LIMIT_TEXT_H_
#define WEIR_TOOLS_CLI_LIMIT_TEXT_H_

#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "tools/cli/json_writer.h"
#include "tools/limits_json/duration.h"
#include "weir/limit.h"

namespace weir::cli {

// As in limits.json, without quotes: 10, 1.5, true, 10s, epoch.
inline std::string ValueText(const FieldValue& value) {
  struct Printer {
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const {
      std::string text;
      AppendReal(v, &text);
      return text;
    }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(Micros v) const { return FormatDuration(v); }
    std::string operator()(const std::string& v) const { return v; }
  };
  return std::visit(Printer(), value);
}

// "gcra, limit 10, window 60s".
inline std::string LimitText(const Limit& limit) {
  std::string text = limit.algorithm();
  for (const auto& [name, value] : limit.fields()) {
    absl::StrAppend(&text, ", ", name, " ", ValueText(value));
  }
  return text;
}

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_LIMIT_TEXT_H_
