#include "tools/cli/input_text.h"

#include "core/text.h"
#include "tools/cli/human.h"
#include "tools/cli/text_layout.h"
#include "tools/limits_json/printable.h"

namespace weir::cli {

void WriteInputText(std::string_view title, const InputCounts& in,
                    const std::vector<std::string>& files, bool ascii,
                    bool sorted, std::string* out) {
  const auto item = [&](const char* name, const auto&... parts) {
    absl::StrAppend(out, "  ", PadRight(name, 14));
    absl::StrAppend(out, parts..., "\n");
  };
  std::string names = Printable(files[0], 60, ascii);
  if (files.size() > 1) {
    absl::StrAppend(&names, " and ",
                    Count(files.size() - 1, "more file", "more files"));
  }
  absl::StrAppend(out, Sv(title), " of ", names, "\n");
  item("lines", Thousands(in.lines));
  if (in.rows() > 0) {
    item("time (UTC)", UtcTime(in.first_us, 1'000'000), " to ",
         UtcTime(in.last_us, 1'000'000), ", ",
         HumanSpan(in.last_us - in.first_us));
  }
  item("calls", Thousands(in.checks));
  if (in.peeks + in.refunds + in.resets > 0) {
    item("others", Count(in.peeks, "peek", "peeks"), ", ",
         Count(in.refunds, "refund", "refunds"), ", ",
         Count(in.resets, "reset", "resets"), " (applied, not in the rest)");
  }
  if (in.malformed > 0) item("malformed", Thousands(in.malformed), " skipped");
  if (in.out_of_order > 0) {
    item("out of order", Thousands(in.out_of_order), ", by up to ",
         HumanSpan(in.latest_us), sorted ? "; sorted" : "; see --sort");
  }
}

}  // namespace weir::cli
