// The keys of a row under one limits file: its templates, bound to the columns
// of each input.
#ifndef WEIR_TOOLS_CLI_RULE_KEYS_H_
#define WEIR_TOOLS_CLI_RULE_KEYS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tools/cli/bound_template.h"
#include "tools/cli/input/row.h"
#include "tools/limits_json/limits_file.h"
#include "weir/limiter.h"

namespace weir::cli {

// What the keys of a rule were made from in the files of a source that was read
// to its end: the template itself or, with `or_client` as below, what stood for
// it; "{key} or {client}" where the files differ.
std::string KeyText(const KeyTemplate& wanted, bool or_client,
                    const RowSource& source);

class RuleKeys {
 public:
  // `limits` must outlive this. `name` is for messages; `files`: how many
  // inputs there are. `or_client`: a template that is just {key} stands for
  // {client} in a file that has that column and none called `key`.
  RuleKeys(const LimitsFile& limits, std::string name, size_t files,
           bool or_client = false);

  // A file's columns are known. InvalidArgument names the rule, the file and
  // the column that is not there.
  absl::Status Bind(int file, std::string_view file_name,
                    const Columns& columns);

  // Makes the keys of a row. Empty if all is well; else why the row cannot be
  // decided, for a person.
  std::string Render(const Row& row);

  // What Render made, one for each rule. Holds until the row's fields go, or
  // the next Render.
  absl::Span<const std::string_view> keys() const { return keys_; }

  // The call that the row makes; it refers to this and to the row.
  Call MakeCall(const Row& row) const;

 private:
  // Equal templates share a key.
  struct Bound {
    std::vector<BoundTemplate> keys;
    std::optional<BoundTemplate> tag;
  };

  const LimitsFile& limits_;
  const std::string name_;
  const bool or_client_;
  std::vector<std::optional<Bound>> bound_;  // by file
  // For each rule, which of the different keys it has.
  std::vector<size_t> key_of_rule_;
  std::vector<size_t> first_rule_;  // of each different key
  // Kept between rows for their memory.
  std::vector<std::string> buffers_;
  std::string tag_buffer_;
  std::vector<std::string_view> different_;
  std::vector<std::string_view> keys_;
  std::string_view tag_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_RULE_KEYS_H_
