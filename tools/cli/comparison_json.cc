#include <optional>

#include "tools/cli/comparison_text.h"
#include "tools/cli/json_writer.h"
#include "tools/cli/report_json.h"

namespace weir::cli {
namespace {

int64_t Number(uint64_t n) { return static_cast<int64_t>(n); }

std::optional<int64_t> Wait(const std::optional<Micros>& wait) {
  if (!wait.has_value()) return std::nullopt;
  return wait->count();
}

void WritePairs(const Comparison& comparison, JsonWriter* w) {
  w->Key("pairs").BeginArray();
  for (size_t a = 0; a < comparison.size(); ++a) {
    for (size_t b = a + 1; b < comparison.size(); ++b) {
      const int64_t only_a = Number(comparison.allowed_only_by(a, b));
      const int64_t only_b = Number(comparison.allowed_only_by(b, a));
      w->BeginObject();
      w->Key("a").String(LimitLetter(a));
      w->Key("b").String(LimitLetter(b));
      w->Key("differently").Int(only_a + only_b);
      w->Key("only_a_allows").Int(only_a);
      w->Key("only_b_allows").Int(only_b);
      w->EndObject();
    }
  }
  w->EndArray();
}

void WriteKeys(const Comparison& comparison, size_t top, JsonWriter* w) {
  w->Key("top_keys").BeginArray();
  for (const DifferingKey& key : comparison.TopDiffering(top)) {
    w->BeginObject();
    w->Key("key").String(key.key);
    w->Key("calls").Int(Number(key.calls));
    w->Key("differently").Int(Number(key.differing));
    w->Key("denied").BeginArray();
    for (const uint64_t denied : key.denied) w->Int(Number(denied));
    w->EndArray();
    w->EndObject();
  }
  w->EndArray();
}

void WriteFirst(const Comparison& comparison,
                const std::vector<std::string>& files, JsonWriter* w) {
  w->Key("first").BeginArray();
  for (const DifferingCall& call : comparison.first()) {
    w->BeginObject();
    w->Key("file").String(files[static_cast<size_t>(call.file)]);
    w->Key("line").Int(Number(call.line));
    w->Key("time_us").Int(call.time_us);
    w->Key("key").String(call.key);
    w->Key("cost").Int(call.cost);
    w->Key("verdicts").BeginArray();
    for (const DifferingCall::Verdict& verdict : call.verdicts) {
      w->BeginObject();
      w->Key("allowed").Bool(verdict.allowed);
      w->Key("retry_after_us").Int(Wait(verdict.retry_after));
      w->EndObject();
    }
    w->EndArray();
    w->EndObject();
  }
  w->EndArray();
}

void WriteTimeLine(const Comparison& comparison, JsonWriter* w) {
  const TimeLine& line = comparison.time_line();
  w->Key("time_line").BeginObject();
  w->Key("bucket_us").Int(line.width_us());
  w->Key("buckets").BeginArray();
  int64_t start = line.start_us();
  for (size_t i = 0; i < line.buckets().size(); ++i) {
    const TimeLine::Bucket& bucket = line.buckets()[i];
    w->BeginObject();
    w->Key("start_us").Int(start);
    w->Key("calls").Int(Number(bucket.allowed + bucket.denied));
    w->Key("differently").Int(Number(bucket.denied));
    w->EndObject();
    start += line.width_us();
  }
  w->EndArray();
  w->EndObject();
}

}  // namespace

std::string ComparisonJson(const Comparison& comparison,
                           const std::vector<std::string>& files, size_t top,
                           bool sorted) {
  std::string out;
  JsonWriter w(&out);
  w.BeginObject();
  WriteInputJson(comparison.input(), files, sorted, &w);
  w.Key("differently").Int(Number(comparison.differing()));
  w.Key("limits").BeginArray();
  for (size_t i = 0; i < comparison.size(); ++i) {
    w.BeginObject();
    w.Key("limit").String(LimitLetter(i));
    w.Key("name").String(comparison.limit(i).name);
    WriteReportJson(comparison.report(i), top, &w);
    w.EndObject();
  }
  w.EndArray();
  WritePairs(comparison, &w);
  WriteKeys(comparison, top, &w);
  WriteFirst(comparison, files, &w);
  WriteTimeLine(comparison, &w);
  w.EndObject();
  return out;
}

void AppendDifference(const Comparison& comparison, const std::string& file,
                      const Row& row, absl::Span<const Answer> answers,
                      std::string* out) {
  out->push_back('{');
  if (!file.empty()) {
    out->append("\"file\": ");
    AppendJsonBytes(file, out);
    out->append(", ");
  }
  out->append("\"line\": ");
  AppendInt(static_cast<int64_t>(row.line), out);
  out->append(", \"time_us\": ");
  AppendInt(row.time_us, out);
  out->append(", \"cost\": ");
  AppendInt(row.cost, out);
  out->append(", \"limits\": [");
  for (size_t i = 0; i < answers.size(); ++i) {
    const Decision& d = answers[i].decision;
    const auto rule = static_cast<size_t>(d.rule);
    out->append(i == 0 ? "{\"limit\": \"" : ", {\"limit\": \"");
    out->append(LimitLetter(i)).append("\", \"allowed\": ");
    out->append(d.allowed ? "true" : "false").append(", \"rule\": ");
    AppendJsonBytes(comparison.limit(i).limits->rules[rule].name, out);
    out->append(", \"key\": ");
    AppendJsonBytes(answers[i].keys[rule], out);
    out->append(", \"remaining\": ");
    AppendInt(d.remaining, out);
    out->append(", \"retry_after_us\": ");
    if (d.retry_after.has_value()) {
      AppendInt(d.retry_after->count(), out);
    } else {
      out->append("null");
    }
    out->push_back('}');
  }
  out->append("]}\n");
}

}  // namespace weir::cli
