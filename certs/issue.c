/* Issues a CA and the leaf it signs. */
#include "certs/inspect.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>

enum {
    DAY_S = 24 * 60 * 60,
    CA_VALID_S = 10 * 365 * DAY_S,
    LEAF_VALID_S = 365 * DAY_S,
    SERIAL_BYTES = 16,
    KEY_ID_BYTES = 20,
    PEM_BYTES = 4096, /* of a P-256 key, or of a certificate without its names */
    DNS_NAME_BYTES_MAX = 253,
    CHAIN_MAX = 16,
};

/* GnuTLS objects during issuing. They are freed before anything that may leave through a guard. */
struct issue {
    gnutls_x509_privkey_t key, issuer_key;
    gnutls_x509_crt_t certificate, issuer;
};

static bool step(int code, const char *doing, struct error *error)
{
    if (code >= 0)
        return true;
    return error_set(error, ERROR_TLS, NOWHERE, "cannot %s: %s", doing, gnutls_strerror(code));
}

static void issue_deinit(struct issue *issue)
{
    if (issue->key != NULL)
        gnutls_x509_privkey_deinit(issue->key);
    if (issue->issuer_key != NULL)
        gnutls_x509_privkey_deinit(issue->issuer_key);
    if (issue->certificate != NULL)
        gnutls_x509_crt_deinit(issue->certificate);
    if (issue->issuer != NULL)
        gnutls_x509_crt_deinit(issue->issuer);
}

/* RFC 5280 4.1.2.2: positive, and no leading zero octet. */
static int set_random_serial(gnutls_x509_crt_t certificate)
{
    unsigned char serial[SERIAL_BYTES];
    int code = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    if (code < 0)
        return code;
    serial[0] = (unsigned char)((serial[0] & 0x7F) | 0x40);
    return gnutls_x509_crt_set_serial(certificate, serial, sizeof serial);
}

static int key_id(gnutls_x509_crt_t certificate, unsigned char id[KEY_ID_BYTES])
{
    size_t size = KEY_ID_BYTES;
    return gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA1, id, &size);
}

static int set_subject_key_id(gnutls_x509_crt_t certificate)
{
    unsigned char id[KEY_ID_BYTES];
    int code = key_id(certificate, id);
    return code < 0 ? code : gnutls_x509_crt_set_subject_key_id(certificate, id, sizeof id);
}

static int set_common_name(gnutls_x509_crt_t certificate, const char *name)
{
    return gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                         (unsigned)strlen(name));
}

