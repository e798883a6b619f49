#include "tools/limits_json/limits_file.h"

#include <cerrno>
#include <cstdio>
#include <utility>
#include <variant>

#include "core/field_range.h"
#include "core/text.h"
#include "tools/limits_json/duration.h"
#include "tools/limits_json/errno_status.h"
#include "tools/limits_json/field_text.h"
#include "tools/limits_json/json_tree.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

using Kind = JsonNode::Kind;

constexpr std::string_view kUnlimited = "unlimited";
constexpr std::string_view kRuleFields = "name, algorithm, key, observe, soft";
// Far more than any list of rules; a device or a log given by mistake ends
// here.
constexpr size_t kMaxFileBytes = size_t{16} << 20;

absl::Status At(std::string_view place, const absl::Status& status) {
  return InvalidArgument(Sv(place), ": ", status.message());
}

// The value does not have the wanted type.
absl::Status WrongType(std::string_view place, const JsonNode& value,
                       std::string_view wanted) {
  return InvalidArgument(Sv(place), ": is ", value.Describe(),
                         "; allowed: ", Sv(wanted));
}

std::string List(const std::vector<std::string_view>& names) {
  std::string list;
  for (const std::string_view name : names) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", Sv(name));
  }
  return list;
}

const JsonNode* Find(const JsonNode& object, std::string_view name) {
  for (const auto& member : object.members) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

// A number that is none but rounds to 0: 1e-400.
bool VanishesToZero(const JsonNode& value) {
  if (value.kind != Kind::kReal || value.real != 0) return false;
  const size_t digit = value.text.find_first_of("123456789");
  return digit < value.text.find_first_of("eE");
}

absl::StatusOr<KeyTemplate> ReadTemplate(std::string_view place,
                                         const JsonNode& value) {
  if (value.kind != Kind::kString) {
    return WrongType(place, value, "a string like \"{client}\"");
  }
  absl::StatusOr<KeyTemplate> key = KeyTemplate::Parse(value.text);
  if (!key.ok()) {
    return InvalidArgument(Sv(place), ": ", value.Describe(), " ",
                           key.status().message());
  }
  return key;
}

// `any_range`: a duration that no count of microseconds is will do too.
absl::StatusOr<FieldValue> ReadValue(std::string_view place, const Field& field,
                                     std::string_view allowed, bool any_range,
                                     const JsonNode& value) {
  const absl::Status wrong = WrongType(place, value, allowed);
  switch (field.type) {
    case FieldType::kCount:
      if (value.kind != Kind::kInt) return wrong;
      return FieldValue(value.integer);
    case FieldType::kReal:
      if (value.kind == Kind::kInt) {
        return FieldValue(static_cast<double>(value.integer));
      }
      if (value.kind != Kind::kReal) return wrong;
      if (VanishesToZero(value)) {
        return InvalidArgument(
            Sv(place), ": ", value.Describe(),
            " is out of range, it rounds to 0; allowed: ", Sv(allowed));
      }
      return FieldValue(value.real);
    case FieldType::kBool:
      if (value.kind != Kind::kBool) return wrong;
      return FieldValue(value.boolean);
    case FieldType::kWord:
      if (value.kind != Kind::kString) return wrong;
      return FieldValue(value.text);
    case FieldType::kDuration: {
      if (value.kind != Kind::kString) return wrong;
      absl::StatusOr<Micros> duration = ParseDuration(value.text);
      if (any_range && absl::IsOutOfRange(duration.status())) {
        return FieldValue(Micros(kMaxExact));
      }
      if (!duration.ok()) {
        return InvalidArgument(Sv(place), ": ", value.Describe(), " ",
                               duration.status().message(),
                               "; allowed: ", Sv(allowed));
      }
      return FieldValue(*duration);
    }
  }
  return wrong;
}

// Reads the rules one after the other.
class LimitsReader {
 public:
  LimitsReader(const Registry& registry, Time now)
      : registry_(registry), now_(now) {}

  absl::StatusOr<LimitsFile> Read(const JsonNode& root) {
    if (root.kind != Kind::kObject) {
      return InvalidArgument("is ", root.Describe(),
                             "; allowed: an object with "
                             "rules and, if need be, a tag");
    }
    for (const auto& member : root.members) {
      if (member.first == "rules" || member.first == "tag") continue;
      return InvalidArgument(Printable(member.first, kShownBytes),
                             ": unknown field; allowed: rules, tag");
    }
    const JsonNode* rules = Find(root, "rules");
    if (rules == nullptr) {
      return InvalidArgument("rules: missing; allowed: a list of rules");
    }
    if (rules->kind != Kind::kArray) {
      return WrongType("rules", *rules, "a list of rules, like [{...}]");
    }
    if (rules->items.empty()) {
      return InvalidArgument("rules: is empty; allowed: one rule or more");
    }
    count_ = rules->items.size();
    for (size_t i = 0; i < count_; ++i) {
      absl::Status status = ReadRule(i, rules->items[i]);
      if (!status.ok()) return status;
    }
    absl::Status status = ReadTag(Find(root, "tag"));
    if (!status.ok()) return status;
    return std::move(file_);
  }

 private:
  absl::Status ReadRule(size_t index, const JsonNode& node) {
    const std::string place = absl::StrCat("rules[", index, "]");
    if (node.kind != Kind::kObject) {
      return WrongType(place, node, "an object like {\"algorithm\": ...}");
    }
    absl::StatusOr<Limit> limit = ReadLimit(place, node);
    if (!limit.ok()) return limit.status();
    Rule rule{"", *std::move(limit), false, std::nullopt};
    absl::Status status = ReadName(place, node, &rule);
    if (status.ok()) status = ReadFlags(place, node, &rule);
    if (!status.ok()) return status;
    status = CheckFields(place, node, rule.limit);
    if (status.ok()) status = CheckLimit(place, rule.limit);
    if (!status.ok()) return status;

    const JsonNode* key = Find(node, "key");
    absl::StatusOr<KeyTemplate> parsed =
        key == nullptr ? KeyTemplate::Parse("{key}")
                       : ReadTemplate(place + ".key", *key);
    if (!parsed.ok()) return parsed.status();
    file_.rules.push_back(std::move(rule));
    file_.keys.push_back(*std::move(parsed));
    return absl::OkStatus();
  }

  absl::StatusOr<Limit> ReadLimit(const std::string& place,
                                  const JsonNode& node) {
    const JsonNode* algorithm = Find(node, "algorithm");
    if (algorithm == nullptr) {
      return InvalidArgument(place,
                             ".algorithm: missing; allowed: ", Algorithms());
    }
    if (algorithm->kind != Kind::kString) {
      return WrongType(place + ".algorithm", *algorithm, Algorithms());
    }
    const EngineInfo* engine = registry_.Find(algorithm->text);
    if (engine == nullptr && algorithm->text != kUnlimited) {
      return InvalidArgument(place, ".algorithm: ", algorithm->Describe(),
                             " is unknown; allowed: ", Algorithms());
    }
    absl::Span<const Field> fields;
    if (engine != nullptr) fields = engine->fields;
    const bool denies_all = DeniesAll(fields, node);
    Limit limit = Limit::Of(algorithm->text);
    for (const auto& member : node.members) {
      if (IsRuleField(member.first)) continue;
      const std::string here =
          absl::StrCat(place, ".", Printable(member.first, kShownBytes));
      const Field* field = FindField(fields, member.first);
      if (field == nullptr) {
        return InvalidArgument(here,
                               ": unknown field; allowed: ", Parameters(fields),
                               Sv(kRuleFields));
      }
      absl::StatusOr<FieldValue> value = ReadValue(
          here, *field, AllowedText(fields, *field), denies_all, member.second);
      if (!value.ok()) return value.status();
      limit = std::move(limit).With(member.first, *std::move(value));
    }
    return limit;
  }

  absl::Status ReadName(const std::string& place, const JsonNode& node,
                        Rule* rule) {
    const std::string here = place + ".name";
    const JsonNode* name = Find(node, "name");
    if (name == nullptr) {
      if (count_ > 1) {
        return InvalidArgument(here,
                               ": missing; allowed: a name of its own "
                               "for each of several rules");
      }
      rule->name = "default";
      return absl::OkStatus();
    }
    if (name->kind != Kind::kString) return WrongType(here, *name, "a string");
    if (name->text.empty()) {
      return InvalidArgument(here,
                             ": is \"\"; allowed: at least one character");
    }
    for (size_t i = 0; i < file_.rules.size(); ++i) {
      if (file_.rules[i].name != name->text) continue;
      return InvalidArgument(here, ": ", name->Describe(),
                             " is the name of rules[", i,
                             "] already; allowed: a name of its own");
    }
    rule->name = name->text;
    return absl::OkStatus();
  }

  absl::Status ReadFlags(const std::string& place, const JsonNode& node,
                         Rule* rule) {
    if (const JsonNode* observe = Find(node, "observe")) {
      if (observe->kind != Kind::kBool) {
        return WrongType(place + ".observe", *observe, "true or false");
      }
      rule->observe = observe->boolean;
    }
    if (const JsonNode* soft = Find(node, "soft")) {
      double share = 0;
      if (soft->kind == Kind::kInt) share = static_cast<double>(soft->integer);
      if (soft->kind == Kind::kReal) share = soft->real;
      if (!(share > 0 && share <= 1)) {
        return WrongType(place + ".soft", *soft,
                         "a number above 0 and up to 1");
      }
      rule->soft = share;
    }
    return absl::OkStatus();
  }

  // Is every parameter there, and within its bounds? The registry asks the
  // same; here the answer shows the value as it is spelt in the file.
  absl::Status CheckFields(const std::string& place, const JsonNode& node,
                           const Limit& limit) {
    const EngineInfo* engine = registry_.Find(limit.algorithm());
    if (engine == nullptr || engine->fields.empty()) return absl::OkStatus();
    if (DeniesAll(engine->fields, node)) return absl::OkStatus();
    for (const Field& field : engine->fields) {
      const std::string here = absl::StrCat(place, ".", Sv(field.name));
      const JsonNode* value = Find(node, field.name);
      if (value == nullptr) {
        if (!field.fallback.empty()) continue;
        return InvalidArgument(
            here, ": missing; allowed: ", AllowedText(engine->fields, field));
      }
      if (!WithinBounds(field, limit)) {
        return WrongType(here, *value,
                         absl::StrCat(AllowedText(engine->fields, field),
                                      Sv(field.instead)));
      }
    }
    return absl::OkStatus();
  }

  // A limit of 0 is valid whatever the other fields say.
  static bool DeniesAll(absl::Span<const Field> fields, const JsonNode& node) {
    if (fields.empty() || !IsLimit(fields, fields[0])) return false;
    const JsonNode* limit = Find(node, fields[0].name);
    if (limit == nullptr) return false;
    return (limit->kind == Kind::kInt && limit->integer == 0) ||
           (limit->kind == Kind::kReal && limit->real == 0);
  }

  static bool WithinBounds(const Field& field, const Limit& limit) {
    for (const auto& [name, value] : limit.fields()) {
      if (name != field.name) continue;
      if (const auto* count = std::get_if<int64_t>(&value)) {
        return *count >= field.min && *count <= field.max;
      }
      if (const auto* duration = std::get_if<Micros>(&value)) {
        return duration->count() >= field.min && duration->count() <= field.max;
      }
      if (const auto* real = std::get_if<double>(&value)) {
        return *real > field.above && *real <= field.most;
      }
    }
    return true;
  }

  // What only the algorithm can say of its parameters.
  absl::Status CheckLimit(const std::string& place, const Limit& limit) {
    const absl::StatusOr<CompiledLimit> compiled =
        registry_.Compile(limit, now_);
    if (compiled.ok()) return absl::OkStatus();
    const absl::string_view message = compiled.status().message();
    const std::string_view text(message.data(), message.size());
    const std::string_view field = text.substr(0, text.find(':'));
    const EngineInfo* engine = registry_.Find(limit.algorithm());
    if (engine != nullptr && FindField(engine->fields, field) != nullptr) {
      return InvalidArgument(place, ".", message);
    }
    return InvalidArgument(place, ": ", message);
  }

  absl::Status ReadTag(const JsonNode* tag) {
    if (tag == nullptr) {
      for (size_t i = 1; i < count_; ++i) {
        if (file_.keys[i] == file_.keys[0]) continue;
        return InvalidArgument(
            "tag: missing; rules[", i, "] (\"",
            Printable(file_.rules[i].name, kShownBytes),
            "\") has another key than rules[0] (\"",
            Printable(file_.rules[0].name, kShownBytes),
            "\"), so a tag must name what all keys have in common, like "
            "\"{host}\"");
      }
      return absl::OkStatus();
    }
    absl::StatusOr<KeyTemplate> parsed = ReadTemplate("tag", *tag);
    if (!parsed.ok()) return parsed.status();
    for (const KeyTemplate::Part& part : parsed->parts()) {
      for (size_t i = 0; part.is_column && i < count_; ++i) {
        if (file_.keys[i].HasColumn(part.text)) continue;
        return InvalidArgument(
            "tag: ", tag->Describe(), " has the column {",
            Printable(part.text, kShownBytes), "}, which the key of rules[", i,
            "] (\"", Printable(file_.rules[i].name, kShownBytes),
            "\") lacks; allowed: columns that stand in every rule's key");
      }
    }
    file_.tag = *std::move(parsed);
    return absl::OkStatus();
  }

  static bool IsRuleField(std::string_view name) {
    return name == "name" || name == "algorithm" || name == "key" ||
           name == "observe" || name == "soft";
  }

  static const Field* FindField(absl::Span<const Field> fields,
                                std::string_view name) {
    for (const Field& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }

  // "limit, window, ", or nothing.
  static std::string Parameters(absl::Span<const Field> fields) {
    std::string list;
    for (const Field& field : fields) {
      absl::StrAppend(&list, Sv(field.name), ", ");
    }
    return list;
  }

  std::string Algorithms() const {
    std::vector<std::string_view> names;
    for (const EngineInfo* engine : registry_.engines()) {
      names.push_back(engine->name);
    }
    names.push_back(kUnlimited);
    return List(names);
  }

  const Registry& registry_;
  const Time now_;
  size_t count_ = 0;
  LimitsFile file_;
};

}  // namespace

absl::StatusOr<LimitsFile> ParseLimits(std::string_view text,
                                       std::string_view name,
                                       const Registry& registry, Time now) {
  const std::string shown = Printable(name, 200);
  absl::StatusOr<JsonNode> root = ParseJson(text);
  if (!root.ok()) return At(shown, root.status());
  absl::StatusOr<LimitsFile> file = LimitsReader(registry, now).Read(*root);
  if (!file.ok()) return At(shown, file.status());
  return file;
}

absl::StatusOr<LimitsFile> ReadLimits(const std::string& path,
                                      const Registry& registry, Time now) {
  const std::string shown = Printable(path, 200);
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (in == nullptr) {
    return ErrnoStatus(errno, absl::StrCat(shown, ": cannot be opened"));
  }
  std::string text;
  char buffer[1 << 16];
  size_t n = 0;
  while (text.size() <= kMaxFileBytes &&
         (n = std::fread(buffer, 1, sizeof(buffer), in)) > 0) {
    text.append(buffer, n);
  }
  const int error = std::ferror(in) != 0 ? errno : 0;
  std::fclose(in);
  if (error != 0) {
    return ErrnoStatus(error, absl::StrCat(shown, ": cannot be read"));
  }
  if (text.size() > kMaxFileBytes) {
    return InvalidArgument(shown, ": is larger than 16 MiB");
  }
  return ParseLimits(text, path, registry, now);
}

}  // namespace weir::cli
