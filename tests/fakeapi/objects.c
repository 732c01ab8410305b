/* The objects of the fake API server. */
#include "objects.h"

#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *collection; /* with "*" for a namespace */
    const char *plural, *kind;
    const char *group; /* one that may be absent; NULL: always there */
} resources[] = {
    {"/api/v1/namespaces/*/secrets", "secrets", "Secret", NULL},
    {"/apis/coordination.k8s.io/v1/namespaces/*/leases", "leases", "Lease", NULL},
    {"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
     "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", NULL},
    {"/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
     "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", NULL},
    {"/apis/openreports.io/v1alpha1/namespaces/*/reports", "reports", "Report", "openreports.io"},
    {"/apis/openreports.io/v1alpha1/clusterreports", "clusterreports", "ClusterReport",
     "openreports.io"},
    {"/apis/wgpolicyk8s.io/v1alpha2/namespaces/*/policyreports", "policyreports", "PolicyReport",
     "wgpolicyk8s.io"},
    {"/apis/wgpolicyk8s.io/v1alpha2/clusterpolicyreports", "clusterpolicyreports",
     "ClusterPolicyReport", "wgpolicyk8s.io"},
};
enum {
    RESOURCES = sizeof resources / sizeof resources[0],
    CUTS_MAX = 16,
    FAULTS_MAX = 8,
    NAME_BYTES = 128,
    PAGE = 2, /* objects of a list: lists have many pages */
};

static const char *const groups[] = {"openreports.io", "wgpolicyk8s.io"};
enum { GROUPS = sizeof groups / sizeof groups[0] };
static bool served[GROUPS];

static struct fault {
    char verb[16], plural[32], message[NAME_BYTES];
    unsigned status, times, retry_after_s;
} faults[FAULTS_MAX];

struct object {
    struct object *next;
    size_t resource;
    char namespace[NAME_BYTES], name[NAME_BYTES];
    unsigned version, uid;
    struct json_object *json;
};

/* A log that grows. */
struct lines {
    FILE *out; /* NULL: none yet */
    char *text;
    size_t size;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static unsigned version = 5000, uids;
static char cuts[CUTS_MAX][NAME_BYTES];
static struct lines requests, writes;

static FILE *end_of(struct lines *lines)
{
    if (lines->out == NULL)
        lines->out = open_memstream(&lines->text, &lines->size);
    if (lines->out == NULL)
        abort();
    return lines->out;
}

static char *copy_lines(const struct lines *lines)
{
    pthread_mutex_lock(&mutex);
    if (lines->out != NULL)
        fflush(lines->out);
    char *copy = strdup(lines->text == NULL ? "" : lines->text);
    pthread_mutex_unlock(&mutex);
    return copy;
}

char *objects_requests(void)
{
    return copy_lines(&requests);
}

char *objects_writes(void)
{
    return copy_lines(&writes);
}

void objects_cut(const char *who, bool cut)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < CUTS_MAX; i++) {
        if (cut && cuts[i][0] == '\0') {
            snprintf(cuts[i], NAME_BYTES, "%s", who);
            break;
        }
        if (!cut && strcmp(cuts[i], who) == 0)
            cuts[i][0] = '\0';
    }
    pthread_mutex_unlock(&mutex);
}

bool objects_is_cut(const char *who)
{
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < CUTS_MAX && *who != '\0'; i++)
        found |= strcmp(cuts[i], who) == 0;
    pthread_mutex_unlock(&mutex);
    return found;
}

/* ---- groups that may be absent, and faults ---- */

bool objects_serve(const char *line)
{
    char group[NAME_BYTES], word[8];
    if (sscanf(line, "%127s %7s", group, word) != 2)
        return false;
    for (size_t i = 0; i < GROUPS; i++)
        if (strcmp(group, groups[i]) == 0) {
            pthread_mutex_lock(&mutex);
            served[i] = strcmp(word, "on") == 0;
            pthread_mutex_unlock(&mutex);
            return true;
        }
    return false;
}

static bool is_served(const char *group)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (group != NULL && strcmp(group, groups[i]) == 0)
            return served[i];
    return true;
}

bool objects_fault(const char *line)
{
    struct fault fault = {.times = 0};
    if (sscanf(line, "%15s %31s %u %u %u %127[^\n]", fault.verb, fault.plural, &fault.status,
               &fault.times, &fault.retry_after_s, fault.message) != 6)
        return false;
    pthread_mutex_lock(&mutex);
    size_t at = 0;
    while (at < FAULTS_MAX - 1 && faults[at].times > 0)
        at++;
    faults[at] = fault;
    pthread_mutex_unlock(&mutex);
    return true;
}

