/* Which proxy an address goes through. What is expected is what Go's httpproxy does with the same.
 */
#include "live/proxy.h"

#include "unit.h"

const char unit_suite[] = "proxies of the environment";

static struct arena *arena;

static void what_no_proxy_excepts(void)
{
    static const struct {
        const char *except, *host, *port;
        bool excepted;
    } cases[] = {
        {NULL, "api.example", "443", false},
        {"", "api.example", "443", false},
        {"*", "api.example", "443", true},
        {"example", "api.example", "443", true},
        {"api.example", "api.example", "443", true},
        {"ample", "api.example", "443", false},
        {".example", "api.example", "443", true},
        {".api.example", "api.example", "443", false},
        {"*.api.example", "api.example", "443", false},
        {"*.example", "api.example", "443", true},
        {" a , API.EXAMPLE ", "Api.example", "443", true},
        {"api.example:443", "api.example", "443", true},
        {"api.example:444", "api.example", "443", false},
        {",,", "api.example", "443", false},
        {":443", "api.example", "443", false},
        {"10.0.0.0/8", "10.1.2.3", "443", true},
        {"10.0.0.0/8", "11.1.2.3", "443", false},
        {"10.128.0.0/9", "10.127.2.3", "443", false},
        {"10.0.0.0/33", "10.1.2.3", "443", false},
        {"10.0.0.0/8", "api.example", "443", false},
        {"10.1.2.3", "10.1.2.3", "443", true},
        {"10.1.2.3:443", "10.1.2.3", "443", true},
        {"10.1.2.3:80", "10.1.2.3", "443", false},
        {"2.3", "10.1.2.3", "443", false},
        {"fd00::/8", "[fd12::1]", "443", true},
        {"fd00::/8", "[fe80::1]", "443", false},
        {"fd12::1", "[fd12::1]", "443", true},
        {"[fd12::1]:443", "[fd12::1]", "443", true},
        {"[fd12::1]:80", "[fd12::1]", "443", false},
        {NULL, "localhost", "443", true},
        {NULL, "127.8.0.1", "443", true},
        {NULL, "[::1]", "443", true},
        {NULL, "localhost.example", "443", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct proxy_environment environment = {.https = "http://proxy:3128",
                                                      .except = cases[i].except};
        struct text proxy;
        struct error error = {0};
        arena = arena_create(1 << 20);
        CU_ASSERT(
            proxy_for(&environment, "https", cases[i].host, cases[i].port, arena, &proxy, &error));
        if ((proxy.size == 0) != cases[i].excepted)
            printf("%s of %s\n", cases[i].host, cases[i].except == NULL ? "" : cases[i].except);
        CU_ASSERT((proxy.size == 0) == cases[i].excepted);
        arena_destroy(arena);
    }
}

static void which_form_libcurl_wants(void)
{
    static const struct {
        const char *scheme, *http, *https, *proxy;
    } cases[] = {
        {"https", "http://a", "http://b", "http://b"},
        {"http", "http://a", "http://b", "http://a"},
        {"http", NULL, "http://b", ""},
        {"https", NULL, "proxy:3128", "http://proxy:3128"},
        {"https", NULL, "SOCKS5://me:pw@proxy", "socks5h://me:pw@proxy"},
        {"https", NULL, " https://proxy ", "https://proxy"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct proxy_environment environment = {.http = cases[i].http,
                                                      .https = cases[i].https};
        struct text proxy;
        struct error error = {0};
        arena = arena_create(1 << 20);
        CU_ASSERT(proxy_for(&environment, cases[i].scheme, "api", "443", arena, &proxy, &error));
        ASSERT_TEXT(proxy, cases[i].proxy);
        arena_destroy(arena);
    }
}

static void what_is_no_proxy_is_refused(void)
{
    static const char *const names[] = {"", "proxy:3128", "ftp://proxy", "http://", "://"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct text proxy;
        struct error error = {0};
        arena = arena_create(1 << 20);
        CU_ASSERT(!proxy_named(text_of(names[i]), arena, &proxy, &error));
        CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "it wants http, https or socks5"));
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"what NO_PROXY excepts", what_no_proxy_excepts},
    {"which form libcurl wants", which_form_libcurl_wants},
    {"what is no proxy is refused", what_is_no_proxy_is_refused},
    {NULL, NULL},
};
