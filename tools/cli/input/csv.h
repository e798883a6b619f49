// Splits one CSV record (RFC 4180) into fields, in place.
//
// A record that has quotes may go on over several lines; the splitter is fed
// line by line and keeps its place, so that the work is linear in the record.
#ifndef WEIR_TOOLS_CLI_INPUT_CSV_H_
#define WEIR_TOOLS_CLI_INPUT_CSV_H_

#include <cstddef>
#include <string_view>
#include <vector>

namespace weir::cli {

// For a record without any quote: splits at the commas. Writes the first `max`
// fields and returns how many there are in all, at least 1.
size_t SplitPlain(std::string_view record, std::string_view* fields,
                  size_t max);

class QuotedSplitter {
 public:
  enum class State {
    kDone,      // the record ends here
    kOpen,      // within quotes: feed the next line too
    kBadQuote,  // something follows a closing quote
  };

  // Begins a new record.
  void Reset();

  // Goes on to `size` bytes behind `record`, which is an end of a line. The
  // bytes fed before must still be there, at another place if need be.
  State Feed(const char* record, size_t size);

  // After kDone: the fields, with their quotes removed. `record` is where the
  // record lies now; its bytes are changed.
  const std::vector<std::string_view>& Finish(char* record);

 private:
  // An offset and a length; what is quoted is without its outer quotes.
  struct Span {
    size_t begin;
    size_t size;
    bool has_escape;
  };

  size_t pos_ = 0;
  // Where the field that is being read began.
  size_t begin_ = 0;
  bool in_quotes_ = false;
  bool has_escape_ = false;
  std::vector<Span> spans_;
  std::vector<std::string_view> fields_;
};

}  // namespace weir::cli

#endif  // WEIR_TOOLS_CLI_INPUT_CSV_H_
