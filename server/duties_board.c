/* The duties on /readyz and /metrics: the thread that does them writes down, the ops port reads. */
#include <pthread.h>
#include <stdlib.h>

#include "server/duties.h"

struct duties_board {
    pthread_mutex_t mutex;
    const struct duties_settings *settings;
    struct duties_status status;
};

static const char *const duty_names[DUTY_COUNT] = {
    [DUTY_LEASE] = "lease",
    [DUTY_SECRET] = "secret",
    [DUTY_BUNDLE] = "ca-bundle",
};

static const char *configuration_kind(size_t which)
{
    return resource_table[RESOURCE_VALIDATING_CONFIGURATION + which].kind;
}

struct duties_board *duties_board_create(const struct duties_settings *settings)
{
    struct duties_board *board = calloc(1, sizeof *board);
    if (board == NULL)
        return NULL;
    pthread_mutex_init(&board->mutex, NULL);
    board->settings = settings;
    return board;
}

void duties_board_destroy(struct duties_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->mutex);
    free(board);
}

void duties_board_set(struct duties_board *board, const struct duties_status *status)
{
    pthread_mutex_lock(&board->mutex);
    board->status = *status;
    pthread_mutex_unlock(&board->mutex);
}

/* A copy: what prints may end in its arena's guard, and would leave a lock behind. */
static struct duties_status read_status(struct duties_board *board)
{
    pthread_mutex_lock(&board->mutex);
    struct duties_status status = board->status;
    pthread_mutex_unlock(&board->mutex);
    return status;
}

/* What an API server says, in one line. */
static void add_line(struct text_builder *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool plain = (unsigned char)*text >= 0x20 && *text != 0x7F;
        text_builder_add(out, (struct text){plain ? text : " ", 1});
    }
}

static void add_problems(const struct duties_status *status, struct text_builder *out)
{
    for (size_t i = 0; i < DUTIES_PROBLEM_COUNT; i++) {
        if (status->problem[i][0] == '\0')
            continue;
        text_builder_printf(out, "; %s: ", duty_names[i < DUTY_BUNDLE ? i : DUTY_BUNDLE]);
        add_line(out, status->problem[i]);
    }
}

bool duties_board_is_ready(struct duties_board *board, struct arena *arena, struct text *why)
{
    struct duties_status status = read_status(board);
    if (status.serving)
        return true;
    struct text_builder out = {.arena = arena};
    text_builder_printf(&out, "waiting for a certificate in Secret %s/%s",
                        board->settings->namespace, board->settings->secret);
    add_problems(&status, &out);
    text_builder_add(&out, TEXT("\n"));
    *why = text_builder_text(&out);
    return false;
}

void duties_board_add_line(struct duties_board *board, struct text_builder *out)
{
    struct duties_status status = read_status(board);
    text_builder_printf(out, "; certificate of Secret %s/%s, kept by ", board->settings->namespace,
                        board->settings->secret);
    if (status.leads)
        text_builder_add(out, TEXT("this replica"));
    else
        add_line(out, status.holder[0] == '\0' ? "nobody yet" : status.holder);
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++)
        if (status.missing[i])
            text_builder_printf(out, "; there is no %s %s", configuration_kind(i),
                                board->settings->configuration);
    add_problems(&status, out);
}

static void family(struct text_builder *out, const char *name, const char *type, const char *help)
{
    text_builder_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_duties(struct text_builder *out, const char *name, const char *help,
                       const uint64_t values[DUTY_COUNT])
{
    family(out, name, "counter", help);
    for (enum duty duty = 0; duty < DUTY_COUNT; duty++)
        text_builder_printf(out, "%s{duty=\"%s\"} %llu\n", name, duty_names[duty],
                            (unsigned long long)values[duty]);
}

void duties_board_add_metrics(struct duties_board *board, struct text_builder *out)
{
    struct duties_status status = read_status(board);
    family(out, "taffrail_leader", "gauge",
           "1 when this replica keeps the certificate and the CA bundles.");
    text_builder_printf(out, "taffrail_leader %d\n", status.leads);
    add_duties(out, "taffrail_duty_failures_total",
               "Requests to the API server around the certificate that failed.", status.failures);
    add_duties(out, "taffrail_duty_writes_total",
               "Writes of this replica, renewals of the lease aside.", status.writes);
    family(out, "taffrail_webhook_configuration_missing", "gauge",
           "1 when the replica that leads finds no such configuration.");
    for (size_t i = 0; i < CONFIGURATION_COUNT; i++)
        text_builder_printf(out, "taffrail_webhook_configuration_missing{kind=\"%s\"} %d\n",
                            configuration_kind(i), status.missing[i]);
}
