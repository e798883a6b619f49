#include "tools/cli/limit_example.h"

#include <cctype>
#include <variant>

#include "core/text.h"
#include "tools/cli/json_writer.h"
#include "tools/cli/limit_text.h"
#include "tools/cli/typed_limit.h"
#include "tools/limits_json/duration.h"

namespace weir::cli {
namespace {

// "count_denied" -> "CountDenied".
std::string CamelCase(std::string_view name) {
  std::string camel;
  bool up = true;
  for (const char c : name) {
    if (c == '_') {
      up = true;
      continue;
    }
    camel += up ? static_cast<char>(std::toupper(c)) : c;
    up = false;
  }
  return camel;
}

std::string Quoted(const std::string& text) {
  std::string quoted;
  AppendJsonBytes(text, &quoted);
  return quoted;
}

std::string JsonValue(const FieldValue& value) {
  const bool text = std::holds_alternative<Micros>(value) ||
                    std::holds_alternative<std::string>(value);
  return text ? Quoted(ValueText(value)) : ValueText(value);
}

std::string CppValue(const FieldValue& value) {
  if (const auto* duration = std::get_if<Micros>(&value)) {
    // std::chrono's literals: minutes are min, and there are no days.
    const std::string text = FormatDuration(*duration);
    if (text.back() == 'm') return text + "in";
    if (text.back() == 'd') {
      return absl::StrCat(duration->count() / 3'600'000'000, "h");
    }
    return text;
  }
  if (const auto* word = std::get_if<std::string>(&value)) {
    return Quoted(*word);
  }
  return ValueText(value);
}

bool IsRequired(absl::Span<const Field> fields, std::string_view name) {
  for (const Field& field : fields) {
    if (field.name == name) return field.fallback.empty();
  }
  return false;
}

}  // namespace

absl::StatusOr<LimitExample> MakeLimitExample(const Registry& registry,
                                              std::string_view algorithm,
                                              std::string_view example,
                                              absl::Span<const Field> fields) {
  LimitExample made;
  made.typed =
      absl::StrCat(Sv(algorithm), example.empty() ? "" : " ", Sv(example));
  const absl::StatusOr<LimitsFile> file =
      ParseTypedLimit(made.typed, "", registry, TimeFromMicros(0));
  if (!file.ok()) return file.status();
  const Limit& limit = file->rules[0].limit;
  made.json =
      absl::StrCat("{\"rules\": [{\"algorithm\": \"", Sv(algorithm), "\"");
  std::string arguments;
  std::string setters;
  for (const auto& [name, value] : limit.fields()) {
    absl::StrAppend(&made.json, ", \"", name, "\": ", JsonValue(value));
    if (IsRequired(fields, name)) {
      absl::StrAppend(&arguments, arguments.empty() ? "" : ", ",
                      CppValue(value));
    } else {
      absl::StrAppend(&setters, ".", CamelCase(name), "(", CppValue(value),
                      ")");
    }
  }
  made.json += "}]}";
  made.cpp = absl::StrCat("weir::Limit::", CamelCase(algorithm), "(", arguments,
                          ")", setters);
  return made;
}

}  // namespace weir::cli
