/* A certificate and a key in PEM, with a NUL between them, as files and Secrets have them, or by
 * the names of issued.h: no crash, no leak; what is taken as a CA is one, and lies in the text. */
/* reads: certs/inspect.c certs/bundle_check.c certs/issue.c certs/rotate.c */
#include <string.h>

#include "certs/inspect.h"
#include "fuzz.h"
#include "issued.h"

enum { ARENA_BYTES = 64 << 20, CAS_MAX = 4 };

static struct arena *arena;

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
    if (cert_read_leaf(bundle, &issued_names, cas, count, &leaf))
        REQUIRE(leaf.signer <= count);
}

static void check_rotation(const struct cert_pair *pair)
{
    struct rotation_view view = {.secret = {.ca_bundle = pair->certificate,
                                            .ca_keys = pair->key,
                                            .leaf = *pair,
                                            .retire_after = pair->key},
                                 .names = issued_names,
                                 .times = rotation_times_usual,
                                 .now_unix_s = ISSUED_NOW_UNIX_S};
    struct rotation_step step;
    struct error error;
    int64_t not_after_unix_s;
    if (!certs_rotate(&view, arena, &step, &error))
        REQUIRE(error.what[0] != '\0');
    else if (step.leaf_not_after_unix_s > 0)
        REQUIRE(cert_check(&step.secret.leaf, ISSUED_NOW_UNIX_S, &not_after_unix_s, &error));
}

/* A copy of its own size, so that reading beyond it is seen. */
static struct text copy_of(struct text text)
{
    char *copy = ARENA_ARRAY(arena, text.size, char);
    if (text.size > 0)
        memcpy(copy, text.data, text.size);
    return (struct text){copy, text.size};
}

static void read_all(void *argument)
{
    const struct text *input = argument;
    struct text text = issued_in(*input, ISSUED_PEM, arena), certificate = text, key = TEXT("");
    text_split(text, '\0', &certificate, &key);
    struct cert_pair pair = {copy_of(certificate), copy_of(key)};
    struct error error = {0};
    int64_t not_after_unix_s = 0, unix_s;
    char printed[CERT_TIME_BYTES];
    bool good = cert_check(&pair, ISSUED_NOW_UNIX_S, &not_after_unix_s, &error);
    REQUIRE(good ? not_after_unix_s >= ISSUED_NOW_UNIX_S : error.what[0] != '\0');
    if (!cert_check_bundle(pair.certificate, &error))
        REQUIRE(error.what[0] != '\0');
    check_cas(pair.certificate, pair.key);
    check_rotation(&pair);
    if (cert_parse_time(pair.key, &unix_s))
        REQUIRE(pair.key.size > 0);
    if (cert_parse_time(pair.certificate, &unix_s)) {
        cert_print_time(unix_s, printed, sizeof printed);
        REQUIRE(text_is(pair.certificate, printed));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(&arena, ARENA_BYTES, read_all, data, size);
}
