#include "tools/cli/decisions.h"

#include <optional>

#include "tools/cli/json_writer.h"

namespace weir::cli {
namespace {

void AppendBool(bool value, std::string* out) {
  out->append(value ? "true" : "false");
}

void AppendWait(const std::optional<Micros>& wait, std::string* out) {
  if (wait.has_value()) {
    AppendInt(wait->count(), out);
  } else {
    out->append("null");
  }
}

}  // namespace

std::string_view OpName(Op op) {
  switch (op) {
    case Op::kCheck:
      return "check";
    case Op::kPeek:
      return "peek";
    case Op::kRefund:
      return "refund";
    case Op::kReset:
      return "reset";
    case Op::kReserve:
      return "reserve";
  }
  return "";
}

DecisionFormat::DecisionFormat(absl::Span<const Rule> rules,
                               const std::vector<std::string>& files) {
  for (const Rule& rule : rules) {
    AppendJsonBytes(rule.name, &names_.emplace_back());
  }
  if (files.size() < 2) return;
  for (const std::string& file : files) {
    std::string& text = files_.emplace_back("\"file\": ");
    AppendJsonBytes(file, &text);
    text += ", ";
  }
}

void DecisionFormat::Append(const Row& row,
                            absl::Span<const std::string_view> keys,
                            const Decision& d, std::string* out) const {
  const auto binding = static_cast<size_t>(d.rule);
  out->push_back('{');
  if (!files_.empty()) out->append(files_[static_cast<size_t>(row.file)]);
  out->append("\"line\": ");
  AppendInt(static_cast<int64_t>(row.line), out);
  out->append(", \"time_us\": ");
  AppendInt(row.time_us, out);
  out->append(", \"key\": ");
  AppendJsonBytes(keys[binding], out);
  out->append(", \"op\": \"");
  out->append(OpName(row.op));
  out->append("\", \"cost\": ");
  AppendInt(row.cost, out);
  out->append(", \"allowed\": ");
  AppendBool(d.allowed, out);
  out->append(", \"never\": ");
  AppendBool(d.never(), out);
  out->append(", \"rule\": ");
  out->append(names_[binding]);
  out->append(", \"limit\": ");
  AppendInt(d.limit, out);
  out->append(", \"remaining\": ");
  AppendInt(d.remaining, out);
  out->append(", \"retry_after_us\": ");
  AppendWait(d.retry_after, out);
  out->append(", \"reset_after_us\": ");
  AppendInt(d.reset_after.count(), out);
  out->append(", \"rules\": [");
  for (size_t i = 0; i < d.rules().size(); ++i) {
    const RuleVerdict& verdict = d.rules()[i];
    out->append(i == 0 ? "{\"name\": " : ", {\"name\": ");
    out->append(names_[i]);
    out->append(", \"allowed\": ");
    AppendBool(verdict.allowed, out);
    out->append(", \"remaining\": ");
    AppendInt(verdict.remaining, out);
    out->append(", \"retry_after_us\": ");
    AppendWait(verdict.retry_after, out);
    out->push_back('}');
  }
  out->append("]}\n");
}

}  // namespace weir::cli
