/* A handler that records its calls, and steps of a watcher, for the tests of live/. */
#ifndef TAFFRAIL_UNIT_CLIENT_FIXTURE_H
#define TAFFRAIL_UNIT_CLIENT_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "live/client.h"
#include "unit.h"

/* "begin put shop/a end": the calls since the last look. */
static char told[8192];
static char told_why[500]; /* why the last object was unreadable */
static unsigned said;      /* warnings */
static bool refuse;        /* behaves as if memory had run out */

static inline bool tell(const char *word, const struct object *object)
{
    size_t size = strlen(told);
    snprintf(told + size, sizeof told - size, "%s%s", size > 0 ? " " : "", word);
    size = strlen(told);
    if (object != NULL)
        snprintf(told + size, sizeof told - size, " %.*s", TEXT_ARGS(object->name));
    return !refuse;
}

static bool tell_begin(void *context, enum kind kind)
{
    (void)context, (void)kind;
    return tell("begin", NULL);
}

static bool tell_end(void *context, enum kind kind)
{
    (void)context, (void)kind;
    return tell("end", NULL);
}

static bool tell_put(void *context, const struct object *object)
{
    (void)context;
    return tell("put", object);
}

static bool tell_unreadable(void *context, const struct object *object, const char *why)
{
    (void)context;
    snprintf(told_why, sizeof told_why, "%s", why);
    return tell("unreadable", object);
}

static bool tell_remove(void *context, const struct object *object)
{
    (void)context;
    return tell("remove", object);
}

static void tell_people(void *context, enum kind kind, enum log_level level, const char *message)
{
    (void)context, (void)kind, (void)message;
    said += level == LOG_WARN;
}

static const struct event_handler telling = {.list_begin = tell_begin,
                                             .list_end = tell_end,
                                             .put = tell_put,
                                             .put_unreadable = tell_unreadable,
                                             .remove = tell_remove,
                                             .say = tell_people};

static inline void assert_told(const char *expected, int line)
{
    unit_assert_text(text_of(told), text_of(expected), __FILE__, line);
    told[0] = '\0';
}
#define ASSERT_TOLD(expected) assert_told((expected), __LINE__)

#endif
