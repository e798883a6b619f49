// How an engine's C++ half and its Lua half talk: what the script is given,
// and how its answer is read. For authors of engines; see engine.h first.
//
// A script decides and stores; it answers with the state that the call leaves
// behind, and the numbers of the decision are worked out here, by the engine's
// own functions. An engine E with a Lua half has
//
//   static constexpr size_t kScriptBytes;      the state as the script gives it
//   static void WriteRecord(const Params&, RecordWriter*);
//       the parameters, all that its functions need: what a state was written
//       under is kept beside it
//   static void WriteStep(const Params&, int64_t cost, int64_t max_wait,
//                         StepWriter*);
//       one step, in the numbers that the script's Step wants, the cost first;
//       max_wait is 0 unless the call is a reservation
//   static State ReadState(std::string_view bytes);
//
// or, where its state is not one small struct, in place of ReadState,
//
//   static Numbers ReadNumbers(const Params&, std::string_view bytes,
//                              const StepArgs&);
//
// lua/README.md tells the other side. Bytes are little-endian.
#ifndef WEIR_SCRIPT_H_
#define WEIR_SCRIPT_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace weir {

struct Numbers;
struct StepArgs;

// Appends to a string.
class StepWriter {
 public:
  explicit StepWriter(std::string* bytes) : bytes_(bytes) {}
  // A double. Whole numbers are exact up to 2^53.
  void Number(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    for (int i = 0; i < 8; ++i) {
      bytes_->push_back(static_cast<char>(bits >> (8 * i)));
    }
  }
  void Count(int64_t value) { Number(static_cast<double>(value)); }

 private:
  std::string* bytes_;
};

class RecordWriter {
 public:
  explicit RecordWriter(std::string* bytes) : bytes_(bytes) {}
  // Not negative. Base 128, lowest digit first, 128 added to all but the last.
  void Count(int64_t value) {
    uint64_t left = static_cast<uint64_t>(value);
    for (; left >= 128; left /= 128) {
      bytes_->push_back(static_cast<char>(128 + left % 128));
    }
    bytes_->push_back(static_cast<char>(left));
  }
  // A double, 8 bytes.
  void Number(double value) { StepWriter(bytes_).Number(value); }

 private:
  std::string* bytes_;
};

// An unsigned whole number of `width` bytes.
inline uint64_t ReadUint(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return value;
}

inline double ReadNumber(std::string_view bytes, size_t at) {
  const uint64_t bits = ReadUint(bytes, at, 8);
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// A double that is a whole number; 0 if it is too large to be one.
inline int64_t ReadCount(std::string_view bytes, size_t at) {
  const double value = ReadNumber(bytes, at);
  constexpr double kLimit = 4611686018427387904.0;  // 2^62
  return value > -kLimit && value < kLimit ? static_cast<int64_t>(value) : 0;
}

// A Lua half as the stores see it.
struct EngineScript {
  size_t state_bytes;
  void (*write_record)(const void* params, std::string* bytes);
  void (*write_step)(const void* params, int64_t cost, int64_t max_wait,
                     std::string* bytes);
  Numbers (*read)(const void* params, std::string_view state, const StepArgs&);
};

namespace internal {

template <class E, class = void>
inline constexpr bool kHasScript = false;
template <class E>
inline constexpr bool kHasScript<E, std::void_t<decltype(E::kScriptBytes)>> =
    true;

template <class E, class = void>
inline constexpr bool kReadsState = false;
template <class E>
inline constexpr bool
    kReadsState<E, std::void_t<decltype(E::ReadState(std::string_view()))>> =
        true;

template <class E>
void WriteRecord(const void* params, std::string* bytes) {
  RecordWriter writer(bytes);
  E::WriteRecord(*static_cast<const typename E::Params*>(params), &writer);
}

template <class E>
void WriteStep(const void* params, int64_t cost, int64_t max_wait,
               std::string* bytes) {
  StepWriter writer(bytes);
  E::WriteStep(*static_cast<const typename E::Params*>(params), cost, max_wait,
               &writer);
}

}  // namespace internal
}  // namespace weir

#endif  // WEIR_SCRIPT_H_
