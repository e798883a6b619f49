// The commands of lua/README.md do what it says of them.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/redis/redis_server.h"

namespace weir::testing {
namespace {

// What stands between ```sh and ```, one after the other.
std::string ShellLines() {
  std::ifstream in(WEIR_LUA_README);
  std::string all;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.substr(0, 3) == "```") {
      inside = line == "```sh";
    } else if (inside) {
      all += line + "\n";
    }
  }
  return all;
}

std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  for (int c; pipe != nullptr && (c = fgetc(pipe)) != EOF;) {
    output.push_back(static_cast<char>(c));
  }
  if (pipe != nullptr) pclose(pipe);
  return output;
}

TEST(LuaReadme, CanBeFollowedByHand) {
  WEIR_NEEDS_REDIS_SERVER();
  auto server = RedisServer::Start();
  ASSERT_NE(server, nullptr);
  const std::string script = server->folder() + "/by_hand.sh";
  // A redis-cli that asks this server is found first.
  std::ofstream(server->folder() + "/redis-cli")
      << "#!/bin/sh\nPATH=${PATH#*:}\nexec redis-cli -p " << server->port()
      << " \"$@\"\n";
  std::ofstream(script) << "chmod +x '" << server->folder() << "/redis-cli'\n"
                        << "PATH='" << server->folder() << "':$PATH\n"
                        << "cd '" << WEIR_LUA_TEXTS << "'\n"
                        << ShellLines();
  const std::string output = OutputOf("sh '" + script + "' 2>&1");
  std::vector<std::string> verdicts;
  std::istringstream lines(output);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.substr(0, 14) == "1) (integer) 1" ||
        line.substr(0, 14) == "1) (integer) 0") {
      verdicts.push_back(line.substr(13));
    }
    last = line;
  }
  EXPECT_EQ(verdicts, (std::vector<std::string>{"1", "1", "1", "0", "0", "1"}))
      << output;
  // A time, then a verdict and a state for each of two rules.
  EXPECT_EQ(server->Call({"EXISTS", "weir:a:gcra:{user:43}"}).integer, 1)
      << output;
  EXPECT_EQ(server->Call({"EXISTS", "weir:b:fixed_window:{user:43}"}).integer,
            1)
      << output;
}

}  // namespace
}  // namespace weir::testing
