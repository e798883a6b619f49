// What things take on the heap, for max_bytes: about, and never much less.
#ifndef WEIR_BACKENDS_MEMORY_HEAP_BYTES_H_
#define WEIR_BACKENDS_MEMORY_HEAP_BYTES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

// Of a node of a std::map without what it holds: three pointers, a colour, and
// the allocator's own.
inline constexpr size_t kTreeNodeBytes = 5 * sizeof(void*);

// How many blocks of their own are freed in one go.
inline constexpr size_t kFreedBlocks = 64;

// Of a string's characters; short ones lie in the string itself.
inline size_t HeapBytes(const std::string& s) {
  return s.capacity() > std::string().capacity() ? s.capacity() + 1 : 0;
}

// Another text in its place, without the heap if it fits; what was long does
// not stay so. The text may be a view of the string itself.
inline void AssignText(std::string* s, std::string_view text) {
  if (s->capacity() <= 64 + 4 * text.size()) {
    s->assign(text);
  } else {
    std::string(text).swap(*s);
  }
}

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_HEAP_BYTES_H_
