// Limits from text, and new ones while calls go on.
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limiter.h"
#include "weir/limits_json.h"
#include "weir/memory_store.h"

constexpr char kLimits[] = R"({"tag": "{host}", "rules": [
    {"name": "host", "algorithm": "gcra", "limit": 100, "window": "1s",
     "key": "{host}"},
    {"name": "client", "algorithm": "sliding_log", "limit": 2,
     "window": "1m", "key": "{client}@{host}"}]})";
constexpr char kChanged[] = R"({"tag": "{host}", "rules": [
    {"name": "host", "algorithm": "gcra", "limit": 100, "window": "1s",
     "key": "{host}"},
    {"name": "client", "algorithm": "sliding_log", "limit": 4,
     "window": "1m", "key": "{client}@{host}"}]})";

int main() {
  // From a file: weir::LimitsJson::Read("limits.json").
  auto limits = weir::LimitsJson::Parse(kLimits);
  if (!limits.ok()) {
    std::cerr << limits.status() << "\n";
    return 1;
  }
  // The tag does not begin every key. MakeKeys makes both, and answers for it.
  weir::LimiterOptions options;
  options.trust_tags = true;
  auto limiter = weir::Limiter::Create(*weir::MemoryStore::Create(),
                                       limits->rules(), options);
  if (!limiter.ok()) return 1;

  weir::CallKeys made;  // kept, for its memory
  for (int call = 0; call < 5; ++call) {
    // What the templates name, from the request at hand.
    const auto column =
        [](std::string_view name) -> std::optional<std::string_view> {
      if (name == "host") return "example.org";
      if (name == "client") return "192.0.2.1";
      return std::nullopt;
    };
    if (!limits->MakeKeys(column, &made).ok()) return 1;
    const std::vector<std::string_view> keys(made.keys.begin(),
                                             made.keys.end());
    weir::Call asked;
    asked.keys = keys;
    asked.tag = made.tag;
    auto d = limiter->Check(asked);
    if (!d.ok()) return 1;
    std::cout << (d->allowed ? "allowed" : "denied") << "\n";

    if (call != 2) continue;
    // The text has changed: who has used two now has two more.
    limits = weir::LimitsJson::Parse(kChanged);
    if (!limits.ok() || !limiter->Update(limits->rules()).ok()) return 1;
  }
}
