#include "weir/registry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/duration_text.h"
#include "core/field_range.h"
#include "core/text.h"
#include "engine_list.h"

namespace weir {
namespace {

#define WEIR_ENGINE_POINTER(Type) &kEngine<Type>,
constexpr const EngineInfo* kBuiltIn[] = {
    WEIR_FOR_EACH_ENGINE(WEIR_ENGINE_POINTER)};
#undef WEIR_ENGINE_POINTER

constexpr std::string_view kUnlimited = "unlimited";

std::string_view TypeName(FieldType type) {
  switch (type) {
    case FieldType::kCount:
      return "a whole number";
    case FieldType::kDuration:
      return "a duration";
    case FieldType::kReal:
      return "a number";
    case FieldType::kBool:
      return "true or false";
    case FieldType::kWord:
      return "a word";
  }
  return "";
}

bool HasType(FieldType type, const FieldValue& value) {
  switch (type) {
    case FieldType::kCount:
      return std::holds_alternative<int64_t>(value);
    case FieldType::kDuration:
      return std::holds_alternative<Micros>(value);
    case FieldType::kReal:
      return std::holds_alternative<double>(value) ||
             std::holds_alternative<int64_t>(value);
    case FieldType::kBool:
      return std::holds_alternative<bool>(value);
    case FieldType::kWord:
      return std::holds_alternative<std::string>(value);
  }
  return false;
}

struct Printer {
  std::string operator()(int64_t v) const { return absl::StrCat(v); }
  std::string operator()(double v) const { return absl::StrFormat("%.17g", v); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(Micros v) const { return DurationText(v.count()); }
  std::string operator()(const std::string& v) const {
    return absl::StrCat("\"", v.substr(0, 80), v.size() > 80 ? "..." : "",
                        "\"");
  }
};

std::string Print(const FieldValue& value) {
  return std::visit(Printer(), value);
}

// What is allowed, for people.
std::string Allowed(const Field& field) {
  switch (field.type) {
    case FieldType::kCount:
      return absl::StrCat(field.min, " to ", field.max);
    case FieldType::kReal:
      return RealRangeText(field);
    case FieldType::kDuration:
      return absl::StrCat(DurationText(field.min), " to ",
                          DurationText(field.max), " (100 years)");
    case FieldType::kWord: {
      std::string words;
      for (char c : field.words) {
        words += c == '|' ? std::string("\", \"") : std::string(1, c);
      }
      return absl::StrCat("\"", words, "\"");
    }
    default:
      return std::string(TypeName(field.type));
  }
}

// The type, and what is allowed of it.
std::string Wanted(const Field& field) {
  std::string allowed = Allowed(field);
  if (field.type == FieldType::kReal || field.type == FieldType::kBool) {
    return allowed;
  }
  return absl::StrCat(Sv(TypeName(field.type)), ", ", allowed);
}

bool InRange(const Field& field, const FieldValue& value) {
  switch (field.type) {
    case FieldType::kCount: {
      const int64_t v = std::get<int64_t>(value);
      return v >= field.min && v <= field.max;
    }
    case FieldType::kDuration: {
      const int64_t v = std::get<Micros>(value).count();
      return v >= field.min && v <= field.max;
    }
    case FieldType::kReal: {
      const auto* count = std::get_if<int64_t>(&value);
      const double v = count != nullptr ? static_cast<double>(*count)
                                        : std::get<double>(value);
      return std::isfinite(v) && v > field.above && v <= field.most;
    }
    case FieldType::kBool:
      return true;
    case FieldType::kWord: {
      const std::string& word = std::get<std::string>(value);
      if (word.find('|') != std::string::npos || word.empty()) return false;
      const std::string all = absl::StrCat("|", Sv(field.words), "|");
      return all.find("|" + word + "|") != std::string::npos;
    }
  }
  return false;
}

const FieldValue* FindIn(const Limit& limit, std::string_view name) {
  for (const auto& [field, value] : limit.fields()) {
    if (field == name) return &value;
  }
  return nullptr;
}

// The limit itself, the engine's first field, is a number and 0.
bool IsZero(const EngineInfo& engine, const Limit& limit) {
  if (engine.fields.empty()) return false;
  const FieldValue* value = FindIn(limit, engine.fields[0].name);
  if (value == nullptr) return false;
  if (const auto* count = std::get_if<int64_t>(value)) return *count == 0;
  if (const auto* real = std::get_if<double>(value)) return *real == 0;
  return false;
}

// Behind what is allowed: 0 of the limit itself has a meaning too.
std::string_view OrZero(const EngineInfo& engine, const Field& field) {
  return IsLimit(engine.fields, field) ? kOrZero : "";
}

absl::Status CheckTypes(const EngineInfo& engine, const Limit& limit) {
  for (const auto& [name, value] : limit.fields()) {
    const Field* field = nullptr;
    for (const Field& f : engine.fields) {
      if (f.name == name) field = &f;
    }
    if (field == nullptr) {
      return InvalidArgument(
          name, ": ", Sv(engine.name), " has no such parameter; allowed: ",
          absl::StrJoin(
              engine.fields, ", ",
              [](std::string* out, const Field& f) { out->append(f.name); }));
    }
    if (!HasType(field->type, value)) {
      return InvalidArgument(name, ": ", Print(value),
                             " is of the wrong type; wanted: ", Wanted(*field),
                             Sv(OrZero(engine, *field)));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValues(const EngineInfo& engine, const Limit& limit) {
  for (const Field& field : engine.fields) {
    const FieldValue* value = FindIn(limit, field.name);
    if (value == nullptr) {
      if (!field.fallback.empty()) continue;
      return InvalidArgument(Sv(field.name), ": missing; ", Sv(engine.name),
                             " needs it: ", Sv(field.doc),
                             "; allowed: ", Allowed(field),
                             Sv(OrZero(engine, field)));
    }
    if (!InRange(field, *value)) {
      return InvalidArgument(Sv(field.name), ": ", Print(*value),
                             " is out of range; allowed: ", Allowed(field),
                             Sv(OrZero(engine, field)), Sv(field.instead));
    }
  }
  return absl::OkStatus();
}

std::string CanonicalText(const Limit& limit) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : limit.fields()) {
    parts.push_back(absl::StrCat(name, "=", value.index(), ":", Print(value)));
  }
  std::sort(parts.begin(), parts.end());
  return absl::StrCat(limit.algorithm(), " ", absl::StrJoin(parts, " "));
}

}  // namespace

const FieldValue* Fields::Find(std::string_view name) const {
  return FindIn(limit_, name);
}

int64_t Fields::Count(std::string_view name, int64_t fallback) const {
  const FieldValue* value = Find(name);
  return value == nullptr ? fallback : std::get<int64_t>(*value);
}

int64_t Fields::Duration(std::string_view name, int64_t fallback_us) const {
  const FieldValue* value = Find(name);
  return value == nullptr ? fallback_us : std::get<Micros>(*value).count();
}

double Fields::Real(std::string_view name, double fallback) const {
  const FieldValue* value = Find(name);
  if (value == nullptr) return fallback;
  if (const auto* count = std::get_if<int64_t>(value)) {
    return static_cast<double>(*count);
  }
  return std::get<double>(*value);
}

bool Fields::Bool(std::string_view name, bool fallback) const {
  const FieldValue* value = Find(name);
  return value == nullptr ? fallback : std::get<bool>(*value);
}

std::string_view Fields::Word(std::string_view name,
                              std::string_view fallback) const {
  const FieldValue* value = Find(name);
  return value == nullptr ? fallback : std::get<std::string>(*value);
}

const Registry& Registry::BuiltIn() {
  // Never destroyed: limiters may outlive every other static.
  static const Registry* const registry = [] {
    auto* r = new Registry();
    r->engines_.assign(std::begin(kBuiltIn), std::end(kBuiltIn));
    return r;
  }();
  return *registry;
}

absl::Status Registry::Add(const EngineInfo& engine) {
  if (engine.name == kUnlimited || Find(engine.name) != nullptr) {
    return absl::AlreadyExistsError(absl::StrCat(
        "algorithm \"", Sv(engine.name), "\" is registered already"));
  }
  engines_.push_back(&engine);
  return absl::OkStatus();
}

const EngineInfo* Registry::Find(std::string_view name) const {
  for (const EngineInfo* engine : engines_) {
    if (engine->name == name) return engine;
  }
  return nullptr;
}

absl::StatusOr<CompiledLimit> Registry::Compile(const Limit& limit,
                                                Time now) const {
  CompiledLimit compiled;
  compiled.algorithm = limit.algorithm();
  compiled.text = CanonicalText(limit);
  if (limit.algorithm() == kUnlimited) {
    if (!limit.fields().empty()) {
      return InvalidArgument(limit.fields()[0].first,
                             ": unlimited has no parameters");
    }
    compiled.traits.capacity = kMaxExact;
    return compiled;
  }
  const EngineInfo* engine = Find(limit.algorithm());
  if (engine == nullptr) {
    return InvalidArgument(
        "algorithm: there is no \"", limit.algorithm(), "\"; allowed: ",
        absl::StrJoin(engines_, ", ",
                      [](std::string* out, const EngineInfo* e) {
                        out->append(e->name);
                      }),
        ", unlimited");
  }
  compiled.engine = engine;
  if (absl::Status s = CheckTypes(*engine, limit); !s.ok()) return s;
  if (IsZero(*engine, limit)) {
    compiled.denies_all = true;
    return compiled;
  }
  if (absl::Status s = CheckValues(*engine, limit); !s.ok()) return s;
  absl::StatusOr<EngineInfo::Compiled> made =
      engine->compile(Fields(limit), ToMicros(now));
  if (!made.ok()) return made.status();
  compiled.params = std::move(made->params);
  compiled.traits = made->traits;
  return compiled;
}

}  // namespace weir
