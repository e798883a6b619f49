#include "tests/redis/certificates.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>

namespace weir::testing {
namespace {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* cert) const { X509_free(cert); }
};

struct Pair {
  std::unique_ptr<EVP_PKEY, Free> key;
  std::unique_ptr<X509, Free> cert;
};

bool AddExtension(X509* cert, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, cert, nullptr, nullptr, 0);
  X509_EXTENSION* const extension =
      X509V3_EXT_conf_nid(nullptr, &context, id, value);
  const bool added = extension != nullptr && X509_add_ext(cert, extension, -1);
  X509_EXTENSION_free(extension);
  return added;
}

// Signed by `issuer`, or by itself.
Pair Make(const char* name, const Pair* issuer, int extension,
          const char* value) {
  static long serial = 0;
  Pair made;
  made.key.reset(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  made.cert.reset(X509_new());
  X509* const cert = made.cert.get();
  X509_set_version(cert, 2);  // version 3
  ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
  X509_gmtime_adj(X509_getm_notAfter(cert), 24 * 3600);
  X509_set_pubkey(cert, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1,
                             -1, 0);
  X509* const signer = issuer != nullptr ? issuer->cert.get() : cert;
  EVP_PKEY* const key = issuer != nullptr ? issuer->key.get() : made.key.get();
  X509_set_issuer_name(cert, X509_get_subject_name(signer));
  if (!AddExtension(cert, signer, extension, value) ||
      X509_sign(cert, key, EVP_sha256()) == 0) {
    return {};
  }
  return made;
}

bool Write(const Pair& pair, const CertificateFiles& files) {
  if (pair.cert == nullptr) return false;
  std::FILE* const cert = std::fopen(files.cert.c_str(), "w");
  std::FILE* const key = std::fopen(files.key.c_str(), "w");
  const bool written = cert != nullptr && key != nullptr &&
                       PEM_write_X509(cert, pair.cert.get()) == 1 &&
                       PEM_write_PrivateKey(key, pair.key.get(), nullptr,
                                            nullptr, 0, nullptr, nullptr) == 1;
  if (cert != nullptr) std::fclose(cert);
  if (key != nullptr) std::fclose(key);
  return written;
}

}  // namespace

bool Certificates::MakeIn(const std::string& folder) {
  const auto in = [&](const std::string& name) {
    return CertificateFiles{folder + "/" + name + ".crt",
                            folder + "/" + name + ".key"};
  };
  authority = in("authority");
  server = in("server");
  client = in("client");
  const Pair root = Make("weir's test authority", nullptr,
                         NID_basic_constraints, "critical,CA:TRUE");
  return Write(root, authority) &&
         Write(Make("server", &root, NID_subject_alt_name,
                    "IP:127.0.0.1,DNS:redis.example"),
               server) &&
         Write(Make("client", &root, NID_basic_constraints, "CA:FALSE"),
               client);
}

}  // namespace weir::testing
