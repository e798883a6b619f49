// The scripts of a store: one for each Lua half, and for calls of several rules
// one that has weir's own, and one that has the user's besides. Texts are
// constant, so a server's cache holds that many and no more.
#ifndef WEIR_BACKENDS_REDIS_SCRIPT_SET_H_
#define WEIR_BACKENDS_REDIS_SCRIPT_SET_H_

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/redis/call.h"
#include "weir/redis_store.h"
#include "weir/registry.h"

namespace weir::redis {

// Thread safety: never changes once made.
class ScriptSet {
 public:
  // The built-in ones, and those of the user's own engines.
  // InvalidArgument names the engine.
  static absl::StatusOr<ScriptSet> Make(
      absl::Span<const ScriptedEngine> engines);

  struct Half {
    const Script* alone;  // for a call of one rule
    // For a call of several, where no other half has a later kind.
    const Script* together;
    char kind;  // what it is called there, from '\1' on
  };
  // Null: the engine has no Lua half here.
  const Half* Find(const EngineInfo& engine) const;
  // What is said of an engine that Find does not know.
  std::string Missing() const;

 private:
  ScriptSet() = default;

  struct OwnedScript {
    std::string name, text, sha1;
    Script script;
  };
  const Script* Own(std::string name, std::string text);

  std::map<std::string, Half, std::less<>> built_in_;
  std::map<std::string, Half, std::less<>> users_;
  std::vector<std::unique_ptr<OwnedScript>> owned_;
};

}  // namespace weir::redis

#endif  // WEIR_BACKENDS_REDIS_SCRIPT_SET_H_
