/* Reads the facts of a certificate. */
#include "certs/inspect.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The caller's clock is used for dates, and revocation is not known here. A certificate that is
 * trusted would be taken without a look at its signature. */
enum {
    VERIFY_FLAGS = GNUTLS_VERIFY_DISABLE_TIME_CHECKS | GNUTLS_VERIFY_DISABLE_CRL_CHECKS |
                   GNUTLS_VERIFY_DO_NOT_ALLOW_SAME
};

static gnutls_datum_t datum_of(struct text t)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)t.data, (unsigned)t.size};
}

/* The first place of a word; NULL: none. */
static const char *find(const char *from, const char *to, const char *word)
{
    return memmem(from, (size_t)(to - from), word, strlen(word));
}

static const char *find_last(const char *from, const char *to, const char *word)
{
    const char *found = NULL;
    for (const char *next = from; (next = find(next, to, word)) != NULL; next++)
        found = next;
    return found;
}

/* The next block of *rest that begins with "-----BEGIN", perhaps a word ("EC "), and the label;
 * *rest is what follows it. What has no end of its own is passed over. */
static bool next_block(struct text *rest, const char *label, struct text *block)
{
    static const char begin[] = "-----BEGIN ", end[] = "-----END ", dashes[] = "-----";
    while (rest->size > 0) {
        const char *from = rest->data, *stop = rest->data + rest->size;
        const char *last = find(from, stop, end);
        const char *after = last == NULL ? NULL : find(last + strlen(end), stop, dashes);
        if (after == NULL)
            return false;
        after += strlen(dashes);
        *rest = (struct text){after, (size_t)(stop - after)};
        const char *start = find_last(from, last, begin);
        const char *name = start == NULL ? NULL : start + strlen(begin);
        const char *name_end = start == NULL ? NULL : find(name, last, dashes);
        if (name_end == NULL ||
            !text_ends_with((struct text){name, (size_t)(name_end - name)}, text_of(label)))
            continue;
        *block = (struct text){start, (size_t)(after - start)};
        return true;
    }
    return false;
}

static gnutls_x509_crt_t import(struct text pem)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t datum = datum_of(pem);
    if (gnutls_x509_crt_init(&certificate) < 0)
        return NULL;
    if (gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM) >= 0)
        return certificate;
    gnutls_x509_crt_deinit(certificate);
    return NULL;
}

static bool signed_by(gnutls_x509_crt_t certificate, gnutls_x509_crt_t ca)
{
    unsigned status = 0;
    return gnutls_x509_crt_verify(certificate, &ca, 1, VERIFY_FLAGS, &status) >= 0 && status == 0;
}

/* What Go's verifier asks of an issuer (docs/reference/admission.md 3.1). */
static bool is_ca(gnutls_x509_crt_t certificate)
{
    unsigned critical = 0, authority = 0, usage = 0;
    int path_length = 0;
    if (gnutls_x509_crt_get_version(certificate) < 3 ||
        gnutls_x509_crt_get_basic_constraints(certificate, &critical, &authority, &path_length) <
            0 ||
        authority == 0)
        return false;
    int code = gnutls_x509_crt_get_key_usage(certificate, &usage, &critical);
    if (code < 0 ? code != GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE
                 : (usage & GNUTLS_KEY_KEY_CERT_SIGN) == 0)
        return false;
    return gnutls_x509_crt_check_issuer(certificate, certificate) != 0 &&
           signed_by(certificate, certificate);
}

static void skip_space(struct text *rest)
{
    static const char spaces[] = {' ', '\t', '\r', '\n'};
    while (rest->size > 0 && memchr(spaces, *rest->data, sizeof spaces) != NULL)
        *rest = (struct text){rest->data + 1, rest->size - 1};
}

static bool same_but_space(struct text a, struct text b)
{
    for (;;) {
        skip_space(&a);
        skip_space(&b);
        if (a.size == 0 || b.size == 0 || *a.data != *b.data)
            return a.size == 0 && b.size == 0;
        a = (struct text){a.data + 1, a.size - 1};
        b = (struct text){b.data + 1, b.size - 1};
    }
}

/* Whether a block has the lines of the certificate, and nothing else: GnuTLS reads what Go refuses
 * (docs/reference/admission.md 3.1), such as another word at the end. */
static bool is_plain(struct text block, gnutls_x509_crt_t certificate)
{
    struct text first, rest;
    gnutls_datum_t pem = {NULL, 0};
    if (!text_split(block, '\n', &first, &rest) ||
        !same_but_space(first, TEXT("-----BEGIN CERTIFICATE-----")) ||
        !text_ends_with(rest, TEXT("\n-----END CERTIFICATE-----")) ||
        gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem) < 0)
        return false;
    bool plain = same_but_space(block, (struct text){(const char *)pem.data, pem.size});
    gnutls_free(pem.data);
    return plain;
}

static bool read_ca(gnutls_x509_crt_t certificate, struct cert_ca *ca)
{
    size_t fingerprint_size = sizeof ca->fingerprint, key_id_size = sizeof ca->key_id;
    ca->not_before_unix_s = gnutls_x509_crt_get_activation_time(certificate);
    ca->not_after_unix_s = gnutls_x509_crt_get_expiration_time(certificate);
    return ca->not_before_unix_s >= 0 && ca->not_after_unix_s >= 0 && is_ca(certificate) &&
           is_plain(ca->pem, certificate) &&
           gnutls_x509_crt_get_fingerprint(certificate, GNUTLS_DIG_SHA256, ca->fingerprint,
                                           &fingerprint_size) >= 0 &&
           gnutls_x509_crt_get_key_id(certificate, GNUTLS_KEYID_USE_SHA256, ca->key_id,
                                      &key_id_size) >= 0;
}

