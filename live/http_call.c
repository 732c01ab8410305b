/* Single requests over HTTP, beside the watches of the same client. */
#include <stdlib.h>
#include <string.h>

#include "live/http.h"

enum { BODY_BYTES_MAX = 8 << 20, LIMIT_MS = 10000 };

struct call {
    struct exchange exchange;
    struct client *client;
    struct call *next;
    CURL *easy;
    struct curl_slist *headers;
    char *sent, *body;
    size_t size, capacity;
    void (*answered)(void *context, const struct call_answer *answer);
    void *context;
    char failure[CURL_ERROR_SIZE];
};

static void free_call(struct call *call)
{
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->headers);
    /* Both may hold a key. */
    if (call->sent != NULL)
        explicit_bzero(call->sent, strlen(call->sent));
    if (call->body != NULL)
        explicit_bzero(call->body, call->size);
    free(call->sent);
    free(call->body);
    free(call);
}

static void unlink_call(struct call *call)
{
    struct call **at = &call->client->calls;
    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    curl_multi_remove_handle(call->client->multi, call->easy);
}

void client_drop_calls(struct client *client)
{
    struct call *call = client->calls;
    client->calls = NULL;
    while (call != NULL) {
        struct call *next = call->next;
        curl_multi_remove_handle(client->multi, call->easy);
        free_call(call);
        call = next;
    }
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct call *call = context;
    size_t bytes = size * count;
    if (call->size + bytes > BODY_BYTES_MAX)
        return bytes + 1; /* any other number aborts, also for no bytes */
    if (call->size + bytes > call->capacity) {
        size_t capacity = 2 * (call->size + bytes);
        char *longer = realloc(call->body, capacity);
        if (longer == NULL)
            return bytes + 1;
        call->body = longer;
        call->capacity = capacity;
    }
    if (bytes > 0)
        memcpy(call->body + call->size, data, bytes);
    call->size += bytes;
    return bytes;
}

static bool write_options(struct call *call, const struct call_request *request)
{
    static const struct {
        const char *method, *content_type;
    } verbs[] = {
        [CALL_GET] = {"GET", NULL},
        [CALL_LIST] = {"GET", NULL},
        [CALL_SELECT] = {"GET", NULL},
        [CALL_DISCOVER] = {"GET", NULL},
        [CALL_DELETE] = {"DELETE", "Content-Type: application/json"},
        [CALL_CREATE] = {"POST", "Content-Type: application/json"},
        [CALL_UPDATE] = {"PUT", "Content-Type: application/json"},
        [CALL_APPLY] = {"PATCH", "Content-Type: application/apply-patch+yaml"},
    };
    char path[CALL_PATH_BYTES];
    CURL *easy = call->easy;
    const char *accept = request->verb == CALL_LIST
                             ? HTTP_ACCEPT_PARTIAL("PartialObjectMetadataList")
                             : HTTP_ACCEPT_JSON;
    if (!call_path(request, path) ||
        !http_prepare(call->client, easy, path, accept, &call->headers))
        return false;
    bool done = true;
    if (verbs[request->verb].content_type != NULL) {
        call->sent = text_duplicate(request->body);
        done =
            call->sent != NULL &&
            http_add_header(&call->headers, verbs[request->verb].content_type) &&
            http_add_header(&call->headers, "Expect:") &&
            curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.size) ==
                CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->sent) == CURLE_OK &&
            curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, verbs[request->verb].method) == CURLE_OK;
    }
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                     (long)(request->limit_ms > 0 ? request->limit_ms : LIMIT_MS));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &call->exchange);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->failure);
    return done && curl_easy_setopt(easy, CURLOPT_HTTPHEADER, call->headers) == CURLE_OK;
}

bool client_call(struct client *client, const struct call_request *request,
                 void (*answered)(void *context, const struct call_answer *answer), void *context,
                 struct error *error)
{
    struct call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return error_set(error, ERROR_MEMORY, NOWHERE, "memory ran out");
    *call = (struct call){
        .exchange = {.is_call = true},
        .client = client,
        .easy = curl_easy_init(),
        .answered = answered,
        .context = context,
    };
    if (call->easy == NULL || !write_options(call, request) ||
        curl_multi_add_handle(client->multi, call->easy) != CURLM_OK) {
        free_call(call);
        return error_set(error, ERROR_CLUSTER, NOWHERE, "the request could not be made");
    }
    call->next = client->calls;
    client->calls = call;
    return true;
}

void calls_finish(struct call *call, CURLcode code)
{
    long status = 0;
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    const char *failure = NULL;
    if (code != CURLE_OK)
        failure = call->failure[0] != '\0' ? call->failure : curl_easy_strerror(code);
    struct call_answer answer;
    call_read((unsigned)status, (struct text){call->body, call->size}, (int64_t)retry_after_s,
              failure, &answer);
    unlink_call(call);
    call->answered(call->context, &answer);
    free_call(call);
}
