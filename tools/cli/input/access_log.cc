#include "tools/cli/input/access_log.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "tools/cli/input/log_time.h"

namespace weir::cli {
namespace {

constexpr std::string_view kMissing = "-";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsAlpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsHex(char c) {
  return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f') ||
         (c >= 'A' && c <= 'F');
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

size_t FindByte(std::string_view text, char c, size_t from) {
  if (from >= text.size()) return std::string_view::npos;
  const void* at = std::memchr(text.data() + from, c, text.size() - from);
  return at == nullptr
             ? std::string_view::npos
             : static_cast<size_t>(static_cast<const char*>(at) - text.data());
}

std::string_view TrimLeft(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && IsBlank(text[i])) ++i;
  return text.substr(i);
}

std::string_view TrimRight(std::string_view text) {
  size_t n = text.size();
  while (n > 0 && (IsBlank(text[n - 1]) || text[n - 1] == '\r')) --n;
  return text.substr(0, n);
}

// Takes the next word off *text; empty if there is none.
std::string_view TakeWord(std::string_view* text) {
  *text = TrimLeft(*text);
  size_t n = 0;
  while (n < text->size() && !IsBlank((*text)[n])) ++n;
  const std::string_view word = text->substr(0, n);
  text->remove_prefix(n);
  return word;
}

std::string_view OrMissing(std::string_view text) {
  return text.empty() ? kMissing : text;
}

bool EndsWithComma(std::string_view word) {
  return !word.empty() && word.back() == ',';
}

// 1.2.3.4, a port behind it or not. Loose: what looks like one is one.
bool IsIpv4(std::string_view word) {
  int dots = 0;
  int digits = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    if (absl::ascii_isdigit(word[i])) {
      if (++digits > 3) return false;
    } else if (word[i] == '.') {
      if (digits == 0 || ++dots > 3) return false;
      digits = 0;
    } else {
      return word[i] == ':' && dots == 3 && digits > 0;
    }
  }
  return dots == 3 && digits > 0;
}

// Not fooled by 12:24:49.
bool IsIpv6(std::string_view word) {
  int colons = 0;
  bool shortened = false;
  bool dotted = false;
  for (size_t i = 0; i < word.size() && word[i] != '%'; ++i) {
    const char c = word[i];
    if (c == ':') {
      ++colons;
      shortened = shortened || (i > 0 && word[i - 1] == ':');
    } else if (c == '.') {
      dotted = true;
    } else if (!IsHex(c)) {
      return false;
    }
  }
  return colons >= 2 && (shortened || colons == (dotted ? 6 : 7));
}

bool IsAddress(std::string_view word) {
  if (EndsWithComma(word)) word.remove_suffix(1);
  if (word.empty()) return false;
  if (word.front() == '[') {
    const size_t close = FindByte(word, ']', 0);
    return close != word.npos && IsIpv6(word.substr(1, close - 1));
  }
  return IsIpv4(word) || IsIpv6(word) || StartsWith(word, "unix:");
}

// What no client and no virtual host begins with, or holds.
bool IsName(std::string_view word) {
  if (word.empty()) return false;
  if (word.front() == '"' || word.front() == '{') return false;
  if (word.front() == '[' && FindByte(word, ']', 0) == word.npos) return false;
  for (const char c : word) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return false;
  }
  return true;
}

// vhost.example:443 and [::1]:443 without the port; ::1 as it is.
std::string_view WithoutPort(std::string_view host) {
  size_t n = host.size();
  while (n > 0 && absl::ascii_isdigit(host[n - 1])) --n;
  if (n == 0 || n == host.size() || host[n - 1] != ':') return host;
  const std::string_view name = host.substr(0, n - 1);
  const bool bracketed = !name.empty() && name.back() == ']';
  if (!bracketed && FindByte(name, ':', 0) != name.npos) return host;
  return name.empty() ? host : name;
}

// Takes a list of clients off *rest, whose first word was taken already, and
// returns the first that is one.
std::string_view TakeClient(std::string_view word, std::string_view* rest) {
  std::string_view client;
  for (;;) {
    const bool more = EndsWithComma(word);
    // A list may be without blanks, too.
    while (!word.empty()) {
      const size_t comma = FindByte(word, ',', 0);
      const std::string_view one = word.substr(0, comma);
      if (client.empty() && !one.empty() && one != kMissing) client = one;
      word.remove_prefix(comma == word.npos ? word.size() : comma + 1);
    }
    if (!more) return client;
    word = TakeWord(rest);
  }
}

enum class FirstWord { kClient, kHost, kNeither };

