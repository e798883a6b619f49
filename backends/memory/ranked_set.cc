#include "backends/memory/ranked_set.h"

#include <algorithm>

#include "backends/memory/heap_bytes.h"

namespace weir {

const RankedSet::Node* RankedSet::NodeAt(size_t rank) const {
  const Node* n = root_;
  for (;;) {
    const size_t before = SizeOf(n->left);
    if (rank == before) return n;
    if (rank < before) {
      n = n->left;
    } else {
      rank -= before + 1;
      n = n->right;
    }
  }
}

void RankedSet::At(size_t rank, ScoredMember* out) const {
  const Node* n = NodeAt(rank);
  out->score = n->score;
  out->member = *n->member;
}

std::optional<size_t> RankedSet::RankOf(std::string_view member) const {
  const auto found = by_member_.find(member);
  if (found == by_member_.end()) return std::nullopt;
  size_t rank = 0;
  for (const Node* n = root_; n != &found->second;) {
    if (Before(found->second, *n)) {
      n = n->left;
    } else {
      rank += SizeOf(n->left) + 1;
      n = n->right;
    }
  }
  return rank + SizeOf(found->second.left);
}

std::optional<double> RankedSet::ScoreOf(std::string_view member) const {
  const auto found = by_member_.find(member);
  if (found == by_member_.end()) return std::nullopt;
  return found->second.score;
}

void RankedSet::Insert(double score, std::string_view member) {
  const auto place = by_member_.try_emplace(std::string(member)).first;
  Node& n = place->second;
  n.score = score;
  n.member = &place->first;
  bytes_ += BytesOf(place->first);
  root_ = InsertInto(root_, &n);
}

void RankedSet::Erase(size_t first, size_t last) {
  for (size_t i = first; i < last; ++i) {
    Node* taken = nullptr;
    root_ = TakeFrom(root_, first, &taken);
    bytes_ -= BytesOf(*taken->member);
    by_member_.erase(by_member_.find(*taken->member));
  }
}

size_t RankedSet::DepthOf(const Node* n) {
  return n == nullptr ? 0 : 1 + std::max(DepthOf(n->left), DepthOf(n->right));
}

size_t RankedSet::BytesOf(const std::string& member) {
  return kTreeNodeBytes + sizeof(Members::value_type) + HeapBytes(member);
}

RankedSet::Node* RankedSet::Turn(Node* n, Side light, Side heavy) {
  Node* up = n->*heavy;
  // NOLINTNEXTLINE(clang-analyzer-*): the heavy side has a node.
  n->*heavy = up->*light;
  up->*light = n;
  Resize(n);
  Resize(up);
  return up;
}

RankedSet::Node* RankedSet::Balance(Node* n) {
  constexpr size_t kHeavier = 3;
  constexpr size_t kInner = 2;
  const auto weight = [](const Node* of) { return SizeOf(of) + 1; };
  const auto lift = [weight](Node* of, Side light, Side heavy) {
    Node*& child = of->*heavy;
    // NOLINTNEXTLINE(clang-analyzer-*): see Turn.
    if (weight(child->*light) >= kInner * weight(child->*heavy)) {
      child = Turn(child, heavy, light);
    }
    return Turn(of, light, heavy);
  };
  if (weight(n->right) > kHeavier * weight(n->left)) {
    return lift(n, &Node::left, &Node::right);
  }
  if (weight(n->left) > kHeavier * weight(n->right)) {
    return lift(n, &Node::right, &Node::left);
  }
  Resize(n);
  return n;
}

RankedSet::Node* RankedSet::InsertInto(Node* n, Node* added) {
  if (n == nullptr) return added;
  Node*& side = Before(*added, *n) ? n->left : n->right;
  side = InsertInto(side, added);
  return Balance(n);
}

RankedSet::Node* RankedSet::TakeFrom(Node* n, size_t rank, Node** taken) {
  const size_t before = SizeOf(n->left);
  if (rank < before) {
    n->left = TakeFrom(n->left, rank, taken);
    return Balance(n);
  }
  if (rank > before) {
    n->right = TakeFrom(n->right, rank - before - 1, taken);
    return Balance(n);
  }
  *taken = n;
  if (n->left == nullptr) return n->right;
  if (n->right == nullptr) return n->left;
  // Its place goes to its neighbour on the heavier side.
  Node* left = n->left;
  Node* right = n->right;
  Node* next = nullptr;
  if (SizeOf(left) > SizeOf(right)) {
    left = TakeFrom(left, SizeOf(left) - 1, &next);
  } else {
    right = TakeFrom(right, 0, &next);
  }
  next->left = left;
  next->right = right;
  return Balance(next);
}

}  // namespace weir
