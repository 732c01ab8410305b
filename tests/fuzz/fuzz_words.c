/* What stands in one string: quantities, shares, schedules, times, durations, base64, names of
 * instance types, ignore files, proxies. No crash, no leak; what is read can be written and read
 * again, and base64 and times are what GnuTLS and the C library read. What is printed is obeyed by
 * nobody. */
/* reads: kube/quantity.c kube/cron.c kube/time.c base/duration.c base/base64.c base/ignore.c
 * base/utf8.c live/proxy.c catalog/name.c */
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/duration.h"
#include "base/ignore.h"
#include "base/wrap.h"
#include "catalog/catalog.h"
#include "fuzz.h"
#include "kube/cron.h"
#include "kube/quantity.h"
#include "kube/time.h"
#include "live/proxy.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000, SHARE_OF = 1000 };

static struct arena *arena;

static void read_quantity(struct text text)
{
    int64_t milli = 0, again = 0;
    if (!quantity_milli(text, &milli)) {
        (void)quantity_is_vast(text);
        REQUIRE(text_equal(quantity_canonical(text, arena), text));
        return;
    }
    REQUIRE(!quantity_is_vast(text));
    struct text canonical = quantity_canonical(text, arena);
    REQUIRE(quantity_milli(canonical, &again));
    REQUIRE(again == milli);
    REQUIRE(text_equal(quantity_canonical(canonical, arena), canonical));
}

static void read_share(struct text text)
{
    struct share share;
    if (!share_parse(text, &share))
        return;
    int64_t amount = share_amount(share, SHARE_OF);
    REQUIRE(amount >= 0 && (!share.percent || amount <= SHARE_OF));
}

/* Whether the C library finds the schedule's minute in the same minute. */
static void read_schedule(struct text text)
{
    struct cron cron;
    struct text fault = TEXT("");
    int64_t next_unix_s = 0;
    if (!cron_parse(text, arena, &cron, &fault)) {
        REQUIRE(fault.size > 0);
        return;
    }
    if (!cron_next(&cron, NOW_UNIX_S, &next_unix_s))
        return;
    time_t seconds = (time_t)next_unix_s;
    struct tm utc;
    REQUIRE(next_unix_s > NOW_UNIX_S && gmtime_r(&seconds, &utc) != NULL && utc.tm_sec == 0);
    REQUIRE((cron.minutes >> utc.tm_min & 1) != 0 && (cron.hours >> utc.tm_hour & 1) != 0);
    REQUIRE((cron.months >> (utc.tm_mon + 1) & 1) != 0);
}

static void read_time(struct text text)
{
    int64_t unix_s = 0, seconds = 0;
    struct tm utc = {0};
    /* RFC 3339 lets both letters be small; the C library is asked for what stands around them. */
    if (time_parse(text, &unix_s) &&
        (text_ends_with(text, TEXT("Z")) || text_ends_with(text, TEXT("z")))) {
        char *copy = (char *)arena_text(arena, text).data;
        for (size_t i = 0; i < text.size; i++)
            copy[i] = (char)(copy[i] == 't' || copy[i] == 'z' ? copy[i] - 'a' + 'A' : copy[i]);
        const char *end = strptime(copy, "%Y-%m-%dT%H:%M:%S", &utc);
        REQUIRE(end != NULL && (*end == 'Z' || *end == '.'));
        REQUIRE(timegm(&utc) == unix_s);
    }
    if (duration_parse(text, &seconds))
        REQUIRE(text.size > 0);
    struct text left = text;
    struct duration_part part;
    bool whole = text.size > 0;
    for (size_t size = left.size; duration_take(&left, &part); size = left.size) {
        REQUIRE(left.size < size && part.number >= 0 && part.unit_ns > 0);
        whole &= !part.has_point && part.unit_ns >= DURATION_SECOND_NS;
    }
    REQUIRE(duration_is_whole(text) == (whole && left.size == 0));
}