/* A new P-256 key, and a version 3 certificate for it without name, usage or signature. */
static bool issue_begin(struct issue *issue, int64_t now_unix_s, int64_t not_after_unix_s,
                        struct error *error)
{
    return step(gnutls_x509_privkey_init(&issue->key), "make a key", error) &&
           step(gnutls_x509_crt_init(&issue->certificate), "make a certificate", error) &&
           step(gnutls_x509_privkey_generate(issue->key, GNUTLS_PK_ECDSA,
                                             GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
                "generate a P-256 key", error) &&
           step(gnutls_x509_crt_set_version(issue->certificate, 3), "set the version", error) &&
           step(set_random_serial(issue->certificate), "set a random serial number", error) &&
           step(gnutls_x509_crt_set_activation_time(issue->certificate,
                                                    now_unix_s - CERT_BACKDATED_S),
                "set notBefore", error) &&
           step(gnutls_x509_crt_set_expiration_time(issue->certificate, not_after_unix_s),
                "set notAfter", error) &&
           step(gnutls_x509_crt_set_key(issue->certificate, issue->key), "set the public key",
                error) &&
           step(set_subject_key_id(issue->certificate), "set the subject key id", error);
}

/* Signs and writes both as PEM into buffers of the pair, each of pem_bytes. */
static bool issue_end(struct issue *issue, gnutls_x509_crt_t issuer,
                      gnutls_x509_privkey_t issuer_key, char *certificate_pem, char *key_pem,
                      size_t pem_bytes, struct error *error)
{
    size_t certificate_size = pem_bytes, key_size = pem_bytes;
    return step(gnutls_x509_crt_sign2(issue->certificate, issuer, issuer_key, GNUTLS_DIG_SHA256, 0),
                "sign the certificate", error) &&
           step(gnutls_x509_crt_export(issue->certificate, GNUTLS_X509_FMT_PEM, certificate_pem,
                                       &certificate_size),
                "write the certificate", error) &&
           step(gnutls_x509_privkey_export_pkcs8(issue->key, GNUTLS_X509_FMT_PEM, NULL,
                                                 GNUTLS_PKCS_PLAIN, key_pem, &key_size),
                "write the key", error);
}

static int set_ca_name(gnutls_x509_crt_t certificate)
{
    unsigned char id[KEY_ID_BYTES];
    int code = key_id(certificate, id);
    if (code < 0)
        return code;
    char name[32];
    snprintf(name, sizeof name, "Taffrail CA %02x%02x%02x%02x", id[0], id[1], id[2], id[3]);
    return set_common_name(certificate, name);
}

bool cert_issue_ca(int64_t now_unix_s, struct arena *arena, struct cert_pair *ca,
                   struct error *error)
{
    return cert_issue_ca_for(CA_VALID_S, now_unix_s, arena, ca, error);
}

bool cert_issue_ca_for(int64_t valid_s, int64_t now_unix_s, struct arena *arena,
                       struct cert_pair *ca, struct error *error)
{
    char *certificate_pem = ARENA_ARRAY(arena, PEM_BYTES, char);
    char *key_pem = ARENA_ARRAY(arena, PEM_BYTES, char);
    struct issue issue = {0};
    bool done =
        issue_begin(&issue, now_unix_s, now_unix_s + valid_s, error) &&
        step(set_ca_name(issue.certificate), "set the CA's name", error) &&
        step(gnutls_x509_crt_set_basic_constraints(issue.certificate, 1, 0),
             "set the basic constraints", error) &&
        step(gnutls_x509_crt_set_key_usage(issue.certificate,
                                           GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN),
             "set the key usage", error) &&
        issue_end(&issue, issue.certificate, issue.key, certificate_pem, key_pem, PEM_BYTES, error);
    issue_deinit(&issue);
    if (done)
        *ca = (struct cert_pair){text_of(certificate_pem), text_of(key_pem)};
    return done;
}

/* The server names that Go's verifier can match: labels of letters, digits, - and _, a leading "*."
 * at most; a trailing dot never matches (docs/reference/admission.md 3.1). */
static bool dns_name_valid(const char *name)
{
    struct text rest = text_of(name);
    if (text_starts_with(rest, TEXT("*.")))
        rest = (struct text){rest.data + 2, rest.size - 2};
    if (rest.size == 0 || rest.size > DNS_NAME_BYTES_MAX || rest.data[rest.size - 1] == '.')
        return false;
    for (size_t i = 0; i < rest.size; i++) {
        bool dot = rest.data[i] == '.';
        if (dot && (i == 0 || rest.data[i - 1] == '.'))
            return false;
        if (!dot && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_",
                           rest.data[i]) == NULL)
            return false;
    }
    return true;
}

unsigned cert_address_bytes(const char *address, unsigned char bytes[16])
{
    if (inet_pton(AF_INET, address, bytes) == 1)
        return 4;
    return inet_pton(AF_INET6, address, bytes) == 1 ? 16 : 0;
}

static bool names_check(const struct cert_names *names, size_t *size_bytes, struct error *error)
{
    unsigned char bytes[16];
    if (names->dns_count + names->address_count == 0)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "a server certificate needs at least one DNS name or IP address");
    for (size_t i = 0; i < names->dns_count; i++) {
        if (!dns_name_valid(names->dns[i]))
            return error_set(error, ERROR_USAGE, NOWHERE,
                             "\"%s\" is no DNS name for a certificate; allowed are labels of "
                             "letters, digits and - without a trailing dot, such as "
                             "taffrail.taffrail-system.svc",
                             names->dns[i]);
        *size_bytes += strlen(names->dns[i]);
    }
    for (size_t i = 0; i < names->address_count; i++) {
        if (cert_address_bytes(names->addresses[i], bytes) == 0)
            return error_set(error, ERROR_USAGE, NOWHERE,
                             "\"%s\" is no IP address for a certificate; write it as 127.0.0.1 or "
                             "::1, without a port",
                             names->addresses[i]);
        *size_bytes += sizeof bytes;
    }
    return true;
}

