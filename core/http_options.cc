#include "core/http_options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "core/text.h"

namespace weir {
namespace {

constexpr double kMaxShare = 10;
constexpr int64_t kMaxSpanUs = int64_t{24} * 3600 * 1'000'000;

bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) !=
               std::string_view::npos;
  });
}

absl::Status CheckNames(const HttpOptions& options) {
  const std::vector<HttpNameInUse> names = HttpNamesInUse(options);
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string which =
        absl::StrCat("names.", Sv(names[i].option), ": \"",
                     absl::CHexEscape(Sv(names[i].name)), "\"");
    if (!IsToken(names[i].name)) {
      return InvalidArgument(which,
                             "; allowed: a token (letters, digits and "
                             "!#$%&'*+-.^_`|~)");
    }
    for (size_t j = 0; j < i; ++j) {
      if (!absl::EqualsIgnoreCase(Sv(names[i].name), Sv(names[j].name))) {
        continue;
      }
      return InvalidArgument(which, " would be written for two fields, names.",
                             Sv(names[j].option), " too");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<HttpNameInUse> HttpNamesInUse(const HttpOptions& o) {
  const HttpFieldNames& n = o.names;
  const bool trio = o.rate_limit && o.draft == RateLimitDraft::k06;
  std::vector<HttpNameInUse> names;
  const auto add = [&names](bool on, std::string_view option,
                            std::string_view name) {
    if (on) names.push_back({option, name});
  };
  add(o.rate_limit_policy, "rate_limit_policy", n.rate_limit_policy);
  add(o.rate_limit && !trio, "rate_limit", n.rate_limit);
  add(trio, "rate_limit_limit", n.rate_limit_limit);
  add(trio, "rate_limit_remaining", n.rate_limit_remaining);
  add(trio, "rate_limit_reset", n.rate_limit_reset);
  add(o.x_rate_limit, "x_limit", n.x_limit);
  add(o.x_rate_limit, "x_remaining", n.x_remaining);
  add(o.x_rate_limit, "x_reset", n.x_reset);
  add(o.retry_after, "retry_after", n.retry_after);
  return names;
}

absl::Status CheckHttpOptions(const HttpOptions& o) {
  if (!(o.jitter.share >= 0 && o.jitter.share <= kMaxShare)) {
    return InvalidArgument("jitter.share: ", o.jitter.share, "; allowed: 0 to ",
                           kMaxShare);
  }
  if (o.jitter.span.count() < 0 || o.jitter.span.count() > kMaxSpanUs) {
    return InvalidArgument("jitter.span: ", o.jitter.span.count(),
                           " us; allowed: 0 to a day");
  }
  const auto never = o.retry_after_never;
  if (never &&
      (never->count() < 1 || never->count() > kMaxWindowUs / 1'000'000)) {
    return InvalidArgument("retry_after_never: ", never->count(),
                           " s; allowed: 1 s to 100 years");
  }
  return CheckNames(o);
}

}  // namespace weir
