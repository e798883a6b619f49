// Members with scores, in Redis's order: by score, then by member as bytes. The
// general encoding of a sorted set.
//
// Every step costs the logarithm of the size, and none more than another: two
// balanced trees, one by member, and in its nodes one by rank (weight-balanced;
// Adams 1992, with the parameters (3, 2) of Hirai and Yamamoto 2011).
#ifndef WEIR_BACKENDS_MEMORY_RANKED_SET_H_
#define WEIR_BACKENDS_MEMORY_RANKED_SET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "weir/txn.h"

namespace weir {

class RankedSet {
 public:
  RankedSet() = default;
  RankedSet(const RankedSet& other) : RankedSet() {
    ScoredMember element;
    for (size_t rank = 0; rank < other.size(); ++rank) {
      other.At(rank, &element);
      Insert(element.score, element.member);
    }
  }
  RankedSet& operator=(const RankedSet&) = delete;

  size_t size() const { return by_member_.size(); }

  // 0 <= rank < size().
  void At(size_t rank, ScoredMember* out) const;
  double ScoreAt(size_t rank) const { return NodeAt(rank)->score; }
  // Nothing if it is not there.
  std::optional<size_t> RankOf(std::string_view member) const;
  std::optional<double> ScoreOf(std::string_view member) const;

  // How many scores, from the lowest, are `before`: all that are come first.
  template <class Before>
  size_t CountWhile(Before before) const {
    size_t count = 0;
    for (const Node* n = root_; n != nullptr;) {
      if (before(n->score)) {
        count += SizeOf(n->left) + 1;
        n = n->right;
      } else {
        n = n->left;
      }
    }
    return count;
  }

  // How many come before this one, whether it is there or not.
  size_t CountBefore(double score, std::string_view member) const {
    size_t count = 0;
    for (const Node* n = root_; n != nullptr;) {
      if (n->score < score || (n->score == score && *n->member < member)) {
        count += SizeOf(n->left) + 1;
        n = n->right;
      } else {
        n = n->left;
      }
    }
    return count;
  }

  // A member that is not there.
  void Insert(double score, std::string_view member);
  // Ranks [first, last).
  void Erase(size_t first, size_t last);

  // On the heap.
  size_t bytes() const { return bytes_; }
  // The longest way from the root: for tests.
  size_t depth() const { return DepthOf(root_); }

 private:
  struct Node {
    Node* left = nullptr;
    Node* right = nullptr;
    size_t size = 1;
    double score = 0;
    const std::string* member = nullptr;
  };
  using Side = Node* Node::*;
  using Members = std::map<std::string, Node, std::less<>>;

  const Node* NodeAt(size_t rank) const;
  static size_t SizeOf(const Node* n) { return n == nullptr ? 0 : n->size; }
  static size_t DepthOf(const Node* n);
  static size_t BytesOf(const std::string& member);
  static bool Before(const Node& a, const Node& b) {
    return a.score != b.score ? a.score < b.score : *a.member < *b.member;
  }
  static void Resize(Node* n) {
    n->size = SizeOf(n->left) + SizeOf(n->right) + 1;
  }
  // The heavy side's child goes up, and takes `n` as its light side.
  static Node* Turn(Node* n, Side light, Side heavy);
  // Of a node whose subtrees are balanced, one of them by one node off.
  static Node* Balance(Node* n);
  static Node* InsertInto(Node* n, Node* added);
  static Node* TakeFrom(Node* n, size_t rank, Node** taken);

  Members by_member_;
  Node* root_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace weir

#endif  // WEIR_BACKENDS_MEMORY_RANKED_SET_H_
