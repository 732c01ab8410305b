/* Single objects of the API server, as strict as it is about versions. */
#include "singles.h"

#include "check.h"
#include "threads.h"

enum { ENTRIES = 2, CONFIGURATIONS = 2, HISTORY = 8, BODY_ARENA_BYTES = 8 << 20 };

struct bundle {
    char *base64, *text;
    int64_t until_us; /* when it was replaced; NEVER: it is in force */
};

static unsigned version = 5000;
static struct {
    bool there;
    unsigned version;
    char *spec;
} lease;
static struct {
    bool there;
    unsigned version;
    char *data;
} secret;
static struct {
    unsigned version;
    bool foreign;                            /* somebody else wrote it last */
    struct bundle bundles[ENTRIES][HISTORY]; /* the last one first */
} configurations[CONFIGURATIONS];
static struct lease *leases[REPLICAS_MAX];
static uint64_t writes;

uint64_t singles_writes(void)
{
    return writes;
}

static void keep(char **kept, struct text t)
{
    world_free(*kept);
    *kept = world_alloc(t.size + 1);
    memcpy(*kept, t.data, t.size);
}

/* ---- who leads ---- */

struct lease *__real_lease_create(const struct lease_settings *settings);
struct lease *__wrap_lease_create(const struct lease_settings *settings);
struct lease *__wrap_lease_create(const struct lease_settings *settings)
{
    struct lease *made = __real_lease_create(settings);
    leases[thread_replica()] = made;
    return made;
}

void __real_lease_destroy(struct lease *destroyed);
void __wrap_lease_destroy(struct lease *destroyed);
void __wrap_lease_destroy(struct lease *destroyed)
{
    singles_drop(thread_replica());
    __real_lease_destroy(destroyed);
}

void singles_drop(int replica)
{
    leases[replica] = NULL;
}

static bool leads(int replica)
{
    return leases[replica] != NULL && lease_leads(leases[replica], world_now_us() / MS);
}

int singles_leader(void)
{
    for (int i = 0; i < REPLICAS_MAX; i++)
        if (leads(i))
            return i;
    return WORLD;
}

void singles_check_leaders(void)
{
    int first = singles_leader();
    for (int i = first + 1; first != WORLD && i < REPLICAS_MAX; i++)
        CHECK(!leads(i), "replicas %d and %d lead at once", first, i);
}

void singles_check(int replica, const struct call_request *request)
{
    if (request->verb == CALL_GET || request->resource == RESOURCE_LEASE)
        return;
    CHECK(leads(replica), "replica %d writes a %s and does not lead", replica,
          resource_table[request->resource].kind);
}

/* ---- as text ---- */

static void show_lease(struct bytes *reply)
{
    bytes_printf(reply,
                 "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                 "\"name\":\"taffrail\",\"namespace\":\"ns\",\"resourceVersion\":\"%u\"},"
                 "\"spec\":%s}",
                 lease.version, lease.spec);
}

static void show_secret(struct bytes *reply)
{
    bytes_printf(reply,
                 "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"tls\","
                 "\"namespace\":\"ns\",\"resourceVersion\":\"%u\"},\"type\":\"Opaque\",\"data\":",
                 secret.version);
    bytes_add(reply, secret.data, strlen(secret.data));
    bytes_printf(reply, "}");
}

static void show_configuration(size_t which, struct bytes *reply)
{
    bytes_printf(reply,
                 "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":\"%s\",\"metadata\":"
                 "{\"name\":\"taffrail\",\"uid\":\"u-%zu\",\"resourceVersion\":\"%u\","
                 "\"managedFields\":[{\"manager\":\"%s\",\"fieldsV1\":{\"f:caBundle\":{}}}]},"
                 "\"webhooks\":[",
                 resource_table[RESOURCE_VALIDATING_CONFIGURATION + which].kind, which,
                 configurations[which].version,
                 configurations[which].foreign ? "somebody" : "taffrail");
    for (size_t i = 0; i < ENTRIES; i++) {
        const char *bundle = configurations[which].bundles[i][0].base64;
        bytes_printf(reply,
                     "%s{\"name\":\"entry-%zu\",\"clientConfig\":{\"service\":{\"name\":"
                     "\"taffrail\",\"namespace\":\"ns\"},\"caBundle\":\"",
                     i == 0 ? "" : ",", i);
        bytes_add(reply, bundle == NULL ? "" : bundle, bundle == NULL ? 0 : strlen(bundle));
        bytes_printf(reply, "\"}}");
    }
    bytes_printf(reply, "]}");
}

