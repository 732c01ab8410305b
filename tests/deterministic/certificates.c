/* Certificates in place of certs/issue.c and certs/inspect.c, and what server/http.c asks of
 * GnuTLS: a CA is a number, and a leaf names its CA. Real ones are random, and take milliseconds;
 * tests/unit/certs has these. */
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <time.h>

#include "bytes.h"
#include "certs/inspect.h"

enum { CA_LIFE_S = 10 * 365 * 86400, LEAF_LIFE_S = 365 * 86400 };

static const char begin_certificate[] = "-----BEGIN CERTIFICATE-----\n";
static const char end_certificate[] = "-----END CERTIFICATE-----";
static uint64_t numbers = 1;

/* ---- making ---- */

struct issuing {
    struct arena *arena;
    const char *sort;
    uint64_t number, ca;
    int64_t from_s, until_s;
    struct cert_pair *pair;
};

static void write_pair(void *context)
{
    const struct issuing *issuing = context;
    issuing->pair->certificate = arena_printf(
        issuing->arena, "%s%s %016" PRIx64 " %016" PRIx64 " %" PRId64 " %" PRId64 "\n%s\n",
        begin_certificate, issuing->sort, issuing->number, issuing->ca, issuing->from_s,
        issuing->until_s, end_certificate);
    issuing->pair->key = arena_printf(
        issuing->arena, "-----BEGIN PRIVATE KEY-----\n%016" PRIx64 "\n-----END PRIVATE KEY-----\n",
        issuing->number);
}

bool cert_issue_ca_for(int64_t valid_s, int64_t now_unix_s, struct arena *arena,
                       struct cert_pair *ca, struct error *error)
{
    uint64_t number = numbers++;
    struct issuing issuing = {
        arena, "ca", number, number, now_unix_s - CERT_BACKDATED_S, now_unix_s + valid_s, ca};
    write_pair(&issuing);
    (void)error;
    return true;
}

bool cert_issue_ca(int64_t now_unix_s, struct arena *arena, struct cert_pair *ca,
                   struct error *error)
{
    return cert_issue_ca_for(CA_LIFE_S, now_unix_s, arena, ca, error);
}

struct facts {
    char sort[8];
    uint64_t number, ca;
    int64_t from_s, until_s;
};

static bool read_facts(struct text pem, struct facts *facts)
{
    char line[160];
    size_t begin = sizeof begin_certificate - 1;
    if (!text_starts_with(pem, TEXT("-----BEGIN CERTIFICATE-----\n")) ||
        memmem(pem.data, pem.size, end_certificate, sizeof end_certificate - 1) == NULL)
        return false;
    snprintf(line, sizeof line, "%.*s", (int)(pem.size - begin), pem.data + begin);
    return sscanf(line, "%7s %" SCNx64 " %" SCNx64 " %" SCNd64 " %" SCNd64, facts->sort,
                  &facts->number, &facts->ca, &facts->from_s, &facts->until_s) == 5;
}

bool cert_issue_leaf_for(int64_t valid_s, const struct cert_pair *ca,
                         const struct cert_names *names, int64_t now_unix_s, struct arena *arena,
                         struct cert_pair *leaf, struct error *error)
{
    struct facts facts;
    (void)names;
    if (!read_facts(ca->certificate, &facts))
        return error_set(error, ERROR_TLS, NOWHERE, "the CA cannot be read");
    int64_t until_s = now_unix_s + valid_s;
    struct issuing issuing = {arena,
                              "leaf",
                              numbers++,
                              facts.number,
                              now_unix_s - CERT_BACKDATED_S,
                              until_s < facts.until_s ? until_s : facts.until_s,
                              leaf};
    write_pair(&issuing);
    return true;
}

bool cert_issue_leaf(const struct cert_pair *ca, const struct cert_names *names, int64_t now_unix_s,
                     struct arena *arena, struct cert_pair *leaf, struct error *error)
{
    return cert_issue_leaf_for(LEAF_LIFE_S, ca, names, now_unix_s, arena, leaf, error);
}

/* ---- reading ---- */

static bool is_key_of(struct text key, uint64_t number)
{
    char wanted[24];
    snprintf(wanted, sizeof wanted, "\n%016" PRIx64 "\n", number);
    return memmem(key.data, key.size, wanted, strlen(wanted)) != NULL;
}

bool cert_check(const struct cert_pair *pair, int64_t now_unix_s, int64_t *not_after_unix_s,
                struct error *error)
{
    struct facts facts;
    if (!read_facts(pair->certificate, &facts))
        return error_set(error, ERROR_TLS, NOWHERE, "the certificate cannot be read");
    if (!is_key_of(pair->key, facts.number))
        return error_set(error, ERROR_TLS, NOWHERE, "key and certificate do not belong together");
    if (now_unix_s < facts.from_s || now_unix_s > facts.until_s)
        return error_set(error, ERROR_TLS, NOWHERE, "the certificate is not valid now");
    *not_after_unix_s = facts.until_s;
    return true;
}

