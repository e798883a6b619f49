// Rows as bytes, for sorting: in memory and in temporary files.
#ifndef WEIR_TOOLS_CLI_INPUT_ROW_CODEC_H_
#define WEIR_TOOLS_CLI_INPUT_ROW_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/cli/input/row.h"

namespace weir::cli {

// The longest varint of 64 bits, and so the longest size in front of a row.
inline constexpr size_t kMaxVarint = 10;

// No encoded row is longer than this.
size_t MaxEncodedSize(const Row& row);

// Writes the row, its size in front, and returns how many bytes that took.
size_t EncodeRow(const Row& row, char* out);

// Reads the size in front of an encoded row. Returns how many bytes that took,
// or 0 if `bytes` does not hold it whole. *body: the size of what follows it.
size_t DecodeSize(std::string_view bytes, uint64_t* body);

// Reads what follows the size. Row::fields are views of `body`, kept in
// *fields. False: these are not the bytes of a row.
bool DecodeRow(std::string_view body, Row* row,
               std::vector<std::string_view>* fields);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_ROW_CODEC_H_