static void read_base64(struct text text)
{
    struct text decoded, again;
    struct text encoded = text_base64(text, arena);
    REQUIRE(text.size == 0 ||
            (text_from_base64(encoded, arena, &again) && text_equal(again, text)));
    gnutls_datum_t written = {(unsigned char *)(uintptr_t)text.data, (unsigned)text.size};
    gnutls_datum_t theirs = {NULL, 0};
    if (!text_from_base64(text, arena, &decoded) || decoded.size == 0)
        return;
    /* As Go does, we take bits behind the last byte ("Gi=="), and GnuTLS does not. */
    bool good = gnutls_base64_decode2(&written, &theirs) == GNUTLS_E_SUCCESS;
    REQUIRE(good || !text_equal(text_base64(decoded, arena), text));
    REQUIRE(!good || text_equal(decoded, (struct text){(const char *)theirs.data, theirs.size}));
    gnutls_free(theirs.data);
}

static void read_name(struct text text)
{
    struct text family, size, category;
    uint32_t generation;
    if (instance_name_parse(text, &family, &size, &category, &generation))
        REQUIRE(family.size > 0 && size.size > 0 && family.size + size.size < text.size);
    if (instance_family_parse(text, &category, &generation))
        REQUIRE(category.size > 0 && category.size < text.size);
    struct text cut = json_cut(text_as_utf8(text, arena), 20);
    struct text_builder written = {.arena = arena};
    json_write_string(&written, cut);
    REQUIRE(written.size <= 22);
}

static void read_ignored(struct text text)
{
    static const char *names[] = {"a", "b", "charts", "x.yaml"};
    struct ignore_rules rules = {.arena = arena};
    struct ignore_path path = {.items = names, .count = COUNT_OF(names)};
    /* Of the outermost folder, and of one that the path does not lie in. */
    ignore_add_lines(&rules, text, 0);
    ignore_add_lines(&rules, text, COUNT_OF(names));
    for (size_t i = 0; i < rules.count; i++)
        REQUIRE(rules.items[i].parts.count > 0);
    (void)ignore_leaves_out(&rules, &path, false);
    (void)ignore_leaves_out(&rules, &path, true);
}

/* What is printed for people has nothing that a terminal or a pipeline obeys. */
static void print_words(struct text text)
{
    static const char *const commands[] = {"##[", "##vso["};
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    REQUIRE(out != NULL);
    put_printable(text_as_utf8(text, arena), out);
    REQUIRE(fclose(out) == 0);
    struct text words = {printed, size};
    for (size_t i = 0; i < text.size; i++)
        REQUIRE(control_size((struct text){text.data + i, text.size - i}) <= text.size - i);
    for (size_t i = 0; i < size; i++)
        REQUIRE(control_size((struct text){printed + i, size - i}) == 0);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        REQUIRE(!text_holds(words, text_of(commands[i])));
    while (text_starts_with(words, TEXT(" ")))
        words = (struct text){words.data + 1, words.size - 1};
    REQUIRE(!text_starts_with(words, TEXT("::")));
    free(printed);
}

static void read_proxy(struct text text)
{
    const char *copy = arena_text(arena, text).data;
    const struct proxy_environment environments[] = {{copy, copy, NULL},
                                                     {NULL, "http://proxy:1", copy}};
    static const char *const hosts[] = {"10.1.2.3", "[fd00::1]", "api.example.com"};
    static const char *const at_home[] = {"localhost", "127.0.0.1", "[::1]"};
    struct text proxy;
    struct error error = {0};
    for (size_t i = 0; i < COUNT_OF(environments); i++)
        for (size_t j = 0; j < COUNT_OF(hosts); j++)
            for (int secure = 0; secure < 2; secure++)
                if (!proxy_for(&environments[i], secure != 0 ? "https" : "http", hosts[j], "6443",
                               arena, &proxy, &error))
                    REQUIRE(error.what[0] != '\0');
    for (size_t i = 0; i < COUNT_OF(at_home); i++)
        REQUIRE(proxy_for(&environments[0], "https", at_home[i], "6443", arena, &proxy, &error) &&
                proxy.size == 0);
    if (proxy_named(text, arena, &proxy, &error))
        REQUIRE(proxy.size > 0 || text.size == 0);
}

static void read_all(void *argument)
{
    const struct text *text = argument;
    read_quantity(*text);
    read_share(*text);
    read_schedule(*text);
    read_time(*text);
    read_base64(*text);
    read_name(*text);
    read_ignored(*text);
    read_proxy(*text);
    print_words(*text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(&arena, ARENA_BYTES, read_all, data, size);
}
