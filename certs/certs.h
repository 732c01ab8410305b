/* certs: X.509 for the webhook. Bytes and time in, bytes out; only certs_load_dir and
 * certs_write_dir touch files. Keys are ECDSA P-256: a handshake with RSA-2048 costs four times
 * as much. */
#ifndef TAFFRAIL_CERTS_CERTS_H
#define TAFFRAIL_CERTS_CERTS_H

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

/* A new CA: 10 years, CA:TRUE pathlen 0, keyCertSign and cRLSign. The common name has a part of the
 * key id, so that two CAs of one program differ. */
bool cert_issue_ca(int64_t now_unix_s, struct arena *arena, struct cert_pair *ca,
                   struct error *error) MUST_CHECK;
bool cert_issue_ca_for(int64_t valid_s, int64_t now_unix_s, struct arena *arena,
                       struct cert_pair *ca, struct error *error) MUST_CHECK;
/* A leaf for names signed by ca: 1 year, or less when the CA ends before, digitalSignature,
 * serverAuth. notBefore is 5 minutes earlier, for clocks that differ. */
bool cert_issue_leaf(const struct cert_pair *ca, const struct cert_names *names, int64_t now_unix_s,
                     struct arena *arena, struct cert_pair *leaf, struct error *error) MUST_CHECK;
bool cert_issue_leaf_for(int64_t valid_s, const struct cert_pair *ca,
                         const struct cert_names *names, int64_t now_unix_s, struct arena *arena,
                         struct cert_pair *leaf, struct error *error) MUST_CHECK;
/* Checks that the PEM parses, that key and certificate belong together, and that the certificate is
 * valid now (ERROR_TLS says which is not); writes notAfter of the first certificate. */
bool cert_check(const struct cert_pair *pair, int64_t now_unix_s, int64_t *not_after_unix_s,
                struct error *error) MUST_CHECK;

/* Checks that a CA bundle is one or more certificates in PEM and nothing secret. */
bool cert_check_bundle(struct text bundle, struct error *error) MUST_CHECK;

/* ---- a folder ---- */

/* Reads tls.crt and tls.key of a folder (arena text). If the folder is missing or empty, makes it
 * with ca.crt, tls.crt and tls.key (mode 0600 for the key; the CA's key is not stored). Each file
 * is complete before it appears under its name. Never writes to a folder with other content. *made
 * says which happened. */
bool certs_open_dir(const char *path, const struct cert_names *names, int64_t now_unix_s,
                    struct arena *arena, struct cert_pair *leaf, bool *made,
                    struct error *error) MUST_CHECK;

/* ---- rotation: one CA and one leaf in a Secret that all replicas share ---- */

/* The data of the Secret, decoded; a missing key is the empty text. */
struct rotation_secret {
    struct text ca_bundle;    /* ca.crt: the CAs that API servers are to trust, the newest first */
    struct text ca_keys;      /* ca.key: the keys of those of them that may still sign */
    struct cert_pair leaf;    /* tls.crt and tls.key: what every replica serves; empty: not yet */
    struct text retire_after; /* ca.retire-after: when CAs but the newest leave,
                                 2027-01-31T08:00:00Z or empty */
};
/* The index, among the CAs of the bundle, of the one that signed the certificate; *ca_count: none
 * of them. */
size_t certs_signer(struct text certificate, struct text ca_bundle, size_t *ca_count);

/* One key of the Secret's data, and the offset of its text in struct rotation_secret. */
struct rotation_item {
    const char *key;
    size_t offset;
};
enum { ROTATION_ITEM_COUNT = 5 };
extern const struct rotation_item rotation_items[ROTATION_ITEM_COUNT];

struct rotation_times {
    int64_t ca_valid_s, leaf_valid_s;
    int64_t settle_s; /* from when configurations hold a bundle until every API server uses it */
};
/* 10 years, 90 days, 1 minute. */
extern const struct rotation_times rotation_times_usual;

/* Everything that certs_rotate knows. */
struct rotation_view {
    struct rotation_secret secret; /* as it was read; all empty when there is none */
    struct cert_names names;       /* of the leaf that is wanted */
    /* The CA bundle (PEM) of each webhook entry of each configuration, as last read; an empty text
     * for an entry without one. Count 0: there is no configuration. */
    const struct text *published;
    size_t published_count;
    /* Some configurations could not be read, and a leaf is served that their entries may trust. In
     * published they stand as entries without a CA. */
    bool may_lose_trust;
    /* For how long they have been seen like this without a change, by a clock that does not jump; 0
     * when they were read for the first time. */
    int64_t published_for_s;
    struct rotation_times times;
    int64_t now_unix_s;
};

struct rotation_step {
    /* Write this Secret in place of the one that was read, on condition of its resourceVersion.
     * Publish nothing until it is written; then ask again at once. */
    bool write;
    struct rotation_secret secret;
    struct text bundle;            /* with write false: the caBundle for every entry */
    bool published;                /* every entry holds it already, byte by byte */
    int64_t again_in_s;            /* when to ask again at the latest, if nothing changes before */
    struct text what;              /* for the log: what changes, and why, or what it waits for */
    int64_t leaf_not_after_unix_s; /* of the leaf in secret; 0: none that can be served */
};

/* The next step towards a leaf that is valid, and that every API server trusts at every moment. A
 * new CA is published before it signs, and the old one is published until no leaf of it is valid.
 * Everything is derived from the Secret, so another replica can continue. What cannot be used is
 * replaced, never twice for one reason. False, and nothing may be changed: with ERROR_TLS when the
 * clock cannot be right, with ERROR_USAGE for names that no certificate can have. Texts of *step
 * are in the arena or in *view. */
bool certs_rotate(const struct rotation_view *view, struct arena *arena, struct rotation_step *step,
                  struct error *error) MUST_CHECK;

#endif
