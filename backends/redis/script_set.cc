#include "backends/redis/script_set.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/redis/sha1.h"
#include "core/text.h"
#include "engine_scripts.h"

namespace weir::redis {
namespace {

constexpr size_t kMostKinds = 255;

// Kinds are counted from 1, as Lua does.
char KindOf(size_t index) { return static_cast<char>(index + 1); }

std::string Definition(size_t index, std::string_view lua) {
  return absl::StrCat("engines[", index + 1, "] = function()\n", Sv(lua),
                      "\nend\n");
}

}  // namespace

const Script* ScriptSet::Own(std::string name, std::string text) {
  auto owned = std::make_unique<OwnedScript>();
  owned->sha1 = Sha1(text);
  owned->name = std::move(name);
  owned->text = std::move(text);
  owned->script = {owned->name, owned->text, owned->sha1};
  owned_.push_back(std::move(owned));
  return &owned_.back()->script;
}

absl::StatusOr<ScriptSet> ScriptSet::Make(
    absl::Span<const ScriptedEngine> engines) {
  ScriptSet set;
  for (const EngineScriptIndex& e : kScriptOfEngine) {
    set.built_in_[std::string(e.algorithm)] = {
        &kEngineScripts[e.index], &kSeveralScript, KindOf(e.index)};
  }
  if (engines.empty()) return set;

  const std::string_view all = kSeveralScript.text;
  const std::string_view head = all.substr(0, kHeadBytes);
  const std::string_view prelude = all.substr(kPreludeAt, kPreludeBytes);
  const std::string_view run = all.substr(kRunAt);
  std::string several(all.substr(0, kRunAt));
  size_t index = std::size(kEngineScripts);
  for (const ScriptedEngine& e : engines) {
    if (e.lua.empty()) {
      return InvalidArgument("engines: \"", e.algorithm, "\" has no Lua half");
    }
    if (Registry::BuiltIn().Find(e.algorithm) != nullptr) {
      return InvalidArgument("engines: \"", e.algorithm,
                             "\" is weir's own; allowed: another name");
    }
    if (set.users_.count(e.algorithm) > 0) {
      return InvalidArgument("engines: \"", e.algorithm, "\" stands twice");
    }
    if (index >= kMostKinds) {
      return InvalidArgument("engines: too many; allowed: ",
                             kMostKinds - std::size(kEngineScripts));
    }
    const Script* alone = set.Own(
        e.algorithm,
        absl::StrCat(Sv(head), Sv(prelude), Definition(0, e.lua), Sv(run)));
    set.users_[e.algorithm] = {alone, nullptr, KindOf(index)};
    several += Definition(index++, e.lua);
  }
  several += run;
  const Script* const together = set.Own("several", std::move(several));
  for (auto& [name, half] : set.users_) half.together = together;
  return set;
}

const ScriptSet::Half* ScriptSet::Find(const EngineInfo& engine) const {
  // A user's engine may be named like nobody else's, so the name decides once
  // it is known whose engine it is.
  const bool built_in = Registry::BuiltIn().Find(engine.name) == &engine;
  const auto& halves = built_in ? built_in_ : users_;
  const auto it = halves.find(engine.name);
  return it == halves.end() ? nullptr : &it->second;
}

std::string ScriptSet::Missing() const {
  std::string text =
      "its Lua half is missing in RedisStoreOptions::engines, which has ";
  if (users_.empty()) text += "none";
  const char* before = "";
  for (const auto& [name, half] : users_) {
    absl::StrAppend(&text, before, "\"", name, "\"");
    before = ", ";
  }
  return text;
}

}  // namespace weir::redis