size_t cert_read_cas(struct text bundle, struct cert_ca *cas, size_t max)
{
    size_t count = 0;
    struct text block;
    while (count < max && next_block(&bundle, "CERTIFICATE", &block)) {
        gnutls_x509_crt_t certificate = import(block);
        if (certificate == NULL)
            continue;
        struct cert_ca *ca = &cas[count];
        *ca = (struct cert_ca){.pem = block};
        bool taken = read_ca(certificate, ca);
        gnutls_x509_crt_deinit(certificate);
        for (size_t i = 0; i < count; i++)
            taken &= memcmp(cas[i].fingerprint, ca->fingerprint, CERT_HASH_BYTES) != 0;
        count += taken;
    }
    return count;
}

struct text cert_find_key(struct text keys, const struct cert_ca *ca)
{
    struct text block;
    while (next_block(&keys, "PRIVATE KEY", &block)) {
        gnutls_x509_privkey_t key = NULL;
        gnutls_datum_t datum = datum_of(block);
        unsigned char id[CERT_HASH_BYTES];
        size_t size = sizeof id;
        if (gnutls_x509_privkey_init(&key) < 0)
            continue;
        bool found = gnutls_x509_privkey_import2(key, &datum, GNUTLS_X509_FMT_PEM, NULL, 0) >= 0 &&
                     gnutls_x509_privkey_verify_params(key) >= 0 &&
                     gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, id, &size) >= 0 &&
                     memcmp(id, ca->key_id, sizeof id) == 0;
        gnutls_x509_privkey_deinit(key);
        if (found)
            return block;
    }
    return TEXT("");
}

/* ---- leaves ---- */

/* Exact text: a certificate issued for a name has that name. */
static bool has_name(gnutls_x509_crt_t certificate, unsigned wanted_type, const void *wanted,
                     size_t wanted_size)
{
    unsigned char found[512];
    for (unsigned i = 0;; i++) {
        size_t size = sizeof found;
        unsigned type = 0;
        int code = gnutls_x509_crt_get_subject_alt_name2(certificate, i, found, &size, &type, NULL);
        if (code >= 0 && type == wanted_type && size == wanted_size &&
            memcmp(found, wanted, size) == 0)
            return true;
        if (code < 0 && code != GNUTLS_E_SHORT_MEMORY_BUFFER && code != GNUTLS_E_X509_UNKNOWN_SAN)
            return false;
    }
}

static bool has_names(gnutls_x509_crt_t certificate, const struct cert_names *names)
{
    for (size_t i = 0; i < names->dns_count; i++)
        if (!has_name(certificate, GNUTLS_SAN_DNSNAME, names->dns[i], strlen(names->dns[i])))
            return false;
    for (size_t i = 0; i < names->address_count; i++) {
        unsigned char bytes[16];
        unsigned size = cert_address_bytes(names->addresses[i], bytes);
        if (!has_name(certificate, GNUTLS_SAN_IPADDRESS, bytes, size))
            return false;
    }
    return true;
}

bool cert_read_leaf(struct text certificate, const struct cert_names *names,
                    const struct cert_ca *cas, size_t count, struct cert_leaf *leaf)
{
    gnutls_x509_crt_t found = import(certificate);
    if (found == NULL)
        return false;
    *leaf = (struct cert_leaf){
        .not_before_unix_s = gnutls_x509_crt_get_activation_time(found),
        .not_after_unix_s = gnutls_x509_crt_get_expiration_time(found),
        .signer = count,
        .serves = gnutls_x509_crt_check_key_purpose(found, GNUTLS_KP_TLS_WWW_SERVER, 0) != 0,
        .has_names = has_names(found, names),
    };
    for (size_t i = 0; i < count && leaf->signer == count; i++) {
        gnutls_x509_crt_t ca = import(cas[i].pem);
        if (ca != NULL && signed_by(found, ca))
            leaf->signer = i;
        if (ca != NULL)
            gnutls_x509_crt_deinit(ca);
    }
    gnutls_x509_crt_deinit(found);
    return true;
}

/* ---- times ---- */

static const char time_format[] = "%Y-%m-%dT%H:%M:%SZ";

void cert_print_time(int64_t unix_s, char *buffer, size_t size)
{
    time_t seconds = unix_s;
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(buffer, size, time_format, &parts) == 0)
        snprintf(buffer, size, "%lld s after 1970", (long long)unix_s);
}

bool cert_parse_time(struct text t, int64_t *unix_s)
{
    char copy[CERT_TIME_BYTES], again[CERT_TIME_BYTES];
    if (t.size >= sizeof copy || memchr(t.data, '\0', t.size) != NULL)
        return false;
    memcpy(copy, t.data, t.size);
    copy[t.size] = '\0';
    struct tm parts = {0};
    const char *end = strptime(copy, time_format, &parts);
    if (end == NULL || *end != '\0')
        return false;
    *unix_s = timegm(&parts);
    cert_print_time(*unix_s, again, sizeof again);
    return text_is(t, again);
}
