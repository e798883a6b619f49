#include "tools/cli/input/csv.h"

#include <cstring>

namespace weir::cli {

size_t SplitPlain(std::string_view record, std::string_view* fields,
                  size_t max) {
  const char* begin = record.data();
  const char* const end = begin + record.size();
  size_t count = 0;
  // Fields are short as a rule: a plain loop beats a call of memchr for each.
  for (const char* p = begin; p != end; ++p) {
    if (*p != ',') continue;
    if (count < max) {
      fields[count] = std::string_view(begin, static_cast<size_t>(p - begin));
    }
    ++count;
    begin = p + 1;
  }
  if (count < max) {
    fields[count] = std::string_view(begin, static_cast<size_t>(end - begin));
  }
  return count + 1;
}

void QuotedSplitter::Reset() {
  pos_ = begin_ = 0;
  in_quotes_ = has_escape_ = false;
  spans_.clear();
}

QuotedSplitter::State QuotedSplitter::Feed(const char* record, size_t size) {
  for (;;) {
    if (!in_quotes_) {
      // At the beginning of a field.
      if (pos_ < size && record[pos_] == '"') {
        in_quotes_ = true;
        has_escape_ = false;
        begin_ = ++pos_;
      } else {
        const void* comma = std::memchr(record + pos_, ',', size - pos_);
        const size_t end =
            comma == nullptr
                ? size
                : static_cast<size_t>(static_cast<const char*>(comma) - record);
        spans_.push_back({pos_, end - pos_, false});
        pos_ = end + 1;
        if (comma == nullptr) return State::kDone;
        continue;
      }
    }
    const void* quote =
        pos_ < size ? std::memchr(record + pos_, '"', size - pos_) : nullptr;
    if (quote == nullptr) {
      pos_ = size;
      return State::kOpen;
    }
    pos_ = static_cast<size_t>(static_cast<const char*>(quote) - record) + 1;
    if (pos_ < size && record[pos_] == '"') {
      has_escape_ = true;
      ++pos_;
      continue;
    }
    if (pos_ < size && record[pos_] != ',') return State::kBadQuote;
    spans_.push_back({begin_, pos_ - 1 - begin_, has_escape_});
    in_quotes_ = false;
    if (pos_++ >= size) return State::kDone;
  }
}

const std::vector<std::string_view>& QuotedSplitter::Finish(char* record) {
  fields_.clear();
  for (const Span& span : spans_) {
    char* const begin = record + span.begin;
    size_t size = span.size;
    if (span.has_escape) {
      // Every quote inside is one of a pair: the second is dropped.
      char* out = begin;
      for (size_t i = 0; i < span.size; ++i) {
        *out++ = begin[i];
        if (begin[i] == '"') ++i;
      }
      size = static_cast<size_t>(out - begin);
    }
    fields_.emplace_back(begin, size);
  }
  return fields_;
}

}  // namespace weir::cli
