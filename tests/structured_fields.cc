#include "tests/structured_fields.h"

#include <cstdlib>

namespace structured {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlpha(char c) { return IsLower(c) || (c >= 'A' && c <= 'Z'); }

// Each method takes from the front what it parses; false or nothing: malformed.
class Parser {
 public:
  explicit Parser(std::string_view input) : in_(input) {}

  bool AtEnd() const { return in_.empty(); }
  void SkipSpaces() { Skip(" "); }

  std::optional<Item> TakeItem() {
    std::optional<BareItem> value = TakeBareItem();
    if (!value) return std::nullopt;
    std::optional<Parameters> parameters = TakeParameters();
    if (!parameters) return std::nullopt;
    return Item{*std::move(value), *std::move(parameters)};
  }

  std::optional<List> TakeList() {
    List list;
    while (!AtEnd()) {
      std::optional<Item> item = TakeItem();
      if (!item) return std::nullopt;
      list.push_back(*std::move(item));
      if (!TakeCommaOrEnd()) return std::nullopt;
    }
    return list;
  }

  std::optional<Dictionary> TakeDictionary() {
    Dictionary dictionary;
    while (!AtEnd()) {
      std::optional<std::string> key = TakeKey();
      if (!key) return std::nullopt;
      std::optional<Item> item;
      if (Take('=')) {
        item = TakeItem();
      } else if (auto parameters = TakeParameters()) {
        item = Item{true, *std::move(parameters)};
      }
      if (!item) return std::nullopt;
      Put(*key, *std::move(item), &dictionary);
      if (!TakeCommaOrEnd()) return std::nullopt;
    }
    return dictionary;
  }

 private:
  char Front() const { return in_.empty() ? '\0' : in_.front(); }
  bool Take(char c) {
    if (in_.empty() || in_.front() != c) return false;
    in_.remove_prefix(1);
    return true;
  }
  void Skip(std::string_view any) {
    while (!in_.empty() && any.find(in_.front()) != std::string_view::npos) {
      in_.remove_prefix(1);
    }
  }

  // After a member: the end, or a comma with another member behind it.
  bool TakeCommaOrEnd() {
    Skip(" \t");
    if (AtEnd()) return true;
    if (!Take(',')) return false;
    Skip(" \t");
    return !AtEnd();
  }

  // A later member of the same key takes the place of the earlier one.
  template <class Value>
  static void Put(const std::string& key, Value value,
                  std::vector<std::pair<std::string, Value>>* into) {
    for (auto& [k, old] : *into) {
      if (k == key) {
        old = std::move(value);
        return;
      }
    }
    into->emplace_back(key, std::move(value));
  }

  std::optional<std::string> TakeKey() {
    if (!IsLower(Front()) && Front() != '*') return std::nullopt;
    std::string key;
    while (!in_.empty() &&
           (IsLower(Front()) || IsDigit(Front()) ||
            std::string_view("_-.*").find(Front()) != std::string_view::npos)) {
      key += Front();
      in_.remove_prefix(1);
    }
    return key;
  }

  std::optional<Parameters> TakeParameters() {
    Parameters parameters;
    while (Take(';')) {
      SkipSpaces();
      std::optional<std::string> key = TakeKey();
      if (!key) return std::nullopt;
      BareItem value = true;
      if (Take('=')) {
        std::optional<BareItem> given = TakeBareItem();
        if (!given) return std::nullopt;
        value = *std::move(given);
      }
      Put(*key, std::move(value), &parameters);
    }
    return parameters;
  }

  std::optional<BareItem> TakeBareItem() {
    const char c = Front();
    if (c == '-' || IsDigit(c)) return TakeNumber();
    if (c == '"') return TakeString();
    if (c == '*' || IsAlpha(c)) return TakeToken();
    if (c == ':') return TakeBytes();
    if (c == '?') return TakeBoolean();
    if (c == '@') return TakeDate();
    return std::nullopt;
  }

