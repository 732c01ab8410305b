/* Writes the headers by which a request is judged as somebody else's. */
#include "live/impersonation.h"

/* The value must be one line, since the next line would be another header. */
static bool add_header(struct text_builder *lines, const char *name, struct text value,
                       struct error *error)
{
    for (size_t i = 0; i < value.size; i++)
        if ((unsigned char)value.data[i] < ' ' || value.data[i] == 0x7F)
            return error_set(error, ERROR_INPUT, NOWHERE,
                             "%s cannot be sent: the value has a control character", name);
    text_builder_printf(lines, "%s%s: %.*s", lines->size == 0 ? "" : "\n", name, TEXT_ARGS(value));
    return true;
}

/* A key may have characters that the name of a header may not: these are escaped as client-go
 * escapes them. */
static const char *extra_header(struct text key, struct arena *arena)
{
    static const char plain[] =
        "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct text_builder name = {.arena = arena};
    text_builder_add(&name, TEXT("Impersonate-Extra-"));
    for (size_t i = 0; i < key.size; i++) {
        if (key.data[i] != '\0' && strchr(plain, key.data[i]) != NULL)
            text_builder_add(&name, (struct text){key.data + i, 1});
        else
            text_builder_printf(&name, "%%%02X", (unsigned)(unsigned char)key.data[i]);
    }
    return text_builder_text(&name).data;
}

static bool add_extra(struct text_builder *lines, const struct node *extra, struct error *error)
{
    for (size_t i = 0; node_is(extra, NODE_MAP) && i < extra->size; i++) {
        const char *name = extra_header(member_key(&extra->members[i]), lines->arena);
        FOR_ITEMS(value, &extra->members[i].value)
            if (!add_header(lines, name, node_string(value), error))
                return false;
    }
    return true;
}

bool impersonation_headers(const struct impersonation *who, struct arena *arena,
                           struct text *headers, struct error *error)
{
    struct text_builder lines = {.arena = arena};
    *headers = TEXT("");
    if (who->user.size == 0) {
        if (who->uid.size == 0 && who->group_count == 0 && node_count(who->extra) == 0)
            return true;
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "a group, a uid or more is impersonated without a user: name one");
    }
    if (!add_header(&lines, "Impersonate-User", who->user, error) ||
        (who->uid.size > 0 && !add_header(&lines, "Impersonate-Uid", who->uid, error)))
        return false;
    for (size_t i = 0; i < who->group_count; i++)
        if (!add_header(&lines, "Impersonate-Group", who->groups[i], error))
            return false;
    if (!add_extra(&lines, who->extra, error))
        return false;
    *headers = text_builder_text(&lines);
    return true;
}
