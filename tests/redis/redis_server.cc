#include "tests/redis/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <thread>
#include <utility>

namespace weir::testing {
namespace {

bool IsFree(int port, int* chosen) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool free =
      bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (free && chosen != nullptr) *chosen = ntohs(address.sin_port);
  close(fd);
  return free;
}

std::string MakeFolder() {
  const char* base = std::getenv("TMPDIR");
  std::string path =
      std::string(base != nullptr ? base : "/tmp") + "/weir-redis-XXXXXX";
  return mkdtemp(path.data()) != nullptr ? path : "";
}

}  // namespace

bool WaitUntil(const std::function<bool()>& holds,
               std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

const std::string& RedisServerProgram() {
  static const auto* const path = new std::string([] {
    // One that is not there is not passed over in silence: nothing starts.
    const char* const named = std::getenv("WEIR_REDIS_SERVER");
    if (named != nullptr && *named != '\0') return std::string(named);
    const char* folders = std::getenv("PATH");
    std::istringstream in(std::string(folders != nullptr ? folders : "") +
                          ":/usr/bin:/usr/local/bin");
    for (std::string folder; std::getline(in, folder, ':');) {
      std::string file = folder + "/redis-server";
      if (access(file.c_str(), X_OK) == 0) return file;
    }
    return std::string();
  }());
  return *path;
}

bool RedisIsRequired() {
  const char* value = std::getenv("WEIR_REQUIRE_REDIS");
  return value != nullptr && std::string(value) == "1";
}

int FreePort(bool with_bus) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    int port = 0;
    if (!IsFree(0, &port)) continue;
    if (!with_bus) return port;
    // The kernel's own choice leaves no room for the bus above it.
    const int low = 10000 + port % 20000;
    if (IsFree(low, nullptr) && IsFree(low + 10000, nullptr)) return low;
  }
  return 0;
}

std::unique_ptr<RedisServer> RedisServer::Start(
    const std::vector<std::string>& options) {
  if (RedisServerProgram().empty()) return nullptr;
  bool cluster = false;
  for (const std::string& word : options)
    cluster |= word == "--cluster-enabled";
  // Another process may take the port in between.
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::unique_ptr<RedisServer> server(
        new RedisServer(FreePort(cluster), MakeFolder(), options));
    if (server->Launch()) return server;
  }
  return nullptr;
}

RedisServer::RedisServer(int port, std::string folder,
                         std::vector<std::string> options)
    : port_(port), folder_(std::move(folder)), options_(std::move(options)) {}

RedisServer::~RedisServer() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string RedisServer::url() const {
  return "redis://127.0.0.1:" + std::to_string(port_);
}

bool RedisServer::Launch() {
  std::vector<std::string> words = {RedisServerProgram(),
                                    "--port",
                                    std::to_string(port_),
                                    "--bind",
                                    "127.0.0.1",
                                    "--unixsocket",
                                    socket_path(),
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--dir",
                                    folder_,
                                    "--logfile",
                                    folder_ + "/log"};
  words.insert(words.end(), options_.begin(), options_.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    // Goes with the test, however that ends.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (pid_ < 0) return false;
  client_ = std::make_unique<HiredisClient>("127.0.0.1", port_);
  bool gone = false;
  const bool up = WaitUntil([&] {
    int status;
    gone = waitpid(pid_, &status, WNOHANG) == pid_;
    if (gone) return true;
    // Also while it is loading, or wants a password.
    return client_->Call({"PING"}).type != 0;
  });
  if (gone) pid_ = 0;
  return up && !gone;
}

int64_t RedisServer::Info(const std::string& section,
                          const std::string& field) {
  const std::string text = Call({"INFO", section}).text;
  const size_t at = text.find("\n" + field);
  return at == std::string::npos
             ? 0
             : std::stoll(text.substr(at + 1 + field.size()));
}

int64_t RedisServer::CallsOf(const std::string& command) {
  return Info("commandstats", "cmdstat_" + command + ":calls=");
}

bool RedisServer::TakeEverySlot() {
  std::vector<std::string> words = {"CLUSTER", "ADDSLOTS"};
  for (int slot = 0; slot < 16384; ++slot) {
    words.push_back(std::to_string(slot));
  }
  return Call(words).ok();
}

void RedisServer::Kill() {
  if (pid_ == 0) return;
  kill(pid_, SIGKILL);
  int status;
  waitpid(pid_, &status, 0);
  pid_ = 0;
}

bool RedisServer::Restart() {
  Kill();
  return Launch();
}

void RedisServer::Pause() {
  kill(pid_, SIGSTOP);
  // Stopped for sure only once the system says so.
  int status;
  waitpid(pid_, &status, WUNTRACED);
}

void RedisServer::Resume() { kill(pid_, SIGCONT); }

}  // namespace weir::testing
