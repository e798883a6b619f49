// Certificates of a test's own, as PEM files in a folder.
#ifndef WEIR_TESTS_REDIS_CERTIFICATES_H_
#define WEIR_TESTS_REDIS_CERTIFICATES_H_

#include <string>

namespace weir::testing {

// A certificate and its key: NAME.crt and NAME.key.
struct CertificateFiles {
  std::string cert;
  std::string key;
};

// An authority and what it signed: "server", for 127.0.0.1 and
// redis.example, and "client".
struct Certificates {
  CertificateFiles authority;
  CertificateFiles server;
  CertificateFiles client;

  // False: they could not be made.
  bool MakeIn(const std::string& folder);
};

}  // namespace weir::testing

#endif  // WEIR_TESTS_REDIS_CERTIFICATES_H_
