// The CSV half of file_reader.h.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/text.h"
#include "tools/cli/input/csv.h"
#include "tools/cli/input/file_reader.h"
#include "tools/cli/input/number.h"
#include "tools/cli/input/shown.h"

namespace weir::cli {
namespace {

constexpr int kNone = -1;
constexpr char kBlank[] = "a blank line";

bool ParseOp(std::string_view text, Op* op) {
  if (text == "check") {
    *op = Op::kCheck;
  } else if (text == "peek") {
    *op = Op::kPeek;
  } else if (text == "refund") {
    *op = Op::kRefund;
  } else if (text == "reset") {
    *op = Op::kReset;
  } else {
    return false;
  }
  return true;
}

class CsvReader final : public FileReader {
 public:
  CsvReader(LineBuffer* lines, const std::string& name, Columns* columns)
      : lines_(lines), name_(name), columns_(columns) {}

  Event Next(Row* row, Malformed* malformed) override;
  const absl::Status& status() const override { return status_; }
  uint64_t lines() const override { return line_ + pending_lines_; }

 private:
  enum class Record { kFields, kMalformed, kEnd, kError };

  // Splits the next record. kFields: views_ has its fields, up to as many as
  // there are columns, and count_ says how many there are.
  Record NextRecord(Malformed* malformed);
  // The same for one that may have quotes and whose first line has `size`
  // bytes.
  Record NextQuoted(size_t size, size_t next, Malformed* malformed);
  Record BadQuotes(const char* what, size_t first_next, uint64_t seen,
                   Malformed* malformed);
  Event ReadHeader(Malformed* malformed);
  absl::Status UseHeader();
  bool FillRow(Row* row, std::string* reason);
  bool ParseTime(std::string_view text, int64_t* micros, std::string* reason);
  bool ParseCost(std::string_view text, int64_t* cost, std::string* reason);

  LineBuffer* const lines_;
  const std::string& name_;
  Columns* const columns_;
  absl::Status status_;

  // Lines before the window, and what of the window was looked at.
  uint64_t line_ = 0;
  uint64_t pending_lines_ = 0;
  size_t pending_ = 0;

  // Quotes went wrong before this place: no record that begins before it may
  // go on to another line. So a file full of stray quotes is still read in
  // linear time.
  uint64_t single_line_until_ = 0;

  QuotedSplitter splitter_;
  std::vector<std::string_view> fields_;
  const std::string_view* views_ = nullptr;
  size_t count_ = 0;

