/* A certificate and a key in PEM, with a NUL between them, as files and Secrets have them: no
 * crash, no leak; what is taken as a CA is one, and lies in the text. */
/* reads: certs/inspect.c certs/bundle_check.c certs/issue.c certs/rotate.c */
#include <string.h>

#include "certs/inspect.h"
#include "fuzz.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000, CAS_MAX = 4 };

static const char *const dns[] = {"taffrail.taffrail.svc"};
static const struct cert_names names = {.dns = dns, .dns_count = 1};

static bool lies_in(struct text part, struct text whole)
{
    return part.size == 0 ||
           (part.data >= whole.data && part.data + part.size <= whole.data + whole.size);
}

static void check_cas(struct text bundle, struct text keys)
{
    struct cert_ca cas[CAS_MAX];
    struct cert_leaf leaf;
    struct error error;
    size_t count = cert_read_cas(bundle, cas, CAS_MAX);
    REQUIRE(count <= CAS_MAX);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(lies_in(cas[i].pem, bundle) && cas[i].pem.size > 0);
        REQUIRE(cert_check_bundle(cas[i].pem, &error));
        REQUIRE(lies_in(cert_find_key(keys, &cas[i]), keys));
    }
    if (cert_read_leaf(bundle, &names, cas, count, &leaf))
        REQUIRE(leaf.signer <= count);
}

static void check_rotation(const struct cert_pair *pair, struct arena *arena)
{
    struct rotation_view view = {.secret = {.ca_bundle = pair->certificate,
                                            .ca_keys = pair->key,
                                            .leaf = *pair,
                                            .retire_after = pair->key},
                                 .names = names,
                                 .times = rotation_times_usual,
                                 .now_unix_s = NOW_UNIX_S};
    struct rotation_step step;
    struct error error;
    int64_t not_after_unix_s;
    if (!certs_rotate(&view, arena, &step, &error))
        REQUIRE(error.what[0] != '\0');
    else if (step.secret.leaf.certificate.size > 0 && step.write)
        REQUIRE(cert_check(&step.secret.leaf, NOW_UNIX_S, &not_after_unix_s, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena *arena;
    if (arena == NULL)
        arena = arena_create(ARENA_BYTES);
    REQUIRE(arena != NULL);
    arena_reset(arena);
    struct text text = {(const char *)data, size}, certificate = text, key = TEXT("");
    text_split(text, '\0', &certificate, &key);
    /* Copies of their own sizes, so that reading beyond them is seen. */
    char *one = malloc(certificate.size + 1), *other = malloc(key.size + 1);
    if (certificate.size > 0)
        memcpy(one, certificate.data, certificate.size);
    if (key.size > 0)
        memcpy(other, key.data, key.size);
    struct cert_pair pair = {{one, certificate.size}, {other, key.size}};
    struct error error = {0};
    int64_t not_after_unix_s = 0, unix_s;
    char printed[CERT_TIME_BYTES];
    bool good = cert_check(&pair, NOW_UNIX_S, &not_after_unix_s, &error);
    REQUIRE(good ? not_after_unix_s >= NOW_UNIX_S : error.what[0] != '\0');
    if (!cert_check_bundle(pair.certificate, &error))
        REQUIRE(error.what[0] != '\0');
    check_cas(pair.certificate, pair.key);
    check_rotation(&pair, arena);
    if (cert_parse_time(pair.certificate, &unix_s)) {
        cert_print_time(unix_s, printed, sizeof printed);
        REQUIRE(text_is(pair.certificate, printed));
    }
    free(one);
    free(other);
    return 0;
}
