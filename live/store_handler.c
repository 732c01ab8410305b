/* The event handler that fills a store. */
#include "kube/object.h"
#include "live/client.h"

static bool begin_list(void *context, enum kind kind)
{
    store_list_begin(context, kind);
    return true;
}

static bool end_list(void *context, enum kind kind)
{
    return store_list_end(context, kind);
}

static bool put(void *context, const struct object *object)
{
    return store_put(context, object);
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    log_line(LOG_WARN, "client", kind_table[object->kind].plural, why, "%.*s%s%.*s cannot be read",
             TEXT_ARGS(object->namespace), object->namespace.size > 0 ? "/" : "",
             TEXT_ARGS(object->name));
    return store_put_unreadable(context, object->kind, object->namespace, object->name);
}

static bool remove_object(void *context, const struct object *object)
{
    return store_remove(context, object->kind, object->namespace, object->name);
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    (void)context;
    log_line(level, "client", kind_table[kind].plural, NULL, "%s", message);
}

struct event_handler store_handler(struct store *store)
{
    return (struct event_handler){.context = store,
                                  .list_begin = begin_list,
                                  .list_end = end_list,
                                  .put = put,
                                  .put_unreadable = put_unreadable,
                                  .remove = remove_object,
                                  .say = say};
}
