#include "tools/cli/list.h"

#include <algorithm>
#include <vector>

#include "core/text.h"
#include "tools/cli/json_writer.h"
#include "tools/cli/limit_example.h"
#include "tools/limits_json/field_text.h"

namespace weir::cli {
namespace {

constexpr size_t kLineWidth = 80;
constexpr size_t kIndent = 14;

// One algorithm; "unlimited" has no engine to ask.
struct Entry {
  std::string_view name;
  EngineDoc doc;
  absl::Span<const Field> fields;
};

constexpr Entry kUnlimited = {
    "unlimited",
    {"No bound: every call passes and no store is asked.", "no bound", "none",
     "To switch a rule off and keep its name; for the plan of a customer who "
     "is "
     "not limited.",
     "Nothing is computed", ""},
    {}};

absl::StatusOr<std::vector<Entry>> Select(const Registry& registry,
                                          std::string_view algorithm) {
  std::vector<Entry> entries;
  std::string names;
  const auto add = [&](const Entry& entry) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", Sv(entry.name));
    if (algorithm.empty() || algorithm == entry.name) entries.push_back(entry);
  };
  for (const EngineInfo* engine : registry.engines()) {
    add({engine->name, engine->doc, engine->fields});
  }
  add(kUnlimited);
  if (entries.empty()) {
    return InvalidArgument("algorithm: there is no \"", Sv(algorithm),
                           "\"; allowed: ", names);
  }
  return entries;
}

// Appends `text` from this column on, broken at spaces, the lines after the
// first indented.
void Wrap(std::string_view text, size_t column, size_t indent,
          std::string* out) {
  bool first = true;
  while (true) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (!first && column + 1 + word.size() > kLineWidth) {
      out->append("\n").append(indent, ' ');
      column = indent;
    } else if (!first) {
      out->push_back(' ');
      ++column;
    }
    first = false;
    out->append(word);
    column += word.size();
    if (space == std::string_view::npos) break;
    text.remove_prefix(space + 1);
  }
  out->push_back('\n');
}

void Item(std::string_view name, std::string_view text, std::string* out) {
  if (text.empty()) return;
  out->append("  ").append(name);
  const size_t column = std::max(kIndent, name.size() + 3);
  out->append(column - 2 - name.size(), ' ');
  Wrap(text, column, kIndent, out);
}

// How a limit is written; nothing if the engine gives no example.
absl::Status WriteExample(const Registry& registry, const Entry& entry,
                          std::string* out) {
  if (entry.doc.example.empty() && !entry.fields.empty()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<LimitExample> example =
      MakeLimitExample(registry, entry.name, entry.doc.example, entry.fields);
  if (!example.ok()) return example.status();
  *out += "\n";
  Item("limits.json", example->json, out);
  Item("--limit", absl::StrCat("'", example->typed, "'"), out);
  Item("C++", example->cpp, out);
  return absl::OkStatus();
}

// "calls a window, on average; a whole number from 1 to ...; default ..."
std::string FieldText(absl::Span<const Field> fields, const Field& field) {
  std::string text =
      absl::StrCat(Sv(field.doc), "; ", AllowedText(fields, field));
  if (!field.fallback.empty()) {
    absl::StrAppend(&text, "; default ", Sv(field.fallback));
  }
  return text;
}

std::string_view TypeName(FieldType type) {
  switch (type) {
    case FieldType::kCount:
      return "count";
    case FieldType::kDuration:
      return "duration";
    case FieldType::kReal:
      return "real";
    case FieldType::kBool:
      return "bool";
    case FieldType::kWord:
      return "word";
  }
  return "";
}

void WriteField(absl::Span<const Field> fields, const Field& field,
                JsonWriter* w) {
  w->BeginObject();
  w->Key("name").String(field.name);
  w->Key("type").String(TypeName(field.type));
  w->Key("doc").String(field.doc);
  w->Key("allowed").String(AllowedText(fields, field));
  w->Key("default");
  if (field.fallback.empty()) {
    w->Null();
  } else {
    w->String(field.fallback);
  }
  w->EndObject();
}

}  // namespace

absl::StatusOr<std::string> ListText(const Registry& registry,
                                     std::string_view algorithm) {
  const absl::StatusOr<std::vector<Entry>> entries =
      Select(registry, algorithm);
  if (!entries.ok()) return entries.status();
  std::string out;
  for (const Entry& entry : *entries) {
    if (!out.empty()) out += "\n";
    out.append(entry.name).append("\n  ");
    Wrap(entry.doc.summary, 2, 2, &out);
    Item("at most", entry.doc.worst_case, &out);
    Item("state", entry.doc.state, &out);
    Item("choose it", entry.doc.choose, &out);
    Item("source", entry.doc.source, &out);
    if (entry.fields.empty()) Item("parameters", "none", &out);
    for (const Field& field : entry.fields) {
      Item(field.name, FieldText(entry.fields, field), &out);
    }
    if (algorithm.empty()) continue;
    absl::Status status = WriteExample(registry, entry, &out);
    if (!status.ok()) return status;
  }
  return out;
}

absl::StatusOr<std::string> ListJson(const Registry& registry,
                                     std::string_view algorithm) {
  const absl::StatusOr<std::vector<Entry>> entries =
      Select(registry, algorithm);
  if (!entries.ok()) return entries.status();
  std::string out;
  JsonWriter w(&out);
  w.BeginArray();
  for (const Entry& entry : *entries) {
    w.BeginObject();
    w.Key("name").String(entry.name);
    w.Key("summary").String(entry.doc.summary);
    w.Key("worst_case").String(entry.doc.worst_case);
    w.Key("state").String(entry.doc.state);
    w.Key("choose").String(entry.doc.choose);
    w.Key("source").String(entry.doc.source);
    w.Key("example").String(entry.doc.example);
    w.Key("parameters").BeginArray();
    for (const Field& field : entry.fields) WriteField(entry.fields, field, &w);
    w.EndArray();
    w.EndObject();
  }
  w.EndArray();
  return out;
}

}  // namespace weir::cli
