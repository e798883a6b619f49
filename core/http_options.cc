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
  const std::vector<const std::string*> names = HttpNamesInUse(options);
  for (size_t i = 0; i < names.size(); ++i) {
    if (!IsToken(*names[i])) {
      return InvalidArgument("names: \"", absl::CHexEscape(*names[i]),
                             "\"; allowed: a token (letters, digits and "
                             "!#$%&'*+-.^_`|~)");
    }
    for (size_t j = 0; j < i; ++j) {
      if (!absl::EqualsIgnoreCase(*names[i], *names[j])) continue;
      return InvalidArgument("names: \"", *names[i],
                             "\" would be written for two fields");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<const std::string*> HttpNamesInUse(const HttpOptions& o) {
  const HttpFieldNames& n = o.names;
  std::vector<const std::string*> names;
  const auto add = [&names](bool on, auto... more) {
    if (on) (names.push_back(more), ...);
  };
  add(o.rate_limit_policy, &n.rate_limit_policy);
  if (o.draft == RateLimitDraft::k06) {
    add(o.rate_limit, &n.rate_limit_limit, &n.rate_limit_remaining,
        &n.rate_limit_reset);
  } else {
    add(o.rate_limit, &n.rate_limit);
  }
  add(o.x_rate_limit, &n.x_limit, &n.x_remaining, &n.x_reset);
  add(o.retry_after, &n.retry_after);
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