  std::optional<BareItem> TakeNumber() {
    const bool negative = Take('-');
    if (!IsDigit(Front())) return std::nullopt;
    std::string digits;
    size_t point = std::string::npos;
    while (!in_.empty()) {
      const char c = Front();
      if (c == '.' && point == std::string::npos) {
        if (digits.size() > 12) return std::nullopt;
        point = digits.size();
      } else if (!IsDigit(c)) {
        break;
      }
      digits += c;
      in_.remove_prefix(1);
      if (digits.size() > (point == std::string::npos ? 15u : 16u)) {
        return std::nullopt;
      }
    }
    const std::string text = (negative ? "-" : "") + digits;
    if (point == std::string::npos) {
      return int64_t{std::strtoll(text.c_str(), nullptr, 10)};
    }
    const size_t fraction = digits.size() - point - 1;
    if (fraction == 0 || fraction > 3) return std::nullopt;
    return std::strtod(text.c_str(), nullptr);
  }

  std::optional<BareItem> TakeString() {
    Take('"');
    std::string text;
    while (!in_.empty()) {
      char c = Front();
      in_.remove_prefix(1);
      if (c == '"') return text;
      if (c < 0x20 || c > 0x7E) return std::nullopt;
      if (c == '\\') {
        c = Front();
        if (c != '"' && c != '\\') return std::nullopt;
        in_.remove_prefix(1);
      }
      text += c;
    }
    return std::nullopt;
  }

  std::optional<BareItem> TakeToken() {
    Token token;
    while (!in_.empty() &&
           (IsAlpha(Front()) || IsDigit(Front()) ||
            std::string_view("!#$%&'*+-.^_`|~:/").find(Front()) !=
                std::string_view::npos)) {
      token.text += Front();
      in_.remove_prefix(1);
    }
    return token;
  }

  std::optional<BareItem> TakeBytes() {
    Take(':');
    const size_t end = in_.find(':');
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view text = in_.substr(0, end);
    in_.remove_prefix(end + 1);
    // Padding must be there: not every receiver forgives.
    if (text.size() % 4 != 0) return std::nullopt;
    size_t padding = 0;
    while (padding < 2 && !text.empty() && text.back() == '=') {
      text.remove_suffix(1);
      ++padding;
    }
    constexpr std::string_view kAlphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    Bytes bytes;
    uint32_t bits = 0;
    int count = 0;
    for (char c : text) {
      const size_t value = kAlphabet.find(c);
      if (value == std::string_view::npos) return std::nullopt;
      bits = (bits << 6 | static_cast<uint32_t>(value)) & 0xFFFF;
      count += 6;
      if (count >= 8) {
        count -= 8;
        bytes.bytes += static_cast<char>(bits >> count & 0xFF);
      }
    }
    return bytes;
  }

  std::optional<BareItem> TakeBoolean() {
    Take('?');
    if (Take('1')) return true;
    if (Take('0')) return false;
    return std::nullopt;
  }

  std::optional<BareItem> TakeDate() {
    Take('@');
    std::optional<BareItem> number = TakeNumber();
    if (!number || !std::holds_alternative<int64_t>(*number)) {
      return std::nullopt;
    }
    return Date{std::get<int64_t>(*number)};
  }

  std::string_view in_;
};

// Nothing may be left over but spaces.
template <class T>
std::optional<T> Whole(std::string_view field,
                       std::optional<T> (Parser::*take)()) {
  Parser parser(field);
  parser.SkipSpaces();
  std::optional<T> value = (parser.*take)();
  parser.SkipSpaces();
  if (!parser.AtEnd()) return std::nullopt;
  return value;
}

}  // namespace

const BareItem* Item::Find(std::string_view key) const {
  for (const auto& [k, v] : parameters) {
    if (k == key) return &v;
  }
  return nullptr;
}

std::optional<List> ParseList(std::string_view field) {
  return Whole(field, &Parser::TakeList);
}
std::optional<Dictionary> ParseDictionary(std::string_view field) {
  return Whole(field, &Parser::TakeDictionary);
}
std::optional<Item> ParseItem(std::string_view field) {
  return Whole(field, &Parser::TakeItem);
}

}  // namespace structured
