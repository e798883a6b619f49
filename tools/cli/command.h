// Runs a program in a test and keeps what it said.
#ifndef WEIR_TOOLS_CLI_COMMAND_H_
#define WEIR_TOOLS_CLI_COMMAND_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tools/cli/temp_folder.h"

namespace weir::cli {

struct Ended {
  int code = -1;   // of an exit; -1 if a signal ended it
  int signal = 0;  // that ended it
  std::string out;
  std::string err;
};

// A running program. Its output goes to files, so that it never waits for the
// test; its input comes from a file or from a pipe that the test fills.
class Command {
 public:
  explicit Command(std::vector<std::string> args) : args_(std::move(args)) {}
  ~Command() {
    if (to_child_ >= 0) close(to_child_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command& Input(const std::string& text) {
    stdin_path_ = folder_.Write("in", text);
    return *this;
  }
  // Standard output is this descriptor, and is not kept.
  Command& OutputTo(int fd) {
    stdout_fd_ = fd;
    return *this;
  }

  // Starts it with a pipe as standard input.
  void StartWithPipe() {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    to_child_ = ends[1];
    Start(ends[0]);
    close(ends[0]);
  }
  // Returns when the program has taken all but a pipe's worth of it.
  void Feed(const std::string& text) {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n =
          write(to_child_, text.data() + done, text.size() - done);
      ASSERT_GT(n, 0);
      done += static_cast<size_t>(n);
    }
  }
  void Signal(int number) { kill(pid_, number); }

  Ended Wait() {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    Ended ended;
    if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
    ended.out = folder_.Read("out");
    ended.err = folder_.Read("err");
    return ended;
  }

  Ended Run() {
    const int in = open(stdin_path_.c_str(), O_RDONLY | O_CLOEXEC);
    Start(in);
    close(in);
    return Wait();
  }

 private:
  void Start(int in) {
    const int out = open(folder_.Path("out").c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const int err = open(folder_.Path("err").c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    std::vector<char*> argv;
    for (std::string& arg : args_) argv.push_back(arg.data());
    argv.push_back(nullptr);
    pid_ = fork();
    ASSERT_GE(pid_, 0);
    if (pid_ == 0) {
      // Whatever the test runner ignores, the program shall not.
      for (const int number :
           {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ}) {
        signal(number, SIG_DFL);
      }
      dup2(in, STDIN_FILENO);
      dup2(stdout_fd_ >= 0 ? stdout_fd_ : out, STDOUT_FILENO);
      dup2(err, STDERR_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    close(out);
    close(err);
  }

  TempFolder folder_;
  std::vector<std::string> args_;
  std::string stdin_path_ = "/dev/null";
  int stdout_fd_ = -1;
  int to_child_ = -1;
  pid_t pid_ = -1;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_COMMAND_H_
