// What the tests of weir/http.h share: decisions made by hand, and fields as a
// receiver reads them.
#ifndef WEIR_TESTS_HTTP_KIT_H_
#define WEIR_TESTS_HTTP_KIT_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/decision.h"
#include "weir/http.h"
#include "weir/limiter.h"

namespace weir {
namespace http_kit {

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

NamesAndValues Write(const HttpWriter& writer, const Decision& d,
                     const HttpCall& call = {});

// The value of one field; "(none)" if it is not there.
std::string Value(const NamesAndValues& fields, std::string_view name);

// A failure of the test if the options are refused.
HttpWriter Make(const std::vector<Rule>& rules,
                const HttpOptions& options = {});

// Why they are refused; "(accepted)" if they are not.
std::string Refusal(const std::vector<Rule>& rules, const HttpOptions& options);

// 100 a minute, unless a limit is given.
Rule Named(std::string name,
           Limit limit = Limit::SlidingLog(100, std::chrono::minutes(1)));

// Of a limit of 100.
RuleVerdict Passed(int64_t remaining, Micros reset_after);

RuleVerdict Refused(int64_t remaining, std::optional<Micros> retry_after,
                    Micros reset_after);

// What a limiter makes of these verdicts.
Decision Of(const std::vector<RuleVerdict>& verdicts);

// Draft 11, as a receiver reads it.
struct Policy {
  std::string name;
  int64_t q = -1;
  int64_t w = -1;  // -1: not there
  std::string qu = "requests";
  std::string pk = {};
  bool operator==(const Policy& o) const {
    return name == o.name && q == o.q && w == o.w && qu == o.qu && pk == o.pk;
  }
};
inline std::ostream& operator<<(std::ostream& out, const Policy& p) {
  return out << '"' << p.name << "\" q=" << p.q << " w=" << p.w
             << " qu=" << p.qu << " pk=" << p.pk;
}

struct ServiceLimit {
  std::string name;
  int64_t r = -1;
  int64_t t = -1;  // -1: not there
  std::string pk = {};
  bool operator==(const ServiceLimit& o) const {
    return name == o.name && r == o.r && t == o.t && pk == o.pk;
  }
};
inline std::ostream& operator<<(std::ostream& out, const ServiceLimit& l) {
  return out << '"' << l.name << "\" r=" << l.r << " t=" << l.t
             << " pk=" << l.pk;
}

// A failure of the test if the field is malformed.
std::vector<Policy> ReadPolicies(const std::string& field);

std::vector<ServiceLimit> ReadLimits(const std::string& field);

std::vector<ServiceLimit> LimitsOf(const HttpWriter& writer, const Decision& d,
                                   const HttpCall& call = {});

std::vector<Policy> PoliciesOf(const std::vector<Rule>& rules,
                               const HttpOptions& options = {},
                               const HttpCall& call = {});

}  // namespace http_kit
}  // namespace weir

#endif  // WEIR_TESTS_HTTP_KIT_H_
