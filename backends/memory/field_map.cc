#include "backends/memory/field_map.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/memory/heap_bytes.h"

namespace weir {

FieldMap::Lengths FieldMap::LengthsAt(size_t at) const {
  Lengths lengths;
  std::memcpy(&lengths, packed_.data() + at, sizeof(lengths));
  return lengths;
}

std::string_view FieldMap::FieldAt(size_t at) const {
  return {packed_.data() + at + sizeof(Lengths), LengthsAt(at).field};
}

std::string_view FieldMap::ValueAt(size_t at) const {
  const std::string_view field = FieldAt(at);
  return {field.data() + field.size(), LengthsAt(at).value};
}

size_t FieldMap::After(size_t at) const {
  const Lengths lengths = LengthsAt(at);
  return at + sizeof(lengths) + lengths.field + lengths.value;
}

bool FieldMap::Holds(std::string_view view) const {
  const std::less_equal<> not_after;
  return !view.empty() && not_after(packed_.data(), view.data()) &&
         not_after(view.data(), packed_.data() + packed_.size());
}

size_t FieldMap::PackedFind(std::string_view field) const {
  for (size_t at = 0; at < packed_.size(); at = After(at)) {
    if (FieldAt(at) == field) return at;
  }
  return kNowhere;
}

std::optional<std::string_view> FieldMap::Find(std::string_view field) const {
  if (packed()) {
    const size_t at = PackedFind(field);
    if (at == kNowhere) return std::nullopt;
    return ValueAt(at);
  }
  const auto found = general_->fields.find(field);
  if (found == general_->fields.end()) return std::nullopt;
  return found->second;
}

bool FieldMap::Set(std::string_view field, std::string_view value) {
  if (!packed()) return GeneralSet(field, value);
  // What lies in the piece itself is copied before the piece changes.
  if (Holds(field) || Holds(value)) {
    return Set(std::string(field), std::string(value));
  }
  const size_t at = PackedFind(field);
  if (PackedSet(at, field, value)) return at == kNowhere;
  MakeGeneral();
  return GeneralSet(field, value);
}

void FieldMap::PackedAppend(std::string_view field, std::string_view value) {
  const Lengths lengths = {static_cast<uint16_t>(field.size()),
                           static_cast<uint16_t>(value.size())};
  char bytes[sizeof(lengths)];
  std::memcpy(bytes, &lengths, sizeof(lengths));
  packed_.append(bytes, sizeof(bytes)).append(field).append(value);
  ++count_;
}

void FieldMap::General::Add(std::string_view field, std::string_view value) {
  const auto place = fields.emplace(field, value).first;
  bytes += HeapBytes(place->first) + HeapBytes(place->second);
}

// False, and nothing changed: it has no place in the piece.
bool FieldMap::PackedSet(size_t at, std::string_view field,
                         std::string_view value) {
  if (field.size() + value.size() > kMostPackedBytes) return false;
  if (at == kNowhere) {
    if (count_ == kMostPacked ||
        packed_.size() + sizeof(Lengths) + field.size() + value.size() >
            kMostPackedBytes) {
      return false;
    }
    PackedAppend(field, value);
    return true;
  }
  Lengths lengths = LengthsAt(at);
  if (packed_.size() - lengths.value + value.size() > kMostPackedBytes) {
    return false;
  }
  const size_t begin = at + sizeof(lengths) + lengths.field;
  packed_.replace(begin, lengths.value, value);
  lengths.value = static_cast<uint16_t>(value.size());
  std::memcpy(&packed_[at], &lengths, sizeof(lengths));
  return true;
}

bool FieldMap::GeneralSet(std::string_view field, std::string_view value) {
  const auto found = general_->fields.find(field);
  if (found != general_->fields.end()) {
    const size_t before = HeapBytes(found->second);
    AssignText(&found->second, value);
    general_->bytes += HeapBytes(found->second) - before;
    return false;
  }
  general_->Add(field, value);
  ++count_;
  return true;
}

bool FieldMap::Erase(std::string_view field) {
  if (packed()) {
    const size_t at = PackedFind(field);
    if (at == kNowhere) return false;
    packed_.erase(at, After(at) - at);
  } else {
    const auto found = general_->fields.find(field);
    if (found == general_->fields.end()) return false;
    general_->bytes -= HeapBytes(found->first) + HeapBytes(found->second);
    general_->fields.erase(found);
  }
  --count_;
  return true;
}

int64_t FieldMap::Copy(absl::Span<HashField> out) const {
  const size_t n = std::min(count_, out.size());
  size_t i = 0;
  if (packed()) {
    for (size_t at = 0; i < n; at = After(at), ++i) {
      out[i].field.assign(FieldAt(at));
      out[i].value.assign(ValueAt(at));
    }
  } else {
    for (auto next = general_->fields.begin(); i < n; ++next, ++i) {
      out[i].field = next->first;
      out[i].value = next->second;
    }
  }
  return static_cast<int64_t>(n);
}

bool FieldMap::FreeSome() {
  if (packed()) return false;
  for (size_t i = 0; i < kFreedBlocks / 2; ++i) {
    const auto first = general_->fields.begin();
    if (first == general_->fields.end()) return i > 0;
    general_->bytes -= HeapBytes(first->first) + HeapBytes(first->second);
    general_->fields.erase(first);
    --count_;
  }
  return true;
}

size_t FieldMap::bytes() const {
  if (packed()) return HeapBytes(packed_);
  constexpr size_t kNode = kTreeNodeBytes + 2 * sizeof(std::string);
  return sizeof(General) + general_->bytes + count_ * kNode;
}

void FieldMap::MakeGeneral() {
  auto general = std::make_unique<General>();
  for (size_t at = 0; at < packed_.size(); at = After(at)) {
    general->Add(FieldAt(at), ValueAt(at));
  }
  general_ = std::move(general);
  packed_ = std::string();
}

}  // namespace weir
