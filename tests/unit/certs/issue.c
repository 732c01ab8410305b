/* Certificates: a CA, its leaves, and the folder they are kept in. */
#include "unit.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "certs/certs.h"

enum { DAY_S = 24 * 60 * 60 };
static const int64_t NOW = 1794000000; /* 2026-11-06 */

static const char *const service_names[] = {"taffrail.taffrail-system.svc", "localhost"};
static const char *const service_addresses[] = {"127.0.0.1", "::1"};
static const struct cert_names names = {service_names, 2, service_addresses, 2};

static gnutls_x509_crt_t parse(struct text pem)
{
    gnutls_x509_crt_t certificate = NULL;
    gnutls_datum_t datum = {(unsigned char *)pem.data, (unsigned)pem.size};
    CU_ASSERT_FATAL(gnutls_x509_crt_init(&certificate) == 0);
    CU_ASSERT_FATAL(gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM) == 0);
    return certificate;
}

struct issued {
    struct arena *arena;
    struct cert_pair ca, leaf;
};

static struct issued issue(void)
{
    struct issued issued = {.arena = arena_create(1 << 20)};
    struct error error;
    CU_ASSERT_FATAL(issued.arena != NULL);
    CU_ASSERT_FATAL(cert_issue_ca(NOW, issued.arena, &issued.ca, &error));
    CU_ASSERT_FATAL(cert_issue_leaf(&issued.ca, &names, NOW, issued.arena, &issued.leaf, &error));
    return issued;
}

