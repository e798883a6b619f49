// What a decision looks like in an HTTP response: RateLimit, RateLimit-Policy,
// X-RateLimit-*, Retry-After, and the body for a denied call.
//
//   auto http = weir::HttpWriter::Create(*limiter);
//   ...
//   for (const weir::HttpField& f : http->Fields(*decision)) {
//     response.AddHeader(f.name, f.value);
//   }
//   if (!decision->allowed) {
//     weir::HttpProblem problem = http->Problem(*decision);
//     response.Finish(problem.status, problem.content_type, problem.body);
//   }
//
// A writer is made once for a limiter; what is constant is put into text then.
// Rules that only observe, rules without a bound and rules marked `hidden` are
// never shown. docs/http.md tells what each field means to a client.
//
// Thread safety: const methods from any thread at the same time.
// Cost: one string that grows; Fields() adds one for each field.
#ifndef WEIR_HTTP_H_
#define WEIR_HTTP_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/clock.h"
#include "weir/decision.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/time.h"

namespace weir {

// The revision of draft-ietf-httpapi-ratelimit-headers to write. None is an
// RFC; they differ on the wire.
enum class RateLimitDraft : uint8_t {
  k06,  // RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset
  k07,  // RateLimit: limit=100, remaining=99, reset=30
  k11,  // RateLimit: "name";r=99;t=30 (so since -08)
};

// What X-RateLimit-Reset counts.
enum class HttpReset : uint8_t {
  kSeconds,   // from now
  kUnixTime,  // since 1970
};

// The problem types of the draft.
enum class HttpProblemType : uint8_t {
  kQuotaExceeded,             // 429
  kTemporaryReducedCapacity,  // 503
  kAbnormalUsageDetected,     // 429
};

// The name of every field that can be written.
struct HttpFieldNames {
  std::string rate_limit = "RateLimit";
  std::string rate_limit_policy = "RateLimit-Policy";
  // Draft 06 only.
  std::string rate_limit_limit = "RateLimit-Limit";
  std::string rate_limit_remaining = "RateLimit-Remaining";
  std::string rate_limit_reset = "RateLimit-Reset";
  std::string x_limit = "X-RateLimit-Limit";
  std::string x_remaining = "X-RateLimit-Remaining";
  std::string x_reset = "X-RateLimit-Reset";
  std::string retry_after = "Retry-After";
};

// Spreads denied clients, so that they do not all come back in one instant.
// Up to share * wait + span is added to Retry-After, never taken away.
struct HttpJitter {
  double share = 0;  // 0 to 10
  Micros span{0};    // 0 to a day
};

// How one rule is shown. Rules that are not listed are shown by their own name
// and numbers.
struct HttpRule {
  // Rule::name.
  std::string name = {};
  // What clients read instead. In draft 11 printable ASCII.
  std::optional<std::string> public_name = {};
  // The quota unit (`qu`). Empty: requests, which is not written.
  std::string unit = {};
  // `q` and `w`, where those that are derived are not what should be told.
  std::optional<int64_t> quota = {};
  std::optional<Micros> window = {};
  bool hidden = false;
};

struct HttpOptions {
  // Which families are written.
  bool rate_limit = true;
  bool rate_limit_policy = true;
  bool x_rate_limit = false;
  bool retry_after = true;

  RateLimitDraft draft = RateLimitDraft::k11;
  HttpReset x_reset = HttpReset::kSeconds;
  // Retry-After on an allowed call too, if it leaves nothing: the time until
  // what is used up is whole again, for lack of a closer bound.
  bool retry_after_when_empty = false;
  // Retry-After where no wait ever helps (1 s to 100 years). Nothing: the
  // field is left out.
  std::optional<std::chrono::seconds> retry_after_never = {};
  // Lengthens `t` until r / t is no faster than q / w, as the draft asks where
  // a burst of all that is left would hurt.
  bool cap_rate = false;
  HttpJitter jitter = {};
  HttpFieldNames names = {};
  std::vector<HttpRule> rules = {};

  // For limits of your own engines; what LimiterOptions had. Null: BuiltIn().
  const Registry* registry = nullptr;
  // Asked for kUnixTime if a call brings no time. Null: a SteadyClock.
  std::shared_ptr<const Clock> clock = nullptr;
};

// What belongs to one response.
struct HttpCall {
  // The partition key (`pk`, draft 11) of each rule, or one for all; none, or
  // an empty one: not written. Any bytes. Clients and proxies read it: not the
  // place for a secret.
  absl::Span<const std::string_view> partition_keys = {};
  // Decides the jitter: the same seed and wait, the same Retry-After. Nothing:
  // made of the wait and the first partition key.
  std::optional<uint64_t> jitter_seed = {};
  // The time of the decision, for kUnixTime.
  std::optional<Time> now = {};
};

struct HttpField {
  std::string_view name = {};  // lives as long as the writer
  std::string value = {};
};

struct HttpProblem {
  int status = 429;
  std::string_view content_type = "application/problem+json";
  std::string body = {};
};

// A jitter seed made of a key; the same in every process.
uint64_t JitterSeed(std::string_view key);

class HttpWriter {
 public:
  // InvalidArgument names the option and what is allowed: a field name that is
  // no token or stands twice, a rule that the limiter does not have, a name
  // that a structured String can't hold (anything but printable ASCII: give
  // that rule a public_name), two rules under one name, a number out of range.
  // The limiter is not needed afterwards. After its limits were changed, make
  // a new writer.
  static absl::StatusOr<HttpWriter> Create(const Limiter& limiter,
                                           const HttpOptions& options = {});
  // The same from the rules alone, in the limiter's order.
  static absl::StatusOr<HttpWriter> Create(absl::Span<const Rule> rules,
                                           const HttpOptions& options = {});

  HttpWriter(HttpWriter&&) noexcept;
  HttpWriter& operator=(HttpWriter&&) noexcept;
  ~HttpWriter();

  // The fields for a decision of that limiter. A decision that brings no
  // numbers (made by an outage policy, or by a limiter with other rules) gives
  // Retry-After alone.
  std::vector<HttpField> Fields(const Decision& decision,
                                const HttpCall& call = {}) const;

  // Calls `visit(name, value)` for each, both std::string_view; the value
  // lives until visit returns.
  template <class Visit>
  void ForEach(const Decision& decision, const HttpCall& call,
               Visit&& visit) const {
    Write(decision, call, &visit,
          [](void* v, std::string_view name, std::string_view value) {
            (*static_cast<std::remove_reference_t<Visit>*>(v))(name, value);
          });
  }

  // What Retry-After says, whether or not it is among the written fields.
  // Nothing: it is not sent. At least 1 if there is one.
  std::optional<int64_t> RetryAfterSeconds(const Decision& decision,
                                           const HttpCall& call = {}) const;

  // The body for a denied call (RFC 9457), with the names of the rules that
  // denied it. A name's bytes that are not UTF-8 become U+FFFD.
  HttpProblem Problem(
      const Decision& decision,
      HttpProblemType type = HttpProblemType::kQuotaExceeded) const;

 private:
  struct Config;
  using Emit = void (*)(void* context, std::string_view name,
                        std::string_view value);
  explicit HttpWriter(std::unique_ptr<const Config> config);
  void Write(const Decision& decision, const HttpCall& call, void* context,
             Emit emit) const;

  std::unique_ptr<const Config> config_;
};

}  // namespace weir

#endif  // WEIR_HTTP_H_
