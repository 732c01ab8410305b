/* What an API server writes about a request: an Event of audit.k8s.io/v1. */
#ifndef TAFFRAIL_KUBE_AUDIT_EVENT_H
#define TAFFRAIL_KUBE_AUDIT_EVENT_H

#include "kube/kind.h"

struct audit_event {
    struct text stage, verb, received; /* "ResponseComplete", "create", RFC 3339 */
    struct text user;                  /* whom the request is judged by: an impersonated one, too */
    const struct text *groups;
    size_t group_count;
    struct text group, resource, subresource, namespace, name; /* of its object */
    int64_t code;                                              /* of the response; 0: not said */
    struct text message;                                       /* of a Status */
    bool dry_run;
    bool cut; /* the API server has left out objects, which were too large */
    const struct node *request_object, *response_object; /* NULL: not logged */
    struct text request_json, response_json;             /* the same as written */
    const struct node *annotations;                      /* may be NULL */
};

/* Reads a record of a log: an Event, or what CloudWatch puts around one, {"message": "..."}. False
 * when it is something else, or no JSON. The texts live in the arena or in the record. */
bool audit_event_read(struct text record, struct arena *arena,
                      struct audit_event *event) MUST_CHECK;

#endif
