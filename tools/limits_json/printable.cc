#include "tools/limits_json/printable.h"

#include <cstdint>
#include <cstdio>
#include <deque>

#include "core/utf8.h"

namespace weir::cli {
namespace {

constexpr std::string_view kDots = "...";

// C1 controls, and characters that are not seen but change how the others are
// shown (marks and overrides of direction, separators of lines, a byte order
// mark, tags).
bool IsInvisible(uint32_t c) {
  return (c >= 0x80 && c <= 0x9F) || c == 0xAD || c == 0x61C ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE0FFF);
}

// Of one well-formed character.
uint32_t CodePoint(std::string_view character) {
  const auto byte = [&](size_t i) {
    return static_cast<uint8_t>(character[i]);
  };
  if (character.size() == 1) return byte(0);
  uint32_t value = byte(0) & (0x7Fu >> character.size());
  for (size_t i = 1; i < character.size(); ++i) {
    value = value << 6 | (byte(i) & 0x3Fu);
  }
  return value;
}

std::string Hex(const char* format, uint32_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

// The character at bytes[*pos] as it is shown; moves *pos past it.
std::string ShowNext(std::string_view bytes, size_t* pos, bool ascii) {
  const size_t length = Utf8Length(bytes.substr(*pos));
  if (length == 0) {
    return Hex("\\x%02x", static_cast<uint8_t>(bytes[(*pos)++]));
  }
  const std::string_view raw = bytes.substr(*pos, length);
  const uint32_t c = CodePoint(raw);
  *pos += length;
  if (c < 0x20 || c == 0x7F) return Hex("\\x%02x", c);
  if (c >= 0x80 && (ascii || IsInvisible(c))) return Hex("\\u{%x}", c);
  return std::string(raw);
}

}  // namespace

size_t DisplayWidth(std::string_view printable) {
  size_t columns = 0;
  for (const char c : printable) {
    if ((static_cast<uint8_t>(c) & 0xC0) != 0x80) ++columns;
  }
  return columns;
}

std::string Printable(std::string_view bytes, size_t max_chars, bool ascii) {
  // A long text is shown by its two ends, so only these need to be looked at;
  // a character that the cut falls into shows as its bytes.
  const size_t head_chars = max_chars * 2 / 3;
  const size_t tail_chars = max_chars - head_chars;
  std::string out;
  size_t columns = 0;
  size_t head_end = 0;  // in `out`: the longest head that fits
  size_t pos = 0;
  while (pos < bytes.size() && columns <= max_chars) {
    const std::string shown = ShowNext(bytes, &pos, ascii);
    columns += DisplayWidth(shown);
    out += shown;
    if (columns + kDots.size() <= head_chars) head_end = out.size();
  }
  if (columns <= max_chars) return out;
  out.resize(head_end);
  out += kDots;
  std::deque<std::string> tail;
  size_t tail_columns = 0;
  const size_t reach = 4 * tail_chars;
  pos = bytes.size() > reach ? bytes.size() - reach : 0;
  while (pos < bytes.size() && Utf8Length(bytes.substr(pos)) == 0 &&
         (static_cast<uint8_t>(bytes[pos]) & 0xC0) == 0x80) {
    ++pos;
  }
  while (pos < bytes.size()) {
    tail.push_back(ShowNext(bytes, &pos, ascii));
    tail_columns += DisplayWidth(tail.back());
    while (tail_columns > tail_chars) {
      tail_columns -= DisplayWidth(tail.front());
      tail.pop_front();
    }
  }
  for (const std::string& shown : tail) out += shown;
  return out;
}

}  // namespace weir::cli