size_t cert_read_cas(struct text bundle, struct cert_ca *cas, size_t max)
{
    size_t count = 0;
    while (count < max && bundle.size > 0) {
        struct facts facts;
        const char *begin =
            memmem(bundle.data, bundle.size, begin_certificate, sizeof begin_certificate - 1);
        if (begin == NULL)
            break;
        bundle.size -= (size_t)(begin - bundle.data);
        bundle.data = begin;
        const char *end =
            memmem(bundle.data, bundle.size, end_certificate, sizeof end_certificate - 1);
        if (end == NULL)
            break;
        struct text pem = {begin, (size_t)(end - begin) + sizeof end_certificate - 1};
        if (read_facts(pem, &facts) && strcmp(facts.sort, "ca") == 0) {
            struct cert_ca *ca = &cas[count++];
            *ca = (struct cert_ca){
                .pem = pem, .not_before_unix_s = facts.from_s, .not_after_unix_s = facts.until_s};
            memcpy(ca->fingerprint, &facts.number, sizeof facts.number);
            memcpy(ca->key_id, &facts.number, sizeof facts.number);
        }
        bundle = (struct text){pem.data + pem.size, bundle.size - pem.size};
    }
    return count;
}

struct text cert_find_key(struct text keys, const struct cert_ca *ca)
{
    static const char begin[] = "-----BEGIN PRIVATE KEY-----\n";
    char wanted[96];
    uint64_t number;
    memcpy(&number, ca->key_id, sizeof number);
    int size = snprintf(wanted, sizeof wanted, "%s%016" PRIx64 "\n-----END PRIVATE KEY-----", begin,
                        number);
    const char *found = keys.size == 0 ? NULL : memmem(keys.data, keys.size, wanted, (size_t)size);
    return found == NULL ? TEXT("") : (struct text){found, (size_t)size};
}

bool cert_read_leaf(struct text certificate, const struct cert_names *names,
                    const struct cert_ca *cas, size_t count, struct cert_leaf *leaf)
{
    struct facts facts;
    (void)names;
    if (!read_facts(certificate, &facts))
        return false;
    *leaf = (struct cert_leaf){.not_before_unix_s = facts.from_s,
                               .not_after_unix_s = facts.until_s,
                               .serves = strcmp(facts.sort, "leaf") == 0,
                               .has_names = true};
    for (leaf->signer = 0; leaf->signer < count; leaf->signer++)
        if (memcmp(cas[leaf->signer].key_id, &facts.ca, sizeof facts.ca) == 0)
            break;
    return true;
}

void cert_print_time(int64_t unix_s, char *buffer, size_t size)
{
    time_t seconds = (time_t)unix_s;
    struct tm utc;
    if (gmtime_r(&seconds, &utc) == NULL || strftime(buffer, size, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        snprintf(buffer, size, "?");
}

bool cert_parse_time(struct text t, int64_t *unix_s)
{
    char text[32];
    struct tm utc = {0};
    snprintf(text, sizeof text, "%.*s", TEXT_ARGS(t));
    const char *end = t.size >= sizeof text ? NULL : strptime(text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (end == NULL || *end != '\0')
        return false;
    *unix_s = timegm(&utc);
    return true;
}

/* ---- GnuTLS, as server/http.c uses it ---- */

int __wrap_gnutls_pcert_list_import_x509_raw(gnutls_pcert_st *chain, unsigned *count,
                                             const gnutls_datum_t *data,
                                             gnutls_x509_crt_fmt_t format, unsigned flags);
int __wrap_gnutls_pcert_list_import_x509_raw(gnutls_pcert_st *chain, unsigned *count,
                                             const gnutls_datum_t *data,
                                             gnutls_x509_crt_fmt_t format, unsigned flags)
{
    (void)format, (void)flags;
    chain[0] = (gnutls_pcert_st){.cert = {world_alloc(data->size + 1), data->size}};
    memcpy(chain[0].cert.data, data->data, data->size);
    *count = 1;
    return 0;
}

void __wrap_gnutls_pcert_deinit(gnutls_pcert_st *certificate);
void __wrap_gnutls_pcert_deinit(gnutls_pcert_st *certificate)
{
    world_free(certificate->cert.data);
}

int __wrap_gnutls_privkey_init(gnutls_privkey_t *key);
int __wrap_gnutls_privkey_init(gnutls_privkey_t *key)
{
    *key = world_alloc(1);
    return 0;
}

int __wrap_gnutls_privkey_import_x509_raw(gnutls_privkey_t key, const gnutls_datum_t *data,
                                          gnutls_x509_crt_fmt_t format, const char *password,
                                          unsigned flags);
int __wrap_gnutls_privkey_import_x509_raw(gnutls_privkey_t key, const gnutls_datum_t *data,
                                          gnutls_x509_crt_fmt_t format, const char *password,
                                          unsigned flags)
{
    (void)key, (void)data, (void)format, (void)password, (void)flags;
    return 0;
}

void __wrap_gnutls_privkey_deinit(gnutls_privkey_t key);
void __wrap_gnutls_privkey_deinit(gnutls_privkey_t key)
{
    world_free(key);
}
