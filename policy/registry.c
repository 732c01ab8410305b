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
