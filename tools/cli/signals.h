// What happens when the program is told to stop (SIGINT, SIGTERM, SIGHUP,
// SIGQUIT, SIGXCPU) or its reader goes away (SIGPIPE): the one temporary file
// is removed, and the program ends as it would have without a handler.
#ifndef WEIR_TOOLS_CLI_SIGNALS_H_
#define WEIR_TOOLS_CLI_SIGNALS_H_

#include <csignal>
#include <string>

namespace weir::cli {

// Installs the handlers. A signal that is ignored stays ignored, but for
// SIGPIPE: whoever started the program may have had reasons to ignore it that
// are not the program's.
void HandleSignals();

// The file to be removed. One at a time; returns false if the path is too long
// to be kept. Call both with the signals held off (HoldSignals), together with
// what makes the file or takes it away.
bool SetTemporaryFile(const std::string& path);
void ForgetTemporaryFile();

// Holds these signals off while it lives.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_SIGNALS_H_