/* NULL: none. */
static const struct fault *take_fault(const char *verb, const char *plural)
{
    for (size_t i = 0; i < FAULTS_MAX; i++)
        if (faults[i].times > 0 && strcmp(faults[i].verb, verb) == 0 &&
            strcmp(faults[i].plural, plural) == 0) {
            faults[i].times--;
            return &faults[i];
        }
    return NULL;
}

/* ---- paths ---- */

/* The list of all objects of a resource, in whatever namespace. */
static bool is_list(const char *path, size_t resource)
{
    char all[256];
    const char *pattern = resources[resource].collection;
    const char *star = strstr(pattern, "namespaces/*/");
    snprintf(all, sizeof all, "%.*s%s", star == NULL ? (int)strlen(pattern) : (int)(star - pattern),
             pattern, star == NULL ? "" : star + strlen("namespaces/*/"));
    return strcmp(path, all) == 0;
}

/* "/apis/GROUP/VERSION" of one that may be absent. */
static bool is_discovery(const char *path, size_t resource)
{
    const char *pattern = resources[resource].collection, *end = pattern;
    for (int i = 0; i < 4; i++)
        end = strchr(end + (i > 0), '/');
    return resources[resource].group != NULL && strlen(path) == (size_t)(end - pattern) &&
           strncmp(path, pattern, strlen(path)) == 0;
}

/* "/a/star/b" of "/a/x/b/c" gives x as the namespace and c as the name. */
static bool split_path(const char *path, size_t resource, char namespace[static NAME_BYTES],
                       char name[static NAME_BYTES])
{
    const char *pattern = resources[resource].collection;
    const char *star = strchr(pattern, '*');
    size_t size = star == NULL ? strlen(pattern) : (size_t)(star - pattern);
    *namespace = *name = '\0';
    if (strncmp(path, pattern, size) != 0)
        return false;
    path += size;
    if (star != NULL) {
        size_t length = strcspn(path, "/");
        snprintf(namespace, NAME_BYTES, "%.*s", (int)length, path);
        path += length;
        if (strncmp(path, star + 1, strlen(star + 1)) != 0)
            return false;
        path += strlen(star + 1);
    }
    if (*path == '/')
        snprintf(name, NAME_BYTES, "%s", path + 1);
    return *path == '\0' || *path == '/';
}

static struct object *find(size_t resource, const char *namespace, const char *name)
{
    for (struct object *object = objects; object != NULL; object = object->next)
        if (object->resource == resource && strcmp(object->namespace, namespace) == 0 &&
            strcmp(object->name, name) == 0)
            return object;
    return NULL;
}

/* ---- trees ---- */

static struct json_object *at(struct json_object *json, const char *path)
{
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &rest); key != NULL; key = strtok_r(NULL, ".", &rest)) {
        struct json_object *next = NULL;
        if (json == NULL || !json_object_object_get_ex(json, key, &next))
            return NULL;
        json = next;
    }
    return json;
}

static const char *text_at(struct json_object *json, const char *path)
{
    struct json_object *found = at(json, path);
    return found == NULL ? "" : json_object_get_string(found);
}

static void put_text(struct json_object *map, const char *key, const char *text)
{
    json_object_object_add(map, key, json_object_new_string(text));
}

/* What metadata always has. */
static void stamp(struct object *object)
{
    char number[16];
    struct json_object *metadata = at(object->json, "metadata");
    snprintf(number, sizeof number, "%u", object->version = ++version);
    put_text(metadata, "resourceVersion", number);
    snprintf(number, sizeof number, "uid-%u", object->uid);
    put_text(metadata, "uid", number);
}

