#include "tools/cli/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/utf8.h"

namespace weir::cli {
namespace {

constexpr char kHex[] = "0123456789abcdef";

bool IsPlain(char c) {
  const auto b = static_cast<uint8_t>(c);
  return b >= 0x20 && b < 0x80 && c != '"' && c != '\\';
}

void AppendEscape(uint8_t high, uint8_t low, std::string* out) {
  const char text[] = {
      '\\',           'u',           kHex[high >> 4], kHex[high & 15],
      kHex[low >> 4], kHex[low & 15]};
  out->append(text, sizeof(text));
}

void AppendAscii(char c, std::string* out) {
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      AppendEscape(0, static_cast<uint8_t>(c), out);
  }
}

}  // namespace

void AppendJsonBytes(std::string_view bytes, std::string* out) {
  out->push_back('"');
  size_t pos = 0;
  while (pos < bytes.size()) {
    const size_t start = pos;
    while (pos < bytes.size() && IsPlain(bytes[pos])) ++pos;
    out->append(bytes.data() + start, pos - start);
    if (pos == bytes.size()) break;
    if (static_cast<uint8_t>(bytes[pos]) < 0x80) {
      AppendAscii(bytes[pos++], out);
      continue;
    }
    const size_t length = Utf8Length(bytes.substr(pos));
    if (length == 0) {
      AppendEscape(0xDC, static_cast<uint8_t>(bytes[pos++]), out);
      continue;
    }
    out->append(bytes.data() + pos, length);
    pos += length;
  }
  out->push_back('"');
}

void AppendInt(int64_t value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value);
  out->append(digits, static_cast<size_t>(end.ptr - digits));
}

void AppendReal(double value, std::string* out) {
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= 1e-7 && size < 1e21);
  char digits[64];
  const auto end = std::to_chars(
      digits, digits + sizeof(digits), value,
      plain ? std::chars_format::fixed : std::chars_format::scientific);
  out->append(digits, static_cast<size_t>(end.ptr - digits));
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  Separate();
  AppendJsonBytes(key, out_);
  out_->append(": ");
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  Separate();
  AppendInt(value, out_);
  return *this;
}

JsonWriter& JsonWriter::Int(std::optional<int64_t> value) {
  return value.has_value() ? Int(*value) : Null();
}

JsonWriter& JsonWriter::Real(double value) {
  Separate();
  char digits[400];
  int size = std::snprintf(digits, sizeof(digits), "%.6f", value);
  while (size > 0 && digits[size - 1] == '0') --size;
  if (size > 0 && digits[size - 1] == '.') ++size;  // keep one zero
  out_->append(digits, static_cast<size_t>(size));
  return *this;
}

JsonWriter& JsonWriter::Exact(double value) {
  Separate();
  const size_t start = out_->size();
  AppendReal(value, out_);
  if (out_->find_first_of(".e", start) == std::string::npos) {
    out_->append(".0");
  }
  return *this;
}

JsonWriter& JsonWriter::Bool(bool value) {
  Separate();
  out_->append(value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::Null() {
  Separate();
  out_->append("null");
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view bytes) {
  Separate();
  AppendJsonBytes(bytes, out_);
  return *this;
}

JsonWriter& JsonWriter::Open(char bracket) {
  Separate();
  out_->push_back(bracket);
  has_member_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  const bool has_member = has_member_.back();
  has_member_.pop_back();
  if (has_member) NewLine();
  out_->push_back(bracket);
  if (has_member_.empty()) out_->push_back('\n');
  return *this;
}

void JsonWriter::Separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_member_.empty()) return;
  if (has_member_.back()) out_->push_back(',');
  has_member_.back() = true;
  NewLine();
}

void JsonWriter::NewLine() {
  out_->push_back('\n');
  out_->append(2 * has_member_.size(), ' ');
}

}  // namespace weir::cli
