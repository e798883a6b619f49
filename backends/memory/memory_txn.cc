// Keys, strings and lists; what the built-in engines use is in the header.
#include "backends/memory/memory_txn.h"

#include <memory>

#include "backends/memory/decimal.h"

namespace weir {
namespace {

// Rounded down.
int64_t ToMilliseconds(int64_t us) {
  return us / 1000 - (us % 1000 < 0 ? 1 : 0);
}

}  // namespace

void MemoryTxn::FailType() {
  Fail("WRONGTYPE Operation against a key holding the wrong kind of value");
}

Value* MemoryTxn::NewValue() {
  char* state = key_->Ensure();
  if (state == nullptr) {
    Fail("OOM command not allowed when used memory > 'maxmemory'.");
    return nullptr;
  }
  Value* const before = Table::ValueOf(state);
  if (before == nullptr || before->large()) {
    Table::SetValue(state, new Value());
    key_->Free(std::unique_ptr<Value>(before));
  }
  made_ = true;
  SetExpiry(kNoExpiry);
  return Table::ValueOf(state);
}

std::string_view MemoryTxn::TYPE() {
  const Value* value = Live();
  return value == nullptr ? "none" : value->type();
}

bool MemoryTxn::Overflows(int64_t milliseconds) const {
  return milliseconds > std::numeric_limits<int64_t>::max() -
                            std::max<int64_t>(0, ToMilliseconds(key_->now()));
}

bool MemoryTxn::PEXPIRE(int64_t milliseconds, ExpireIf condition) {
  if (Overflows(milliseconds)) {
    Fail("ERR invalid expire time in 'pexpire' command");
    return false;
  }
  return ExpireAt(After(std::max(milliseconds, -kLongestExpiryMs)), condition);
}

bool MemoryTxn::PEXPIREAT(int64_t milliseconds, ExpireIf condition) {
  const int64_t most = 9 * kLongestExpiryMs;
  return ExpireAt(std::min(std::max(milliseconds, -most), most) * 1000,
                  condition);
}

bool MemoryTxn::ExpireAt(int64_t us, ExpireIf condition) {
  if (Live() == nullptr) return false;
  const int64_t current = expiry();
  bool wanted = true;
  switch (condition) {
    case ExpireIf::kAny:
      break;
    case ExpireIf::kNone:
      wanted = current == kNoExpiry;
      break;
    case ExpireIf::kSome:
      wanted = current != kNoExpiry;
      break;
    case ExpireIf::kLater:
      wanted = us > current;
      break;
    case ExpireIf::kEarlier:
      wanted = us < current;
      break;
  }
  if (!wanted) return false;
  if (us <= key_->now()) {
    key_->Drop();
  } else {
    SetExpiry(us);
  }
  return true;
}

int64_t MemoryTxn::PTTL() {
  if (Live() == nullptr) return -2;
  if (expiry() == kNoExpiry) return -1;
  return (expiry() - key_->now()) / 1000;
}

int64_t MemoryTxn::PEXPIRETIME() {
  if (Live() == nullptr) return -2;
  if (expiry() == kNoExpiry) return -1;
  return ToMilliseconds(expiry());
}

bool MemoryTxn::PERSIST() {
  if (Live() == nullptr || expiry() == kNoExpiry) return false;
  SetExpiry(kNoExpiry);
  return true;
}

Value* MemoryTxn::GetText() {
  Value* value = Live();
  if (value == nullptr || value->is_text()) return value;
  FailType();
  return nullptr;
}

std::optional<std::string_view> MemoryTxn::GET() {
  const Value* value = GetText();
  if (value == nullptr) return std::nullopt;
  return value->text();
}

bool MemoryTxn::SetText(std::string_view value, int64_t expiry_us) {
  Value* v = NewValue();
  if (v == nullptr) return false;
  v->SetText(value);
  SetExpiry(expiry_us);
  return true;
}

void MemoryTxn::SET(std::string_view value, int64_t px) {
  SetOptions options;
  options.px = px;
  SET(value, options);
}

bool MemoryTxn::SET(std::string_view value, const SetOptions& options) {
  if (options.px && options.keep_ttl) {
    Fail("ERR syntax error");
    return false;
  }
  if (options.px && (*options.px <= 0 || Overflows(*options.px))) {
    Fail("ERR invalid expire time in 'set' command");
    return false;
  }
  const bool known = Live() != nullptr;
  if (options.only != WriteIf::kAny &&
      known != (options.only == WriteIf::kKnown)) {
    return false;
  }
  int64_t expiry_us = kNoExpiry;
  if (options.px) expiry_us = After(*options.px);
  if (options.keep_ttl && known) expiry_us = expiry();
  return SetText(value, expiry_us);
}

bool MemoryTxn::SETNX(std::string_view value) {
  return Live() == nullptr && SetText(value, kNoExpiry);
}

std::optional<std::string> MemoryTxn::GETSET(std::string_view value) {
  if (Live() == nullptr) {
    SetText(value, kNoExpiry);
    return std::nullopt;
  }
  const Value* held = GetText();
  if (held == nullptr) return std::nullopt;
  std::string before(held->text());
  SetText(value, kNoExpiry);
  return before;
}

std::optional<std::string> MemoryTxn::GETDEL() {
  const Value* value = GetText();
  if (value == nullptr) return std::nullopt;
  std::string before(value->text());
  key_->Drop();
  return before;
}

int64_t MemoryTxn::STRLEN() {
  const Value* value = GetText();
  return value == nullptr ? 0 : static_cast<int64_t>(value->text().size());
}

int64_t MemoryTxn::APPEND(std::string_view value) {
  if (Live() == nullptr) {
    return SetText(value, kNoExpiry) ? static_cast<int64_t>(value.size()) : 0;
  }
  Value* held = Touch(GetText());
  if (held == nullptr) return 0;
  held->text_ref().append(value);
  return static_cast<int64_t>(held->text().size());
}

std::optional<int64_t> MemoryTxn::Sum(std::optional<std::string_view> held,
                                      int64_t n, const char* no_number) {
  const std::optional<int64_t> before = held ? ParseInteger(*held) : 0;
  int64_t after;
  if (!before) {
    Fail(no_number);
  } else if (__builtin_add_overflow(*before, n, &after)) {
    Fail("ERR increment or decrement would overflow");
  } else {
    return after;
  }
  return std::nullopt;
}

std::optional<std::string> MemoryTxn::SumOfReals(
    std::optional<std::string_view> held, std::optional<long double> n,
    const char* no_number) {
  const std::optional<long double> before = held ? ParseReal(*held) : 0.0L;
  if (!before || !n) {
    Fail(no_number);
  } else if (const long double after = *before + *n; !std::isfinite(after)) {
    Fail("ERR increment would produce NaN or Infinity");
  } else {
    return FormatReal(after);
  }
  return std::nullopt;
}

std::optional<int64_t> MemoryTxn::INCRBY(int64_t n) {
  const bool known = Live() != nullptr;
  const std::optional<std::string_view> held = GET();
  if (known && !held) return std::nullopt;
  const std::optional<int64_t> after =
      Sum(held, n, "ERR value is not an integer or out of range");
  if (!after ||
      !SetText(IntegerText(*after).view(), known ? expiry() : kNoExpiry)) {
    return std::nullopt;
  }
  return after;
}

std::optional<std::string> MemoryTxn::INCRBYFLOAT(double n) {
  const bool known = Live() != nullptr;
  const std::optional<std::string_view> held = GET();
  if (known && !held) return std::nullopt;
  std::optional<std::string> after =
      SumOfReals(held, ParseReal(n), "ERR value is not a valid float");
  if (!after || !SetText(*after, known ? expiry() : kNoExpiry)) {
    return std::nullopt;
  }
  return after;
}

std::optional<std::string> MemoryTxn::LPOP() {
  List* list = GetList();
  if (list == nullptr) return std::nullopt;
  std::string element = list->At(0);
  list->PopLeft(1);
  AfterRemoval(list->size());
  return element;
}

std::optional<std::string> MemoryTxn::RPOP() {
  List* list = GetList();
  if (list == nullptr) return std::nullopt;
  std::string element = list->At(list->size() - 1);
  list->PopRight(1);
  AfterRemoval(list->size());
  return element;
}

std::optional<std::string> MemoryTxn::LINDEX(int64_t index) {
  const List* list = GetList();
  if (list == nullptr || !FindIndex(list->size(), &index)) return std::nullopt;
  return list->At(index);
}

bool MemoryTxn::LSET(int64_t index, std::string_view element) {
  if (Live() == nullptr) {
    Fail("ERR no such key");
    return false;
  }
  List* list = GetList();
  if (list == nullptr) return false;
  if (!FindIndex(list->size(), &index)) {
    Fail("ERR index out of range");
    return false;
  }
  list->Set(index, element);
  key_->Written();
  return true;
}

int64_t MemoryTxn::LRANGE(int64_t start, int64_t stop,
                          absl::Span<std::string> out) {
  const List* list = GetList();
  if (list == nullptr || !Clip(list->size(), &start, &stop)) return 0;
  const int64_t n =
      std::min(stop - start + 1, static_cast<int64_t>(out.size()));
  for (int64_t i = 0; i < n; ++i) {
    out[static_cast<size_t>(i)] = list->At(start + i);
  }
  return n;
}

}  // namespace weir
