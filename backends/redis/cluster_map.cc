#include "backends/redis/cluster_map.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace weir::redis {
namespace {

// Whoever answers with ever new addresses must not fill our memory.
constexpr size_t kMostNodes = 4096;
constexpr std::chrono::milliseconds kBetweenRefreshes(50);
// One that takes longer is not waited for: the node asked may hang.
constexpr std::chrono::milliseconds kRefreshTakes(20);

int64_t Ticks(SteadyTime time) { return time.time_since_epoch().count(); }

// The server does not know a host's name; then it is the one that was asked.
bool IsUnknown(std::string_view host) { return host.empty() || host == "?"; }

}  // namespace

ClusterMap::ClusterMap(const ClientOptions& options, Tally* tally)
    : options_(options), tally_(tally) {
  for (const Address& address : options.addresses) Get(address);
  MutexLock lock(&mutex_);
  first_ = nodes_.front().get();
}

Node* ClusterMap::Owner(int slot) const {
  if (!options_.cluster) return first_;
  if (slot < 0) return nullptr;
  return owners_[static_cast<size_t>(slot)].load(std::memory_order_acquire);
}

Node* ClusterMap::Any(const Node* except) {
  MutexLock lock(&mutex_);
  Node* closed = nullptr;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    Node* const node = nodes_[(turn_ + i) % nodes_.size()].get();
    if (node == except) continue;
    if (!node->breaker().is_open()) {
      turn_ += i + 1;
      return node;
    }
    if (closed == nullptr) closed = node;
  }
  ++turn_;
  return closed;
}

Node* ClusterMap::Get(const Address& address) {
  MutexLock lock(&mutex_);
  for (const auto& node : nodes_) {
    if (node->address() == address) return node.get();
  }
  if (nodes_.size() >= kMostNodes) return nullptr;
  nodes_.push_back(std::make_unique<Node>(address, options_, tally_));
  return nodes_.back().get();
}

Node* ClusterMap::Find(std::string_view text, const Node& told_by) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return nullptr;
  Address address;
  address.host = std::string(text.substr(0, colon));
  if (IsUnknown(address.host)) address.host = told_by.address().host;
  const char* end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end || address.port < 1 ||
      address.port > kMaxPort) {
    return nullptr;
  }
  return Get(address);
}

void ClusterMap::SetOwner(int slot, Node* node) {
  owners_[static_cast<size_t>(slot)].store(node, std::memory_order_release);
}

std::vector<int> ClusterMap::SlotOfEachMaster() const {
  std::vector<int> slots;
  std::vector<const Node*> seen;
  for (int slot = 0; slot < kSlots; ++slot) {
    const Node* const owner = Owner(slot);
    if (owner == nullptr ||
        std::find(seen.begin(), seen.end(), owner) != seen.end()) {
      continue;
    }
    seen.push_back(owner);
    slots.push_back(slot);
  }
  return slots;
}

bool ClusterMap::Apply(const Reply& slots, const Node& told_by) {
  const bool learned = Learn(slots, told_by);
  EndRefresh();
  return learned;
}

bool ClusterMap::Learn(const Reply& slots, const Node& told_by) {
  if (slots.type != Reply::Type::kArray) return false;
  for (const Reply& range : slots.elements) {
    // First slot, last slot, master, replicas; a node is host, port, id.
    if (range.elements.size() < 3 || range.elements[2].elements.size() < 2) {
      return false;
    }
    const int64_t low = range.elements[0].integer;
    const int64_t high = range.elements[1].integer;
    if (low < 0 || high >= kSlots || low > high) return false;
    const std::vector<Reply>& master = range.elements[2].elements;
    Address address;
    address.host =
        IsUnknown(master[0].text) ? told_by.address().host : master[0].text;
    address.port = static_cast<int>(master[1].integer);
    if (address.port < 1 || address.port > kMaxPort) return false;
    Node* const node = Get(address);
    if (node == nullptr) return false;
    for (int64_t slot = low; slot <= high; ++slot) {
      SetOwner(static_cast<int>(slot), node);
    }
  }
  stale_.store(false, std::memory_order_relaxed);
  tally_->map_refreshes.Add();
  return true;
}

bool ClusterMap::ClaimRefresh(SteadyTime now) {
  if (!options_.cluster || !stale_.load(std::memory_order_relaxed)) {
    return false;
  }
  // Relaxed: only one caller wins; nothing else is passed on.
  int64_t next = next_refresh_.load(std::memory_order_relaxed);
  const bool claimed =
      Ticks(now) >= next &&
      next_refresh_.compare_exchange_strong(
          next, Ticks(now + kBetweenRefreshes), std::memory_order_relaxed);
  if (claimed) {
    refreshing_until_.store(Ticks(now + kRefreshTakes),
                            std::memory_order_relaxed);
  }
  return claimed;
}

bool ClusterMap::IsRefreshing(SteadyTime now) const {
  return Ticks(now) < refreshing_until_.load(std::memory_order_acquire);
}

}  // namespace weir::redis
