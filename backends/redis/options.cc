#include "backends/redis/options.h"

#include "absl/strings/str_cat.h"
#include "core/text.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;

absl::Status CheckRange(std::string_view name, int64_t value, int64_t low,
                        int64_t high, std::string_view unit = "") {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidArgument("redis option ", Sv(name), " is ", value, Sv(unit),
                         "; allowed: ", low, " to ", high, Sv(unit));
}

absl::Status CheckTime(std::string_view name, microseconds value, int64_t low) {
  return CheckRange(name, value.count(), low, int64_t{3600} * 1'000'000, "us");
}

absl::Status CheckAddress(const Address& address) {
  if (address.is_unix()) {
    // The size of sun_path.
    return address.path.size() < 108
               ? absl::OkStatus()
               : InvalidArgument("redis socket path \"", address.path,
                                 "\" is longer than 107 bytes");
  }
  if (address.host.empty()) return InvalidArgument("redis host is empty");
  return CheckRange("port", address.port, 1, kMaxPort);
}

}  // namespace

std::string Address::ToString() const {
  if (is_unix()) return path;
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", host, "]:", port)
            : absl::StrCat(host, ":", port);
}

absl::Status Validate(const ClientOptions& o) {
  if (o.addresses.empty()) return InvalidArgument("redis: no address is given");
  if (!o.cluster && o.addresses.size() > 1) {
    return InvalidArgument("redis: ", o.addresses.size(),
                           " addresses; only a cluster has more than one");
  }
  if (o.cluster && o.database != 0) {
    return InvalidArgument("redis option database is ", o.database,
                           "; a cluster has database 0 only");
  }
  if (o.password.empty() && !o.user.empty()) {
    return InvalidArgument("redis: a user is given, but no password");
  }
  for (const Address& address : o.addresses) {
    if (auto status = CheckAddress(address); !status.ok()) return status;
  }
  for (const absl::Status& status :
       {CheckRange("database", o.database, 0, 1'000'000),
        CheckRange("connections", o.connections, 1, 64),
        CheckRange("io_threads", o.io_threads, 0, 1),
        CheckRange("batch", o.batch, 1, kMaxBatch),
        CheckRange("max_in_flight", o.max_in_flight, 1, 10'000'000),
        CheckRange("breaker_failures", o.breaker_failures, 1, 1'000'000),
        CheckRange("max_redirects", o.max_redirects, 0, 100),
        CheckRange("max_reply_bytes", static_cast<int64_t>(o.max_reply_bytes),
                   1024, int64_t{1} << 30),
        CheckRange("max_reply_elements",
                   static_cast<int64_t>(o.max_reply_elements), 16, 1 << 24),
        CheckTime("spin", o.spin, 0),
        CheckTime("connect_timeout", o.connect_timeout, 1000),
        CheckTime("max_call_age", o.max_call_age, 1000),
        CheckTime("min_retry_interval", o.min_retry_interval, 1000),
        CheckTime("max_retry_interval", o.max_retry_interval,
                  o.min_retry_interval.count())}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace weir::redis
