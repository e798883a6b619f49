// A JSON string (RFC 8259) out of any bytes.
#ifndef WEIR_CORE_JSON_STRING_H_
#define WEIR_CORE_JSON_STRING_H_

#include <string>
#include <string_view>

namespace weir {

// Appends `text` in quotes. UTF-8 stays as it is; bytes that are not part of
// any become U+FFFD each, since JSON has no way to say them.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace weir

#endif  // WEIR_CORE_JSON_STRING_H_
