/* Runs live against a server and answers questions about what it holds:
 *
 *   client_driver [--list-idle MS] [--watch-idle MS] (in-cluster FOLDER HOST PORT |
 *                 kubeconfig FILES) KIND...
 *
 * Each line of standard input is a question: "run MS"; "wait KIND TEXT" (until it holds
 * exactly that: names with versions, joined by ","; at most 60 s); "show KIND"; "report KIND". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/client.h"
#include "truth.h"

static struct client *client;
static struct store *store;

static void must(bool done, const struct error *error)
{
    char text[600];
    if (done)
        return;
    error_format(error, text, sizeof text);
    fprintf(stderr, "client_driver: %s\n", text);
    exit(error_exit_code(error->kind));
}

static void run(int64_t for_ms)
{
    struct error error = {0};
    must(client_run(client, for_ms, &error), &error);
}

static char *contents(enum kind kind)
{
    struct store_changes changes;
    const struct snapshot *snapshot = store_version(store, &changes);
    if (snapshot == NULL)
        abort();
    char *lines = snapshot_lines(snapshot, kind);
    for (char *end = lines; (end = strchr(end, '\n')) != NULL;)
        *end = ',';
    store_release(store, snapshot);
    return lines;
}

static void report(enum kind kind)
{
    struct watch_report it;
    if (!client_report(client, kind, &it))
        return;
    printf("synced=%d degraded=%d watching=%d age_ms=%lld lists=%llu events=%llu failures=%llu "
           "problem=%s\n",
           it.synced, it.degraded, it.watching, (long long)it.age_ms, (unsigned long long)it.lists,
           (unsigned long long)it.events, (unsigned long long)it.failures, it.problem);
}

static void wait_for(enum kind kind, const char *wanted)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    for (end.tv_sec += 60, now = end; now.tv_sec <= end.tv_sec;
         clock_gettime(CLOCK_MONOTONIC, &now)) {
        char *have = contents(kind);
        bool same = strcmp(have, wanted) == 0;
        free(have);
        if (same) {
            printf("yes\n");
            return;
        }
        run(20);
    }
    printf("no\n");
}

static void answer(char *line)
{
    char word[16], name[64];
    int used = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%15s %63s %n", word, name, &used) < 2)
        exit(2);
    enum kind kind = kind_by_name(text_of(name));
    if (strcmp(word, "run") == 0) {
        run(strtoll(name, NULL, 10));
        printf("ran\n");
    } else if (strcmp(word, "wait") == 0) {
        wait_for(kind, line + used);
    } else if (strcmp(word, "show") == 0) {
        char *have = contents(kind);
        printf("%s\n", have);
        free(have);
    } else {
        report(kind);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct watch_settings settings = {.page_objects = 2, .seed = (uint64_t)time(NULL)};
    struct client_config config;
    struct error error = {0};
    struct arena *arena = arena_create(64 << 20);
    int at = 1;
    for (; at + 1 < argc && strncmp(argv[at], "--", 2) == 0; at += 2) {
        int64_t ms = strtoll(argv[at + 1], NULL, 10);
        *(strcmp(argv[at], "--list-idle") == 0 ? &settings.list_idle_ms : &settings.watch_idle_ms) =
            ms;
    }
    if (at + 4 < argc && strcmp(argv[at], "in-cluster") == 0) {
        must(client_config_in_cluster(argv[at + 1], argv[at + 2], argv[at + 3], arena, &config,
                                      &error),
             &error);
        at += 4;
    } else if (at + 2 < argc) {
        must(client_config_kubeconfig(argv[at + 1], NULL, arena, &config, &error), &error);
        at += 2;
    } else {
        return 2;
    }
    store = store_create();
    if (store == NULL)
        abort();
    must(client_open(&config, NULL, &client, &error), &error);
    arena_destroy(arena);
    struct event_handler handler = store_handler(store);
    for (; at < argc; at++)
        must(client_watch(client, kind_by_name(text_of(argv[at])), &settings, &handler, &error),
             &error);
    char line[65536];
    while (fgets(line, sizeof line, stdin) != NULL)
        answer(line);
    client_close(client);
    store_destroy(store);
    return 0;
}
