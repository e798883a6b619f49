// Engines that are wrong on purpose: each of weir's engines with one fault of
// the kind that limiters have had. The tests of the tests: whoever judges an
// engine must find every one of them guilty.
#ifndef WEIR_TESTS_MUTANTS_MUTANTS_H_
#define WEIR_TESTS_MUTANTS_MUTANTS_H_

#include <ostream>
#include <string>
#include <vector>

#include "weir/registry.h"

namespace weir_mutants {

struct Mutant {
  std::string name;  // of the mutant, in Mutants' registry
  std::string of;    // the engine that it is a wrong copy of
};

inline std::ostream& operator<<(std::ostream& out, const Mutant& m) {
  return out << m.name;
}

// Every fault of every engine that can have it.
const std::vector<Mutant>& Mutants();

// The built-in engines and all mutants.
const weir::Registry& MutantRegistry();

}  // namespace weir_mutants

#endif  // WEIR_TESTS_MUTANTS_MUTANTS_H_
