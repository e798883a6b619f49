// A strict parser of structured field values, written from RFC 9651, section
// 4.2, and sharing nothing with what writes them. Inner Lists and Display
// Strings are left out: whatever holds one does not parse.
#ifndef WEIR_TESTS_STRUCTURED_FIELDS_H_
#define WEIR_TESTS_STRUCTURED_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace structured {

struct Token {
  std::string text;
  bool operator==(const Token& o) const { return text == o.text; }
};
struct Bytes {
  std::string bytes;
  bool operator==(const Bytes& o) const { return bytes == o.bytes; }
};
struct Date {
  int64_t seconds;
  bool operator==(const Date& o) const { return seconds == o.seconds; }
};

// Integer, Decimal, String, Token, Byte Sequence, Boolean, Date.
using BareItem =
    std::variant<int64_t, double, std::string, Token, Bytes, bool, Date>;

// In order; a key stands once.
using Parameters = std::vector<std::pair<std::string, BareItem>>;

struct Item {
  BareItem value;
  Parameters parameters;

  // Null if it has no such parameter.
  const BareItem* Find(std::string_view key) const;
};

using List = std::vector<Item>;
using Dictionary = std::vector<std::pair<std::string, Item>>;

// Nothing: the field is malformed, and a receiver ignores all of it.
std::optional<List> ParseList(std::string_view field);
std::optional<Dictionary> ParseDictionary(std::string_view field);
std::optional<Item> ParseItem(std::string_view field);

}  // namespace structured

#endif  // WEIR_TESTS_STRUCTURED_FIELDS_H_
