#include "backends/redis/url.h"

#include <charconv>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/text.h"

namespace weir::redis {
namespace {

using std::chrono::microseconds;

// Cuts text at the first mark; false if there is none.
bool CutFirst(std::string_view* text, char mark, std::string_view* before) {
  const size_t at = text->find(mark);
  if (at == std::string_view::npos) return false;
  *before = text->substr(0, at);
  text->remove_prefix(at + 1);
  return true;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

absl::StatusOr<std::string> Decode(std::string_view part,
                                   std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return InvalidArgument("redis URL: ", Sv(part),
                             ": % must be followed by two hex digits");
    }
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

absl::StatusOr<int> ParseInt(std::string_view part, std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end || value < 0) {
    return InvalidArgument("redis URL: ", Sv(part), " is \"", Sv(text),
                           "\"; a whole number is wanted");
  }
  return value;
}

absl::StatusOr<microseconds> ParseDuration(std::string_view part,
                                           std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t micros;
  };
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && value >= 0 && value <= 1'000'000'000) {
    const std::string_view unit(stop, static_cast<size_t>(end - stop));
    for (const Unit& known : {Unit{"us", 1}, Unit{"ms", 1'000},
                              Unit{"s", 1'000'000}, Unit{"m", 60'000'000}}) {
      if (unit == known.name) return microseconds(value * known.micros);
    }
  }
  return InvalidArgument("redis URL: ", Sv(part), " is \"", Sv(text),
                         "\"; wanted is a number with a unit, us, ms, s or m, "
                         "as in 50ms");
}

absl::StatusOr<Address> ParseHost(std::string_view text) {
  Address address;
  std::string_view port;
  bool has_port = false;
  if (!text.empty() && text[0] == '[') {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) {
      return InvalidArgument("redis URL: host \"", Sv(text), "\" lacks its ]");
    }
    address.host = std::string(text.substr(1, end - 1));
    port = text.substr(end + 1);
    has_port = !port.empty();
    if (has_port && port[0] != ':') {
      return InvalidArgument("redis URL: \"", Sv(port), "\" after the host");
    }
    if (has_port) port.remove_prefix(1);
  } else {
    std::string_view host;
    has_port = CutFirst(&text, ':', &host);
    address.host = std::string(has_port ? host : text);
    port = text;
  }
  if (address.host.empty()) return InvalidArgument("redis URL: host is empty");
  for (const unsigned char c : address.host) {
    if (c <= ' ' || c == 0x7f) {
      return InvalidArgument("redis URL: host \"",
                             absl::CHexEscape(address.host),
                             "\" has a blank or a control character");
    }
  }
  if (has_port) {
    absl::StatusOr<int> number = ParseInt("port", port);
    if (!number.ok()) return number.status();
    address.port = *number;
  }
  return address;
}

absl::Status ParseUser(std::string_view text, ClientOptions* options) {
  std::string_view user;
  // "redis://password@host" is not meant: a lone word is a user.
  if (!CutFirst(&text, ':', &user)) {
    return InvalidArgument(
        "redis URL: before the @ stands user:password, or :password");
  }
  absl::StatusOr<std::string> plain = Decode("user", user);
  if (!plain.ok()) return plain.status();
  options->user = *std::move(plain);
  plain = Decode("password", text);
  if (!plain.ok()) return plain.status();
  options->password = *std::move(plain);
  return absl::OkStatus();
}

template <class T>
absl::Status Store(absl::StatusOr<T> value, T* to) {
  if (!value.ok()) return value.status();
  *to = *std::move(value);
  return absl::OkStatus();
}

constexpr std::string_view kTlsPrefix = "tls_";

absl::Status NoSuchParameter(std::string_view name) {
  return InvalidArgument(
      "redis URL: there is no parameter \"", Sv(name),
      "\"; there are timeout, connect_timeout, spin, connections, io_threads, "
      "batch, db, namespace, tls_ca_file, tls_cert_file, tls_key_file, "
      "tls_server_name, tls_verify");
}

absl::Status ParseTlsParameter(std::string_view name, std::string_view text,
                               std::optional<TlsOptions>* tls) {
  if (!tls->has_value()) {
    return InvalidArgument("redis URL: ", Sv(name),
                           " needs rediss:// or rediss+cluster://");
  }
  if (name == "tls_ca_file") return Store(Decode(name, text), &(*tls)->ca_file);
  if (name == "tls_cert_file") {
    return Store(Decode(name, text), &(*tls)->cert_file);
  }
  if (name == "tls_key_file") {
    return Store(Decode(name, text), &(*tls)->key_file);
  }
  if (name == "tls_server_name") {
    return Store(Decode(name, text), &(*tls)->server_name);
  }
  if (name != "tls_verify") return NoSuchParameter(name);
  if (text != "yes" && text != "no") {
    return InvalidArgument("redis URL: tls_verify is \"", Sv(text),
                           "\"; allowed: yes, no");
  }
  (*tls)->verify = text == "yes";
  return absl::OkStatus();
}

