/* certs: X.509 for the webhook. Bytes and time in, bytes out; only certs_load_dir and
 * certs_write_dir touch files. Keys are ECDSA P-256: a handshake with RSA-2048 costs four times
 * as much. */
#ifndef TAFFRAIL_CERTS_H
#define TAFFRAIL_CERTS_H

#include "base/base.h"

/* PEM texts. */
struct cert_pair {
    struct text certificate, key;
};

/* The names a leaf is valid for: DNS names and textual IP addresses. */
struct cert_names {
    const char *const *dns;
    size_t dns_count;
    const char *const *addresses;
    size_t address_count;
};

/* A new CA: 10 years, CA:TRUE pathlen 0, keyCertSign and cRLSign. The common name carries a part of
 * the key id, so that two CAs of one program are told apart. */
bool cert_issue_ca(int64_t now_unix_s, struct arena *arena, struct cert_pair *ca,
                   struct error *error) MUST_CHECK;
/* A leaf for names signed by ca: 1 year, digitalSignature, serverAuth. notBefore lies 5 minutes
 * back, for clocks that differ. */
bool cert_issue_leaf(const struct cert_pair *ca, const struct cert_names *names, int64_t now_unix_s,
                     struct arena *arena, struct cert_pair *leaf, struct error *error) MUST_CHECK;
/* Checks that the PEM parses, that key and certificate belong together, and that the certificate is
 * valid now (ERROR_TLS says which is not); writes notAfter of the first certificate. */
bool cert_check(const struct cert_pair *pair, int64_t now_unix_s, int64_t *not_after_unix_s,
                struct error *error) MUST_CHECK;

/* Checks that a CA bundle is one or more certificates in PEM and nothing secret. */
bool cert_check_bundle(struct text bundle, struct error *error) MUST_CHECK;

/* Reads tls.crt and tls.key of a folder (arena text). When the folder is missing or empty, it is
 * made with ca.crt, tls.crt and tls.key (mode 0600 for the key; the CA's key is not kept), each
 * file complete before it appears under its name; a folder that holds something else is never
 * written to. *made says which happened. */
bool certs_open_dir(const char *path, const struct cert_names *names, int64_t now_unix_s,
                    struct arena *arena, struct cert_pair *leaf, bool *made,
                    struct error *error) MUST_CHECK;

#endif
