/* Audit logs: no crash, no leak; whatever the parts in which a log comes, its records are the same,
 * and none is larger than allowed. */
/* reads: base/json_records.c kube/audit_event.c */
#include <string.h>

#include "base/json_records.h"
#include "fuzz.h"
#include "kube/audit_event.h"

enum { ARENA_BYTES = 16 << 20, RECORD_BYTES_MAX = 1000 };

/* What was handed over, as one number. */
struct seen {
    uint64_t hash;
    size_t count;
    struct arena *arena; /* NULL: the records are not read */
};

static void mix(struct seen *seen, uint64_t value)
{
    seen->hash = (seen->hash ^ value) * UINT64_C(1099511628211);
}

struct event_reading {
    struct text record;
    struct arena *arena;
};

static void read_record(void *argument)
{
    const struct event_reading *reading = argument;
    struct audit_event event;
    if (!audit_event_read(reading->record, reading->arena, &event))
        return;
    REQUIRE((event.request_object == NULL) == (event.request_json.size == 0));
    REQUIRE((event.response_object == NULL) == (event.response_json.size == 0));
}

static void take_record(void *context, enum record_end end, struct text record, size_t line)
{
    struct seen *seen = context;
    REQUIRE(record.size <= RECORD_BYTES_MAX && line > 0);
    REQUIRE((end == RECORD_WHOLE) == (record.size > 0));
    seen->count++;
    mix(seen, end);
    mix(seen, line);
    for (size_t i = 0; i < record.size; i++)
        mix(seen, (unsigned char)record.data[i]);
    if (seen->arena == NULL || end != RECORD_WHOLE)
        return;
    struct event_reading reading = {record, seen->arena};
    struct error error;
    arena_reset(seen->arena);
    (void)!arena_guard(seen->arena, read_record, &reading, &error);
}

/* In parts of so many bytes. */
static struct seen take(const uint8_t *data, size_t size, size_t part, struct arena *arena)
{
    static const char *const lists[] = {"events", "items", "logEvents", NULL};
    struct seen seen = {.arena = arena};
    struct json_records records = {
        .lists = lists, .limit_bytes = RECORD_BYTES_MAX, .sink = take_record, .context = &seen};
    for (size_t at = 0; at < size; at += part)
        REQUIRE(json_records_take(&records, (const char *)data + at,
                                  size - at < part ? size - at : part));
    json_records_end(&records);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    struct seen whole = take(data, size, size + 1, arena);
    struct seen bytes = take(data, size, 1, NULL);
    struct seen parts = take(data, size, 7, NULL);
    REQUIRE(whole.hash == bytes.hash && whole.count == bytes.count);
    REQUIRE(whole.hash == parts.hash && whole.count == parts.count);
    arena_destroy(arena);
    return 0;
}
