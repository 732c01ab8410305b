/* The facts in certificates, without objects of GnuTLS, so that they can be held across calls of
 * the arena. */
#ifndef TAFFRAIL_CERTS_INSPECT_H
#define TAFFRAIL_CERTS_INSPECT_H

#include "certs/certs.h"

enum {
    CERT_HASH_BYTES = 32,
    CERT_BACKDATED_S = 5 * 60, /* a certificate is valid this long before it is issued */
    CERT_TIME_BYTES = 48,
};

/* One CA of a bundle. */
struct cert_ca {
    struct text pem; /* from BEGIN to END, in the bundle's text */
    unsigned char fingerprint[CERT_HASH_BYTES], key_id[CERT_HASH_BYTES];
    int64_t not_before_unix_s, not_after_unix_s;
};

/* The certificates of a bundle that a verifier accepts as CAs: version 3, CA:TRUE, allowed to sign
 * certificates, and self-signed. Ignores anything else, duplicates, and what comes after max.
 * Returns the number of CAs. */
size_t cert_read_cas(struct text bundle, struct cert_ca *cas, size_t max);
/* The key of ca among private keys in PEM; the empty text when it is not there. */
struct text cert_find_key(struct text keys, const struct cert_ca *ca);

/* What certs_rotate needs to know of a leaf that cert_check accepts. */
struct cert_leaf {
    int64_t not_before_unix_s, not_after_unix_s;
    size_t signer; /* index of the CA that signed it; count: none of them */
    bool serves;   /* a TLS server may use it */
    bool has_names;
};
/* False when the certificate cannot be read. */
bool cert_read_leaf(struct text certificate, const struct cert_names *names,
                    const struct cert_ca *cas, size_t count, struct cert_leaf *leaf);

/* The 4 or 16 bytes of a textual IP address; 0 when it is none. */
unsigned cert_address_bytes(const char *address, unsigned char bytes[16]);

/* 2027-01-31T08:00:00Z; buffer of CERT_TIME_BYTES. */
void cert_print_time(int64_t unix_s, char *buffer, size_t size);
/* False when it is not of that form. */
bool cert_parse_time(struct text t, int64_t *unix_s) MUST_CHECK;

#endif
