#include "tools/cli/signals.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

namespace weir::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGPIPE};

// A signal handler can reach nothing but globals. Changed only while the
// signals are held off.
char temporary_file[PATH_MAX] = "";

void RemoveAndEnd(int signal_number) {
  if (temporary_file[0] != '\0') unlink(temporary_file);
  // SA_RESETHAND has put the default back; the signal comes again as soon as
  // this handler returns.
  raise(signal_number);
}

}  // namespace

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = &RemoveAndEnd;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal_number : kSignals) {
    struct sigaction before = {};
    sigaction(signal_number, nullptr, &before);
    if (before.sa_handler == SIG_IGN && signal_number != SIGPIPE) continue;
    sigaction(signal_number, &action, nullptr);
  }
  // A file that may not grow further is an error of the write.
  signal(SIGXFSZ, SIG_IGN);
}

bool SetTemporaryFile(const std::string& path) {
  if (path.size() >= sizeof(temporary_file)) return false;
  std::memcpy(temporary_file, path.c_str(), path.size() + 1);
  return true;
}

void ForgetTemporaryFile() { temporary_file[0] = '\0'; }

HoldSignals::HoldSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : kSignals) sigaddset(&set, signal_number);
  sigprocmask(SIG_BLOCK, &set, &before_);
}

HoldSignals::~HoldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace weir::cli
