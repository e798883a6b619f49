// Pieces of the model: numbers as text, and ranges.
#ifndef WEIR_TESTS_KIT_NAIVE_PARTS_H_
#define WEIR_TESTS_KIT_NAIVE_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir {
namespace testing {

inline constexpr char kWrongType[] =
    "-WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr char kNotFloat[] = "-ERR value is not a valid float";

// A number as INCRBYFLOAT reads it.
std::optional<long double> Real(const std::string& text);

// What INCRBY and INCRBYFLOAT do to a number as text. What they reply: `bad` if
// it is none.
std::string AddWhole(const std::string& before, int64_t n, const char* bad,
                     std::string* after);
std::string AddReal(const std::string& before, const std::string& n,
                    const char* bad, std::string* after);

// Is element `i` of `size` in the range? Counted from the end it is i - size,
// and -1 is the last.
bool InRange(int64_t i, int64_t size, int64_t start, int64_t stop);

bool IsOneOf(const std::string& word, const std::vector<std::string>& words);

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_NAIVE_PARTS_H_
