#include "tools/limits_json/json_tree.h"

#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/text.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {
namespace {

using nlohmann::json;

// Deeper than any limits file; bounds the recursion of the tree's destructor.
constexpr size_t kMaxDepth = 32;

class TreeBuilder final : public nlohmann::json_sax<json> {
 public:
  TreeBuilder(std::string_view text, JsonNode* root)
      : text_(text), root_(root) {}

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
    return Add(std::move(node));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= std::numeric_limits<int64_t>::max()) {
      return number_integer(static_cast<number_integer_t>(value));
    }
    JsonNode node;
    node.kind = JsonNode::Kind::kReal;
    node.real = static_cast<double>(value);
    node.text = absl::StrCat(value);
    return Add(std::move(node));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    JsonNode node;
    node.kind = JsonNode::Kind::kReal;
    node.real = value;
    node.text = text;
    return Add(std::move(node));
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
  JsonNode root;
  TreeBuilder builder(text, &root);
  const bool ok = json::sax_parse(text.begin(), text.end(), &builder);
  if (!builder.status().ok()) return builder.status();
  if (!ok) return InvalidArgument("is not JSON");
  // The library takes a NUL for the end of its input.
  const size_t nul = text.find('\0');
  if (nul != std::string_view::npos) return builder.NulAt(nul);
  return root;
}

}  // namespace weir::cli
