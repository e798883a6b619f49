#include "tools/limits_json/json_tree.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>
#include <unordered_map>

#include "absl/strings/charconv.h"
#include "core/text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

using nlohmann::json;

// Deeper than any limits file; bounds the recursion of the tree's destructor.
constexpr size_t kMaxDepth = 32;

// Numbers that no double holds, and where they stand: the how many-th number
// of the text each is.
using HugeNumbers = std::unordered_map<size_t, std::string>;

bool SkipDigits(std::string_view* rest) {
  const size_t n =
      std::min(rest->find_first_not_of("0123456789"), rest->size());
  rest->remove_prefix(n);
  return n > 0;
}

bool TakeOneOf(std::string_view chars, std::string_view* rest) {
  if (rest->empty() || chars.find((*rest)[0]) == std::string_view::npos) {
    return false;
  }
  rest->remove_prefix(1);
  return true;
}

bool IsHugeNumber(std::string_view token) {
  double value = 0;
  const auto read =
      absl::from_chars(token.data(), token.data() + token.size(), value);
  if (read.ec != std::errc::result_out_of_range || std::fabs(value) < 1) {
    return false;
  }
  // A number of JSON, and nothing behind it.
  std::string_view rest = token;
  TakeOneOf("-", &rest);
  if (!TakeOneOf("0", &rest) && !SkipDigits(&rest)) return false;
  if (TakeOneOf(".", &rest) && !SkipDigits(&rest)) return false;
  if (TakeOneOf("eE", &rest)) {
    TakeOneOf("+-", &rest);
    if (!SkipDigits(&rest)) return false;
  }
  return rest.empty();
}

// The library refuses a huge number without a word of where it stands. It is
// given a 0 instead, and as many spaces as keep all places as they are.
std::string MaskHugeNumbers(std::string_view text, HugeNumbers* huge) {
  std::string masked(text);
  size_t numbers = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) {
        if (text[i] == '\\') ++i;
      }
      continue;
    }
    if (text[i] != '-' && (text[i] < '0' || text[i] > '9')) continue;
    const size_t end =
        std::min(text.find_first_not_of("0123456789+-.eE", i), text.size());
    const std::string_view token = text.substr(i, end - i);
    if (IsHugeNumber(token)) {
      huge->emplace(numbers, token);
      masked.replace(i, token.size(), "0" + std::string(token.size() - 1, ' '));
    }
    ++numbers;
    i = end - 1;
  }
  return masked;
}

class TreeBuilder final : public nlohmann::json_sax<json> {
 public:
  TreeBuilder(std::string_view text, const HugeNumbers& huge, JsonNode* root)
      : text_(text), huge_(huge), root_(root) {}

  const absl::Status& status() const { return status_; }