static bool set_names(gnutls_x509_crt_t certificate, const struct cert_names *names,
                      struct error *error)
{
    unsigned flags = GNUTLS_FSAN_SET;
    for (size_t i = 0; i < names->dns_count; i++, flags = GNUTLS_FSAN_APPEND)
        if (!step(gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_DNSNAME,
                                                       names->dns[i],
                                                       (unsigned)strlen(names->dns[i]), flags),
                  "add a DNS name", error))
            return false;
    for (size_t i = 0; i < names->address_count; i++, flags = GNUTLS_FSAN_APPEND) {
        unsigned char bytes[16];
        unsigned size = cert_address_bytes(names->addresses[i], bytes);
        if (!step(gnutls_x509_crt_set_subject_alt_name(certificate, GNUTLS_SAN_IPADDRESS, bytes,
                                                       size, flags),
                  "add an IP address", error))
            return false;
    }
    return true;
}

static int set_authority_key_id(gnutls_x509_crt_t certificate, gnutls_x509_crt_t issuer)
{
    unsigned char id[64];
    size_t size = sizeof id;
    int code = gnutls_x509_crt_get_subject_key_id(issuer, id, &size, NULL);
    return code < 0 ? code : gnutls_x509_crt_set_authority_key_id(certificate, id, size);
}

static gnutls_datum_t datum(struct text t)
{
    return (gnutls_datum_t){(unsigned char *)t.data, (unsigned)t.size};
}

static bool issuer_import(struct issue *issue, const struct cert_pair *ca, struct error *error)
{
    gnutls_datum_t certificate = datum(ca->certificate), key = datum(ca->key);
    return step(gnutls_x509_crt_init(&issue->issuer), "read the CA's certificate", error) &&
           step(gnutls_x509_crt_import(issue->issuer, &certificate, GNUTLS_X509_FMT_PEM),
                "read the CA's certificate", error) &&
           step(gnutls_x509_privkey_init(&issue->issuer_key), "read the CA's key", error) &&
           step(gnutls_x509_privkey_import2(issue->issuer_key, &key, GNUTLS_X509_FMT_PEM, NULL, 0),
                "read the CA's key", error);
}

bool cert_issue_leaf(const struct cert_pair *ca, const struct cert_names *names, int64_t now_unix_s,
                     struct arena *arena, struct cert_pair *leaf, struct error *error)
{
    return cert_issue_leaf_for(LEAF_VALID_S, ca, names, now_unix_s, arena, leaf, error);
}

bool cert_issue_leaf_for(int64_t valid_s, const struct cert_pair *ca,
                         const struct cert_names *names, int64_t now_unix_s, struct arena *arena,
                         struct cert_pair *leaf, struct error *error)
{
    size_t names_bytes = 0;
    if (!names_check(names, &names_bytes, error))
        return false;
    size_t name_count = names->dns_count + names->address_count;
    size_t pem_bytes = PEM_BYTES + 2 * (names_bytes + 8 * name_count);
    char *certificate_pem = ARENA_ARRAY(arena, pem_bytes, char);
    char *key_pem = ARENA_ARRAY(arena, pem_bytes, char);
    struct issue issue = {0};
    bool done = issuer_import(&issue, ca, error);
    if (done) {
        int64_t not_after = now_unix_s + valid_s;
        int64_t ca_not_after = gnutls_x509_crt_get_expiration_time(issue.issuer);
        done = issue_begin(&issue, now_unix_s, not_after < ca_not_after ? not_after : ca_not_after,
                           error);
    }
    done = done && step(set_common_name(issue.certificate, "Taffrail"), "set the name", error) &&
           set_names(issue.certificate, names, error) &&
           step(gnutls_x509_crt_set_basic_constraints(issue.certificate, 0, -1),
                "set the basic constraints", error) &&
           step(gnutls_x509_crt_set_key_usage(issue.certificate, GNUTLS_KEY_DIGITAL_SIGNATURE),
                "set the key usage", error) &&
           step(gnutls_x509_crt_set_key_purpose_oid(issue.certificate, GNUTLS_KP_TLS_WWW_SERVER, 0),
                "set the extended key usage", error) &&
           step(set_authority_key_id(issue.certificate, issue.issuer), "set the authority key id",
                error) &&
           issue_end(&issue, issue.issuer, issue.issuer_key, certificate_pem, key_pem, pem_bytes,
                     error);
    issue_deinit(&issue);
    if (done)
        *leaf = (struct cert_pair){text_of(certificate_pem), text_of(key_pem)};
    return done;
}

