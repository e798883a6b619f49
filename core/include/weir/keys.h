// Keys out of what a request brings: addresses, and several parts joined.
//
//   absl::StatusOr<std::string> client = weir::AddressKey(peer);
//   absl::StatusOr<std::string> key = weir::JoinKey({*client, method, path});
//
// Thread safety: plain functions of their arguments.
#ifndef WEIR_KEYS_H_
#define WEIR_KEYS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace weir {

// How many leading bits of an address make the key. One customer usually holds
// a whole IPv6 /64, often a /56 or a /48, and can send from any address in it.
struct AddressPrefix {
  int ipv4 = 32;  // 0 to 32
  int ipv6 = 64;  // 0 to 128
};

// The key of an IPv4 or IPv6 address: "192.0.2.7", "192.0.2.0/24",
// "2001:db8:1:2::/64" (as RFC 5952 writes it; the prefix length is left out
// where it is the whole address). All spellings of one address give one key.
//
// An IPv4-mapped IPv6 address (::ffff:192.0.2.7) is the IPv4 address. A zone
// (fe80::1%eth0) is dropped, so hosts of one link-local address on two links
// share a key. Brackets and a port are accepted and dropped: "[::1]:443",
// "[::1]", "192.0.2.7:80"; without brackets "::1:443" is an address.
// InvalidArgument: anything else, blanks too; the message shows the text.
absl::StatusOr<std::string> AddressKey(std::string_view text,
                                       const AddressPrefix& prefix = {});

// One key out of several parts of any bytes: "192.0.2.7|GET|/books". Different
// lists give different keys: a '|' inside a part is written %7C, a '%' %25, all
// else as it is.
//
// The key of the first n parts is a leading part, byte for byte, of the key of
// more parts that begin with them. So it can be their tag (Call::tag).
// InvalidArgument: no parts, or a key above kMaxKeyBytes.
absl::StatusOr<std::string> JoinKey(absl::Span<const std::string_view> parts);

}  // namespace weir

#endif  // WEIR_KEYS_H_
