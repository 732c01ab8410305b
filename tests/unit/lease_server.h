/* An API server with one Lease, for the tests of the election. It validates requests as strictly as
 * the real one. */
#ifndef TAFFRAIL_UNIT_LEASE_SERVER_H
#define TAFFRAIL_UNIT_LEASE_SERVER_H

#include <stdio.h>
#include <string.h>

#include "live/client.h"
#include "unit.h"

struct lease_server {
    bool there;
    unsigned version;
    char holder[128], spec[1024];
    unsigned writes, refusals;
};

struct lease_reply {
    unsigned status;
    char body[2048];
};

/* The layout of k8s.io/apimachinery's MicroTime is exactly 2006-01-02T15:04:05.000000Z07:00 */
static inline bool is_micro_time(struct text t)
{
    static const char layout[] = "0000-00-00T00:00:00.000000Z";
    bool fits = t.size == sizeof layout - 1;
    for (size_t i = 0; fits && i < t.size; i++)
        fits = layout[i] == '0' ? t.data[i] >= '0' && t.data[i] <= '9' : t.data[i] == layout[i];
    return fits;
}

static inline void lease_server_put(struct lease_server *server, const char *holder,
                                    const char *spec)
{
    server->there = true;
    server->version++;
    snprintf(server->holder, sizeof server->holder, "%s", holder);
    snprintf(server->spec, sizeof server->spec, "%s", spec);
}

static inline void lease_server_show(const struct lease_server *server, struct lease_reply *reply)
{
    snprintf(reply->body, sizeof reply->body,
             "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
             "\"name\":\"taffrail\",\"namespace\":\"ns\",\"labels\":{\"kept\":\"yes\"},"
             "\"resourceVersion\":\"%u\",\"managedFields\":[{\"manager\":\"x\"}]},\"spec\":%s}",
             server->version, server->spec);
}

static inline unsigned lease_server_write(struct lease_server *server, const struct node *root,
                                          bool create, struct arena *arena)
{
    const struct node *spec = node_get(root, "spec");
    struct text holder = node_string(node_get(spec, "holderIdentity"));
    int64_t seconds = 0, transitions = -1, version = 0;
    bool good = text_is(node_string(node_at(root, "metadata.name")), "taffrail") &&
                text_is(node_string(node_at(root, "metadata.namespace")), "ns") &&
                is_micro_time(node_string(node_get(spec, "renewTime"))) &&
                is_micro_time(node_string(node_get(spec, "acquireTime"))) &&
                node_integer(node_get(spec, "leaseDurationSeconds"), &seconds) && seconds > 0 &&
                node_integer(node_get(spec, "leaseTransitions"), &transitions) &&
                transitions >= 0 && node_at(root, "metadata.managedFields") == NULL;
    if (!good)
        return 422;
    if (create && server->there)
        return 409;
    if (!create && !server->there)
        return 404;
    struct text given = node_string(node_at(root, "metadata.resourceVersion"));
    if (!create && (!text_to_int64(given, &version) || version != server->version))
        return 409;
    if (!create && !text_is(node_string(node_at(root, "metadata.labels.kept")), "yes"))
        return 422; /* the request would drop another client's label */
    server->writes++;
    lease_server_put(server, arena_text(arena, holder).data, node_json(spec, arena).data);
    return create ? 201 : 200;
}

/* The answer of the server. */
static inline void lease_server_answer(struct lease_server *server,
                                       const struct call_request *request,
                                       struct lease_reply *reply)
{
    struct arena *arena = arena_create(1 << 20);
    struct source source = {.text = request->body};
    const struct node *root = NULL;
    struct error error;
    *reply = (struct lease_reply){.status = 404};
    if (request->verb != CALL_GET) {
        CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_policy, NULL, arena, &root, &error));
        reply->status = lease_server_write(server, root, request->verb == CALL_CREATE, arena);
    } else if (server->there) {
        reply->status = 200;
    }
    if (reply->status == 200 || reply->status == 201)
        lease_server_show(server, reply);
    server->refusals += reply->status == 422;
    arena_destroy(arena);
}

#endif
