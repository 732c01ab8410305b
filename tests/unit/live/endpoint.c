/* The address of the API server: who may be told a secret, which name a certificate must have, and
 * what a server does not run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live/endpoint.h"
#include "live/exec_credential.h"
#include "unit.h"

const char unit_suite[] = "client endpoint";

#define HTTPS .server = TEXT("https://10.0.0.1:6443")
#define TOKEN .token = TEXT("secret")

static void without_proxies(void)
{
    static const char *const names[] = {"HTTP_PROXY",  "http_proxy", "HTTPS_PROXY",
                                        "https_proxy", "NO_PROXY",   "no_proxy"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        unsetenv(names[i]);
}

static void secrets_go_over_https_or_stay_on_the_machine(void)
{
    static const struct {
        struct client_config config;
        const char *error; /* NULL: it is opened */
    } cases[] = {
        {{HTTPS, TOKEN}, NULL},
        {{.server = TEXT("http://10.0.0.1:8080")}, NULL},
        {{.server = TEXT("http://10.0.0.1:8080"), TOKEN}, "over https only"},
        {{.server = TEXT("http://10.0.0.1:8080"), .token_file = TEXT("/run/token")},
         "over https only"},
        {{.server = TEXT("http://10.0.0.1:8080"), .password = TEXT("secret")}, "over https only"},
        {{.server = TEXT("http://localhost:8080"), TOKEN}, NULL},
        {{.server = TEXT("http://127.0.0.1:8080"), TOKEN}, NULL},
        {{.server = TEXT("http://[::1]:8080"), TOKEN}, NULL},
        {{.server = TEXT("http://localhost.example.com"), TOKEN}, "over https only"},
        {{.server = TEXT("http://128.0.0.1"), TOKEN}, "over https only"},
    };
    without_proxies();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct endpoint endpoint;
        struct error error = {0};
        bool opened = endpoint_open(&cases[i].config, &endpoint, &error);
        CU_ASSERT_EQUAL(opened, cases[i].error == NULL);
        if (!opened)
            CU_ASSERT(cases[i].error != NULL && strstr(error.what, cases[i].error) != NULL);
        endpoint_close(&endpoint);
    }
}

static void what_is_no_address_is_refused(void)
{
    static const char *const arguments[] = {"login", NULL};
    static const struct exec_plugin plugin = {.arguments = arguments};
    static const struct {
        struct client_config config;
        const char *error;
    } cases[] = {
        {{.server = TEXT("https://")}, "\"https://\" is no address of an API server"},
        {{.server = TEXT("https://a:port")}, "is no address of an API server"},
        {{HTTPS, .tls_server_name = TEXT("a b")}, "tls-server-name is no host name"},
        {{HTTPS, .proxy_url = TEXT("ftp://proxy")}, "wants http, https or socks5"},
        {{HTTPS, .exec = &plugin, .origin = TEXT("the context prod of FILE")},
         "the context prod of FILE gets its credentials from a program (exec: login)"},
    };
    without_proxies();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct endpoint endpoint;
        struct error error = {0};
        CU_ASSERT(!endpoint_open(&cases[i].config, &endpoint, &error));
        ASSERT_INT(error.kind, ERROR_INPUT);
        CU_ASSERT(strstr(error.what, cases[i].error) != NULL);
        endpoint_close(&endpoint); /* of what was not opened, too */
    }
}

/* The certificate has another name than the address, and the proxy is the kubeconfig's. */
static void the_certificate_may_have_another_name(void)
{
    const struct client_config config = {HTTPS, .tls_server_name = TEXT("api.example.com"),
                                         .proxy_url = TEXT("socks5://proxy:1080")};
    struct endpoint endpoint;
    struct error error = {0};
    without_proxies();
    CU_ASSERT_FATAL(endpoint_open(&config, &endpoint, &error));
    ASSERT_TEXT(text_of(endpoint.base), "https://api.example.com:6443");
    CU_ASSERT_FATAL(endpoint.connect_to != NULL);
    ASSERT_TEXT(text_of(endpoint.connect_to->data), "::10.0.0.1:6443");
    ASSERT_TEXT(text_of(endpoint.proxy), "socks5h://proxy:1080");
    CU_ASSERT(!endpoint_renew(&endpoint)); /* it is from no kubeconfig */
    endpoint_close(&endpoint);
}

/* libcurl is given paths: a file's own, and one of a file without a name for what stands in the
 * kubeconfig, which is closed with the endpoint. */
static void certificates_are_files_for_libcurl(void)
{
    const struct client_config config = {
        HTTPS, .ca_pem = TEXT("authority"), .certificate_file = TEXT("/etc/me.crt"),
        .certificate_pem = TEXT("not this one"), .key_pem = TEXT("key")};
    struct endpoint endpoint;
    struct error error = {0};
    struct text read;
    struct arena *arena = arena_create(1 << 20);
    without_proxies();
    CU_ASSERT_FATAL(endpoint_open(&config, &endpoint, &error));
    CU_ASSERT_FATAL(endpoint.ca_path != NULL && endpoint.certificate_path != NULL &&
                    endpoint.key_path != NULL);
    ASSERT_TEXT(text_of(endpoint.certificate_path), "/etc/me.crt");
    CU_ASSERT_FATAL(file_read(endpoint.ca_path, 1 << 10, arena, &read, &error));
    ASSERT_TEXT(read, "authority");
    CU_ASSERT_FATAL(file_read(endpoint.key_path, 1 << 10, arena, &read, &error));
    ASSERT_TEXT(read, "key");
    const char *path = arena_text(arena, text_of(endpoint.key_path)).data;
    endpoint_close(&endpoint);
    CU_ASSERT(access(path, F_OK) != 0);
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"secrets go over https, or stay on the machine", secrets_go_over_https_or_stay_on_the_machine},
    {"what is no address is refused", what_is_no_address_is_refused},
    {"the certificate may have another name", the_certificate_may_have_another_name},
    {"certificates are files for libcurl", certificates_are_files_for_libcurl},
    {NULL, NULL},
};