static unsigned refuse(unsigned status, const char *reason, struct bytes *reply)
{
    bytes_printf(reply,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                 "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"code\":%u}",
                 reason, reason, status);
    return status;
}

/* ---- writes ---- */

static void keep_decoded(char **kept, struct text base64)
{
    struct arena *arena = arena_create(BODY_ARENA_BYTES);
    struct text decoded;
    if (arena == NULL || !text_from_base64(base64, arena, &decoded))
        decoded = TEXT("");
    keep(kept, decoded);
    arena_destroy(arena);
}

static void set_bundle(size_t which, size_t entry, struct text base64)
{
    struct bundle *bundles = configurations[which].bundles[entry];
    if (bundles[0].base64 != NULL && text_is(base64, bundles[0].base64))
        return;
    world_free(bundles[HISTORY - 1].base64);
    world_free(bundles[HISTORY - 1].text);
    memmove(bundles + 1, bundles, (HISTORY - 1) * sizeof *bundles);
    bundles[1].until_us = world_now_us();
    bundles[0] = (struct bundle){.until_us = NEVER};
    keep(&bundles[0].base64, base64);
    keep_decoded(&bundles[0].text, base64);
}

static bool is_current(const struct node *root, unsigned wanted)
{
    int64_t given = 0;
    return text_to_int64(node_string(node_at(root, "metadata.resourceVersion")), &given) &&
           given == wanted;
}

static unsigned write_lease(enum call_verb verb, const struct node *root, struct arena *arena,
                            struct bytes *reply)
{
    if (verb == CALL_CREATE && lease.there)
        return refuse(409, "AlreadyExists", reply);
    if (verb == CALL_UPDATE && !lease.there)
        return refuse(404, "NotFound", reply);
    if (verb == CALL_UPDATE && !is_current(root, lease.version))
        return refuse(409, "Conflict", reply);
    lease.there = true;
    lease.version = ++version;
    keep(&lease.spec, node_json(node_get(root, "spec"), arena));
    show_lease(reply);
    return verb == CALL_CREATE ? 201 : 200;
}

static unsigned write_secret(enum call_verb verb, const struct node *root, struct arena *arena,
                             struct bytes *reply)
{
    if (verb == CALL_CREATE && secret.there)
        return refuse(409, "AlreadyExists", reply);
    if (verb == CALL_UPDATE && !secret.there)
        return refuse(404, "NotFound", reply);
    if (verb == CALL_UPDATE && !is_current(root, secret.version))
        return refuse(409, "Conflict", reply);
    secret.there = true;
    secret.version = ++version;
    keep(&secret.data, node_json(node_get(root, "data"), arena));
    writes++;
    show_secret(reply);
    return verb == CALL_CREATE ? 201 : 200;
}

static unsigned apply_bundles(size_t which, const struct node *root, struct bytes *reply)
{
    const struct node *list = node_get(root, "webhooks");
    if (!is_current(root, configurations[which].version))
        return refuse(409, "Conflict", reply);
    for (size_t i = 0; i < node_count(list); i++) {
        struct text name = node_string(node_get(node_item(list, i), "name"));
        struct text bundle = node_string(node_at(node_item(list, i), "clientConfig.caBundle"));
        for (size_t entry = 0; entry < ENTRIES; entry++)
            if (name.size > 0 && name.data[name.size - 1] == (char)('0' + entry))
                set_bundle(which, entry, bundle);
    }
    configurations[which].version = ++version;
    configurations[which].foreign = false;
    writes++;
    show_configuration(which, reply);
    return 200;
}