absl::Status ParseParameter(std::string_view text, Url* url,
                            std::set<std::string>* seen) {
  std::string_view name;
  if (!CutFirst(&text, '=', &name)) {
    return InvalidArgument("redis URL: parameter \"", Sv(text), "\" has no =");
  }
  // Which of two is meant is for nobody to guess.
  if (!seen->insert(std::string(name)).second) {
    return InvalidArgument("redis URL: parameter \"", Sv(name),
                           "\" is given twice");
  }
  ClientOptions& client = url->client;
  if (name == "timeout") {
    return Store(ParseDuration(name, text), &url->timeout.emplace());
  }
  if (name == "connect_timeout") {
    return Store(ParseDuration(name, text), &client.connect_timeout);
  }
  if (name == "spin") return Store(ParseDuration(name, text), &client.spin);
  if (name == "connections") {
    return Store(ParseInt(name, text), &client.connections);
  }
  if (name == "io_threads") {
    return Store(ParseInt(name, text), &client.io_threads);
  }
  if (name == "batch") return Store(ParseInt(name, text), &client.batch);
  if (name == "db") return Store(ParseInt(name, text), &client.database);
  if (name == "namespace") {
    return Store(Decode(name, text), &url->name_space.emplace());
  }
  if (name.substr(0, kTlsPrefix.size()) == kTlsPrefix) {
    return ParseTlsParameter(name, text, &url->tls);
  }
  return NoSuchParameter(name);
}

absl::Status ParseHosts(std::string_view hosts, Url* url) {
  while (true) {
    std::string_view host;
    const bool more = CutFirst(&hosts, ',', &host);
    absl::StatusOr<Address> address = ParseHost(more ? host : hosts);
    if (!address.ok()) return address.status();
    url->client.addresses.push_back(*std::move(address));
    if (!more) return absl::OkStatus();
  }
}

// What follows "scheme://", up to the parameters. Adds "db" to those that are
// given if it names a database.
absl::Status ParseServer(std::string_view text, bool is_unix, Url* url,
                         std::set<std::string>* seen) {
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    const std::string_view user = text.substr(0, at);
    const size_t comma = user.rfind(',');
    if (url->client.cluster && comma != std::string_view::npos &&
        user.find('@') < comma) {
      return InvalidArgument(
          "redis URL: user and password stand once, before the first host (a @ "
          "in a password is written %40)");
    }
    absl::Status status = ParseUser(user, &url->client);
    if (!status.ok()) return status;
    text.remove_prefix(at + 1);
  }
  if (is_unix) {
    if (text.empty() || text[0] != '/') {
      return InvalidArgument("redis URL: a unix socket has an absolute path");
    }
    std::string& path = url->client.addresses.emplace_back().path;
    absl::Status status = Store(Decode("path", text), &path);
    if (status.ok() && path.find('\0') != std::string::npos) {
      return InvalidArgument(
          "redis URL: the path of the socket has a NUL byte");
    }
    return status;
  }
  std::string_view hosts;
  if (CutFirst(&text, '/', &hosts)) {
    if (!text.empty()) {
      seen->insert("db");
      absl::Status status = Store(ParseInt("the database after the /", text),
                                  &url->client.database);
      if (!status.ok()) return status;
    }
  } else {
    hosts = text;
  }
  return ParseHosts(hosts, url);
}

absl::StatusOr<Url> Parse(std::string_view text, const ClientOptions& defaults,
                          const TlsOptions& tls) {
  const size_t at = text.find("://");
  // Whatever else stands there may be part of a password.
  const std::string_view scheme = text.substr(0, at);
  if (at == std::string_view::npos ||
      scheme.find_first_not_of("abcdefghijklmnopqrstuvwxyz+") !=
          std::string_view::npos) {
    return InvalidArgument(
        "redis URL: it does not begin with redis://, redis+cluster://, "
        "rediss://, rediss+cluster:// or unix://");
  }
  text.remove_prefix(at + 3);
  const bool is_tls = scheme == "rediss" || scheme == "rediss+cluster";
  const bool is_unix = scheme == "unix" || scheme == "redis+unix";
  Url url;
  url.client = defaults;
  url.client.cluster = scheme == "redis+cluster" || scheme == "rediss+cluster";
  if (!is_unix && !is_tls && !url.client.cluster && scheme != "redis") {
    return InvalidArgument("redis URL: scheme \"", Sv(scheme),
                           "\"; there are redis, redis+cluster, rediss, "
                           "rediss+cluster, unix, redis+unix");
  }
  if (is_tls) {
    url.tls = tls;
  } else if (!(tls == TlsOptions())) {
    // Else what was meant to be secret would go out in the clear.
    return InvalidArgument("redis URL: options of TLS are given, but ",
                           Sv(scheme),
                           ":// is plain; use rediss:// or "
                           "rediss+cluster://");
  }
  std::string_view server = text;
  std::string_view parameters;
  if (CutFirst(&text, '?', &server)) {
    parameters = text;
  } else {
    server = text;
  }
  std::set<std::string> seen;
  absl::Status status = ParseServer(server, is_unix, &url, &seen);
  while (status.ok() && !parameters.empty()) {
    std::string_view one;
    const bool more = CutFirst(&parameters, '&', &one);
    status = ParseParameter(more ? one : parameters, &url, &seen);
    if (!more) break;
  }
  if (status.ok()) status = Validate(url.client);
  if (!status.ok()) return status;
  return url;
}

}  // namespace

absl::StatusOr<Url> ParseUrl(std::string_view text,
                             const ClientOptions& defaults,
                             const TlsOptions& tls) {
  absl::StatusOr<Url> url = Parse(text, defaults, tls);
  // A ? in a password that is not percent-encoded ends it: what stands in the
  // wrong places then, and would be quoted, are parts of it.
  const size_t query = text.find('?');
  if (!url.ok() && query != std::string_view::npos &&
      text.find('@', query) != std::string_view::npos) {
    return InvalidArgument(
        "redis URL: it can't be read, and has a @ behind its ?; ? is written "
        "%3F in a password, and @ is written %40 in a parameter");
  }
  return url;
}

}  // namespace weir::redis
