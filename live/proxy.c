/* Reads what the environment says of proxies. libcurl reads it by other rules: it knows no
 * $HTTP_PROXY, no ports in $NO_PROXY, and it asks a proxy for localhost. */
#include "live/proxy.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>

/* ---- addresses ---- */

/* An IPv4 address is the IPv6 address that stands for it. */
struct address {
    unsigned char bytes[16];
};
enum { IPV4_PREFIX_BITS = 96, ADDRESS_BITS = 128, ADDRESS_TEXT_BYTES = 64 };

static bool address_read(struct text text, struct address *address, bool *is_ipv4)
{
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    char terminated[ADDRESS_TEXT_BYTES];
    if (text.size == 0 || text.size >= sizeof terminated)
        return false;
    memcpy(terminated, text.data, text.size);
    terminated[text.size] = '\0';
    memcpy(address->bytes, mapped, sizeof mapped);
    *is_ipv4 = inet_pton(AF_INET, terminated, address->bytes + sizeof mapped) == 1;
    return *is_ipv4 || inet_pton(AF_INET6, terminated, address->bytes) == 1;
}

static bool same_bits(const struct address *a, const struct address *b, size_t bits)
{
    size_t whole = bits / 8, rest = bits % 8;
    return memcmp(a->bytes, b->bytes, whole) == 0 &&
           (rest == 0 || (a->bytes[whole] ^ b->bytes[whole]) >> (8 - rest) == 0);
}

static bool is_loopback(const struct address *address)
{
    struct address v4, v6;
    bool is_ipv4;
    return (address_read(TEXT("127.0.0.0"), &v4, &is_ipv4) &&
            same_bits(address, &v4, IPV4_PREFIX_BITS + 8)) ||
           (address_read(TEXT("::1"), &v6, &is_ipv4) && same_bits(address, &v6, ADDRESS_BITS));
}

/* ---- $NO_PROXY ---- */

struct target {
    struct text host, port; /* the host in small letters, without brackets */
    bool is_address;
    struct address address;
};

static struct text trimmed(struct text t)
{
    while (t.size > 0 && isspace((unsigned char)t.data[0]))
        t = (struct text){t.data + 1, t.size - 1};
    while (t.size > 0 && isspace((unsigned char)t.data[t.size - 1]))
        t.size--;
    return t;
}

static struct text without_brackets(struct text host)
{
    if (host.size >= 2 && host.data[0] == '[' && host.data[host.size - 1] == ']')
        return (struct text){host.data + 1, host.size - 2};
    return host;
}

/* "10.0.0.0/8": *matches says whether the target is in it. False: it is no such range. */
static bool is_range(struct text entry, const struct target *target, bool *matches)
{
    struct text base, bits_text;
    struct address address;
    bool is_ipv4;
    int64_t bits;
    if (!text_split(entry, '/', &base, &bits_text) || !text_is_digits(bits_text) ||
        !text_to_int64(bits_text, &bits) || !address_read(base, &address, &is_ipv4))
        return false;
    bits += is_ipv4 ? IPV4_PREFIX_BITS : 0;
    *matches = bits <= ADDRESS_BITS && target->is_address &&
               same_bits(&address, &target->address, (size_t)bits);
    return bits <= ADDRESS_BITS;
}

/* "host:80" and "[::1]:80"; of an IPv6 address without brackets no part is a port. */
static void split_port(struct text entry, struct text *host, struct text *port)
{
    struct text before, after;
    *host = without_brackets(entry);
    *port = TEXT("");
    if (!text_split_last(entry, ':', &before, &after))
        return;
    if (text_split(before, ':', NULL, NULL) && !text_ends_with(before, TEXT("]")))
        return;
    *host = without_brackets(before);
    *port = after;
}

/* "example.com" is the host and all below it, ".example.com" and "*.example.com" what is below. */
static bool is_domain_of(struct text entry, struct text host)
{
    if (text_starts_with(entry, TEXT("*.")))
        entry = (struct text){entry.data + 1, entry.size - 1};
    if (entry.size > 0 && entry.data[0] == '.')
        return text_ends_with(host, entry);
    return text_equal(host, entry) ||
           (text_ends_with(host, entry) && host.data[host.size - entry.size - 1] == '.');
}

