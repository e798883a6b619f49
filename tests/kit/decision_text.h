// A decision as text, every field: decisions are compared whole.
#ifndef WEIR_TESTS_KIT_DECISION_TEXT_H_
#define WEIR_TESTS_KIT_DECISION_TEXT_H_

#include <optional>
#include <string>

#include "weir/decision.h"

namespace weir {
namespace testing {

inline std::string ToText(std::optional<Micros> wait) {
  return wait ? std::to_string(wait->count()) : "never";
}

inline std::string ToText(const RuleVerdict& v) {
  return std::string(v.name) + (v.allowed ? " allows" : " denies") +
         (v.observe ? " observe" : "") + (v.soft ? " soft" : "") +
         " limit=" + std::to_string(v.limit) +
         " remaining=" + std::to_string(v.remaining) +
         " retry=" + ToText(v.retry_after) +
         " reset=" + std::to_string(v.reset_after.count());
}

inline std::string ToText(const Decision& d) {
  std::string text =
      std::string(d.allowed ? "allowed" : "denied") + (d.soft ? " soft" : "") +
      " source=" + std::to_string(static_cast<int>(d.source)) +
      " rule=" + std::to_string(d.rule) + " limit=" + std::to_string(d.limit) +
      " remaining=" + std::to_string(d.remaining) +
      " retry=" + ToText(d.retry_after) +
      " reset=" + std::to_string(d.reset_after.count());
  for (const RuleVerdict& v : d.rules()) text += " [" + ToText(v) + "]";
  return text;
}

}  // namespace testing
}  // namespace weir

#endif  // WEIR_TESTS_KIT_DECISION_TEXT_H_