  bool null() override { return Add({}); }
  bool boolean(bool value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kBool;
    node.boolean = value;
    return Add(std::move(node));
  }
  bool number_integer(number_integer_t value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kInt;
    node.integer = value;
    node.text = absl::StrCat(value);
    return AddNumber(std::move(node));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= std::numeric_limits<int64_t>::max()) {
      return number_integer(static_cast<number_integer_t>(value));
    }
    JsonNode node;
    node.kind = JsonNode::Kind::kReal;
    node.real = static_cast<double>(value);
    node.text = absl::StrCat(value);
    return AddNumber(std::move(node));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kReal;
    node.real = value;
    node.text = text;
    return AddNumber(std::move(node));
  }
  bool string(string_t& value) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kString;
    node.text = std::move(value);
    return Add(std::move(node));
  }
  bool binary(binary_t&) override { return false; }

  bool start_object(size_t) override { return Open(JsonNode::Kind::kObject); }
  bool start_array(size_t) override { return Open(JsonNode::Kind::kArray); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    for (const auto& member : open_.back()->members) {
      if (member.first == name) {
        status_ = InvalidArgument(Path(name), ": stands twice in one object");
        return false;
      }
    }
    open_.back()->members.emplace_back(std::move(name), JsonNode());
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library counts bytes read, the one at fault included.
    const size_t at = position == 0 ? 0 : position - 1;
    if (at < text_.size() && text_[at] == '\0') {
      status_ = NulAt(at);
      return false;
    }
    std::string_view why = error.what();
    // "[json.exception...] parse error at line 1, column 2: why"
    for (const std::string_view mark : {"] ", "column "}) {
      const size_t found = why.find(mark);
      if (found != std::string_view::npos) {
        why.remove_prefix(found + mark.size());
      }
    }
    const size_t colon = why.find(": ");
    if (colon != std::string_view::npos && colon < 12) {
      why.remove_prefix(colon + 2);
    }
    status_ = NotJson(at, Printable(why, 200));
    return false;
  }

  absl::Status NulAt(size_t at) const {
    return NotJson(at, "a NUL byte; allowed: \\u0000 in a string");
  }

 private:
  absl::Status NotJson(size_t at, std::string_view why) const {
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < at && i < text_.size(); ++i) {
      if (text_[i] == '\n') {
        ++line;
        column = 1;
      } else {
        ++column;
      }
    }
    return InvalidArgument("line ", line, ", column ", column,
                           ": is not JSON: ", Sv(why));
  }

  bool Add(JsonNode node) {
    *Slot() = std::move(node);
    return true;
  }

  bool AddNumber(JsonNode node) {
    const auto huge = huge_.find(numbers_++);
    if (huge != huge_.end()) {
      const bool negative = huge->second[0] == '-';
      node.kind = JsonNode::Kind::kReal;
      node.real = std::copysign(std::numeric_limits<double>::infinity(),
                                negative ? -1.0 : 1.0);
      node.text = huge->second;
    }
    return Add(std::move(node));
  }

  bool Open(JsonNode::Kind kind) {
    if (open_.size() == kMaxDepth) {
      status_ = InvalidArgument("is nested deeper than ", kMaxDepth, " levels");
      return false;
    }
    JsonNode* slot = Slot();
    slot->kind = kind;
    open_.push_back(slot);
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  // Where the next value goes. Parents do not grow while a child is open, so
  // the pointers in open_ stay good.
  JsonNode* Slot() {
    if (open_.empty()) return root_;
    JsonNode* parent = open_.back();
    if (parent->kind == JsonNode::Kind::kObject) {
      return &parent->members.back().second;
    }
    return &parent->items.emplace_back();
  }

  std::string Path(std::string_view last) const {
    std::string path;
    for (const JsonNode* node : open_) {
      if (node == open_.back()) break;
      if (node->kind == JsonNode::Kind::kArray) {
        absl::StrAppend(&path, "[", node->items.size() - 1, "]");
      } else {
        absl::StrAppend(&path, path.empty() ? "" : ".",
                        Printable(node->members.back().first, kShownBytes));
      }
    }
    absl::StrAppend(&path, path.empty() ? "" : ".",
                    Printable(last, kShownBytes));
    return path;
  }

  std::string_view text_;
  const HugeNumbers& huge_;
  size_t numbers_ = 0;
  JsonNode* root_;
  std::vector<JsonNode*> open_;
  absl::Status status_;
};

}  // namespace

std::string JsonNode::Describe() const {
  switch (kind) {
    case Kind::kNull:
      return "null";
    case Kind::kBool:
      return boolean ? "true" : "false";
    case Kind::kInt:
    case Kind::kReal:
      return Printable(text, kShownBytes);
    case Kind::kString:
      return absl::StrCat("\"", Printable(text, kShownBytes), "\"");
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
  }
  return "";
}

absl::StatusOr<JsonNode> ParseJson(std::string_view text) {
  HugeNumbers huge;
  const std::string masked = MaskHugeNumbers(text, &huge);
  JsonNode root;
  TreeBuilder builder(text, huge, &root);
  const bool ok = json::sax_parse(masked.begin(), masked.end(), &builder);
  if (!builder.status().ok()) return builder.status();
  if (!ok) return InvalidArgument("is not JSON");
  // The library takes a NUL for the end of its input.
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return builder.NulAt(nul);
  return root;
}

}  // namespace weir::cli
