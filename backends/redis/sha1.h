// SHA-1 (FIPS 180-4), by which Redis knows a script. Only the texts of engines
// from outside the tree are hashed here; those that weir brings were hashed
// when it was built.
#ifndef WEIR_BACKENDS_REDIS_SHA1_H_
#define WEIR_BACKENDS_REDIS_SHA1_H_

#include <string>
#include <string_view>

namespace weir::redis {

// 40 lower-case hex digits.
std::string Sha1(std::string_view text);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SHA1_H_
