#include "core/http_policies.h"

#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/http_options.h"
#include "core/math.h"
#include "core/structured_field.h"
#include "core/text.h"

namespace weir {
namespace {

namespace sf = structured_field;

template <class... Parts>
absl::Status WrongRule(std::string_view rule, const Parts&... parts) {
  return InvalidArgument("http rule \"", absl::CHexEscape(Sv(rule)),
                         "\": ", parts...);
}

absl::Status CheckString(std::string_view rule, std::string_view what,
                         std::string_view text, std::string_view advice = "") {
  const size_t at = sf::FindUnstringable(text);
  if (at == std::string_view::npos) return absl::OkStatus();
  return WrongRule(
      rule, Sv(what), ": \"", absl::CHexEscape(Sv(text)), "\" has the byte 0x",
      absl::Hex(static_cast<uint8_t>(text[at]), absl::kZeroPad2), " at ", at,
      "; allowed in draft 11: printable ASCII", Sv(advice));
}

// What comes back in one window, where a limit says so apart from what may
// come at once: gcra with a burst, buckets. 0: nothing of the kind.
int64_t RefillOf(const Limit& limit) {
  for (std::string_view field : {"limit", "refill", "leak"}) {
    for (const auto& [name, value] : limit.fields()) {
      const auto* count = std::get_if<int64_t>(&value);
      if (name == field && count != nullptr && *count > 0) return *count;
    }
  }
  return 0;
}

// The quota is what can be used at once, because that is what `r` counts
// against. So that q / w is the true rate, the window is the time in which all
// of it comes back.
int64_t WindowOf(const Rule& rule, const CompiledLimit& limit) {
  const int64_t refill = RefillOf(rule.limit);
  const int64_t capacity = limit.traits.capacity;
  if (refill == 0 || refill == capacity) return limit.traits.window_us;
  return Saturate(CeilDiv(Times(limit.traits.window_us, capacity), refill));
}

absl::Status CheckRule(const HttpRule& rule) {
  if (rule.quota && (*rule.quota < 0 || *rule.quota > sf::kMaxInteger)) {
    return WrongRule(rule.name, "quota: ", *rule.quota, "; allowed: 0 to ",
                     sf::kMaxInteger);
  }
  if (rule.window &&
      (rule.window->count() < 1 || rule.window->count() > kMaxWindowUs)) {
    return WrongRule(rule.name, "window: ", rule.window->count(),
                     " us; allowed: 1 us to 100 years");
  }
  return CheckString(rule.name, "unit", rule.unit);
}

// The overrides of each rule, null where there are none.
absl::StatusOr<std::vector<const HttpRule*>> MatchRules(
    absl::Span<const Rule> rules, const HttpOptions& options) {
  std::vector<const HttpRule*> matched(rules.size(), nullptr);
  for (const HttpRule& over : options.rules) {
    if (absl::Status s = CheckRule(over); !s.ok()) return s;
    size_t i = 0;
    while (i < rules.size() && rules[i].name != over.name) ++i;
    if (i == rules.size()) {
      return WrongRule(over.name, "the limiter has no such rule");
    }
    if (matched[i] != nullptr) return WrongRule(over.name, "stands twice");
    matched[i] = &over;
  }
  return matched;
}

// "name";q=100;w=60;qu="content-bytes"
std::string ItemOf(const HttpPolicy& p, std::string_view unit) {
  std::string item = absl::StrCat(p.quoted, ";q=");
  sf::AppendInteger(p.quota, &item);
  if (p.window_us > 0) {
    item += ";w=";
    sf::AppendInteger(SecondsUp(p.window_us), &item);
  }
  if (!unit.empty()) {
    item += ";qu=";
    sf::AppendString(unit, &item);
  }
  return item;
}

// 100;w=60. Until -07 the window had to be there, and the quota was the
// policy's only name, so that it may stand only once.
std::string OldItemOf(const HttpPolicy& p,
                      const std::vector<HttpPolicy>& before) {
  if (p.window_us == 0) return "";
  for (const HttpPolicy& other : before) {
    if (other.quota == p.quota && !other.item.empty()) return "";
  }
  std::string item;
  sf::AppendInteger(p.quota, &item);
  item += ";w=";
  sf::AppendInteger(SecondsUp(p.window_us), &item);
  return item;
}

}  // namespace

absl::StatusOr<std::vector<HttpPolicy>> MakeHttpPolicies(
    absl::Span<const Rule> rules, const HttpOptions& options) {
  auto overrides = MatchRules(rules, options);
  if (!overrides.ok()) return overrides.status();
  const Registry& registry =
      options.registry != nullptr ? *options.registry : Registry::BuiltIn();
  const bool named = NamesPolicies(options.draft) &&
                     (options.rate_limit || options.rate_limit_policy);
  std::vector<HttpPolicy> policies;
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    const HttpRule none;
    const HttpRule& over = (*overrides)[i] != nullptr ? *(*overrides)[i] : none;
    // The limiter has checked what depends on the time.
    auto limit = registry.Compile(rule.limit, TimeFromMicros(0));
    if (!limit.ok()) return WrongRule(rule.name, limit.status().message());
    if (rule.observe || over.hidden || limit->unlimited()) continue;
    HttpPolicy p;
    p.rule = i;
    p.name = over.public_name.value_or(rule.name);
    for (const HttpPolicy& other : policies) {
      if (other.name != p.name) continue;
      return WrongRule(rule.name, "clients would read the name \"",
                       absl::CHexEscape(p.name), "\" for two rules");
    }
    p.quota = over.quota.value_or(limit->traits.capacity);
    p.window_us = over.window ? over.window->count() : WindowOf(rule, *limit);
    if (named) {
      absl::Status s =
          CheckString(rule.name, "name", p.name,
                      " (public_name gives the rule another name for clients)");
      if (!s.ok()) return s;
      sf::AppendString(p.name, &p.quoted);
      p.item = ItemOf(p, over.unit);
    } else {
      p.item = OldItemOf(p, policies);
    }
    policies.push_back(std::move(p));
  }
  return policies;
}

}  // namespace weir