static void ca_may_sign_leaves_only(void)
{
    struct issued issued = issue();
    gnutls_x509_crt_t ca = parse(issued.ca.certificate);
    unsigned critical = 0, is_ca = 0, usage = 0;
    int path_length = -1;
    CU_ASSERT(gnutls_x509_crt_get_basic_constraints(ca, &critical, &is_ca, &path_length) >= 0);
    ASSERT_INT(is_ca, 1);
    ASSERT_INT(path_length, 0);
    CU_ASSERT(gnutls_x509_crt_get_key_usage(ca, &usage, &critical) == 0);
    ASSERT_INT(usage, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
    ASSERT_INT(gnutls_x509_crt_get_activation_time(ca), NOW - 300);
    ASSERT_INT(gnutls_x509_crt_get_expiration_time(ca), NOW + (int64_t)3650 * DAY_S);
    ASSERT_INT(gnutls_x509_crt_get_version(ca), 3);
    gnutls_x509_crt_deinit(ca);
    arena_destroy(issued.arena);
}

static void leaf_serves_its_names(void)
{
    struct issued issued = issue();
    gnutls_x509_crt_t leaf = parse(issued.leaf.certificate);
    unsigned critical, usage = 0, bits = 0;
    CU_ASSERT(gnutls_x509_crt_get_key_usage(leaf, &usage, &critical) == 0);
    ASSERT_INT(usage, GNUTLS_KEY_DIGITAL_SIGNATURE);
    CU_ASSERT(gnutls_x509_crt_check_key_purpose(leaf, GNUTLS_KP_TLS_WWW_SERVER,
                                                GNUTLS_KP_FLAG_DISALLOW_ANY) != 0);
    CU_ASSERT(!gnutls_x509_crt_check_key_purpose(leaf, GNUTLS_KP_TLS_WWW_CLIENT, 0));
    ASSERT_INT(gnutls_x509_crt_get_pk_algorithm(leaf, &bits), GNUTLS_PK_ECDSA);
    ASSERT_INT(bits, 256);
    ASSERT_INT(gnutls_x509_crt_get_expiration_time(leaf), NOW + (int64_t)365 * DAY_S);
    static const struct {
        const char *host;
        bool served;
    } cases[] = {
        {"taffrail.taffrail-system.svc", true},
        {"localhost", true},
        {"127.0.0.1", true},
        {"::1", true},
        {"taffrail.other.svc", false},
        {"taffrail-system.svc", false},
        {"127.0.0.2", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(gnutls_x509_crt_check_hostname(leaf, cases[i].host) != 0, cases[i].served);
    gnutls_x509_crt_deinit(leaf);
    arena_destroy(issued.arena);
}

/* The status GnuTLS gives a leaf when only this CA is trusted. */
static unsigned verify(struct text leaf_pem, struct text ca_pem)
{
    gnutls_x509_trust_list_t trust;
    gnutls_x509_crt_t ca = parse(ca_pem), leaf = parse(leaf_pem);
    unsigned status = 0;
    CU_ASSERT_FATAL(gnutls_x509_trust_list_init(&trust, 0) == 0);
    CU_ASSERT_FATAL(gnutls_x509_trust_list_add_cas(trust, &ca, 1, 0) == 1);
    gnutls_typed_vdata_st purpose = {GNUTLS_DT_KEY_PURPOSE_OID,
                                     (unsigned char *)GNUTLS_KP_TLS_WWW_SERVER, 0};
    CU_ASSERT(gnutls_x509_trust_list_verify_crt2(trust, &leaf, 1, &purpose, 1,
                                                 GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status,
                                                 NULL) == 0);
    gnutls_x509_crt_deinit(leaf);
    gnutls_x509_trust_list_deinit(trust, 1);
    return status;
}

static void leaf_is_trusted_through_its_own_ca(void)
{
    struct issued first = issue(), second = issue();
    ASSERT_INT(verify(first.leaf.certificate, first.ca.certificate), 0);
    CU_ASSERT(verify(first.leaf.certificate, second.ca.certificate) != 0);
    arena_destroy(first.arena);
    arena_destroy(second.arena);
}

static void two_cas_are_told_apart(void)
{
    struct issued first = issue(), second = issue();
    gnutls_x509_crt_t a = parse(first.ca.certificate), b = parse(second.ca.certificate);
    char name_a[128], name_b[128];
    size_t size_a = sizeof name_a, size_b = sizeof name_b;
    CU_ASSERT(gnutls_x509_crt_get_dn(a, name_a, &size_a) == 0);
    CU_ASSERT(gnutls_x509_crt_get_dn(b, name_b, &size_b) == 0);
    CU_ASSERT(strcmp(name_a, name_b) != 0);
    CU_ASSERT(strncmp(name_a, "CN=Taffrail CA ", 15) == 0);
    unsigned char serial[64];
    size_t serial_size = sizeof serial;
    CU_ASSERT(gnutls_x509_crt_get_serial(a, serial, &serial_size) == 0);
    CU_ASSERT(serial_size == 16 && serial[0] < 0x80 && serial[0] != 0);
    gnutls_x509_crt_deinit(a);
    gnutls_x509_crt_deinit(b);
    arena_destroy(first.arena);
    arena_destroy(second.arena);
}

static void leaf_never_outlives_its_ca(void)
{
    struct issued issued = issue();
    struct error error;
    int64_t late = NOW + (int64_t)3600 * DAY_S, not_after = 0;
    CU_ASSERT_FATAL(cert_issue_leaf(&issued.ca, &names, late, issued.arena, &issued.leaf, &error));
    CU_ASSERT(cert_check(&issued.leaf, late, &not_after, &error));
    ASSERT_INT(not_after, NOW + (int64_t)3650 * DAY_S);
    arena_destroy(issued.arena);
}

static void names_that_never_match_are_refused(void)
{
    static const struct {
        const char *dns, *address;
        bool allowed;
    } cases[] = {
        {"taffrail.taffrail-system.svc", NULL, true},
        {"*.taffrail-system.svc", NULL, true},
        {"UPPER.example", NULL, true},
        {"a", NULL, true},
        {"", NULL, false},
        {"*.", NULL, false},
        {"taffrail.svc.", NULL, false},
        {".taffrail.svc", NULL, false},
        {"taffrail..svc", NULL, false},
        {"taff rail.svc", NULL, false},
        {"a.*.svc", NULL, false},
        {"https://taffrail.svc", NULL, false},
        {"b\xc3\xbc"
         "cher.example",
         NULL, false},
        {NULL, "10.0.0.1", true},
        {NULL, "2001:db8::1", true},
        {NULL, "10.0.0.1:443", false},
        {NULL, "10.0.0", false},
        {NULL, "[::1]", false},
        {NULL, "", false},
        {NULL, NULL, false},
    };
    struct issued issued = issue();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        struct cert_names one = {&cases[i].dns, cases[i].dns != NULL, &cases[i].address,
                                 cases[i].address != NULL};
        bool done = cert_issue_leaf(&issued.ca, &one, NOW, issued.arena, &issued.leaf, &error);
        ASSERT_INT(done, cases[i].allowed);
        ASSERT_INT(error.kind, cases[i].allowed ? ERROR_NONE : ERROR_USAGE);
    }
    arena_destroy(issued.arena);
}

static void many_long_names_fit(void)
{
    enum { COUNT = 200 };
    static char label[250];
    const char *many[COUNT];
    memset(label, 'a', sizeof label - 1);
    for (size_t i = 60; i < sizeof label - 1; i += 60)
        label[i] = '.';
    for (size_t i = 0; i < COUNT; i++)
        many[i] = label;
    struct issued issued = issue();
    struct error error;
    struct cert_names long_names = {many, COUNT, NULL, 0};
    int64_t not_after;
    CU_ASSERT(cert_issue_leaf(&issued.ca, &long_names, NOW, issued.arena, &issued.leaf, &error));
    CU_ASSERT(cert_check(&issued.leaf, NOW, &not_after, &error));
    arena_destroy(issued.arena);
}

static void check_says_what_is_wrong(void)
{
    struct issued first = issue(), second = issue();
    struct cert_pair good = first.leaf;
    struct cert_pair other_key = {first.leaf.certificate, second.leaf.key};
    struct cert_pair ca_first = {
        arena_printf(first.arena, "%s%s", first.ca.certificate.data, first.leaf.certificate.data),
        first.leaf.key};
    struct cert_pair chain = {
        arena_printf(first.arena, "%s%s", first.leaf.certificate.data, first.ca.certificate.data),
        first.leaf.key};
    struct cert_pair no_certificate = {TEXT(""), first.leaf.key};
    struct cert_pair junk = {TEXT("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
                             first.leaf.key};
    struct cert_pair no_key = {first.leaf.certificate, TEXT("nothing here")};
    /* One digit of its secret half: the public half is still the certificate's. */
    struct cert_pair damaged = {first.leaf.certificate, arena_text(first.arena, first.leaf.key)};
    char *digit =
        (char *)(uintptr_t)damaged.key.data + strlen("-----BEGIN PRIVATE KEY-----\n") + 52;
    *digit = *digit == 'A' ? 'B' : 'A';
    struct cert_pair swapped = {first.leaf.key, first.leaf.certificate};
    const int64_t year = (int64_t)365 * DAY_S;
    const struct {
        const struct cert_pair *pair;
        int64_t now;
        const char *what; /* part of the message; NULL: it is good */
    } cases[] = {
        {&good, NOW, NULL},
        {&chain, NOW, NULL},
        {&good, NOW - 300, NULL},
        {&good, NOW + year, NULL},
        {&good, NOW - 301, "not valid before 2026-11-06T"},
        {&good, NOW + year + 1, "expired at 2027-11-06T"},
        {&other_key, NOW, "does not belong"},
        {&ca_first, NOW, "does not belong"},
        {&no_certificate, NOW, "certificate cannot be read"},
        {&junk, NOW, "certificate cannot be read"},
        {&swapped, NOW, "certificate cannot be read"},
        {&no_key, NOW, "private key cannot be read"},
        {&damaged, NOW, "private key is damaged"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        int64_t not_after = 0;
        bool good_pair = cert_check(cases[i].pair, cases[i].now, &not_after, &error);
        ASSERT_INT(good_pair, cases[i].what == NULL);
        if (cases[i].what == NULL) {
            ASSERT_INT(not_after, NOW + year);
        } else {
            ASSERT_INT(error.kind, ERROR_TLS);
            if (strstr(error.what, cases[i].what) == NULL)
                fprintf(stderr, "case %zu: \"%s\" lacks \"%s\"\n", i, error.what, cases[i].what);
            CU_ASSERT(strstr(error.what, cases[i].what) != NULL);
        }
    }
    arena_destroy(first.arena);
    arena_destroy(second.arena);
}

/* A folder of its own for one test. */
static const char *folder(char *template)
{
    strcpy(template, "/tmp/taffrail-certs-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(template) != NULL);
    return template;
}

static void remove_folder(const char *path)
{
    static const char *const files[] = {"ca.crt", "tls.crt", "tls.key", "notes.txt"};
    char name[128];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(name, sizeof name, "%s/%s", path, files[i]);
        unlink(name);
    }
    CU_ASSERT(rmdir(path) == 0); /* so nothing else was left there */
}

static mode_t mode_of(const char *path, const char *name)
{
    char full[128];
    struct stat status;
    snprintf(full, sizeof full, "%s/%s", path, name);
    return stat(full, &status) == 0 ? status.st_mode & 0777 : 0;
}

static void folder_is_filled_once_and_then_read(void)
{
    char path[64], missing[80];
    folder(path);
    snprintf(missing, sizeof missing, "%s/new", path);
    const char *const folders[] = {path, missing};
    for (size_t i = 2; i-- > 0;) {
        struct arena *arena = arena_create(1 << 20);
        struct cert_pair made_pair = {0}, read_pair = {0};
        struct error error;
        bool made = false;
        CU_ASSERT(certs_open_dir(folders[i], &names, NOW, arena, &made_pair, &made, &error));
        CU_ASSERT(made);
        ASSERT_INT(mode_of(folders[i], "tls.key"), 0600);
        CU_ASSERT(mode_of(folders[i], "tls.crt") != 0 && mode_of(folders[i], "ca.crt") != 0);
        CU_ASSERT(certs_open_dir(folders[i], &names, NOW, arena, &read_pair, &made, &error));
        CU_ASSERT(!made);
        CU_ASSERT(text_equal(made_pair.certificate, read_pair.certificate));
        CU_ASSERT(text_equal(made_pair.key, read_pair.key));
        struct text ca = {0};
        char ca_path[128];
        snprintf(ca_path, sizeof ca_path, "%s/ca.crt", folders[i]);
        CU_ASSERT_FATAL(file_read(ca_path, 1 << 20, arena, &ca, &error));
        ASSERT_INT(verify(read_pair.certificate, ca), 0);
        remove_folder(folders[i]);
        arena_destroy(arena);
    }
}

static void put(const char *path, const char *name, const char *content)
{
    char full[128];
    snprintf(full, sizeof full, "%s/%s", path, name);
    FILE *file = fopen(full, "w");
    CU_ASSERT_FATAL(file != NULL);
    fputs(content, file);
    fclose(file);
}

static void foreign_folder_is_left_alone(void)
{
    static const struct {
        const char *name, *what;
    } cases[] = {
        {"notes.txt", "no tls.crt and tls.key"},
        {"tls.crt", "no tls.key"},
        {"tls.key", "no tls.crt"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        folder(path);
        put(path, cases[i].name, "mine");
        struct arena *arena = arena_create(1 << 20);
        struct cert_pair leaf;
        struct error error = {0};
        bool made = true;
        CU_ASSERT(!certs_open_dir(path, &names, NOW, arena, &leaf, &made, &error));
        CU_ASSERT(!made);
        CU_ASSERT(strstr(error.what, cases[i].what) != NULL);
        ASSERT_INT(mode_of(path, "ca.crt"), 0);
        remove_folder(path);
        arena_destroy(arena);
    }
}

static void expired_folder_is_an_error_that_names_the_file(void)
{
    char path[64];
    folder(path);
    struct arena *arena = arena_create(1 << 20);
    struct cert_pair leaf;
    struct error error = {0};
    bool made;
    CU_ASSERT(certs_open_dir(path, &names, NOW, arena, &leaf, &made, &error));
    CU_ASSERT(
        !certs_open_dir(path, &names, NOW + (int64_t)400 * DAY_S, arena, &leaf, &made, &error));
    CU_ASSERT(strstr(error.what, "expired") != NULL);
    CU_ASSERT(error.place.file != NULL && strstr(error.place.file, "/tls.crt") != NULL);
    remove_folder(path);
    arena_destroy(arena);
}

static void folder_that_cannot_be_made_is_an_error(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct cert_pair leaf;
    struct error error = {0};
    bool made = true;
    CU_ASSERT(!certs_open_dir("/proc/taffrail-certs", &names, NOW, arena, &leaf, &made, &error));
    ASSERT_INT(error.kind, ERROR_IO);
    CU_ASSERT(!certs_open_dir("/dev/null", &names, NOW, arena, &leaf, &made, &error));
    ASSERT_INT(error.kind, ERROR_IO);
    arena_destroy(arena);
}

const char unit_suite[] = "certs/issue";
const struct unit_test unit_tests[] = {
    {"the CA may sign leaves only", ca_may_sign_leaves_only},
    {"a leaf serves its names", leaf_serves_its_names},
    {"a leaf is trusted through its own CA", leaf_is_trusted_through_its_own_ca},
    {"two CAs are told apart", two_cas_are_told_apart},
    {"a leaf never outlives its CA", leaf_never_outlives_its_ca},
    {"names that never match are refused", names_that_never_match_are_refused},
    {"many long names fit", many_long_names_fit},
    {"a check says what is wrong", check_says_what_is_wrong},
    {"a folder is filled once and then read", folder_is_filled_once_and_then_read},
    {"a foreign folder is left alone", foreign_folder_is_left_alone},
    {"an expired folder is an error that names the file",
     expired_folder_is_an_error_that_names_the_file},
    {"a folder that cannot be made is an error", folder_that_cannot_be_made_is_an_error},
    {NULL, NULL},
};
