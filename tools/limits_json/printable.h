// Text from a log, made safe and short enough for a terminal.
#ifndef WEIR_TOOLS_LIMITS_JSON_PRINTABLE_H_
#define WEIR_TOOLS_LIMITS_JSON_PRINTABLE_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::cli {

// What a message shows of a name or a value, in characters.
inline constexpr size_t kShownBytes = 60;

// `bytes` with everything that could move the cursor, change the colour or
// turn the direction of writing spelt out: control characters and bytes that
// are no UTF-8 as \xNN, invisible formatting characters as \u{NNNN}; with
// `ascii` every character that is not ASCII too. A text that would take more
// than about `max_chars` characters is cut in the middle: "abc...xyz".
std::string Printable(std::string_view bytes, size_t max_chars,
                      bool ascii = false);

// How many columns a Printable text takes, wide characters counted as one.
size_t DisplayWidth(std::string_view printable);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_LIMITS_JSON_PRINTABLE_H_
