// What one algorithm says about one key, as plainly as it can be said.
//
// A model gives only what its description gives: does a call pass at this
// instant, what does a charge change, when is the key like a fresh one. The
// numbers of a decision are then found from their definitions by search, not
// from formulas, so that no formula is shared with what is being judged.
//
// Written from the descriptions of the algorithms alone. Times are
// microseconds, `t` is always the reading of the call.
#ifndef WEIR_TESTS_ORACLE_MODEL_H_
#define WEIR_TESTS_ORACLE_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace weir_oracle {

inline constexpr int64_t kMaxExact = (int64_t{1} << 53) - 1;

// An algorithm and its parameters, under the names of limits.json. Durations
// are microseconds.
struct LimitSpec {
  std::string algorithm;
  std::map<std::string, int64_t> counts;
  std::map<std::string, int64_t> durations;
  std::map<std::string, std::string> words;
  std::map<std::string, bool> flags;
  std::map<std::string, double> reals;

  int64_t Count(const std::string& name) const { return counts.at(name); }
  int64_t Count(const std::string& name, int64_t fallback) const;
  int64_t Duration(const std::string& name) const { return durations.at(name); }
  int64_t Duration(const std::string& name, int64_t fallback) const;
  std::string Word(const std::string& name, const std::string& fallback) const;
  bool Flag(const std::string& name, bool fallback) const;

  bool unlimited() const { return algorithm == "unlimited"; }
  // A limit of 0, which denies everything.
  bool zero() const;

  friend bool operator==(const LimitSpec& a, const LimitSpec& b);
  friend bool operator!=(const LimitSpec& a, const LimitSpec& b) {
    return !(a == b);
  }
};

class Model {
 public:
  explicit Model(LimitSpec spec) : spec_(std::move(spec)) {}
  virtual ~Model() = default;
  Model(const Model&) = default;
  Model& operator=(const Model&) = delete;
  virtual std::unique_ptr<Model> Clone() const = 0;

  // The parameters that this state was written under.
  const LimitSpec& spec() const { return spec_; }

  // The most that passes at once on a fresh key.
  virtual int64_t Capacity() const = 0;
  // Would a call of this cost pass?
  virtual bool Admits(int64_t t, int64_t cost) const = 0;
  // Is the key like one that was never used, for every reading from t on?
  virtual bool Fresh(int64_t t) const = 0;
  virtual void Charge(int64_t t, int64_t cost) = 0;
  virtual void Refund(int64_t t, int64_t n) = 0;
  // Law 7: is the state so far ahead of the reading that a clock jumped?
  virtual bool Jumped(int64_t t) const = 0;
  // Law 7: the key becomes empty at the reading.
  virtual void Empty(int64_t t) = 0;
  // Law 11: this key is new, and takes over what `old` holds.
  virtual void TakeOver(const Model& old, int64_t t) = 0;
  virtual bool CountsDenied() const { return false; }

  // How many calls of cost 1 would pass now, back to back.
  int64_t Remaining(int64_t t) const;
  // The smallest wait after which a call of this cost passes if nothing else
  // comes; nothing if there is none.
  virtual std::optional<int64_t> Wait(int64_t t, int64_t cost) const;
  // The smallest wait after which the key is fresh.
  int64_t ResetAfter(int64_t t) const;

 private:
  LimitSpec spec_;
};

// A fresh key of this algorithm. Null for a name that has no model.
std::unique_ptr<Model> MakeModel(const LimitSpec& spec);

// One for each algorithm, each in a file of its own.
std::unique_ptr<Model> MakeGcra(const LimitSpec& spec);
std::unique_ptr<Model> MakeTokenBucket(const LimitSpec& spec);
std::unique_ptr<Model> MakeLeakyBucket(const LimitSpec& spec);
std::unique_ptr<Model> MakeUniform(const LimitSpec& spec);
std::unique_ptr<Model> MakeFixedWindow(const LimitSpec& spec);
std::unique_ptr<Model> MakeSlidingLog(const LimitSpec& spec);

// The names that MakeModel knows.
const std::map<std::string, std::unique_ptr<Model> (*)(const LimitSpec&)>&
Algorithms();

}  // namespace weir_oracle

#endif  // WEIR_TESTS_ORACLE_MODEL_H_
