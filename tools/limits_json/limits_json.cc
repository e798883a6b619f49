#include "weir/limits_json.h"

#include <utility>

#include "core/text.h"
#include "tools/limits_json/key_template.h"
#include "tools/limits_json/limits_file.h"
#include "weir/clock.h"

namespace weir {
namespace {

const Registry& RegistryOf(const LimitsJsonOptions& options) {
  return options.registry != nullptr ? *options.registry : Registry::BuiltIn();
}

Time NowOf(const LimitsJsonOptions& options) {
  return options.now.has_value() ? *options.now : SteadyClock().Now();
}

absl::Status Fill(const cli::KeyTemplate& key, const LimitsJson::Column& column,
                  std::string* out) {
  out->clear();
  for (const cli::KeyTemplate::Part& part : key.parts()) {
    if (!part.is_column) {
      out->append(part.text);
      continue;
    }
    const std::optional<std::string_view> text = column(part.text);
    if (!text.has_value()) {
      return InvalidArgument("\"", key.text(), "\": there is no {", part.text,
                             "}");
    }
    out->append(*text);
  }
  return absl::OkStatus();
}

}  // namespace

struct LimitsJson::Parsed {
  cli::LimitsFile file;
};

LimitsJson::LimitsJson(std::shared_ptr<const Parsed> parsed)
    : parsed_(std::move(parsed)) {}

absl::StatusOr<LimitsJson> LimitsJson::Parse(std::string_view text,
                                             const LimitsJsonOptions& options) {
  absl::StatusOr<cli::LimitsFile> file =
      cli::ParseLimits(text, options.name, RegistryOf(options), NowOf(options));
  if (!file.ok()) return file.status();
  return LimitsJson(std::make_shared<const Parsed>(Parsed{*std::move(file)}));
}

absl::StatusOr<LimitsJson> LimitsJson::Read(const std::string& path,
                                            LimitsJsonOptions options) {
  absl::StatusOr<cli::LimitsFile> file =
      cli::ReadLimits(path, RegistryOf(options), NowOf(options));
  if (!file.ok()) return file.status();
  return LimitsJson(std::make_shared<const Parsed>(Parsed{*std::move(file)}));
}

const std::vector<Rule>& LimitsJson::rules() const {
  return parsed_->file.rules;
}

const std::string& LimitsJson::key(size_t rule) const {
  return parsed_->file.keys[rule].text();
}

std::optional<std::string_view> LimitsJson::tag() const {
  if (!parsed_->file.tag.has_value()) return std::nullopt;
  return parsed_->file.tag->text();
}

absl::Status LimitsJson::MakeKeys(const Column& column, CallKeys* out) const {
  if (column == nullptr) {
    return absl::InvalidArgumentError(
        "column: is empty; allowed: a function that gives each column");
  }
  const cli::LimitsFile& file = parsed_->file;
  out->keys.resize(file.keys.size());
  for (size_t i = 0; i < file.keys.size(); ++i) {
    absl::Status status = Fill(file.keys[i], column, &out->keys[i]);
    if (!status.ok()) return status;
  }
  out->tag.clear();
  if (!file.tag.has_value()) return absl::OkStatus();
  return Fill(*file.tag, column, &out->tag);
}

}  // namespace weir