static bool same_key(gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, struct error *error)
{
    unsigned char of_certificate[64], of_key[64];
    size_t certificate_size = sizeof of_certificate, key_size = sizeof of_key;
    if (!step(gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, of_certificate,
                                         &certificate_size),
              "read the certificate's public key", error) ||
        !step(gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, of_key, &key_size),
              "read the private key", error))
        return false;
    if (certificate_size != key_size || memcmp(of_certificate, of_key, key_size) != 0)
        return error_set(error, ERROR_TLS, NOWHERE,
                         "the private key does not belong to the (first) certificate; give the key "
                         "it was issued for, and the server's own certificate before those of CAs");
    return true;
}

static bool valid_now(gnutls_x509_crt_t certificate, int64_t now_unix_s, int64_t *not_after_unix_s,
                      struct error *error)
{
    int64_t not_before = gnutls_x509_crt_get_activation_time(certificate);
    int64_t not_after = gnutls_x509_crt_get_expiration_time(certificate);
    *not_after_unix_s = not_after;
    if (not_before <= now_unix_s && now_unix_s <= not_after)
        return true;
    char limit[CERT_TIME_BYTES], now[CERT_TIME_BYTES];
    cert_print_time(now_unix_s < not_before ? not_before : not_after, limit, sizeof limit);
    cert_print_time(now_unix_s, now, sizeof now);
    return error_set(error, ERROR_TLS, NOWHERE,
                     now_unix_s < not_before
                         ? "the certificate is not valid before %s; the clock says %s"
                         : "the certificate expired at %s; the clock says %s: issue a new one",
                     limit, now);
}

bool cert_check(const struct cert_pair *pair, int64_t now_unix_s, int64_t *not_after_unix_s,
                struct error *error)
{
    gnutls_datum_t certificate = datum(pair->certificate), key_text = datum(pair->key);
    gnutls_x509_crt_t chain[CHAIN_MAX];
    unsigned count = CHAIN_MAX;
    int code = gnutls_x509_crt_list_import(chain, &count, &certificate, GNUTLS_X509_FMT_PEM,
                                           GNUTLS_X509_CRT_LIST_IMPORT_FAIL_IF_EXCEED);
    if (code <= 0)
        return error_set(error, ERROR_TLS, NOWHERE,
                         "the certificate cannot be read: %s; wanted are 1 to %d certificates in "
                         "PEM, the server's own first",
                         code == 0 ? "it is empty" : gnutls_strerror(code), CHAIN_MAX);
    gnutls_x509_privkey_t key = NULL;
    bool good = step(gnutls_x509_privkey_init(&key), "hold a private key", error);
    if (good) {
        code = gnutls_x509_privkey_import2(key, &key_text, GNUTLS_X509_FMT_PEM, NULL, 0);
        if (code < 0)
            good = error_set(error, ERROR_TLS, NOWHERE,
                             "the private key cannot be read: %s; wanted is one key in PEM that is "
                             "not encrypted",
                             gnutls_strerror(code));
    }
    /* A key has its own public half, which may be valid where the other is not. */
    if (good && gnutls_x509_privkey_verify_params(key) < 0)
        good = error_set(error, ERROR_TLS, NOWHERE,
                         "the private key is damaged: its two halves do not belong together");
    good = good && same_key(chain[0], key, error) &&
           valid_now(chain[0], now_unix_s, not_after_unix_s, error);
    if (key != NULL)
        gnutls_x509_privkey_deinit(key);
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(chain[i]);
    return good;
}
