// Makes traces: what `weir generate` prints.
//
// A trace is the sum of four kinds of traffic:
//   browsing   `clients` of them, one as busy as the Zipf law says (client k
//              in proportion to 1/k), at a rate that follows the time of day:
//              least at 03:00 UTC, greatest at 15:00
//   a scraper  one client at a steady rate, day and night
//   a burst    one client with many calls within one second
//   a storm    a block of clients that all fail at one moment and then try
//              again every second until the storm ends
//
// The same options give the same bytes on every platform: the numbers come
// from integer arithmetic and a generator of its own, never from <random>'s
// distributions or the C library's functions. A change of these bytes is a
// change of behaviour.
//
// Time never runs back. Memory does not grow with the lines.
#ifndef WEIR_TOOLS_CLI_GENERATE_H_
#define WEIR_TOOLS_CLI_GENERATE_H_

#include <cstdint>
#include <cstdio>

#include "absl/status/status.h"

namespace weir::cli {

enum class TraceFormat {
  // With a header: time,client,method,path,status,bytes. The names are those
  // that the columns of an access log have, so that one limits.json does for
  // both formats.
  kCsv,
  // Access log in combined format, UTC. Its times are whole seconds.
  kLog,
};

// The defaults make about 260,000 lines of one day.
struct GenerateOptions {
  uint64_t seed = 1;

  // Clients that browse, 1 to 10,000,000.
  int64_t clients = 1000;

  // The first instant, Unix seconds, and the length of the trace in seconds,
  // 1 to 10 years. 2023-11-14 00:00:00 UTC.
  int64_t start_s = 1699920000;
  int64_t duration_s = 86400;

  // Browsing calls per 1000 seconds, on the average over a day; 0 to 10^9.
  int64_t rate_per_1000s = 2000;

  // Stops after so many lines (the header not counted), of all kinds
  // together. 0: no such limit.
  int64_t max_lines = 0;

  // Calls per 1000 seconds of the scraper; 0: there is none.
  int64_t scraper_per_1000s = 1000;

  // Calls of the burst, at half of the duration; 0: there is none.
  int64_t burst_calls = 500;

  // Clients in the storm, at three quarters of the duration, and for how many
  // seconds they try again. 0 clients: there is none.
  int64_t storm_clients = 20;
  int64_t storm_s = 60;

  TraceFormat format = TraceFormat::kCsv;
};

// InvalidArgument, naming the option, its value and what is allowed, if an
// option is out of range. Costs nothing.
absl::Status Validate(const GenerateOptions& options);

// Writes the trace and flushes `out`. InvalidArgument as above, with nothing
// written; Unavailable if writing fails (a closed pipe, a full disk).
absl::Status Generate(const GenerateOptions& options, std::FILE* out);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_GENERATE_H_
