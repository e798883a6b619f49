// What a state is called in Redis:
//
//   namespace:rule:algorithm:{tag}rest
//
// A key is its tag and the rest. Names never meet, whatever bytes they are
// made of: in the first three ':', '{' and '%' are written %3A, %7B and %25; in
// the tag '}' and '%' are written %7D and %25, and an empty tag is a bare %,
// because Redis takes {} for no tag. A rest that begins with '%' begins with
// two. (Where a limiter was told to trust tags that do not begin their keys,
// the rest is %= and the whole key.) All other bytes stand as they are.
#ifndef WEIR_BACKENDS_REDIS_KEY_NAME_H_
#define WEIR_BACKENDS_REDIS_KEY_NAME_H_

#include <string>
#include <string_view>

namespace weir::redis {

// A pattern, as SCAN takes it, of every key of a namespace.
std::string NamespacePattern(std::string_view name_space);

// "namespace:rule:algorithm:", the same for every key of a rule.
std::string KeyPrefix(std::string_view name_space, std::string_view rule,
                      std::string_view algorithm);

std::string KeyName(std::string_view prefix, std::string_view tag,
                    std::string_view key);

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_KEY_NAME_H_
