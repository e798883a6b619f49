// Is a call sound?
#include "core/rule_set.h"
#include "core/text.h"

namespace weir {
namespace {

absl::Status CheckCost(const Rule& rule, int64_t cost) {
  if (cost >= 0 && cost <= kMaxExact) return absl::OkStatus();
  return InvalidArgument("cost: ", cost, " for rule \"", rule.name,
                         "\"; allowed: 0 to ", kMaxExact);
}

absl::Status CheckKey(const Rule& rule, std::string_view key) {
  if (key.size() <= kMaxKeyBytes) return absl::OkStatus();
  return InvalidArgument("key: ", key.size(), " bytes for rule \"", rule.name,
                         "\"; allowed: at most ", kMaxKeyBytes);
}

absl::Status CheckTime(const std::optional<Time>& now) {
  if (!now || RuleSet::TimeIsSound(*now)) return absl::OkStatus();
  return InvalidArgument("now: ", ToMicros(*now), " us; allowed: ", -kMaxExact,
                         " to ", kMaxExact, " (the year 2255)");
}

}  // namespace

absl::Status RuleSet::CheckCall(const Call& call) const {
  const size_t n = rules_.size();
  if (call.keys.size() != 1 && call.keys.size() != n) {
    return InvalidArgument("keys: ", call.keys.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  if (call.costs.size() > 1 && call.costs.size() != n) {
    return InvalidArgument("costs: ", call.costs.size(), " for ", n,
                           " rules; allowed: one for each, or one for all");
  }
  for (size_t i = 0; i < n; ++i) {
    if (absl::Status s = CheckCost(rules_[i], CostOf(call, i)); !s.ok()) {
      return s;
    }
    if (absl::Status s = CheckKey(rules_[i], KeyOf(call, i)); !s.ok()) return s;
  }
  if (absl::Status s = CheckTime(call.now); !s.ok()) return s;
  return trust_tags_ ? absl::OkStatus() : CheckTags(call);
}

absl::Status RuleSet::CheckTagsOfKeys(const Call& call) const {
  if (call.tag.has_value()) {
    return InvalidArgument(
        "tag: named by a call, but the limiter's tag_of gives it; allowed: "
        "none");
  }
  std::string_view first;
  for (size_t i = 0; i < call.keys.size(); ++i) {
    const std::string_view key = call.keys[i];
    const std::string_view tag = tag_of_(key);
    if (key.substr(0, tag.size()) != tag) {
      return InvalidArgument("tag_of: what it gives for the key of rule \"",
                             rules_[i].name, "\" does not begin that key");
    }
    if (i == 0) first = key.substr(0, tag.size());
    if (tag == first) continue;
    return InvalidArgument("tag: by tag_of the key of rule \"", rules_[i].name,
                           "\" has another than that of rule \"",
                           rules_[0].name, "\"");
  }
  return absl::OkStatus();
}

absl::Status RuleSet::CheckTags(const Call& call) const {
  if (tag_of_ != nullptr) return CheckTagsOfKeys(call);
  if (!call.tag.has_value()) {
    for (size_t i = 1; i < call.keys.size(); ++i) {
      if (call.keys[i] == call.keys[0]) continue;
      return InvalidArgument(
          "tag: missing; the key of rule \"", rules_[i].name,
          "\" differs from that of rule \"", rules_[0].name,
          "\", so the call must name the leading part that its keys share");
    }
    return absl::OkStatus();
  }
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (KeyOf(call, i).substr(0, call.tag->size()) == *call.tag) continue;
    return InvalidArgument("tag: the key of rule \"", rules_[i].name,
                           "\" does not begin with the call's tag");
  }
  return absl::OkStatus();
}

}  // namespace weir
