// Writes the golden traces anew from the oracle: make_golden FOLDER.
#include <fstream>
#include <iostream>
#include <string>

#include "tests/oracle/golden.h"
#include "tests/oracle/oracle.h"

namespace weir_oracle {
namespace {

bool Write(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) std::cerr << "cannot write " << path << "\n";
  return static_cast<bool>(out);
}

bool WriteCase(const std::string& folder, const GoldenCase& golden) {
  const std::string csv = GoldenCsv(golden);
  std::string decisions;
  Oracle oracle;
  for (const GoldenCall& call : ReadGoldenCsv(golden, csv)) {
    decisions += DecisionJson(call, oracle.Run(golden.rules, call.call)) + "\n";
  }
  const std::string path = folder + "/" + golden.name;
  return Write(path + ".limits.json", GoldenLimits(golden)) &&
         Write(path + ".csv", csv) &&
         Write(path + ".decisions.jsonl", decisions);
}

}  // namespace
}  // namespace weir_oracle

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_golden FOLDER\n";
    return 2;
  }
  for (const auto& golden : weir_oracle::GoldenCases()) {
    if (!weir_oracle::WriteCase(argv[1], golden)) return 1;
  }
  return 0;
}
