// What a status says, as a string of this library.
#ifndef WEIR_TESTS_MESSAGE_H_
#define WEIR_TESTS_MESSAGE_H_

#include <string>

#include "absl/status/status.h"

namespace weir {

inline std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace weir

#endif  // WEIR_TESTS_MESSAGE_H_