static bool is_micro_time(const char *text)
{
    static const char layout[] = "0000-00-00T00:00:00.000000Z";
    size_t size = strlen(text);
    bool fits = size == sizeof layout - 1;
    for (size_t i = 0; fits && i < size; i++)
        fits = layout[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == layout[i];
    return fits;
}

static bool is_valid(size_t resource, struct json_object *json)
{
    if (strcmp(resources[resource].kind, text_at(json, "kind")) != 0 ||
        at(json, "metadata.name") == NULL)
        return false;
    if (strcmp(resources[resource].kind, "Lease") != 0)
        return true;
    return is_micro_time(text_at(json, "spec.renewTime")) &&
           is_micro_time(text_at(json, "spec.acquireTime")) &&
           json_object_get_int(at(json, "spec.leaseDurationSeconds")) > 0;
}

/* ---- verbs ---- */

static unsigned create(size_t resource, const char *namespace, struct json_object *json,
                       struct object **made)
{
    const char *name = text_at(json, "metadata.name");
    if (!is_valid(resource, json) || at(json, "metadata.resourceVersion") != NULL)
        return 422;
    if (find(resource, namespace, name) != NULL)
        return 409;
    struct object *object = calloc(1, sizeof *object);
    if (object == NULL)
        abort();
    object->resource = resource;
    object->uid = ++uids;
    snprintf(object->namespace, NAME_BYTES, "%s", namespace);
    snprintf(object->name, NAME_BYTES, "%s", name);
    object->json = json_object_get(json);
    object->next = objects;
    objects = object;
    stamp(object);
    *made = object;
    return 201;
}

static unsigned update(struct object *object, struct json_object *json)
{
    if (!is_valid(object->resource, json))
        return 422;
    if ((unsigned)strtoul(text_at(json, "metadata.resourceVersion"), NULL, 10) != object->version)
        return 409;
    json_object_put(object->json);
    object->json = json_object_get(json);
    stamp(object);
    return 200;
}

/* A report belongs to one field manager, and is replaced as a whole; what says the same changes
 * nothing. */
static unsigned apply_report(struct object *object, struct json_object *json)
{
    struct json_object *before = NULL, *after = NULL;
    if (!is_valid(object->resource, json))
        return 422;
    struct json_object *kept = object->json;
    json_object_deep_copy(kept, &before, NULL);
    json_object_deep_copy(json, &after, NULL);
    struct json_object *metadata = at(before, "metadata");
    json_object_object_del(metadata, "resourceVersion");
    json_object_object_del(metadata, "uid");
    bool same = json_object_equal(before, after) == 1;
    json_object_put(before);
    json_object_put(after);
    if (same)
        return 200;
    object->json = json_object_get(json);
    json_object_put(kept);
    stamp(object);
    return 200;
}

static unsigned delete (struct object *object, struct json_object *json)
{
    char number[16], uid[16];
    snprintf(number, sizeof number, "%u", object->version);
    snprintf(uid, sizeof uid, "uid-%u", object->uid);
    const char *wanted = text_at(json, "preconditions.resourceVersion");
    const char *wanted_uid = text_at(json, "preconditions.uid");
    if ((*wanted != '\0' && strcmp(wanted, number) != 0) ||
        (*wanted_uid != '\0' && strcmp(wanted_uid, uid) != 0))
        return 409;
    struct object **link = &objects;
    while (*link != object)
        link = &(*link)->next;
    *link = object->next;
    json_object_put(object->json);
    free(object);
    return 200;
}

/* Of the fields of server-side apply those that are used: CA bundles by the entry's name. An entry
 * that is not there would be made, without what it must have. */
static unsigned apply(struct object *object, struct json_object *json)
{
    struct json_object *given = at(json, "webhooks"), *there = at(object->json, "webhooks");
    const char *asked = text_at(json, "metadata.resourceVersion");
    bool changed = false;
    if (*asked != '\0' && (unsigned)strtoul(asked, NULL, 10) != object->version)
        return 409;
    for (size_t i = 0; given != NULL && i < json_object_array_length(given); i++) {
        struct json_object *entry = json_object_array_get_idx(given, i), *found = NULL;
        for (size_t j = 0; j < json_object_array_length(there); j++) {
            struct json_object *one = json_object_array_get_idx(there, j);
            if (strcmp(text_at(one, "name"), text_at(entry, "name")) == 0)
                found = at(one, "clientConfig");
        }
        if (found == NULL || json_object_object_length(entry) != 2 ||
            json_object_object_length(at(entry, "clientConfig")) != 1)
            return 422;
        const char *bundle = text_at(entry, "clientConfig.caBundle");
        changed |= strcmp(bundle, text_at(found, "caBundle")) != 0;
        put_text(found, "caBundle", bundle);
    }
    if (changed)
        stamp(object);
    return 200;
}

static unsigned handle(const char *method, size_t resource, const char *namespace, const char *name,
                       struct json_object *json, struct object **object)
{
    *object = find(resource, namespace, name);
    if (strcmp(method, "GET") == 0)
        return *object == NULL ? 404 : 200;
    if (json == NULL)
        return 400;
    bool is_report = resources[resource].group != NULL;
    if (strcmp(method, "POST") == 0 ||
        (is_report && strcmp(method, "PATCH") == 0 && *object == NULL))
        return create(resource, namespace, json, object);
    if (*object == NULL)
        return at(json, "metadata.uid") != NULL ? 409 : 404;
    if (strcmp(method, "PUT") == 0)
        return update(*object, json);
    if (strcmp(method, "DELETE") == 0) {
        struct object *gone = *object;
        *object = NULL;
        return delete (gone, json);
    }
    if (is_report && strcmp(method, "PATCH") == 0)
        return apply_report(*object, json);
    return strcmp(method, "PATCH") == 0 ? apply(*object, json) : 405;
}

static const char *verb_of(const char *method)
{
    static const char *const verbs[][2] = {{"GET", "get"},     {"LIST", "list"},
                                           {"POST", "create"}, {"PUT", "update"},
                                           {"PATCH", "patch"}, {"DELETE", "delete"}};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strcmp(method, verbs[i][0]) == 0)
            return verbs[i][1];
    return "?";
}

