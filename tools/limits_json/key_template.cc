#include "tools/limits_json/key_template.h"

#include <utility>

#include "core/text.h"

namespace weir::cli {
absl::StatusOr<KeyTemplate> KeyTemplate::Parse(std::string_view text) {
  KeyTemplate key;
  key.text_ = std::string(text);
  std::string literal;
  const auto flush = [&] {
    if (literal.empty()) return;
    key.parts_.push_back({false, std::move(literal)});
    literal.clear();
  };
  size_t pos = 0;
  while (pos < text.size()) {
    const char c = text[pos];
    if (c != '{' && c != '}') {
      literal.push_back(c);
      ++pos;
      continue;
    }
    if (pos + 1 < text.size() && text[pos + 1] == c) {
      literal.push_back(c);
      pos += 2;
      continue;
    }
    if (c == '}') {
      return InvalidArgument("has a } that closes nothing; allowed: {column}, ",
                             "and }} for a brace");
    }
    const size_t end = text.find_first_of("{}", pos + 1);
    if (end == std::string_view::npos || text[end] == '{') {
      return InvalidArgument("has a { that is not closed; allowed: {column}, ",
                             "and {{ for a brace");
    }
    const std::string_view name = text.substr(pos + 1, end - pos - 1);
    if (name.empty()) {
      return InvalidArgument("has {} without a column; allowed: {column}, ",
                             "and {{ or }} for a brace");
    }
    flush();
    key.parts_.push_back({true, std::string(name)});
    pos = end + 1;
  }
  flush();
  return key;
}

bool KeyTemplate::HasColumn(std::string_view name) const {
  for (const Part& part : parts_) {
    if (part.is_column && part.text == name) return true;
  }
  return false;
}

}  // namespace weir::cli
