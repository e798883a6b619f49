#include "tools/cli/input/row_codec.h"

#include <cstring>

namespace weir::cli {
namespace {

// Seven bits a byte, the lowest first; the top bit says that more follow.
char* PutVarint(uint64_t value, char* out) {
  for (; value >= 0x80; value >>= 7) {
    *out++ = static_cast<char>(value | 0x80);
  }
  *out++ = static_cast<char>(value);
  return out;
}

bool GetVarint(std::string_view* bytes, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < bytes->size() && i < kMaxVarint; ++i) {
    const uint64_t byte = static_cast<unsigned char>((*bytes)[i]);
    result |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

// Small numbers of either sign become small ones without.
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

size_t BodySize(const Row& row) {
  size_t size = VarintSize(ZigZag(row.time_us)) + VarintSize(row.line) +
                VarintSize(static_cast<uint64_t>(row.file)) +
                VarintSize(static_cast<uint64_t>(row.cost)) + 1 +
                VarintSize(row.fields.size());
  for (const std::string_view field : row.fields) {
    size += VarintSize(field.size()) + field.size();
  }
  return size;
}

}  // namespace

size_t MaxEncodedSize(const Row& row) {
  size_t size = kMaxVarint * (6 + row.fields.size()) + 1;
  for (const std::string_view field : row.fields) size += field.size();
  return size;
}

size_t EncodeRow(const Row& row, char* out) {
  char* const begin = out;
  out = PutVarint(BodySize(row), out);
  out = PutVarint(ZigZag(row.time_us), out);
  out = PutVarint(row.line, out);
  out = PutVarint(static_cast<uint64_t>(row.file), out);
  out = PutVarint(static_cast<uint64_t>(row.cost), out);
  *out++ = static_cast<char>(row.op);
  out = PutVarint(row.fields.size(), out);
  for (const std::string_view field : row.fields) {
    out = PutVarint(field.size(), out);
  }
  for (const std::string_view field : row.fields) {
    if (field.empty()) continue;
    std::memcpy(out, field.data(), field.size());
    out += field.size();
  }
  return static_cast<size_t>(out - begin);
}

size_t DecodeSize(std::string_view bytes, uint64_t* body) {
  const size_t before = bytes.size();
  return GetVarint(&bytes, body) ? before - bytes.size() : 0;
}

bool DecodeRow(std::string_view body, Row* row,
               std::vector<std::string_view>* fields) {
  uint64_t time = 0;
  uint64_t line = 0;
  uint64_t file = 0;
  uint64_t cost = 0;
  uint64_t count = 0;
  if (!GetVarint(&body, &time) || !GetVarint(&body, &line) ||
      !GetVarint(&body, &file) || !GetVarint(&body, &cost) || body.empty()) {
    return false;
  }
  row->op = static_cast<Op>(body.front());
  body.remove_prefix(1);
  if (!GetVarint(&body, &count) || count > body.size()) return false;
  row->time_us = UnZigZag(time);
  row->line = line;
  row->file = static_cast<int>(file);
  row->cost = static_cast<int64_t>(cost);
  fields->resize(count);
  for (std::string_view& field : *fields) {
    uint64_t size = 0;
    if (!GetVarint(&body, &size) || size > body.size()) return false;
    // The bytes come behind all the sizes: only the size is known yet.
    field = std::string_view(body.data(), size);
  }
  for (std::string_view& field : *fields) {
    if (field.size() > body.size()) return false;
    field = body.substr(0, field.size());
    body.remove_prefix(field.size());
  }
  row->fields = *fields;
  return body.empty();
}

}  // namespace weir::cli
