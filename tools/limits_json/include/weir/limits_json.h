// limits.json in a program: the rules of a limiter, from text. The same text
// is what `weir replay` and `weir compare` take, so what was tried on a log is
// what runs.
//
//   auto limits = weir::LimitsJson::Read("limits.json");
//   weir::LimiterOptions options;
//   options.trust_tags = true;  // for the tags of MakeKeys
//   auto limiter = weir::Limiter::Create(store, limits->rules(), options);
//   ...
//   auto again = weir::LimitsJson::Read("limits.json");   // it was changed
//   if (again.ok()) limiter->Update(again->rules());
//
// A tag is made of columns that stand in every key, but need not begin the
// keys: {host} is one for {client}@{host}. A limiter refuses such calls
// (InvalidArgument) unless it was made with LimiterOptions::trust_tags, as
// those of `weir replay` are. Equal keys must come with equal tags even so:
// what stands around a tag's column in a key must not occur in the columns.
//
// A target of its own, weir::limits_json: weir::weir does not depend on a JSON
// library, and a program that has its limits in code needs none of this.
//
// Thread safety: as a std::string.
#ifndef WEIR_LIMITS_JSON_H_
#define WEIR_LIMITS_JSON_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "weir/limiter.h"
#include "weir/registry.h"
#include "weir/time.h"

namespace weir {

struct LimitsJsonOptions {
  // Where algorithms are looked up; null: those that weir brings. Not kept.
  const Registry* registry = nullptr;
  // What the text is called in messages.
  std::string name = "limits.json";
  // For the bounds on windows: they must end before the year 2255. Absent: now.
  std::optional<Time> now = {};
};

// The keys of one call.
struct CallKeys {
  std::vector<std::string> keys = {};  // one for each rule
  std::string tag = {};                // empty if the limits name none
};

class LimitsJson {
 public:
  // Every rule is checked, as Limiter::Create would. InvalidArgument is one
  // line: the name, the place, the value, and what is allowed.
  static absl::StatusOr<LimitsJson> Parse(
      std::string_view text, const LimitsJsonOptions& options = {});

  // The same from a file of at most 16 MiB; its path is its name. NotFound,
  // PermissionDenied or another status if it cannot be read.
  static absl::StatusOr<LimitsJson> Read(const std::string& path,
                                         LimitsJsonOptions options = {});

  // For Limiter::Create, with trust_tags if there is a tag or an Update may
  // bring one, and for Limiter::Update.
  const std::vector<Rule>& rules() const;

  // The key template of a rule, and the tag, as they were written.
  const std::string& key(size_t rule) const;
  std::optional<std::string_view> tag() const;

  // What stands for {name} in a template; nothing if there is no such thing.
  using Column =
      std::function<std::optional<std::string_view>(std::string_view name)>;

  // Fills the templates. Not needed where all rules have the key {key}: then
  // limiter->Check(key) does. InvalidArgument names a column that is missing,
  // or says that `column` is empty.
  absl::Status MakeKeys(const Column& column, CallKeys* out) const;

 private:
  struct Parsed;
  explicit LimitsJson(std::shared_ptr<const Parsed> parsed);

  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace weir

#endif  // WEIR_LIMITS_JSON_H_
