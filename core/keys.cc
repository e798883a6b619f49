#include "weir/keys.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "weir/limiter.h"

namespace weir {
namespace {

constexpr char kSeparator = '|';

// Hostile text may be long, and end up in a log.
absl::Status NoAddress(std::string_view text) {
  constexpr size_t kShown = 80;
  return InvalidArgument(
      "address: \"", absl::CHexEscape(Sv(text.substr(0, kShown))),
      text.size() > kShown ? "..." : "",
      "\"; allowed: an IPv4 or IPv6 address, with or without a port");
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  int port = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + (c - '0');
  }
  return port <= 65535;
}

// What remains without brackets and port. Empty: misshapen.
std::string_view WithoutPort(std::string_view text, bool* bracketed) {
  *bracketed = !text.empty() && text.front() == '[';
  if (*bracketed) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return {};
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && (rest[0] != ':' || !IsPort(rest.substr(1)))) return {};
    return text.substr(1, end - 1);
  }
  // Two colons are an IPv6 address, and one is a port.
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon != text.rfind(':')) return text;
  if (!IsPort(text.substr(colon + 1))) return {};
  return text.substr(0, colon);
}

// False: a zone that is none. Takes it off.
bool DropZone(std::string_view* address) {
  const size_t percent = address->find('%');
  if (percent == std::string_view::npos) return true;
  const std::string_view zone = address->substr(percent + 1);
  *address = address->substr(0, percent);
  return !zone.empty() && std::all_of(zone.begin(), zone.end(), [](char c) {
    return c > 0x20 && c < 0x7F && c != '[' && c != ']' && c != '/';
  });
}

// inet_pton wants a C string; longer text is no address.
bool Parse(int family, std::string_view text, uint8_t* bytes) {
  char copy[INET6_ADDRSTRLEN];
  if (text.size() >= sizeof copy) return false;
  if (text.find('\0') != std::string_view::npos) return false;
  *std::copy(text.begin(), text.end(), copy) = '\0';
  return inet_pton(family, copy, bytes) == 1;
}

void ClearBitsAfter(int prefix, absl::Span<uint8_t> bytes) {
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int kept = std::clamp(prefix - static_cast<int>(i) * 8, 0, 8);
    bytes[i] &= static_cast<uint8_t>(0xFF00 >> kept);
  }
}

std::string Ipv4Text(const uint8_t* b, int prefix) {
  std::string text = absl::StrCat(b[0], ".", b[1], ".", b[2], ".", b[3]);
  if (prefix < 32) absl::StrAppend(&text, "/", prefix);
  return text;
}

// Not inet_ntop: C libraries differ in what they write with dots, and a key
// must be the same on every machine of a fleet.
std::string Ipv6Text(const std::array<uint8_t, 16>& b, int prefix) {
  std::array<int, 8> groups;
  for (size_t i = 0; i < 8; ++i) groups[i] = b[2 * i] << 8 | b[2 * i + 1];
  // RFC 5952: the first of the longest runs of at least two zeros is "::".
  size_t run = 8, run_length = 1;
  for (size_t i = 0; i < 8; ++i) {
    size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > run_length) {
      run = i;
      run_length = end - i;
    }
  }
  std::string text;
  for (size_t i = 0; i < 8; ++i) {
    if (i == run) {
      text += "::";
      i += run_length - 1;
      continue;
    }
    if (!text.empty() && text.back() != ':') text += ':';
    absl::StrAppend(&text, absl::Hex(groups[i]));
  }
  if (prefix < 128) absl::StrAppend(&text, "/", prefix);
  return text;
}

absl::Status CheckPrefix(std::string_view family, int prefix, int most) {
  if (prefix >= 0 && prefix <= most) return absl::OkStatus();
  return InvalidArgument("prefix: ", prefix, " for ", Sv(family),
                         "; allowed: 0 to ", most);
}

}  // namespace

absl::StatusOr<std::string> AddressKey(std::string_view text,
                                       const AddressPrefix& prefix) {
  if (absl::Status s = CheckPrefix("ipv4", prefix.ipv4, 32); !s.ok()) return s;
  if (absl::Status s = CheckPrefix("ipv6", prefix.ipv6, 128); !s.ok()) return s;

  bool bracketed = false;
  std::string_view address = WithoutPort(text, &bracketed);
  std::array<uint8_t, 16> bytes;
  uint8_t* ipv4 = nullptr;
  if (!bracketed && Parse(AF_INET, address, bytes.data())) {
    ipv4 = bytes.data();
  } else {
    if (!DropZone(&address) || !Parse(AF_INET6, address, bytes.data())) {
      return NoAddress(text);
    }
    constexpr uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (std::equal(std::begin(kMapped), std::end(kMapped), bytes.begin())) {
      ipv4 = bytes.data() + sizeof kMapped;
    }
  }
  if (ipv4 != nullptr) {
    ClearBitsAfter(prefix.ipv4, absl::MakeSpan(ipv4, 4));
    return Ipv4Text(ipv4, prefix.ipv4);
  }
  ClearBitsAfter(prefix.ipv6, absl::MakeSpan(bytes));
  return Ipv6Text(bytes, prefix.ipv6);
}

absl::StatusOr<std::string> JoinKey(absl::Span<const std::string_view> parts) {
  // Without this, no parts and one empty part would be the same.
  if (parts.empty()) return InvalidArgument("parts: none; allowed: 1 or more");
  size_t size = parts.size() - 1;
  for (std::string_view part : parts) {
    size += part.size();
    for (char c : part) size += c == kSeparator || c == '%' ? 2 : 0;
  }
  if (size > kMaxKeyBytes) {
    return InvalidArgument("key: ", size, " bytes out of ", parts.size(),
                           " parts; allowed: at most ", kMaxKeyBytes);
  }
  std::string key;
  key.reserve(size);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) key += kSeparator;
    for (char c : parts[i]) {
      if (c == kSeparator) {
        key += "%7C";
      } else if (c == '%') {
        key += "%25";
      } else {
        key += c;
      }
    }
  }
  return key;
}

}  // namespace weir