// client.example: a name that words of a text seldom look like.
bool IsDottedName(std::string_view word) {
  bool dotted = false;
  char before = '.';
  for (const char c : word) {
    if (c == '.' && before == '.') return false;
    if (c != '.' && c != '-' && c != '_' && !absl::ascii_isalnum(c)) {
      return false;
    }
    // 1456747200.123 is none.
    if (before == '.') dotted = IsAlpha(c);
    before = c;
  }
  return dotted && FindByte(word, '.', 0) != word.npos;
}

// An address, or what stands beside a client: the ident `-`, a syslog's tag.
bool HintsAtClient(std::string_view word) {
  return word == kMissing || IsAddress(word) || word.back() == ':';
}

// What the first of these words (empty: not there) is; `rest` follows them.
FirstWord Judge(const std::string_view (&words)[4], std::string_view rest) {
  if (EndsWithComma(words[0]) || words[1].empty()) return FirstWord::kClient;
  if (words[1] == kMissing) {
    // `host - - -`: a host whose client is missing. After an address it is a
    // client whose user is odd.
    const bool host = words[2] == kMissing && words[3] == kMissing;
    return host && !IsAddress(words[0]) ? FirstWord::kHost : FirstWord::kClient;
  }
  if (IsAddress(words[1]) || EndsWithComma(words[1])) return FirstWord::kHost;
  if (words[3].empty() || IsAddress(words[0])) return FirstWord::kClient;
  // Four words, and neither of the first two is an address.
  if (words[2] == kMissing) return FirstWord::kHost;
  // Without the ident `-` to go by it may be anything: the prefix of a syslog,
  // say. A name with a dot is a client whose user has blanks, unless one may
  // come later.
  if (!IsDottedName(words[0])) return FirstWord::kNeither;
  for (size_t i = 1; i < 4; ++i) {
    if (HintsAtClient(words[i])) return FirstWord::kNeither;
  }
  for (std::string_view word; !(word = TakeWord(&rest)).empty();) {
    if (HintsAtClient(word)) return FirstWord::kNeither;
  }
  return FirstWord::kClient;
}

// Client, host and user from what stands before the time.
bool ParseWho(std::string_view who, AccessLine* out) {
  std::string_view rest = who;
  std::string_view word = TakeWord(&rest);
  std::string_view ahead = rest;
  std::string_view words[4] = {word};
  for (size_t i = 1; i < 4; ++i) words[i] = TakeWord(&ahead);
  const FirstWord first = Judge(words, ahead);
  if (first == FirstWord::kNeither) return false;
  if (first == FirstWord::kHost) {
    if (!IsName(word)) return false;
    out->host = WithoutPort(word);
    word = TakeWord(&rest);
  }
  out->client = TakeClient(word, &rest);
  if (!IsName(out->client) || out->client == kMissing) return false;
  const std::string_view ident = TakeWord(&rest);
  const std::string_view user = TrimRight(TrimLeft(rest));
  out->user = OrMissing(user.empty() ? ident : user);
  return true;
}

// Tells what stands between quotes, where anyone may have written anything.
// One inside a word (a"b) opens nothing; what opened ends at one that no
// backslash escapes, where a word or a list ends.
class Quotes {
 public:
  explicit Quotes(std::string_view line) : line_(line) {}

  // Asked for places from left to right.
  bool Hold(size_t at) {
    for (; next_ < at; ++next_) {
      const char c = line_[next_];
      if (c == '"') inside_ = inside_ ? escaped_ || !Closes() : Opens();
      escaped_ = c == '\\' && !escaped_;
    }
    return inside_;
  }

 private:
  bool Opens() const {
    if (next_ == 0) return true;
    const char c = line_[next_ - 1];
    const bool word = absl::ascii_isalnum(c) || static_cast<uint8_t>(c) >= 0x80;
    return !word && c != '\\';
  }
  bool Closes() const {
    if (next_ + 1 == line_.size()) return true;
    const char c = line_[next_ + 1];
    return IsBlank(c) || FindByte(",;)]}", c, 0) != std::string_view::npos;
  }

  std::string_view line_;
  size_t next_ = 0;
  bool inside_ = false;
  bool escaped_ = false;
};

// A time, and where its brackets are.
struct LineTime {
  size_t open = std::string_view::npos;
  size_t close = std::string_view::npos;
  int64_t us = 0;
};

// Is there a quote behind the time, as before the request?
bool IsBeforeQuote(std::string_view line, const LineTime& time) {
  const std::string_view rest = line.substr(time.close + 1);
  const std::string_view text = TrimLeft(rest);
  return text.size() < rest.size() && StartsWith(text, "\"");
}

