// Engines whose state is one small struct, as the memory store runs them: the
// state lies in the entry, its expiry follows from the state itself, and a step
// costs no command of the general transaction.
#ifndef WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_
#define WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "backends/memory/bound_check.h"
#include "weir/engine.h"

namespace weir {

class OpenKey;

// What a WordView needs of a transaction: GET, SET and DEL of one small value.
class WordTxn {
 public:
  // `state` is null if there is none. `key` opens the way to an entry.
  WordTxn(OpenKey* key, char* state, size_t bytes)
      : key_(key), state_(state), bytes_(bytes) {}

  std::optional<std::string_view> GET() const {
    if (state_ == nullptr) return std::nullopt;
    return std::string_view(state_, bytes_);
  }
  // The expiry is that of the state: see WordOps::over.
  void SET(std::string_view value, int64_t /*px*/) {
    if (__builtin_expect(state_ == nullptr, 0)) {
      Insert();
      if (state_ == nullptr) return;
    }
    std::memcpy(state_, value.data(), value.size());
    Written();
  }
  void DEL();

 private:
  void Insert();
  void Written();

  OpenKey* const key_;
  char* state_;
  const size_t bytes_;
};

// The steps of such an engine.
struct WordOps {
  size_t state_bytes;
  EngineOps<WordTxn> steps;
  // The state equals that of a fresh key at `now`.
  bool (*over)(const void* params, const char* state, int64_t now);
  const BoundOps* bound;
};

namespace internal {

template <class E>
bool WordOver(const void* params, const char* bytes, int64_t now) {
  typename E::State state;
  std::memcpy(&state, bytes, sizeof(state));
  return E::FreshAt(*static_cast<const typename E::Params*>(params), state,
                    now) <= now;
}

template <class V>
struct IsWordView : std::false_type {};
template <class E, class T>
struct IsWordView<WordView<E, T>> : std::true_type {};

}  // namespace internal

template <class E>
inline constexpr bool kIsWordEngine =
    internal::IsWordView<typename E::template View<WordTxn>>::value;

template <class E>
inline constexpr WordOps kWordOps = {sizeof(typename E::State),
                                     kEngineOps<E, WordTxn>,
                                     &internal::WordOver<E>, &kBoundOps<E>};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_WORD_ENGINE_H_
