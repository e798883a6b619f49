// Reads one line of an access log.
//
//   [virtual host] client [ident] [user] [time] "request" status bytes ...
//
// A line is a call if it has a client and a time, whatever the rest looks
// like; lines of error logs, comments, JSON and the like have none.
//
// time    A time (log_time.h) in brackets that follow a blank, not inside
//         quotes: the first that a blank and a quote follow, as the request
//         does, else the first. So no user's name passes for it. Where there
//         is none, a quote in that name may be why: then the first inside
//         quotes that a blank and a quote follow.
// client  As written: an address (IPv6 in any form, with zone, or in brackets
//         with a port), a host name, `unix:`. Of a list as proxies forward it
//         (`10.9.0.2, 10.9.0.3`) the first. `-` is no client.
// host    The virtual host in front of the client, without its port. Taken for
//         one is what stands before an address, or before a name that is
//         followed by the ident `-` and at least one word more. Four words or
//         more that fit neither this nor client, ident and user (the prefix of
//         a syslog, say) leave the line without a client; where the ident is
//         not `-` they fit if the first is an address, or a name with a dot
//         and no other word is `-`, an address, or ends with a colon.
// user    What is between ident and time, blanks, quotes and brackets inside it
//         included. Where the ident is missing, the one word between client and
//         time.
// method  The request up to its first blank.
// path    The rest without the protocol at its end and without the query (`?`
//         and what follows). Blanks inside it are kept; nothing is decoded.
// status, bytes  As written, numbers or not.
//
// The request ends at the first quote that a blank or the line's end follows
// and no backslash precedes. Blanks are spaces and tabs, any number of them. At
// the beginning of a line a byte order mark and NUL bytes are skipped too:
// they are left there by joining and by truncating files.
#ifndef WEIR_TOOLS_CLI_INPUT_ACCESS_LOG_H_
#define WEIR_TOOLS_CLI_INPUT_ACCESS_LOG_H_

#include <cstdint>
#include <string_view>

namespace weir::cli {

// Views into the line; what the line lacks is "-".
struct AccessLine {
  int64_t time_us = 0;
  std::string_view client;
  std::string_view user;
  std::string_view method;
  std::string_view path;
  std::string_view status;
  std::string_view bytes;
  std::string_view host;
};

// What is wrong with a line, and which piece of it, if any.
struct LineProblem {
  const char* what = nullptr;
  std::string_view value;
};

// True and *out, or false and *problem.
bool ParseAccessLine(std::string_view line, AccessLine* out,
                     LineProblem* problem);

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_ACCESS_LOG_H_
