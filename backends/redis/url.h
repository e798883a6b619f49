// The address of a Redis as text.
//
//   redis://user:password@host:6379/2?timeout=50ms&namespace=shop
//   redis+cluster://h1:7001,h2,h3     any nodes of a cluster
//   rediss://, rediss+cluster://      the same over TLS
//   unix:///run/redis.sock?db=2       also redis+unix://
//
// User, password, path and values may be percent-encoded. Each parameter at
// most once:
//   timeout, connect_timeout, spin    durations with a unit: 250us, 50ms, 1s
//   connections, io_threads, batch, db
//                                     whole numbers
//   namespace                         text
//   tls_ca_file, tls_cert_file, tls_key_file, tls_server_name
//                                     text; with TLS only
//   tls_verify                        yes or no
#ifndef WEIR_BACKENDS_REDIS_URL_H_
#define WEIR_BACKENDS_REDIS_URL_H_

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/redis/options.h"

namespace weir::redis {

struct Url {
  ClientOptions client;  // without its TLS context
  // What the context is made of; nothing: connections are plain.
  std::optional<TlsOptions> tls;
  // Where the text says so.
  std::optional<std::chrono::microseconds> timeout;
  std::optional<std::string> name_space;
};

// Text that says nothing of an option leaves it as `defaults` and `tls` have
// it. InvalidArgument says what is wrong, and never repeats user or password.
absl::StatusOr<Url> ParseUrl(std::string_view text,
                             const ClientOptions& defaults = {},
                             const TlsOptions& tls = {});

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_URL_H_
