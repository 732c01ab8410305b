/* Reads the options of a drill. */
#include "cli/plan_drill.h"

#include "cli/kind_argument.h"
#include "simulation/drill.h"
#include "simulation/owner.h"

static struct text_list read_names(const struct string_list *names, struct arena *arena)
{
    struct text_list list = {0};
    for (size_t i = 0; i < names->count; i++)
        *LIST_PUSH(arena, &list) = text_of(names->items[i]);
    return list;
}

static bool wrong_scale(const char *written)
{
    usage_error("plan",
                "--scale is \"%s\"; it must be KIND/NAME=N, as in deployment/web=40: a Deployment, "
                "StatefulSet, ReplicaSet or ReplicationController (KIND/NAMESPACE/NAME=N where "
                "several have the name), and 0 to %d replicas",
                written, MOST_PODS);
    return false;
}

static bool read_scale(const char *written, struct drill_scale *scale)
{
    struct text workload, replicas, kind, name, rest;
    *scale = (struct drill_scale){0};
    if (!text_split(text_of(written), '=', &workload, &replicas) ||
        !text_to_int64(replicas, &scale->replicas) || scale->replicas < 0 ||
        scale->replicas > MOST_PODS || !text_split(workload, '/', &kind, &name))
        return wrong_scale(written);
    scale->kind = kind_of_argument(kind);
    scale->name = name;
    if (text_split(name, '/', &scale->namespace, &rest))
        scale->name = rest;
    bool scaled = scale->kind != KIND_UNKNOWN && (KINDS_SCALED & KIND_BIT(scale->kind)) != 0;
    return (scaled && scale->name.size > 0) || wrong_scale(written);
}

bool plan_read_drill(const struct drill_options *options, struct arena *arena, struct drill **drill)
{
    struct drill *read = ARENA_NEW(arena, struct drill);
    *drill = NULL;
    *read = (struct drill){
        .zones = read_names(&options->zones, arena),
        .pools = read_names(&options->pools, arena),
        .sold_out = read_names(&options->sold_out, arena),
    };
    for (size_t i = 0; i < options->scales.count; i++)
        if (!read_scale(options->scales.items[i], LIST_PUSH(arena, &read->scales)))
            return false;
    if (read->zones.count + read->pools.count + read->sold_out.count + read->scales.count > 0)
        *drill = read;
    return true;
}
