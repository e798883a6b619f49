// Writing JSON: a string whose bytes may be anything, and a small writer of
// indented documents. (Reading is in json_tree.h.)
#ifndef WEIR_TOOLS_CLI_JSON_WRITER_H_
#define WEIR_TOOLS_CLI_JSON_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::cli {

// Appends `bytes` as a JSON string, quotes included. UTF-8 is written as it
// is, control characters and NUL as \u00XX (\n, \r and \t by name), and a byte
// that is not part of UTF-8 as the lone surrogate \udc80 to \udcff, from which
// Python's "surrogateescape" makes the byte again. (AppendJsonString of
// core/json_string.h, for what browsers read, gives such bytes up.)
void AppendJsonBytes(std::string_view bytes, std::string* out);

// Appends a number in decimal.
void AppendInt(int64_t value, std::string* out);

// Appends a number in as few digits as read back as the same one, with an
// exponent only below 0.0000001 and from 10^21: 100, 0.1, 1e-9.
void AppendReal(double value, std::string* out);

// An indented document. The caller keeps objects and arrays balanced.
//
//   JsonWriter w(&out);
//   w.BeginObject().Key("calls").Int(3).EndObject();
class JsonWriter {
 public:
  explicit JsonWriter(std::string* out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& Int(int64_t value);
  // Null where there is no value.
  JsonWriter& Int(std::optional<int64_t> value);
  // Six digits after the point at most; never an exponent.
  JsonWriter& Real(double value);
  // Every digit that tells the value from others; a whole one as 2.0.
  JsonWriter& Exact(double value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& String(std::string_view bytes);

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  // What has to stand before the next value.
  void Separate();
  void NewLine();

  std::string* out_;
  // For each open object or array: has it a member yet?
  std::vector<bool> has_member_;
  bool after_key_ = false;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_JSON_WRITER_H_
