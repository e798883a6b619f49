// The registry: algorithms by name, and the one place where a limit is checked.
//
// Most programs never name it: Limiter::Create uses Registry::BuiltIn(). To
// add an engine of your own (weir/engine.h):
//
//   weir::Registry registry = weir::Registry::BuiltIn();
//   absl::Status added = registry.Add(weir::kEngine<MyEngine>);
//   weir::LimiterOptions options;
//   options.registry = &registry;
//
// Thread safety: const methods from any thread; Add before the registry is
// shared.
#ifndef WEIR_REGISTRY_H_
#define WEIR_REGISTRY_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "weir/engine.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir {

// A limit that was checked: an engine and its parameters, ready to use.
struct CompiledLimit {
  // The name it was asked for by; part of the identity of its state.
  std::string algorithm = {};
  // What runs it. Null: unlimited, no store is asked.
  const EngineInfo* engine = nullptr;
  std::shared_ptr<const void> params = {};
  Traits traits = {};
  // The limit as text, fields sorted by name: equal texts are equal limits.
  std::string text = {};

  bool unlimited() const { return engine == nullptr; }
  // A limit of 0: every call is denied and nothing is charged.
  bool denies_all = false;
};

class Registry {
 public:
  // Every algorithm that weir brings. Costs nothing before main.
  static const Registry& BuiltIn();

  // AlreadyExists if there is an engine of this name (or the name is
  // "unlimited"). `engine` must outlive the registry.
  absl::Status Add(const EngineInfo& engine);

  // Null if there is none.
  const EngineInfo* Find(std::string_view name) const;

  // In the order of the engine list; "unlimited" is not among them.
  absl::Span<const EngineInfo* const> engines() const { return engines_; }

  // Checks a limit. `now` is a time at which it will be used: what it reaches
  // into the future must stay below 2^53 us. InvalidArgument names the field,
  // the value and what is allowed.
  absl::StatusOr<CompiledLimit> Compile(const Limit& limit, Time now) const;

 private:
  Registry() = default;
  std::vector<const EngineInfo*> engines_;
};

}  // namespace weir

#endif  // WEIR_REGISTRY_H_
