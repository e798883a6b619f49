// Commands as the words that Redis takes, without the key, and replies as one
// text: what a Txn, a model and a server are compared by.
//
//   :12  $bytes  +OK  nil  -WRONGTYPE ...  *2 then the elements, one a line
#ifndef WEIR_TESTS_KIT_TXN_WORDS_H_
#define WEIR_TESTS_KIT_TXN_WORDS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/txn.h"

namespace weir {
namespace testing {

using Words = std::vector<std::string>;

// All that a Txn has.
std::set<std::string> CommandNames();

// Runs a command; what it replies.
std::string RunOnTxn(const Words& words, Txn& txn);

// The pieces of a reply.
std::string IntegerReply(int64_t n);
std::string BoolReply(bool b);  // 1 or 0
std::string BytesReply(std::string_view bytes);
std::string BytesReply(const std::optional<std::string>& bytes);
std::string ArrayReply(const std::vector<std::string>& elements);
// A score, so that it is one text for one value. There is one zero.
std::string ScoreReply(double score);
std::string ScoredReply(const std::vector<std::pair<std::string, double>>& set);
// Pairs of a field and a value, in an order of their own.
std::string FieldsReply(std::vector<std::pair<std::string, std::string>> all);

// A number as a script's reaches a server.
std::string NumberWord(double number);
std::string BoundWord(ScoreBound bound);
double ScoreOf(const std::string& word);
ScoreBound BoundOf(const std::string& word);
int64_t IntegerOf(const std::string& word);

// Is this word among them, from the third on?
bool HasOption(const Words& words, std::string_view option);

// For messages.
std::string Readable(const Words& words);

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_TXN_WORDS_H_
