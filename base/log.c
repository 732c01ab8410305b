/* Log lines: JSON, or text on a terminal, and not too many of one sort. */
#include "base/log_internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doc_internal.h"
#include "base/write_now.h"

enum {
    MESSAGE_BYTES = 1536,
    FIELD_BYTES = 640,
    OTHER_BYTES = 160, /* the time, the level, the keys */
    COMPONENTS_MAX = 64,
};
_Static_assert(MESSAGE_BYTES + 3 * FIELD_BYTES + OTHER_BYTES <= LOG_LINE_BYTES,
               "a line has room for all that it may have");

static const char *const level_names[] = {"debug", "info", "warn", "error"};
static _Atomic int least_level = LOG_INFO;

void log_set_level(enum log_level least)
{
    atomic_store(&least_level, (int)least);
}

/* ---- lines ---- */

struct line {
    char *data;
    size_t size;
};

static void add(struct line *line, const char *text)
{
    size_t size = strlen(text);
    memcpy(line->data + line->size, text, size);
    line->size += size;
}

/* Escapes what JSON does not allow in a string, and terminal sequences. Writes at most limit_bytes.
 */
static void add_escaped(struct line *line, const char *text, size_t limit_bytes, bool json)
{
    const char *end = text + strnlen(text, limit_bytes);
    const size_t limit = line->size + limit_bytes;
    while (text < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = c < 0x80 ? 1 : utf8_length(text, end);
        bool control = c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)text[1] < 0xA0);
        char escape[8] = "";
        if (length == 0)
            strcpy(escape, "\\ufffd");
        else if (c == '\n')
            strcpy(escape, "\\n");
        else if (control)
            snprintf(escape, sizeof escape, "\\u%04x",
                     length == 2 ? (unsigned)(unsigned char)text[1] : (unsigned)c);
        else if (json && (c == '"' || c == '\\'))
            snprintf(escape, sizeof escape, "\\%c", c);
        if (length == 0)
            length = 1;
        if (line->size + (escape[0] != '\0' ? strlen(escape) : length) > limit)
            return;
        if (escape[0] != '\0') {
            add(line, escape);
        } else {
            memcpy(line->data + line->size, text, length);
            line->size += length;
        }
        text += length;
    }
}

static void add_time(struct line *line, struct timespec now)
{
    struct tm utc;
    char day[32], time[48];
    gmtime_r(&now.tv_sec, &utc);
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(time, sizeof time, "%s.%03dZ", day, (int)(now.tv_nsec / 1000000));
    add(line, time);
}

static void add_field(struct line *line, const char *name, const char *value, size_t limit_bytes)
{
    if (value == NULL)
        return;
    add(line, ",\"");
    add(line, name);
    add(line, "\":\"");
    add_escaped(line, value, limit_bytes, true);
    add(line, "\"");
}

size_t log_format_json(const struct log_entry *entry, char data[LOG_LINE_BYTES])
{
    struct line line = {data, 0};
    add(&line, "{\"ts\":\"");
    add_time(&line, entry->now);
    add(&line, "\"");
    add_field(&line, "level", level_names[entry->level], FIELD_BYTES);
    add_field(&line, "msg", entry->message, MESSAGE_BYTES);
    add_field(&line, "component", entry->component, FIELD_BYTES);
    add_field(&line, "object", entry->object, FIELD_BYTES);
    add_field(&line, "error", entry->error, FIELD_BYTES);
    if (entry->dropped != 0) {
        char dropped[32];
        snprintf(dropped, sizeof dropped, ",\"dropped\":%u", entry->dropped);
        add(&line, dropped);
    }
    add(&line, "}\n");
    return line.size;
}

