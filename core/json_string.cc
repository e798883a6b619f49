#include "core/json_string.h"

#include <cstddef>

#include "core/utf8.h"

namespace weir {

void AppendJsonString(std::string_view text, std::string* out) {
  constexpr char kHex[] = "0123456789abcdef";
  *out += '"';
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const char c = text[0];
    if (length == 0) {
      *out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      *out += '\\';
      *out += c;
    } else if (length == 1 && c < 0x20) {
      *out += "\\u00";
      *out += kHex[c >> 4];
      *out += kHex[c & 15];
    } else {
      out->append(text.substr(0, length));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  *out += '"';
}

}  // namespace weir