static void note(const char *method, size_t resource, const char *namespace, const char *name,
                 const char *who, unsigned status)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const char *plural = resources[resource].plural;
    fprintf(end_of(&requests), "%s %s namespace=%s name=%s authorization=%s status=%u\n",
            verb_of(method), plural, namespace, name, who, status);
    if (strcmp(method, "GET") == 0 || strcmp(method, "LIST") == 0)
        return;
    const struct object *lease = objects;
    while (lease != NULL && strcmp(resources[lease->resource].kind, "Lease") != 0)
        lease = lease->next;
    const char *holder = lease == NULL ? "" : text_at(lease->json, "spec.holderIdentity");
    fprintf(end_of(&writes), "%lld.%03ld %s %s %u %s holder=%s\n", (long long)now.tv_sec,
            now.tv_nsec / 1000000, verb_of(method), plural, status, *who == '\0' ? "-" : who,
            holder);
}

/* A page of the metadata of those that the field selector names. */
static char *list(size_t resource, const char *selector, const char *token)
{
    const char *name = strchr(selector, '=');
    unsigned seen = 0, after = (unsigned)strtoul(token, NULL, 10), taken = 0;
    char next[16] = "";
    struct json_object *items = json_object_new_array();
    for (struct object *object = objects; object != NULL; object = object->next) {
        if (object->resource != resource || (name != NULL && strcmp(object->name, name + 1) != 0) ||
            seen++ < after)
            continue;
        if (taken++ == PAGE) {
            snprintf(next, sizeof next, "%u", after + PAGE);
            break;
        }
        struct json_object *item = json_object_new_object();
        json_object_object_add(item, "metadata", json_object_get(at(object->json, "metadata")));
        json_object_array_add(items, item);
    }
    struct json_object *root = json_object_new_object(), *metadata = json_object_new_object();
    put_text(root, "kind", "PartialObjectMetadataList");
    put_text(root, "apiVersion", "meta.k8s.io/v1");
    put_text(metadata, "continue", next);
    json_object_object_add(root, "metadata", metadata);
    /* As the API server has it. */
    if (json_object_array_length(items) == 0) {
        json_object_put(items);
        items = NULL;
    }
    json_object_object_add(root, "items", items);
    char *text = strdup(json_object_to_json_string(root));
    json_object_put(root);
    return text;
}

static char *refusal(const char *message, unsigned status)
{
    char *text = NULL;
    if (asprintf(&text,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
                 "\"message\":\"%s\",\"code\":%u}",
                 message, status) < 0)
        abort();
    return text;
}

static void answer_one(const struct objects_question *question, size_t resource,
                       const char *namespace, const char *name, struct objects_answer *answer)
{
    struct json_object *json = question->body == NULL ? NULL : json_tokener_parse(question->body);
    struct object *object = NULL;
    answer->status = handle(question->method, resource, namespace, name, json, &object);
    if (answer->status < 300) {
        answer->text = strdup(object == NULL ? "{\"kind\":\"Status\",\"status\":\"Success\"}"
                                             : json_object_to_json_string(object->json));
    } else {
        char message[512];
        snprintf(message, sizeof message, "%s %s/%s: %u", resources[resource].plural, namespace,
                 name, answer->status);
        answer->text = refusal(message, answer->status);
    }
    json_object_put(json);
}

bool objects_answer(const struct objects_question *question, struct objects_answer *answer)
{
    char namespace[NAME_BYTES] = "", name[NAME_BYTES] = "";
    const char *method = question->method, *path = question->path;
    size_t resource = 0;
    bool lists = false, discovers = false;
    for (; resource < RESOURCES; resource++) {
        discovers = is_discovery(path, resource);
        lists = strcmp(method, "GET") == 0 && is_list(path, resource);
        if (discovers || lists || split_path(path, resource, namespace, name))
            break;
    }
    if (resource == RESOURCES)
        return false;
    method = lists ? "LIST" : method;
    pthread_mutex_lock(&mutex);
    *answer = (struct objects_answer){.status = 200};
    const struct fault *fault = take_fault(verb_of(method), resources[resource].plural);
    if (!is_served(resources[resource].group)) {
        answer->status = 404;
        answer->text = refusal("the server could not find the requested resource", 404);
    } else if (discovers) {
        answer->text = strdup("{\"kind\":\"APIResourceList\",\"resources\":[]}");
    } else if (fault != NULL) {
        answer->status = fault->status;
        answer->retry_after_s = fault->retry_after_s;
        answer->text = refusal(fault->message, fault->status);
    } else if (lists) {
        answer->text = list(resource, question->field_selector, question->continue_token);
    } else {
        answer_one(question, resource, namespace, name, answer);
    }
    if (!discovers)
        note(method, resource, namespace, name, question->who, answer->status);
    pthread_mutex_unlock(&mutex);
    return true;
}