static bool is_excepted(struct text entry, const struct target *target)
{
    bool matches = false, is_ipv4;
    struct text host, port;
    struct address address;
    if (entry.size == 0)
        return false;
    if (text_is(entry, "*"))
        return true;
    if (is_range(entry, target, &matches))
        return matches;
    split_port(entry, &host, &port);
    if (host.size == 0 || (port.size > 0 && !text_equal(port, target->port)))
        return false;
    if (address_read(host, &address, &is_ipv4))
        return target->is_address && same_bits(&address, &target->address, ADDRESS_BITS);
    return !target->is_address && is_domain_of(host, target->host);
}

static struct text in_small_letters(struct text t, struct arena *arena)
{
    char *copy = ARENA_ARRAY(arena, t.size + 1, char);
    for (size_t i = 0; i < t.size; i++)
        copy[i] = (char)tolower((unsigned char)t.data[i]);
    return (struct text){copy, t.size};
}

static bool needs_none(const char *except, const struct target *target, struct arena *arena)
{
    struct text rest = in_small_letters(text_of(except), arena);
    if (text_is(target->host, "localhost") || (target->is_address && is_loopback(&target->address)))
        return true;
    for (bool more = true; more;) {
        struct text entry = rest;
        more = text_split(rest, ',', &entry, &rest);
        if (is_excepted(trimmed(entry), target))
            return true;
    }
    return false;
}

/* ---- the proxy ---- */

static const char *first_set(const char *one, const char *other)
{
    const char *value = getenv(one);
    return value != NULL && *value != '\0' ? value : getenv(other);
}

struct proxy_environment proxy_environment_now(void)
{
    return (struct proxy_environment){.http = first_set("HTTP_PROXY", "http_proxy"),
                                      .https = first_set("HTTPS_PROXY", "https_proxy"),
                                      .except = first_set("NO_PROXY", "no_proxy")};
}

/* Without a password that it may have. */
static bool refuse(const char *what, struct text scheme, struct error *error)
{
    return error_set(error, ERROR_INPUT, NOWHERE,
                     "%s has the scheme \"%.*s\"; it wants http, https or socks5", what,
                     (int)(scheme.size < 40 ? scheme.size : 40), scheme.data);
}

/* SOCKS proxies resolve names themselves, as for Go. */
static bool in_curls_form(const char *what, struct text url, struct arena *arena,
                          struct text *proxy, struct error *error)
{
    struct text scheme = TEXT("http"), rest = url;
    const char *at = memmem(url.data, url.size, "://", 3);
    if (at != NULL) {
        scheme = (struct text){url.data, (size_t)(at - url.data)};
        rest = (struct text){at + 3, url.size - scheme.size - 3};
    }
    scheme = in_small_letters(scheme, arena);
    if (!TEXT_IS_ONE_OF(scheme, "http", "https", "socks5", "socks5h") || rest.size == 0)
        return refuse(what, scheme, error);
    *proxy = arena_printf(arena, "%.*s%s://%.*s", TEXT_ARGS(scheme),
                          text_is(scheme, "socks5") ? "h" : "", TEXT_ARGS(rest));
    return true;
}

bool proxy_for(const struct proxy_environment *environment, const char *scheme, const char *host,
               const char *port, struct arena *arena, struct text *proxy, struct error *error)
{
    bool is_https = strcmp(scheme, "https") == 0;
    struct text url = trimmed(text_of(is_https ? environment->https : environment->http));
    struct target target = {
        .host = in_small_letters(without_brackets(text_of(host)), arena),
        .port = text_of(port),
    };
    bool is_ipv4;
    target.is_address = address_read(target.host, &target.address, &is_ipv4);
    *proxy = TEXT("");
    return url.size == 0 || needs_none(environment->except, &target, arena) ||
           in_curls_form(is_https ? "$HTTPS_PROXY" : "$HTTP_PROXY", url, arena, proxy, error);
}

bool proxy_named(struct text url, struct arena *arena, struct text *proxy, struct error *error)
{
    if (memmem(url.data, url.size, "://", 3) == NULL)
        return refuse("proxy-url of the cluster", TEXT(""), error);
    return in_curls_form("proxy-url of the cluster", url, arena, proxy, error);
}
