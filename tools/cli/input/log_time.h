// The time of an access log's line: what stands between its brackets.
#ifndef WEIR_TOOLS_CLI_INPUT_LOG_TIME_H_
#define WEIR_TOOLS_CLI_INPUT_LOG_TIME_H_

#include <cstdint>
#include <string_view>

namespace weir::cli {

// Reads
//   19/Apr/2012:06:27:08 -0700   the usual form; the day may have one digit,
//                                the month's name any case
//   2012-04-19T06:27:08-07:00    ISO 8601; a space for the T is fine
// Both may have a fraction of a second (after a point or a comma; what is
// finer than a microsecond is dropped), and the zone may be `Z`, `UTC`, `GMT`,
// +hh, +hhmm or +hh:mm, with or without a space before it, or missing: then
// the time is UTC. Second 60, a leap second, is the next minute's first.
//
// Returns null, or what is wrong ("no such day") and leaves *micros alone. A
// time beyond +-(2^53 - 1) us is wrong, one before 1970 is not.
const char* ParseLogTime(std::string_view text, int64_t* micros);

// Whether `text` begins like one of the two forms.
bool LooksLikeLogTime(std::string_view text);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_LOG_TIME_H_
