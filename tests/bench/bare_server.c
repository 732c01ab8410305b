/* bare_server FOLDER: measures the cost of libmicrohttpd and GnuTLS alone. It serves HTTPS with the
 * flags and limits of server/http.c, reads the body and replies with a constant as long as an
 * answer that allows. FOLDER has tls.crt and tls.key. It prints its port and serves until it is
 * killed. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"

enum { REPLY_BYTES = 300, BODY_BYTES = 1 << 20 };

struct request {
    size_t size;
    char body[BODY_BYTES];
};

static char reply[REPLY_BYTES];

static enum MHD_Result handle(void *closure, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload_data,
                              size_t *upload_data_size, void **context)
{
    (void)closure, (void)url, (void)method, (void)version;
    static _Thread_local struct request *kept; /* a thread serves one connection */
    if (*context == NULL) {
        if (kept == NULL)
            kept = malloc(sizeof *kept);
        if (kept == NULL)
            return MHD_NO;
        kept->size = 0;
        *context = kept;
        return MHD_YES;
    }
    struct request *request = *context;
    if (*upload_data_size > 0) {
        if (*upload_data_size > sizeof request->body - request->size)
            return MHD_NO;
        memcpy(request->body + request->size, upload_data, *upload_data_size);
        request->size += *upload_data_size;
        *upload_data_size = 0;
        return MHD_YES;
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(sizeof reply, reply, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static int listen_anywhere(uint16_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 1024) != 0 || getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return -1;
    *port = ntohs(address.sin_port);
    return fd;
}

static const char *read_pem(const char *folder, const char *name, struct arena *arena)
{
    struct text bytes;
    struct error error;
    if (file_read(arena_printf(arena, "%s/%s", folder, name).data, 1 << 20, arena, &bytes, &error))
        return bytes.data;
    fprintf(stderr, "%s/%s: %s\n", folder, name, error.what);
    exit(1);
}

int main(int argc, char **argv)
{
    uint16_t port;
    int fd = listen_anywhere(&port);
    struct arena *arena = arena_create(4 << 20);
    if (argc != 2 || fd < 0 || arena == NULL)
        return 2;
    memset(reply, 'x', sizeof reply);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
            MHD_USE_TLS | MHD_USE_ITC | MHD_USE_ERROR_LOG,
        0, NULL, NULL, handle, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_HTTPS_MEM_CERT,
        read_pem(argv[1], "tls.crt", arena), MHD_OPTION_HTTPS_MEM_KEY,
        read_pem(argv[1], "tls.key", arena), MHD_OPTION_HTTPS_PRIORITIES,
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2", MHD_OPTION_CONNECTION_LIMIT, 528u,
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)512 << 10, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)16 << 10, MHD_OPTION_END);
    if (daemon == NULL)
        return 1;
    printf("%u\n", port);
    fflush(stdout);
    for (;;)
        pause();
}
