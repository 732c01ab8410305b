/* The rails there are. */
#include "policy/rail.h"

static const struct rail *const rails[] = {
#define RAIL(symbol) &(symbol),
#include "policy/rails/rails.def"
#undef RAIL
};

size_t rail_count(void)
{
    return COUNT_OF(rails);
}

const struct rail *rail_at(size_t index)
{
    return rails[index];
}

const struct rail *rail_find(struct text name)
{
    for (size_t i = 0; i < rail_count(); i++)
        if (text_is(name, rails[i]->name))
            return rails[i];
    return NULL;
}

/* What matters in these is settled once they are made. */
static const kind_set judged_on_create_only = KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) |
                                              KIND_BIT(KIND_PERSISTENT_VOLUME) |
                                              KIND_BIT(KIND_STORAGE_CLASS);

bool rail_judges(const struct rail *rail, enum kind kind, enum operation operation)
{
    kind_set bit = KIND_BIT(kind) & rail->kinds;
    kind_set stored = rail->changes_of | rail->deletions_of;
    switch (operation) {
    case OPERATION_CREATE:
        return (bit & ~stored) != 0;
    case OPERATION_UPDATE:
        return (bit & rail->changes_of) != 0 || (bit & ~stored & ~judged_on_create_only) != 0;
    case OPERATION_DELETE:
        return (bit & stored) != 0;
    case OPERATION_CONNECT:
        break;
    }
    return false;
}

bool some_rail_judges(enum kind kind, enum operation operation)
{
    for (size_t i = 0; i < rail_count(); i++)
        if (rail_judges(rails[i], kind, operation))
            return true;
    return false;
}

const char *rail_name(const struct rail *rail)
{
    return rail->name;
}

const char *rail_summary(const struct rail *rail)
{
    return rail->summary;
}

const char *rail_detail(const struct rail *rail)
{
    return rail->detail;
}

kind_set rail_kinds(const struct rail *rail)
{
    return rail->kinds;
}

bool rail_judges_resize(const struct rail *rail)
{
    return rail->judges_resize;
}

bool rail_judges_scale(const struct rail *rail)
{
    return rail->judges_scale;
}

bool rail_changes_pods(const struct rail *rail)
{
    return rail->change != NULL;
}
