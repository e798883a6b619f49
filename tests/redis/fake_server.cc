#include "tests/redis/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace weir::testing {
namespace {

// Takes one command off the front; false if it is not whole.
bool TakeCommand(std::string* bytes, FakeServer::Command* command) {
  size_t at = 0;
  const auto number = [&](char mark, size_t* value) {
    const size_t end = bytes->find("\r\n", at);
    if (end == std::string::npos || (*bytes)[at] != mark) return false;
    *value = std::strtoul(bytes->c_str() + at + 1, nullptr, 10);
    at = end + 2;
    return true;
  };
  size_t count;
  if (bytes->empty() || !number('*', &count)) return false;
  command->clear();
  for (size_t i = 0; i < count; ++i) {
    size_t size;
    if (at >= bytes->size() || !number('$', &size) ||
        at + size + 2 > bytes->size()) {
      return false;
    }
    command->push_back(bytes->substr(at, size));
    at += size + 2;
  }
  bytes->erase(0, at);
  return true;
}

}  // namespace

FakeServer::FakeServer(Behaviour behaviour, std::string info)
    : behaviour_(std::move(behaviour)),
      info_(std::move(info)),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_fd_(eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* name = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener_, name, size) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, name, &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

FakeServer::~FakeServer() {
  const uint64_t one = 1;
  if (write(stop_fd_, &one, sizeof one) != sizeof one) std::abort();
  thread_.join();
  close(listener_);
  close(stop_fd_);
}

void FakeServer::Serve() {
  std::vector<Peer> peers;
  while (true) {
    std::vector<pollfd> watched = {{stop_fd_, POLLIN, 0},
                                   {listener_, POLLIN, 0}};
    for (const Peer& peer : peers) watched.push_back({peer.fd, POLLIN, 0});
    poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) break;
    for (size_t i = peers.size(); i-- > 0;) {
      if (watched[i + 2].revents == 0 || Read(&peers[i])) continue;
      close(peers[i].fd);
      peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (std::exchange(close_all_, false)) {
      for (const Peer& peer : peers) close(peer.fd);
      peers.clear();
    }
    if (watched[1].revents != 0) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd >= 0) {
        peers.push_back({fd, ""});
        ++connections_;
      }
    }
  }
  for (const Peer& peer : peers) close(peer.fd);
}

bool FakeServer::Read(Peer* peer) {
  char part[4096];
  const ssize_t n = recv(peer->fd, part, sizeof part, 0);
  if (n <= 0) return false;
  peer->bytes.append(part, static_cast<size_t>(n));
  Command command;
  while (TakeCommand(&peer->bytes, &command)) {
    Answer answer;
    if (command[0] == "INFO") {
      answer.bytes = info_;
    } else {
      ++commands_;
      answer = behaviour_(command);
    }
    for (size_t sent = 0; sent < answer.bytes.size();) {
      const ssize_t m = send(peer->fd, answer.bytes.data() + sent,
                             answer.bytes.size() - sent, MSG_NOSIGNAL);
      if (m <= 0) return false;
      sent += static_cast<size_t>(m);
    }
    close_all_ |= answer.close_all;
    if (answer.close || answer.close_all) return false;
  }
  return true;
}

}  // namespace weir::testing
