/* A Secret and the webhook entries of a cluster, for the tests of certs_rotate. */
#ifndef TAFFRAIL_TESTS_ROTATION_FIXTURE_H
#define TAFFRAIL_TESTS_ROTATION_FIXTURE_H

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "certs/certs.h"
#include "unit.h"

enum { ENTRIES = 2 };
static const int64_t HOUR_S = 3600, DAY_S = 86400;
static const int64_t NOW = 1794000000; /* 2026-11-06 */

static const char wanted_name[] = "taffrail.taffrail.svc";
static const char *const wanted_dns[] = {wanted_name, "taffrail.taffrail.svc.cluster.local"};
static const struct cert_names wanted_names = {.dns = wanted_dns, .dns_count = 2};

/* Texts are on the heap, since arenas are reset between two steps. */
struct stored {
    char *items[ROTATION_ITEM_COUNT];
    char *entries[ENTRIES]; /* the caBundle of each */
};

static inline struct text *item_of(struct rotation_secret *secret, size_t i)
{
    return (struct text *)(void *)((char *)secret + rotation_items[i].offset);
}

static inline void store(char **place, struct text t)
{
    free(*place);
    *place = text_duplicate(t);
    CU_ASSERT_FATAL(*place != NULL);
}

static inline void store_secret(struct stored *stored, const struct rotation_secret *secret)
{
    struct rotation_secret copy = *secret;
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        store(&stored->items[i], *item_of(&copy, i));
}

static inline struct rotation_secret stored_secret(const struct stored *stored, struct arena *arena)
{
    struct rotation_secret secret = {0};
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        *item_of(&secret, i) = arena_text(arena, text_of(stored->items[i]));
    return secret;
}

static inline void stored_free(struct stored *stored)
{
    for (size_t i = 0; i < ROTATION_ITEM_COUNT; i++)
        free(stored->items[i]);
    for (size_t i = 0; i < ENTRIES; i++)
        free(stored->entries[i]);
    *stored = (struct stored){0};
}

static inline size_t count_in(struct text t, const char *part)
{
    size_t count = 0;
    const char *at = t.data;
    while (at != NULL && (at = memmem(at, t.size - (size_t)(at - t.data), part, strlen(part)))) {
        count++;
        at += strlen(part);
    }
    return count;
}

/* How a TLS client that trusts the bundle verifies the leaf: 0, or GnuTLS' status bits. */
static inline unsigned client_objects(struct text leaf_pem, struct text bundle_pem)
{
    gnutls_x509_trust_list_t trusted = NULL;
    gnutls_x509_crt_t leaf = NULL;
    gnutls_datum_t bundle = {(unsigned char *)(uintptr_t)bundle_pem.data,
                             (unsigned)bundle_pem.size};
    gnutls_datum_t pem = {(unsigned char *)(uintptr_t)leaf_pem.data, (unsigned)leaf_pem.size};
    gnutls_typed_vdata_st wanted[2] = {
        {GNUTLS_DT_DNS_HOSTNAME, (unsigned char *)(uintptr_t)wanted_name, 0},
        {GNUTLS_DT_KEY_PURPOSE_OID, (unsigned char *)GNUTLS_KP_TLS_WWW_SERVER, 0},
    };
    unsigned status = GNUTLS_CERT_INVALID;
    CU_ASSERT_FATAL(gnutls_x509_trust_list_init(&trusted, 0) == 0);
    CU_ASSERT_FATAL(gnutls_x509_crt_init(&leaf) == 0);
    if (gnutls_x509_crt_import(leaf, &pem, GNUTLS_X509_FMT_PEM) == 0 &&
        gnutls_x509_trust_list_add_trust_mem(trusted, &bundle, NULL, GNUTLS_X509_FMT_PEM, 0, 0) > 0)
        CU_ASSERT(gnutls_x509_trust_list_verify_crt2(trusted, &leaf, 1, wanted, 2, 0, &status,
                                                     NULL) == 0);
    gnutls_x509_crt_deinit(leaf);
    gnutls_x509_trust_list_deinit(trusted, 1);
    return status;
}

#endif
