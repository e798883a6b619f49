#include "tools/cli/rule_keys.h"

#include <utility>

#include "core/text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

bool IsJustTheKey(const KeyTemplate& key) {
  return key.parts().size() == 1 && key.parts()[0].is_column &&
         key.parts()[0].text == "key";
}

// In a file with these columns.
bool StandsForClient(const KeyTemplate& key, const Columns& columns) {
  return IsJustTheKey(key) && columns.Find("key") < 0 &&
         columns.Find("client") >= 0;
}

}  // namespace

std::string KeyText(const KeyTemplate& wanted, bool or_client,
                    const RowSource& source) {
  bool by_client = false;
  bool as_wanted = false;
  for (size_t i = 0; or_client && i < source.files().size(); ++i) {
    const Columns& columns = source.columns(static_cast<int>(i));
    // A file without a row has none, and says nothing.
    if (columns.names().empty()) continue;
    (StandsForClient(wanted, columns) ? by_client : as_wanted) = true;
  }
  if (!by_client) return wanted.text();
  return as_wanted ? "{key} or {client}" : "{client}";
}

RuleKeys::RuleKeys(const LimitsFile& limits, std::string name, size_t files,
                   bool or_client)
    : limits_(limits), name_(std::move(name)), or_client_(or_client) {
  const std::vector<KeyTemplate>& keys = limits_.keys;
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t n = 0;
    while (n < first_rule_.size() && keys[first_rule_[n]] != keys[i]) ++n;
    if (n == first_rule_.size()) first_rule_.push_back(i);
    key_of_rule_.push_back(n);
  }
  buffers_.resize(first_rule_.size());
  different_.resize(first_rule_.size());
  keys_.resize(keys.size());
  bound_.resize(files);
}

absl::Status RuleKeys::Bind(int file, std::string_view file_name,
                            const Columns& columns) {
  const std::string shown = Printable(file_name, 200);
  Bound bound;
  for (const size_t rule : first_rule_) {
    const KeyTemplate& wanted = limits_.keys[rule];
    const bool by_client = or_client_ && StandsForClient(wanted, columns);
    absl::StatusOr<BoundTemplate> key = BoundTemplate::Bind(
        by_client ? *KeyTemplate::Parse("{client}") : wanted, columns);
    if (!key.ok()) {
      return InvalidArgument(name_, ": rules[", rule, "].key: ", shown, " has ",
                             key.status().message());
    }
    bound.keys.push_back(*std::move(key));
  }
  if (limits_.tag.has_value()) {
    absl::StatusOr<BoundTemplate> tag =
        BoundTemplate::Bind(*limits_.tag, columns);
    if (!tag.ok()) {
      return InvalidArgument(name_, ": tag: ", shown, " has ",
                             tag.status().message());
    }
    bound.tag = *std::move(tag);
  }
  bound_[static_cast<size_t>(file)] = std::move(bound);
  return absl::OkStatus();
}

std::string RuleKeys::Render(const Row& row) {
  const Bound& bound = *bound_[static_cast<size_t>(row.file)];
  for (size_t i = 0; i < different_.size(); ++i) {
    different_[i] = bound.keys[i].Render(row.fields, &buffers_[i]);
    if (different_[i].size() <= kMaxKeyBytes) continue;
    return absl::StrCat(
        "the key of rule \"", limits_.rules[first_rule_[i]].name, "\" has ",
        different_[i].size(), " bytes; allowed: at most ", kMaxKeyBytes);
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    keys_[i] = different_[key_of_rule_[i]];
  }
  tag_ = bound.tag.has_value() ? bound.tag->Render(row.fields, &tag_buffer_)
                               : std::string_view();
  return "";
}

Call RuleKeys::MakeCall(const Row& row) const {
  Call call;
  call.keys = keys_;
  if (different_.size() == 1) call.keys = different_;
  call.costs = absl::MakeConstSpan(&row.cost, 1);
  call.now = TimeFromMicros(row.time_us);
  if (limits_.tag.has_value()) call.tag = tag_;
  return call;
}

}  // namespace weir::cli
