// A build without OpenSSL.
#include "absl/status/status.h"
#include "backends/redis/tls.h"

namespace weir::redis {

absl::StatusOr<std::shared_ptr<const TlsContext>> TlsContext::Create(
    const TlsOptions&) {
  return absl::UnimplementedError(
      "redis URL: rediss:// needs TLS, and this weir was built without it "
      "(OpenSSL, Debian's package libssl-dev, WEIR_TLS=ON)");
}

}  // namespace weir::redis
