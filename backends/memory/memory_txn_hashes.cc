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
  if (GetHash() == nullptr && Live() != nullptr) return std::nullopt;
  const std::optional<int64_t> after =
      Sum(HGET(field), n, "ERR hash value is not an integer");
  FieldMap* hash = after ? HashToWrite() : nullptr;
  if (hash == nullptr) return std::nullopt;
  hash->Set(field, IntegerText(*after).view());
  return after;
}

std::optional<std::string> MemoryTxn::HINCRBYFLOAT(std::string_view field,
                                                   double n) {
  const std::optional<long double> more = ParseReal(n);
  if (!more || std::isinf(*more)) {
    Fail(more ? "ERR value is NaN or Infinity"
              : "ERR value is not a valid float");
    return std::nullopt;
  }
  if (GetHash() == nullptr && Live() != nullptr) return std::nullopt;
  std::optional<std::string> after =
      SumOfReals(HGET(field), more, "ERR hash value is not a float");
  FieldMap* hash = after ? HashToWrite() : nullptr;
  if (hash == nullptr) return std::nullopt;
  hash->Set(field, *after);
  return after;
}

}  // namespace weir
