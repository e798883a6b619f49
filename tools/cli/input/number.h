// The numbers of a trace, exactly: no floating point on the way.
#ifndef WEIR_TOOLS_CLI_INPUT_NUMBER_H_
#define WEIR_TOOLS_CLI_INPUT_NUMBER_H_

#include <cstdint>
#include <string_view>

namespace weir::cli {

enum class NumberResult {
  kOk,
  kSyntax,  // not such a number at all
  kRange,   // one, but beyond +-(2^53 - 1)
};

// Digits only: "0", "17", "007".
NumberResult ParseCount(std::string_view text, int64_t* value);

// Digits, a minus sign before them allowed.
NumberResult ParseInteger(std::string_view text, int64_t* value);

// Seconds with 0 to 6 decimals, as microseconds: "1700000000.25", "-0.000001".
// A point has digits on both sides.
NumberResult ParseSeconds(std::string_view text, int64_t* micros);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_NUMBER_H_
