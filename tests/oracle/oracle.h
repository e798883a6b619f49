// The oracle: a slow, obviously right limiter with several rules over several
// keys. Tests ask it and a real limiter the same and compare every field.
//
// Written from the description of the algorithms and the laws alone; it
// includes nothing of weir. It forgets nothing and reads no clock.
#ifndef WEIR_TESTS_ORACLE_ORACLE_H_
#define WEIR_TESTS_ORACLE_ORACLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/oracle/model.h"

namespace weir_oracle {

struct RuleSpec {
  std::string name;
  LimitSpec limit;
  bool observe = false;
};

enum class Op { kCheck, kPeek, kRefund, kReset };

// One call: a key and a cost for each rule.
struct OracleCall {
  Op op = Op::kCheck;
  int64_t t = 0;
  std::vector<std::string> keys;
  std::vector<int64_t> costs;
};

struct RuleAnswer {
  std::string name;
  bool allowed = true;
  bool observe = false;
  int64_t limit = 0;
  int64_t remaining = 0;
  std::optional<int64_t> retry_after = 0;  // nothing: never
  int64_t reset_after = 0;
};

struct Answer {
  bool allowed = true;
  int rule = 0;
  int64_t limit = 0;
  int64_t remaining = 0;
  std::optional<int64_t> retry_after = 0;
  int64_t reset_after = 0;
  std::vector<RuleAnswer> rules;
};

// What happened to one rule's key in one call, for counting what a random test
// has reached.
struct Happened {
  bool present = false;  // there was a state
  bool cut = false;      // the state came from a clock that jumped
  bool cut_stored = false;
  bool carried = false;    // written under other parameters
  bool backwards = false;  // the reading is before the last change
  bool charged = false;
  bool clamped = false;    // refund: more than was used
  bool forgotten = false;  // refund: the key became fresh
};

class Oracle {
 public:
  Oracle() = default;
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;

  // The rules may be others at every call: state belongs to the name of a
  // rule, its algorithm and the key.
  Answer Run(const std::vector<RuleSpec>& rules, const OracleCall& call);

  // One for each rule of the last Run.
  const std::vector<Happened>& happened() const { return happened_; }

  // The earliest reading at which this rule's state on this key is not cut;
  // nothing if there is no state. For aiming at the edge.
  std::optional<int64_t> EarliestUncut(const RuleSpec& rule,
                                       const std::string& key) const;

 private:
  using Id = std::tuple<std::string, std::string, std::string>;
  // A key as one call sees it.
  struct Seen {
    std::unique_ptr<Model> model;
    bool own_verdict = true;
  };

  Seen Look(const RuleSpec& rule, const OracleCall& call, size_t i);
  void Change(const std::vector<RuleSpec>& rules, const OracleCall& call,
              bool allowed, std::vector<Seen>& seen);
  void Refund(const RuleSpec& rule, const OracleCall& call, size_t i,
              Seen& seen);
  void Store(const Id& id, const Model& model, int64_t t);

  struct Stored {
    std::unique_ptr<Model> model;
    int64_t written_at = 0;
  };
  std::map<Id, Stored> states_;
  std::vector<Happened> happened_;
};

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_ORACLE_H_