// Null, or why what stands between the brackets is no time.
const char* ReadTime(std::string_view line, LineTime* time) {
  if (time->close == line.npos) return "the time is cut short";
  const std::string_view text =
      line.substr(time->open + 1, time->close - time->open - 1);
  // A bracket that is not closed must not take the next one's text with it.
  if (FindByte(text, '[', 0) != text.npos) return "not a time";
  return ParseLogTime(text, &time->us);
}

// Finds the line's time (access_log.h). Each byte is looked at a few times at
// most, however many brackets there are.
bool FindTime(std::string_view line, LineTime* found, LineProblem* problem) {
  Quotes quotes(line);
  LineTime first;
  LineTime quoted;
  size_t close = 0;
  *problem = {"no time in brackets", line};
  bool tried = false;
  for (size_t at = FindByte(line, '[', 0); at != line.npos;
       at = FindByte(line, '[', at + 1)) {
    if (at > 0 && !IsBlank(line[at - 1])) continue;
    if (!LooksLikeLogTime(line.substr(at + 1, 40))) continue;
    const bool inside = quotes.Hold(at);
    if (close <= at) close = FindByte(line, ']', at);
    LineTime time = {at, close};
    if (const char* wrong = ReadTime(line, &time)) {
      if (!inside && !tried) {
        tried = true;
        *problem = {wrong, line.substr(at + 1, close - at - 1)};
      }
      continue;
    }
    const bool before_quote = IsBeforeQuote(line, time);
    if (!inside && before_quote) return *found = time, true;
    LineTime* kept = inside ? &quoted : &first;
    if (kept->open == line.npos && (!inside || before_quote)) *kept = time;
  }
  *found = first.open != line.npos ? first : quoted;
  return found->open != line.npos;
}

// The size of the request at the front of `text`, which follows its opening
// quote. *next: where the text behind the closing quote begins.
size_t RequestSize(std::string_view text, size_t* next) {
  size_t fallback = text.npos;
  for (size_t at = FindByte(text, '"', 0); at != text.npos;
       at = FindByte(text, '"', at + 1)) {
    size_t backslashes = 0;
    while (backslashes < at && text[at - 1 - backslashes] == '\\') {
      ++backslashes;
    }
    if (backslashes % 2 != 0) continue;
    if (at + 1 == text.size() || IsBlank(text[at + 1])) {
      *next = at + 1;
      return at;
    }
    if (fallback == text.npos) fallback = at;
  }
  if (fallback == text.npos) {
    *next = text.size();
    return text.size();
  }
  *next = fallback + 1;
  return fallback;
}

// HTTP/1.1 and the like.
bool IsProtocol(std::string_view word) {
  const size_t slash = FindByte(word, '/', 0);
  if (slash == word.npos || slash == 0 || slash + 1 >= word.size()) {
    return false;
  }
  for (const char c : word.substr(0, slash)) {
    if (!IsAlpha(c)) return false;
  }
  return absl::ascii_isdigit(word[slash + 1]);
}

void ParseRequest(std::string_view request, AccessLine* out) {
  out->method = OrMissing(TakeWord(&request));
  request = TrimRight(TrimLeft(request));
  size_t last = request.size();
  while (last > 0 && !IsBlank(request[last - 1])) --last;
  if (IsProtocol(request.substr(last))) {
    request = TrimRight(request.substr(0, last));
  }
  out->path = OrMissing(request.substr(0, FindByte(request, '?', 0)));
}

}  // namespace

bool ParseAccessLine(std::string_view line, AccessLine* out,
                     LineProblem* problem) {
  for (;;) {
    size_t i = 0;
    while (i < line.size() && (IsBlank(line[i]) || line[i] == '\0')) ++i;
    line.remove_prefix(i);
    if (!StartsWith(line, kByteOrderMark)) break;
    line.remove_prefix(kByteOrderMark.size());
  }
  line = TrimRight(line);
  *problem = {};
  if (line.empty()) return problem->what = "a blank line", false;
  if (line.front() == '#') return problem->what = "a comment", false;

  LineTime time;
  if (!FindTime(line, &time, problem)) return false;
  *problem = {};
  out->time_us = time.us;
  const std::string_view who = line.substr(0, time.open);
  std::string_view rest = line.substr(time.close + 1);

  out->host = kMissing;
  if (!ParseWho(who, out)) {
    *problem = {"no client before the time", who};
    return false;
  }
  std::string_view request;
  rest = TrimLeft(rest);
  if (!rest.empty() && rest.front() == '"') {
    rest.remove_prefix(1);
    size_t next = 0;
    request = rest.substr(0, RequestSize(rest, &next));
    rest.remove_prefix(next);
  }
  ParseRequest(request, out);
  out->status = OrMissing(TakeWord(&rest));
  out->bytes = OrMissing(TakeWord(&rest));
  return true;
}

}  // namespace weir::cli