size_t log_format_text(const struct log_entry *entry, char data[LOG_LINE_BYTES])
{
    struct line line = {data, 0};
    add_time(&line, entry->now);
    add(&line, " ");
    add(&line, level_names[entry->level]);
    add(&line, " ");
    add_escaped(&line, entry->component, FIELD_BYTES, false);
    add(&line, ": ");
    add_escaped(&line, entry->message, MESSAGE_BYTES, false);
    if (entry->object != NULL) {
        add(&line, " [");
        add_escaped(&line, entry->object, FIELD_BYTES, false);
        add(&line, "]");
    }
    if (entry->error != NULL) {
        add(&line, ": ");
        add_escaped(&line, entry->error, FIELD_BYTES, false);
    }
    if (entry->dropped != 0) {
        char dropped[48];
        snprintf(dropped, sizeof dropped, " (%u lines dropped before)", entry->dropped);
        add(&line, dropped);
    }
    add(&line, "\n");
    return line.size;
}

/* ---- rate ---- */

struct rate {
    char component[32];
    enum log_level level;
    int64_t window_milliseconds; /* when it began */
    unsigned lines, dropped;
};

/* The last one is shared by all components that come after it is full. */
static struct rate rates[COMPONENTS_MAX];
static size_t rate_count;
static pthread_mutex_t rates_lock = PTHREAD_MUTEX_INITIALIZER;

static struct rate *find_rate(const char *component, enum log_level level)
{
    for (size_t i = 0; i < rate_count; i++)
        if (rates[i].level == level &&
            strncmp(rates[i].component, component, sizeof rates->component - 1) == 0)
            return &rates[i];
    if (rate_count == COMPONENTS_MAX)
        return &rates[COMPONENTS_MAX - 1];
    struct rate *rate = &rates[rate_count++];
    snprintf(rate->component, sizeof rate->component, "%s", component);
    rate->level = level;
    return rate;
}

bool log_admit(const char *component, enum log_level level, int64_t now_milliseconds,
               unsigned *dropped)
{
    pthread_mutex_lock(&rates_lock);
    struct rate *rate = find_rate(component, level);
    if (rate->lines == 0 || now_milliseconds - rate->window_milliseconds >= 1000) {
        rate->window_milliseconds = now_milliseconds;
        rate->lines = 0;
    }
    bool admitted = rate->lines < LOG_LINES_A_SECOND;
    if (admitted) {
        rate->lines++;
        *dropped = rate->dropped;
        rate->dropped = 0;
    } else {
        rate->dropped++;
    }
    pthread_mutex_unlock(&rates_lock);
    return admitted;
}

void log_count_lost(const char *component, enum log_level level, unsigned lines)
{
    pthread_mutex_lock(&rates_lock);
    find_rate(component, level)->dropped += lines;
    pthread_mutex_unlock(&rates_lock);
}

/* ---- writing ---- */

static atomic_bool waits_for_reader = true;

void log_set_waiting(bool waits)
{
    atomic_store(&waits_for_reader, waits);
}

/* One call, so that lines of several threads do not mix. */
static bool write_waiting(const char *line, size_t size)
{
    while (size > 0) {
        ssize_t written = write(STDERR_FILENO, line, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        line += written;
        size -= (size_t)written;
    }
    return true;
}

static bool write_at_once(const char *line, size_t size)
{
    static struct line_output output = LINE_OUTPUT(STDERR_FILENO);
    return line_write_now(&output, (struct text){line, size - 1}) == LINE_WHOLE;
}

/* ---- the log ---- */

void log_line(enum log_level level, const char *component, const char *object, const char *error,
              const char *format, ...)
{
    if ((int)level < atomic_load(&least_level))
        return;
    struct log_entry entry = {
        .level = level, .component = component, .object = object, .error = error};
    if (!log_admit(component, level, monotonic_ms(), &entry.dropped))
        return;
    char message[MESSAGE_BYTES + 1], line[LOG_LINE_BYTES];
    va_list args;
    va_start(args, format);
    if (vsnprintf(message, sizeof message, format, args) < 0)
        message[0] = '\0';
    va_end(args);
    entry.message = message;
    clock_gettime(CLOCK_REALTIME, &entry.now);
    size_t size =
        isatty(STDERR_FILENO) ? log_format_text(&entry, line) : log_format_json(&entry, line);
    if (!(atomic_load(&waits_for_reader) ? write_waiting(line, size) : write_at_once(line, size)))
        log_count_lost(component, level, entry.dropped + 1);
}