static unsigned write_object(enum call_verb verb, enum resource resource, struct text body,
                             struct bytes *reply)
{
    static const struct doc_limits limits = {.bytes = 8 << 20, .nodes = 20000, .depth = 32};
    struct arena *arena = arena_create(BODY_ARENA_BYTES);
    struct source source = {.text = body};
    const struct node *root = NULL;
    struct error error;
    unsigned status = 422;
    if (arena == NULL || !doc_read_json(&source, &limits, NULL, arena, &root, &error))
        refuse(status, "Invalid", reply);
    else if (resource == RESOURCE_LEASE)
        status = write_lease(verb, root, arena, reply);
    else if (resource == RESOURCE_SECRET)
        status = write_secret(verb, root, arena, reply);
    else
        status = apply_bundles(resource - RESOURCE_VALIDATING_CONFIGURATION, root, reply);
    arena_destroy(arena);
    return status;
}

static unsigned read_object(enum resource resource, struct bytes *reply)
{
    if ((resource == RESOURCE_LEASE && !lease.there) ||
        (resource == RESOURCE_SECRET && !secret.there))
        return refuse(404, "NotFound", reply);
    if (resource == RESOURCE_LEASE)
        show_lease(reply);
    else if (resource == RESOURCE_SECRET)
        show_secret(reply);
    else
        show_configuration(resource - RESOURCE_VALIDATING_CONFIGURATION, reply);
    return 200;
}

unsigned singles_answer(int replica, enum call_verb verb, enum resource resource, struct text body,
                        struct bytes *reply)
{
    (void)replica;
    return verb == CALL_GET ? read_object(resource, reply)
                            : write_object(verb, resource, body, reply);
}

/* ---- meddling ---- */

void singles_lose_secret(void)
{
    secret.there = false;
}

void singles_spoil_secret(void)
{
    if (!secret.there)
        return;
    secret.version = ++version;
    keep(&secret.data, TEXT("{\"tls.crt\":\"bm9uc2Vuc2U=\",\"other\":\"a2VwdA==\"}"));
}

void singles_spoil_bundle(uint64_t chance)
{
    size_t which = chance % CONFIGURATIONS;
    configurations[which].version = ++version;
    configurations[which].foreign = true;
    set_bundle(which, chance / CONFIGURATIONS % ENTRIES, TEXT("bm9uc2Vuc2U="));
}

/* ---- trust ---- */

/* A CA is known by its number; a leaf names the one that signed it (certificates.c). */
bool singles_trust(const char *certificate, int64_t within_us)
{
    char ca[32] = "", wanted[40];
    if (sscanf(certificate, "-----BEGIN CERTIFICATE-----\nleaf %*s %31s", ca) != 1)
        return false;
    snprintf(wanted, sizeof wanted, "ca %s ", ca);
    for (size_t which = 0; which < CONFIGURATIONS; which++)
        for (size_t entry = 0; entry < ENTRIES; entry++)
            for (size_t i = 0; i < HISTORY; i++) {
                const struct bundle *bundle = &configurations[which].bundles[entry][i];
                if (bundle->text != NULL && bundle->until_us > world_now_us() - within_us &&
                    strstr(bundle->text, wanted) == NULL)
                    return false;
            }
    return true;
}

bool singles_settled(char *why, size_t why_bytes)
{
    if (!secret.there || strstr(secret.data, "\"tls.key\"") == NULL) {
        snprintf(why, why_bytes, "the Secret has no certificate");
        return false;
    }
    for (size_t which = 0; which < CONFIGURATIONS; which++)
        for (size_t entry = 0; entry < ENTRIES; entry++) {
            const char *bundle = configurations[which].bundles[entry][0].base64;
            if (bundle != NULL && strstr(secret.data, bundle) != NULL)
                continue;
            snprintf(why, why_bytes, "entry %zu of configuration %zu has another CA bundle", entry,
                     which);
            return false;
        }
    return true;
}
