/* Which tolerations cover which taints, as Kubernetes' ToleratesTaint says. */
#include "kube/taint.h"
#include "kube/pod.h"
#include "object_fixture.h"

enum { BUDGET_BYTES = 1 << 20 };

#define TAINT(rest) "{key: team" rest ", effect: NoSchedule}"
#define WITH(value) TAINT(", value: '" value "'")

static void a_toleration_covers_what_it_names(void)
{
    static const struct {
        const char *tolerations, *taint;
        bool covered;
    } cases[] = {
        {"{key: team, value: a}", WITH("a"), true},
        {"{key: team, operator: Equal, value: a}", WITH("a"), true},
        {"{key: team, value: a}", WITH("b"), false},
        {"{key: other, value: a}", WITH("a"), false},
        {"{key: team}", WITH("a"), false},
        {"{key: team}", TAINT(""), true},
        {"{key: team, operator: Exists}", WITH("a"), true},
        {"{key: other, operator: Exists}", WITH("a"), false},
        {"{operator: Exists}", WITH("a"), true},
        /* only Exists goes without a key */
        {"{operator: Equal, value: a}", WITH("a"), false},
        {"{value: a}", WITH("a"), false},
        {"{key: team, operator: In, value: a}", WITH("a"), false},
        /* an effect, or all of them */
        {"{key: team, value: a, effect: NoSchedule}", WITH("a"), true},
        {"{key: team, value: a, effect: NoExecute}", WITH("a"), false},
        {"{operator: Exists, effect: NoExecute}", WITH("a"), false},
        /* whole numbers that are compared: the taint's has to be the larger, or the smaller */
        {"{key: team, operator: Gt, value: '5'}", WITH("6"), true},
        {"{key: team, operator: Gt, value: '5'}", WITH("5"), false},
        {"{key: team, operator: Gt, value: '5'}", WITH("4"), false},
        {"{key: team, operator: Lt, value: '5'}", WITH("4"), true},
        {"{key: team, operator: Lt, value: '5'}", WITH("5"), false},
        {"{key: team, operator: Lt, value: '5'}", WITH("6"), false},
        {"{key: team, operator: Gt, value: '-1'}", WITH("much"), false},
        {"{key: team, operator: Lt, value: much}", WITH("-1"), false},
        {"{operator: Gt, value: '5'}", WITH("6"), false},
        /* as they are written plainly, and not otherwise */
        {"{key: team, operator: Lt, value: '5'}", WITH("-1"), true},
        {"{key: team, operator: Gt, value: '0'}", WITH("6"), true},
        {"{key: team, operator: Gt, value: '1'}", WITH("005"), false},
        {"{key: team, operator: Gt, value: '1'}", WITH("+5"), false},
        {"{key: team, operator: Lt, value: '1'}", WITH("-0"), false},
        {"{key: team, operator: Gt, value: '01'}", WITH("5"), false},
        {"{key: team, operator: Gt, value: '+1'}", WITH("5"), false},
        /* one of several is enough */
        {"{key: other, operator: Exists}, {key: team, operator: Exists}", WITH("a"), true},
        {"{key: team, operator: Exists}, {key: other, operator: Exists}", WITH("a"), true},
        {"", WITH("a"), false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct text pod = arena_printf(arena,
                                       "{apiVersion: v1, kind: Pod, metadata: {name: p}, "
                                       "spec: {tolerations: [%s], taints: [%s]}}",
                                       cases[i].tolerations, cases[i].taint);
        struct workload workload;
        CU_ASSERT_FATAL(workload_read(fixture_object(arena, pod.data, "shop"), arena, &workload));
        struct taints taints = {0};
        struct tolerations tolerations;
        taints_read(field_get(arena, workload.spec, "taints"), arena, &taints);
        tolerations_read(&workload, arena, &tolerations);
        CU_ASSERT_FATAL(taints.count == 1);
        bool covered = tolerations_cover(&tolerations, &taints.items[0]);
        if (covered != cases[i].covered)
            fprintf(stderr, "%s and %s:\n", cases[i].tolerations, cases[i].taint);
        CU_ASSERT_EQUAL(covered, cases[i].covered);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube taint";
const struct unit_test unit_tests[] = {
    {"a toleration covers what it names", a_toleration_covers_what_it_names},
    {NULL, NULL},
};
