#include "tools/cli/report_json.h"

#include <optional>
#include <variant>

#include "tools/cli/json_writer.h"
#include "tools/limits_json/duration.h"

namespace weir::cli {
namespace {

int64_t Number(uint64_t n) { return static_cast<int64_t>(n); }

void WriteTimeLine(const TimeLine& line, JsonWriter* w) {
  w->Key("time_line").BeginObject();
  w->Key("bucket_us").Int(line.width_us());
  w->Key("buckets").BeginArray();
  int64_t start = line.start_us();
  for (const TimeLine::Bucket& bucket : line.buckets()) {
    w->BeginObject();
    w->Key("start_us").Int(start);
    w->Key("allowed").Int(Number(bucket.allowed));
    w->Key("denied").Int(Number(bucket.denied));
    w->EndObject();
    start += line.width_us();
  }
  w->EndArray();
  w->EndObject();
}

// The members that a rule and the limiter as a whole have in common.
void WriteTally(const Tally& tally, JsonWriter* w) {
  w->Key("calls").Int(Number(tally.calls()));
  w->Key("allowed").Int(Number(tally.allowed));
  w->Key("denied").Int(Number(tally.denied));
  w->Key("denied_share").Real(tally.denied_share());
  w->Key("soft").Int(Number(tally.soft));
  w->Key("never").Int(Number(tally.never));
  w->Key("waits").BeginObject();
  const bool waited = tally.waits.count() > 0;
  w->Key("count").Int(Number(tally.waits.count()));
  std::optional<int64_t> none;
  w->Key("median_us").Int(waited ? tally.waits.Quantile(500) : none);
  w->Key("p99_us").Int(waited ? tally.waits.Quantile(990) : none);
  w->Key("worst_us").Int(waited ? tally.waits.max() : none);
  w->EndObject();
  w->Key("worst_minute");
  if (const auto worst = tally.worst_minute.Find()) {
    w->BeginObject();
    w->Key("start_us").Int(worst->start_us);
    w->Key("denied").Int(Number(worst->denied));
    w->EndObject();
  } else {
    w->Null();
  }
  WriteTimeLine(tally.time_line, w);
}

void WriteValue(const FieldValue& value, JsonWriter* w) {
  struct Visitor {
    JsonWriter* w;
    void operator()(int64_t v) const { w->Int(v); }
    void operator()(double v) const { w->Exact(v); }
    void operator()(bool v) const { w->Bool(v); }
    void operator()(Micros v) const { w->String(FormatDuration(v)); }
    void operator()(const std::string& v) const { w->String(v); }
  };
  std::visit(Visitor{w}, value);
}

void WriteRule(const Report& report, size_t i, size_t top, JsonWriter* w) {
  const Rule& rule = report.limits().rules[i];
  w->BeginObject();
  w->Key("name").String(rule.name);
  w->Key("algorithm").String(rule.limit.algorithm());
  w->Key("parameters").BeginObject();
  for (const auto& [name, value] : rule.limit.fields()) {
    w->Key(name);
    WriteValue(value, w);
  }
  w->EndObject();
  w->Key("key").String(report.key_text(i));
  w->Key("observe").Bool(rule.observe);
  WriteTally(report.rule(i), w);
  w->Key("keys").Int(Number(report.keys(i)));
  w->Key("keys_denied").Int(Number(report.keys_denied(i)));
  w->Key("top_denied").BeginArray();
  for (const DeniedKey& key : report.TopDenied(i, top)) {
    w->BeginObject();
    w->Key("key").String(key.key);
    w->Key("denied").Int(Number(key.denied));
    w->Key("calls").Int(Number(key.calls));
    w->EndObject();
  }
  w->EndArray();
  w->EndObject();
}

}  // namespace

void WriteInputJson(const InputCounts& in,
                    const std::vector<std::string>& files, bool sorted,
                    JsonWriter* w) {
  const bool rows = in.rows() > 0;
  w->Key("input").BeginObject();
  w->Key("files").BeginArray();
  for (const std::string& file : files) w->String(file);
  w->EndArray();
  w->Key("lines").Int(Number(in.lines));
  w->Key("malformed").Int(Number(in.malformed));
  w->Key("calls").Int(Number(in.checks));
  w->Key("peeks").Int(Number(in.peeks));
  w->Key("refunds").Int(Number(in.refunds));
  w->Key("resets").Int(Number(in.resets));
  w->Key("out_of_order").Int(Number(in.out_of_order));
  w->Key("latest_us").Int(in.latest_us);
  w->Key("sorted").Bool(sorted);
  w->Key("first_time_us")
      .Int(rows ? std::optional<int64_t>(in.first_us) : std::nullopt);
  w->Key("last_time_us")
      .Int(rows ? std::optional<int64_t>(in.last_us) : std::nullopt);
  w->EndObject();
}

void WriteReportJson(const Report& report, size_t top, JsonWriter* w) {
  w->Key("overall").BeginObject();
  WriteTally(report.overall(), w);
  w->EndObject();
  w->Key("rules").BeginArray();
  for (size_t i = 0; i < report.rules(); ++i) WriteRule(report, i, top, w);
  w->EndArray();
}

std::string ReportJson(const Report& report,
                       const std::vector<std::string>& files, size_t top,
                       bool sorted) {
  std::string out;
  JsonWriter w(&out);
  w.BeginObject();
  WriteInputJson(report.input(), files, sorted, &w);
  WriteReportJson(report, top, &w);
  w.EndObject();
  return out;
}

}  // namespace weir::cli
