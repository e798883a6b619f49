#include "backends/redis/key_name.h"

#include <algorithm>

namespace weir::redis {
namespace {

void Append(std::string_view text, std::string_view escaped, std::string* out) {
  const bool plain = std::none_of(
      escaped.begin(), escaped.end(),
      [text](char c) { return text.find(c) != std::string_view::npos; });
  if (plain) {
    out->append(text);
    return;
  }
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (escaped.find(c) == std::string_view::npos) {
      out->push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out->push_back('%');
    out->push_back(kDigits[byte / 16]);
    out->push_back(kDigits[byte % 16]);
  }
}

}  // namespace

std::string NamespacePattern(std::string_view name_space) {
  std::string prefix;
  Append(name_space, ":{%", &prefix);
  std::string pattern;
  for (const char c : prefix) {
    if (std::string_view("*?[]\\^-").find(c) != std::string_view::npos) {
      pattern.push_back('\\');
    }
    pattern.push_back(c);
  }
  return pattern + ":*";
}

std::string KeyPrefix(std::string_view name_space, std::string_view rule,
                      std::string_view algorithm) {
  std::string prefix;
  for (const std::string_view part : {name_space, rule, algorithm}) {
    Append(part, ":{%", &prefix);
    prefix.push_back(':');
  }
  return prefix;
}

std::string KeyName(std::string_view prefix, std::string_view tag,
                    std::string_view key) {
  std::string name;
  name.reserve(prefix.size() + key.size() + 8);
  name.append(prefix);
  name.push_back('{');
  if (tag.empty()) name.push_back('%');
  Append(tag, "}%", &name);
  name.push_back('}');
  if (key.substr(0, tag.size()) != tag) {
    name.append("%=").append(key);
    return name;
  }
  const std::string_view rest = key.substr(tag.size());
  if (!rest.empty() && rest[0] == '%') name.push_back('%');
  name.append(rest);
  return name;
}

}  // namespace weir::redis
