/* An API server of lists and watches, and of some single objects, that fails as a script says:
 *
 *   fakeapi SCRIPT [PORT]   prints "listening on 127.0.0.1:PORT", and ends with its standard input
 *
 * Lines of a script ("#" begins a comment):
 *   put KIND [NAMESPACE/]NAME [BYTES]   delete KIND [NAMESPACE/]NAME   compact
 *   object KIND [NAMESPACE/]NAME JSON   puts it as it is written; "@" becomes its version
 *   custom PLURAL GROUP VERSION         one more KIND, of which metadata is served if so asked for
 *   bookmarks MS                        between bookmarks of a watch that works
 *   list KIND ACTION; ACTION...         how the next list of KIND is answered
 *   watch KIND ACTION; ACTION...        the next watch; then watches work again
 *   cut WHO, join WHO                   closes all requests with the header Authorization: WHO
 * Actions: status CODE [RETRY-AFTER], html, refuse (closes the connection), cut (in the middle),
 * stall; for watches also pieces N (bytes at once), say TEXT (as it is), end, and put, delete and
 * compact as above. What has happened is sent before the next action.
 *
 * POST /fake with lines does the same while it runs. GET /fake/truth/KIND is what there is;
 * GET /fake/requests is what has been asked for; GET /fake/writes what has been written, when, by
 * whom, and who held the Lease then. Secrets, Leases and webhook configurations (objects.h) are not
 * of the script: POST them. */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "objects.h"

static struct MHD_Response *text_response(char *text, const char *type)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        abort();
    MHD_add_response_header(response, "Content-Type", type);
    return response;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status, char *text,
                             const char *type, unsigned retry_after_s)
{
    char seconds[16];
    struct MHD_Response *response = text_response(text, type);
    snprintf(seconds, sizeof seconds, "%u", retry_after_s);
    if (retry_after_s > 0)
        MHD_add_response_header(response, "Retry-After", seconds);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- a stream: a watch, or a list that stalls or breaks off ---- */

static ssize_t read_stream(void *context, uint64_t at, char *buffer, size_t size)
{
    (void)at;
    ssize_t count = stream_read(context, buffer, size);
    if (count == STREAM_END)
        return MHD_CONTENT_READER_END_OF_STREAM;
    return count == STREAM_CUT ? MHD_CONTENT_READER_END_WITH_ERROR : count;
}

static void free_stream(void *context)
{
    stream_destroy(context);
}

static enum MHD_Result queue_stream(struct MHD_Connection *connection, struct stream *stream)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, 1 << 16, read_stream, stream, free_stream);
    if (response == NULL)
        abort();
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

/* ---- requests ---- */

static const char *argument(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
    return value == NULL ? "" : value;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    return value == NULL ? "" : value;
}

static enum MHD_Result answer_kind(struct MHD_Connection *connection, enum kind kind)
{
    const char *watch = argument(connection, "watch");
    bool watching = strcmp(watch, "1") == 0 || strcasecmp(watch, "true") == 0;
    struct question question = {
        .kind = kind,
        .watching = watching,
        .bookmarks = strcmp(argument(connection, "allowWatchBookmarks"), "true") == 0,
        .limit = argument(connection, "limit"),
        .continue_token = argument(connection, "continue"),
        .resource_version = argument(connection, "resourceVersion"),
        .timeout_seconds = argument(connection, "timeoutSeconds"),
        .authorization = header(connection, "Authorization"),
        .encoding = header(connection, "Accept-Encoding"),
        .accept = header(connection, "Accept")};
    struct answer answer;
    fake_answer(&question, &answer);
    if (answer.refused)
        return MHD_NO;
    if (answer.stream != NULL)
        return queue_stream(connection, answer.stream);
    return queue(connection, answer.status, answer.text, answer.type, answer.retry_after_s);
}

struct upload {
    char *text;
    size_t size;
};

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection,
                                    const char *path, const char *method, const char *version,
                                    const char *data, size_t *size, void **request)
{
    (void)context, (void)version;
    struct upload *upload = *request;
    if (upload == NULL) {
        *request = calloc(1, sizeof *upload);
        return *request == NULL ? MHD_NO : MHD_YES;
    }
    if (*size > 0) {
        char *longer = realloc(upload->text, upload->size + *size + 1);
        if (longer == NULL)
            return MHD_NO;
        memcpy(longer + upload->size, data, *size);
        upload->text = longer;
        upload->size += *size;
        longer[upload->size] = '\0';
        *size = 0;
        return MHD_YES;
    }
    if (strcmp(path, "/fake") == 0 && strcmp(method, "POST") == 0 && upload->text != NULL) {
        char *complaint = fake_script(upload->text);
        return queue(connection, complaint == NULL ? 200 : 400,
                     complaint == NULL ? strdup("done\n") : complaint, "text/plain", 0);
    }
    const char *who = header(connection, "Authorization");
    enum kind kind;
    unsigned status = 200;
    char *text = NULL;
    if (objects_is_cut(who))
        return MHD_NO;
    const struct objects_question question = {
        .method = method,
        .path = path,
        .who = who,
        .body = upload->text,
        .field_selector = argument(connection, "fieldSelector"),
        .continue_token = argument(connection, "continue"),
    };
    struct objects_answer answer;
    if (objects_answer(&question, &answer))
        return queue(connection, answer.status, answer.text, "application/json",
                     answer.retry_after_s);
    if (fake_kind_of_path(path, &kind))
        return answer_kind(connection, kind);
    text = fake_page(path, &status);
    return queue(connection, status, text, "application/json", 0);
}

static void forget_request(void *context, struct MHD_Connection *connection, void **request,
                           enum MHD_RequestTerminationCode code)
{
    (void)context, (void)connection, (void)code;
    struct upload *upload = *request;
    if (upload != NULL)
        free(upload->text);
    free(upload);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    if (file == NULL || (getdelim(&text, &size, '\0', file) < 0 && !feof(file))) {
        fprintf(stderr, "fakeapi: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: fakeapi SCRIPT [PORT]\n");
        return 2;
    }
    fake_open();
    char *script = read_file(argv[1]);
    char *complaint = fake_script(script);
    free(script);
    if (complaint != NULL) {
        fprintf(stderr, "fakeapi: %s\n", complaint);
        return 2;
    }
    unsigned long port = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, 0, NULL,
        NULL, take_request, NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_COMPLETED,
        forget_request, NULL, MHD_OPTION_END);
    if (daemon == NULL) {
        fprintf(stderr, "fakeapi: cannot listen\n");
        return 2;
    }
    printf("listening on 127.0.0.1:%u\n",
           MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    fake_close();
    MHD_stop_daemon(daemon);
    fake_free();
    return 0;
}
