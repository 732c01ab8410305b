/* The options of `taffrail plan` for drills: what is lost, sold out or scaled. */
#ifndef TAFFRAIL_CLI_PLAN_DRILL_H
#define TAFFRAIL_CLI_PLAN_DRILL_H

#include "cli/cli.h"

struct drill;

struct drill_options {
    struct string_list zones, pools, sold_out, scales;
};
/* Rows of a table of options. */
#define OPTIONS_DRILL(drill)                                                                   \
    {0,           "without-zone",                                                              \
     OPTION_LIST, &(drill)->zones,                                                             \
     "ZONE",      "a drill: the zone and its nodes are lost (repeats)",                        \
     NULL},                                                                                    \
        {0,           "without-pool",                                                          \
         OPTION_LIST, &(drill)->pools,                                                         \
         "NAME",      "a drill: the NodePool and its nodes are deleted (repeats)",             \
         NULL},                                                                                \
        {0,           "sold-out",                                                              \
         OPTION_LIST, &(drill)->sold_out,                                                      \
         "WHAT",      "a drill: none of this type, family or capacity type is sold (repeats)", \
         NULL},                                                                                \
    {                                                                                          \
        0, "scale", OPTION_LIST, &(drill)->scales, "KIND/NAME=N",                              \
            "a drill: the workload has N replicas (repeats)", NULL                             \
    }

/* NULL in *drill: no drill is asked for. False with a usage error. */
bool plan_read_drill(const struct drill_options *options, struct arena *arena,
                     struct drill **drill) MUST_CHECK;

#endif
