// Hashes.
#include "backends/memory/decimal.h"
#include "backends/memory/memory_txn.h"

namespace weir {

FieldMap* MemoryTxn::HashToWrite() {
  if (Live() == nullptr) {
    Value* value = NewValue();
    if (value != nullptr) value->MakeHash();
  }
  return Touch(GetHash());
}

bool MemoryTxn::HSET(std::string_view field, std::string_view value) {
  FieldMap* hash = HashToWrite();
  return hash != nullptr && hash->Set(field, value);
}

bool MemoryTxn::HSETNX(std::string_view field, std::string_view value) {
  FieldMap* hash = GetHash();
  if (hash != nullptr && hash->Find(field)) return false;
  return HSET(field, value);
}

std::optional<std::string_view> MemoryTxn::HGET(std::string_view field) {
  const FieldMap* hash = GetHash();
  return hash == nullptr ? std::nullopt : hash->Find(field);
}

void MemoryTxn::HMGET(absl::Span<const std::string_view> fields,
                      absl::Span<std::optional<std::string>> values) {
  const FieldMap* hash = GetHash();
  for (size_t i = 0; i < std::min(fields.size(), values.size()); ++i) {
    values[i].reset();
    if (hash == nullptr) continue;
    const std::optional<std::string_view> found = hash->Find(fields[i]);
    if (found) values[i].emplace(*found);
  }
}

int64_t MemoryTxn::HGETALL(absl::Span<HashField> out) {
  const FieldMap* hash = GetHash();
  return hash == nullptr ? 0 : hash->Copy(out);
}

bool MemoryTxn::HDEL(std::string_view field) {
  FieldMap* hash = GetHash();
  if (hash == nullptr || !hash->Erase(field)) return false;
  AfterRemoval(hash->size());
  return true;
}

bool MemoryTxn::HEXISTS(std::string_view field) {
  return HGET(field).has_value();
}

int64_t MemoryTxn::HLEN() {
  const FieldMap* hash = GetHash();
  return hash == nullptr ? 0 : hash->size();
}

int64_t MemoryTxn::HSTRLEN(std::string_view field) {
  const std::optional<std::string_view> value = HGET(field);
  return value ? static_cast<int64_t>(value->size()) : 0;
}

std::optional<int64_t> MemoryTxn::HINCRBY(std::string_view field, int64_t n) {
  const FieldMap* hash = GetHash();
  if (hash == nullptr && Live() != nullptr) return std::nullopt;
  const std::optional<std::string_view> held =
      hash == nullptr ? std::nullopt : hash->Find(field);
  const std::optional<int64_t> before = held ? ParseInteger(*held) : 0;
  int64_t after;
  if (!before) {
    Fail("ERR hash value is not an integer");
    return std::nullopt;
  }
  if (__builtin_add_overflow(*before, n, &after)) {
    Fail("ERR increment or decrement would overflow");
    return std::nullopt;
  }
  FieldMap* written = HashToWrite();
  if (written == nullptr) return std::nullopt;
  written->Set(field, IntegerText(after).view());
  return after;
}

std::optional<std::string> MemoryTxn::HINCRBYFLOAT(std::string_view field,
                                                   double n) {
  const std::optional<long double> more = ParseReal(n);
  if (!more) {
    Fail("ERR value is not a valid float");
    return std::nullopt;
  }
  if (std::isinf(*more)) {
    Fail("ERR value is NaN or Infinity");
    return std::nullopt;
  }
  const FieldMap* hash = GetHash();
  if (hash == nullptr && Live() != nullptr) return std::nullopt;
  const std::optional<std::string_view> held =
      hash == nullptr ? std::nullopt : hash->Find(field);
  const std::optional<long double> before = held ? ParseReal(*held) : 0.0L;
  if (!before) {
    Fail("ERR hash value is not a float");
    return std::nullopt;
  }
  const long double sum = *before + *more;
  if (!std::isfinite(sum)) {
    Fail("ERR increment would produce NaN or Infinity");
    return std::nullopt;
  }
  FieldMap* written = HashToWrite();
  if (written == nullptr) return std::nullopt;
  std::string after = FormatReal(sum);
  written->Set(field, after);
  return after;
}

}  // namespace weir