  bool have_header_ = false;
  int time_ = kNone;
  int time_us_ = kNone;
  int cost_ = kNone;
  int op_ = kNone;
};

CsvReader::Record CsvReader::NextRecord(Malformed* malformed) {
  lines_->Consume(pending_);
  line_ += pending_lines_;
  pending_ = 0;
  pending_lines_ = 0;
  malformed->line = line_ + 1;
  size_t size = 0;
  size_t next = 0;
  switch (lines_->Find(0, &size, &next)) {
    case LineBuffer::Found::kLine:
      break;
    case LineBuffer::Found::kTooLong:
      malformed->reason = "longer than 1 MiB";
      // If reading fails here the next call says so.
      lines_->SkipLine().IgnoreError();
      pending_lines_ = 1;
      return Record::kMalformed;
    case LineBuffer::Found::kEnd:
      return Record::kEnd;
    case LineBuffer::Found::kError:
      status_ = lines_->status();
      return Record::kError;
  }
  const std::string_view record(lines_->data(), size);
  if (IsBlankLine(record)) {
    pending_ = next;
    pending_lines_ = 1;
    malformed->reason = kBlank;
    return Record::kMalformed;
  }
  // The number of columns, for which there is room in fields_, is known after
  // the header only.
  if (!have_header_ || record.find('"') != record.npos) {
    return NextQuoted(size, next, malformed);
  }
  pending_ = next;
  pending_lines_ = 1;
  count_ = SplitPlain(record, fields_.data(), fields_.size());
  views_ = fields_.data();
  return Record::kFields;
}

CsvReader::Record CsvReader::NextQuoted(size_t size, size_t next,
                                        Malformed* malformed) {
  const size_t first_next = next;
  uint64_t line_count = 1;
  splitter_.Reset();
  for (;;) {
    switch (splitter_.Feed(lines_->data(), size)) {
      case QuotedSplitter::State::kDone: {
        const std::vector<std::string_view>& fields =
            splitter_.Finish(lines_->data());
        views_ = fields.data();
        count_ = fields.size();
        pending_ = next;
        pending_lines_ = line_count;
        return Record::kFields;
      }
      case QuotedSplitter::State::kBadQuote:
        return BadQuotes("text after a closing quote", first_next, next,
                         malformed);
      case QuotedSplitter::State::kOpen:
        break;
    }
    if (lines_->consumed() < single_line_until_) {
      return BadQuotes("a quote that is not closed", first_next, next,
                       malformed);
    }
    const size_t offset = next;
    switch (lines_->Find(offset, &size, &next)) {
      case LineBuffer::Found::kLine:
        size += offset;
        ++line_count;
        break;
      case LineBuffer::Found::kTooLong:
        return BadQuotes("a quote that is not closed within 1 MiB", first_next,
                         offset, malformed);
      case LineBuffer::Found::kEnd:
        return BadQuotes("a quote that is not closed", first_next, offset,
                         malformed);
      case LineBuffer::Found::kError:
        status_ = lines_->status();
        return Record::kError;
    }
  }
}

CsvReader::Record CsvReader::BadQuotes(const char* what, size_t first_next,
                                       uint64_t seen, Malformed* malformed) {
  single_line_until_ = std::max(single_line_until_, lines_->consumed() + seen);
  pending_ = first_next;
  pending_lines_ = 1;
  malformed->reason = what;
  return Record::kMalformed;
}

Event CsvReader::ReadHeader(Malformed* malformed) {
  switch (NextRecord(malformed)) {
    case Record::kFields:
      break;
    case Record::kMalformed:
      if (malformed->reason == kBlank) return Event::kMalformed;
      status_ = InvalidArgument(
          name_, ":", malformed->line,
          ": the header line is malformed: ", malformed->reason);
      return Event::kError;
    case Record::kEnd:
      return Event::kEnd;
    case Record::kError:
      return Event::kError;
  }
  status_ = UseHeader();
  if (!status_.ok()) return Event::kError;
  have_header_ = true;
  return Event::kFile;
}

absl::Status CsvReader::UseHeader() {
  std::vector<std::string> names;
  for (size_t i = 0; i < count_; ++i) names.emplace_back(views_[i]);
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return InvalidArgument(name_, ": the header names the column ",
                           Shown(*twice), " more than once");
  }
  *columns_ = Columns(std::move(names));
  time_ = columns_->Find("time");
  time_us_ = columns_->Find("time_us");
  cost_ = columns_->Find("cost");
  op_ = columns_->Find("op");
  if (time_ != kNone && time_us_ != kNone) {
    return InvalidArgument(name_,
                           ": the header has both columns time and time_us; "
                           "allowed is one of them");
  }
  if (time_ == kNone && time_us_ == kNone) {
    return InvalidArgument(name_,
                           ": the header has no column time (Unix seconds) or "
                           "time_us (Unix microseconds)");
  }
  fields_.resize(columns_->names().size());
  return absl::OkStatus();
}

bool CsvReader::ParseTime(std::string_view text, int64_t* micros,
                          std::string* reason) {
  const bool seconds = time_ != kNone;
  switch (seconds ? ParseSeconds(text, micros) : ParseInteger(text, micros)) {
    case NumberResult::kOk:
      return true;
    case NumberResult::kSyntax:
      *reason = seconds ? absl::StrCat("column time: ", Shown(text),
                                       " is not a number of seconds with up "
                                       "to 6 decimals")
                        : absl::StrCat("column time_us: ", Shown(text),
                                       " is not an integer");
      return false;
    case NumberResult::kRange:
      *reason = absl::StrCat("column ", seconds ? "time" : "time_us", ": ",
                             Shown(text), " is out of range");
      return false;
  }
  return false;
}

bool CsvReader::ParseCost(std::string_view text, int64_t* cost,
                          std::string* reason) {
  if (ParseCount(text, cost) == NumberResult::kOk) return true;
  *reason = absl::StrCat("column cost: ", Shown(text),
                         " is not an integer from 0 to ", kMaxTraceNumber);
  return false;
}

bool CsvReader::FillRow(Row* row, std::string* reason) {
  if (count_ != fields_.size()) {
    *reason = absl::StrCat(count_, count_ == 1 ? " field" : " fields",
                           ", the header has ", fields_.size());
    return false;
  }
  const std::string_view time = views_[time_ != kNone ? time_ : time_us_];
  if (!ParseTime(time, &row->time_us, reason)) return false;
  row->cost = 1;
  if (cost_ != kNone && !ParseCost(views_[cost_], &row->cost, reason)) {
    return false;
  }
  row->op = Op::kCheck;
  if (op_ != kNone && !ParseOp(views_[op_], &row->op)) {
    *reason = absl::StrCat("column op: ", Shown(views_[op_]),
                           " is none of check, peek, refund, reset");
    return false;
  }
  row->line = line_ + 1;
  row->fields = absl::MakeConstSpan(views_, count_);
  return true;
}

Event CsvReader::Next(Row* row, Malformed* malformed) {
  if (!have_header_) return ReadHeader(malformed);
  switch (NextRecord(malformed)) {
    case Record::kFields:
      break;
    case Record::kMalformed:
      return Event::kMalformed;
    case Record::kEnd:
      return Event::kEnd;
    case Record::kError:
      return Event::kError;
  }
  if (FillRow(row, &malformed->reason)) return Event::kRow;
  if (pending_lines_ > 1) {
    absl::StrAppend(&malformed->reason, " (in the record of lines ",
                    malformed->line, " to ", line_ + pending_lines_, ")");
  }
  return Event::kMalformed;
}

}  // namespace

bool IsCsvHeader(std::string_view line) {
  std::string copy(line);
  QuotedSplitter splitter;
  splitter.Reset();
  // One whose quotes are wrong is a header too, and an error later on.
  splitter.Feed(copy.data(), copy.size());
  for (const std::string_view name : splitter.Finish(copy.data())) {
    if (name == "time" || name == "time_us") return true;
  }
  return false;
}

std::unique_ptr<FileReader> MakeCsvReader(LineBuffer* lines,
                                          const std::string& name,
                                          Columns* columns) {
  return std::make_unique<CsvReader>(lines, name, columns);
}

}  // namespace weir::cli
