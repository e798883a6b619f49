// The fields of a hash: names and values of any bytes.
//
// Two encodings, and the change from one to the other can't be seen, but for
// the order in which the fields are told. A few short fields lie one after the
// other in one piece of memory and are searched through; beyond that they are a
// tree, so that no step pays for a rehash.
//
// Views that it gives are valid until it changes. What is written may be such a
// view.
#ifndef WEIR_BACKENDS_MEMORY_FIELD_MAP_H_
#define WEIR_BACKENDS_MEMORY_FIELD_MAP_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "weir/txn.h"

namespace weir {

class FieldMap {
 public:
  // Of the piece: what is more becomes a tree, and stays one.
  static constexpr size_t kMostPacked = 64;
  static constexpr size_t kMostPackedBytes = 2048;

  FieldMap() = default;
  FieldMap(FieldMap&&) = default;
  FieldMap& operator=(FieldMap&&) = default;
  FieldMap(const FieldMap& other)
      : packed_(other.packed_), count_(other.count_) {
    if (other.packed()) return;
    general_ = std::make_unique<General>(*other.general_);
  }
  FieldMap& operator=(const FieldMap&) = delete;

  int64_t size() const { return static_cast<int64_t>(count_); }
  std::optional<std::string_view> Find(std::string_view field) const;
  // True if the field is new.
  bool Set(std::string_view field, std::string_view value);
  bool Erase(std::string_view field);
  // As many as there is room for; returns how many.
  int64_t Copy(absl::Span<HashField> out) const;

  bool packed() const { return general_ == nullptr; }
  // On the heap.
  size_t bytes() const;
  // See Value.
  bool FreeSome();

 private:
  // Before each name and value: their lengths.
  struct Lengths {
    uint16_t field;
    uint16_t value;
  };
  struct General {
    // The field is not there.
    void Add(std::string_view field, std::string_view value);

    std::map<std::string, std::string, std::less<>> fields;
    size_t bytes = 0;
  };
  static constexpr size_t kNowhere = std::string::npos;

  Lengths LengthsAt(size_t at) const;
  std::string_view FieldAt(size_t at) const;
  std::string_view ValueAt(size_t at) const;
  // Is it a view of the piece?
  bool Holds(std::string_view view) const;
  // The place after this one's.
  size_t After(size_t at) const;
  size_t PackedFind(std::string_view field) const;
  void PackedAppend(std::string_view field, std::string_view value);
  bool PackedSet(size_t at, std::string_view field, std::string_view value);
  bool GeneralSet(std::string_view field, std::string_view value);
  void MakeGeneral();

  std::string packed_;
  size_t count_ = 0;
  std::unique_ptr<General> general_;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_FIELD_MAP_H_
