/* Compares queries with the same pod in a problem built for it. */
#include <string.h>

#include "solver_case.h"

/* ---- drawing ---- */

static uint64_t draw(uint64_t *state, size_t count)
{
    *state = *state * 6364136223846793005 + 1442695040888963407;
    return (*state >> 33) % count;
}

/* One of those a builder took; SIZE_MAX when it took none. */
static size_t draw_taken(const struct taken *taken, uint64_t *state)
{
    return taken->count == 0 ? SIZE_MAX : taken->indices[draw(state, taken->count)];
}

static struct solver_pod draw_pod(const struct built *built, const char *name, uint64_t *state,
                                  struct arena *arena)
{
    struct solver_pod pod = {.name = name, .uid = name, .node = SOLVER_NONE};
    pod.shape = (uint32_t)draw_taken(&built->shapes, state);
    pod.mount_count = draw(state, 2) * built->input->shapes[pod.shape].volume_count;
    struct solver_mount *mounts = ARENA_ARRAY(arena, pod.mount_count, struct solver_mount);
    for (size_t i = 0; i < pod.mount_count; i++) {
        mounts[i].claim = arena_printf(arena, "default/c%u", (unsigned)draw(state, 8)).data;
        mounts[i].driver = draw(state, 4) == 0 ? NULL : "ebs.csi.aws.com";
    }
    pod.mounts = mounts;
    return pod;
}

/* ---- from nothing ---- */

/* With the pod as the only one that is pending. */
static void build_with(const struct built *built, const struct solver_pod *asked,
                       struct arena *arena, struct built *changed)
{
    struct solver_case *input = ARENA_NEW(arena, struct solver_case);
    struct built kept = *built;
    size_t count = 0, most = built->pods.count + 1;
    struct solver_pod *pods = ARENA_ARRAY(arena, most, struct solver_pod);
    for (size_t i = 0; i < built->pods.count; i++) {
        pods[count] = built->input->pods[built->pods.indices[i]];
        count += pods[count].node != SOLVER_NONE;
    }
    pods[count++] = *asked;
    *input = *built->input;
    input->pods = pods;
    input->pod_count = count;
    kept.pods.numbers = ARENA_ARRAY(arena, most, uint32_t); /* all wanted */
    REQUIRE(case_build(input, false, &kept, arena, changed));
}

/* ---- questions ---- */

static const char *place_text(const struct solver_problem *problem, enum solver_placement_kind kind,
                              uint32_t node, const struct solver_node_claim *claim,
                              struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    if (kind == SOLVER_ON_NODE)
        text_builder_printf(&text, "on %s", solver_node_name(problem, node));
    else if (kind == SOLVER_ON_NODE_CLAIM)
        claim_text(problem, claim, &text);
    else
        text_builder_printf(&text, "nowhere");
    return text_builder_text(&text).data;
}

static const char *ask(struct solver_run *run, const struct built *built,
                       const struct solver_question *question, struct arena *arena)
{
    struct solver_answer answer;
    struct error error = {0};
    REQUIRE(solver_query(run, question, arena, &answer, &error));
    return place_text(built->problem, answer.kind, answer.node, answer.claim, arena);
}

/* The zones of the question stand in order, and have the one of its answer among them. Two cases
 * are apart: a wish that contradicts a demand (to Karpenter both come to "no such label"), and
 * minValues that no zone alone can meet. */
static void check_zones(struct solver_run *run, const struct built *built,
                        const struct solver_question *question, const char *zone,
                        struct arena *arena)
{
    struct solver_strings zones;
    struct error error = {0};
    bool found = zone == NULL || question->shape->preferred_count > 0;
    REQUIRE(solver_query_zones(run, question, arena, &zones, &error));
    for (size_t i = 0; i < zones.count; i++) {
        REQUIRE(i == 0 || strcmp(zones.items[i - 1], zones.items[i]) < 0);
        found |= zone != NULL && strcmp(zones.items[i], zone) == 0;
    }
    /* A machine of any zone has none. */
    found |= zone != NULL && zone[0] == '\0';
    for (size_t i = 0; i < built->input->pool_count; i++)
        for (size_t j = 0; j < built->input->pools[i].requirements.count; j++)
            found |= built->input->pools[i].requirements.items[j].min_values > 0;
    REQUIRE(found);
}

void check_question(struct solver_run *run, const struct built *built, uint64_t seed,
                    struct arena *arena)
{
    if (built->shapes.count == 0)
        return;
    struct solver_pod asked = draw_pod(built, "new/asked", &seed, arena);
    const struct solver_question question = {.shape = &built->input->shapes[asked.shape],
                                             .mounts = asked.mounts,
                                             .mount_count = asked.mount_count};
    struct built changed;
    build_with(built, &asked, arena, &changed);
    const struct solver_plan *plan = solver_solve(solver_run_create(changed.problem, arena));
    REQUIRE(plan->placement_count == 1);
    const struct solver_placement *place = &plan->placements[0];
    const struct solver_node_claim *claim =
        place->kind == SOLVER_ON_NODE_CLAIM ? &plan->claims[place->index] : NULL;
    const char *wanted = place_text(changed.problem, place->kind, place->index, claim, arena);
    for (int i = 0; i < 2; i++)
        require_same(ask(run, built, &question, arena), wanted);
    const char *zone = claim != NULL ? claim->zone : NULL;
    if (place->kind == SOLVER_ON_NODE)
        zone = label_value(&built->input->nodes[changed.nodes.indices[place->index]].labels, ZONE);
    check_zones(run, built, &question, zone, arena);
}

/* ---- a question of the case ---- */

/* The case in which the pod is an ordinary one, and what the question sets aside is not there. */
static void build_as_asked(const struct built *built, const struct case_question *asked,
                           const struct solver_pod *pod, struct arena *arena, struct built *changed)
{
    struct solver_case *input = ARENA_NEW(arena, struct solver_case);
    struct built as_asked = *built;
    *input = *built->input;
    input->settings.reserved_fallback |= asked->reserved_fallback;
    if (asked->beyond_limits) {
        input->pools = ARENA_ARRAY(arena, input->pool_count, struct solver_pool);
        for (size_t i = 0; i < input->pool_count; i++) {
            input->pools[i] = built->input->pools[i];
            input->pools[i].limits.count = 0;
        }
    }
    input->only_asked = ARENA_ARRAY(arena, input->shape_count, bool);
    as_asked.shapes.numbers = ARENA_ARRAY(arena, input->shape_count, uint32_t);
    for (size_t i = 0; i < input->shape_count; i++) {
        input->only_asked[i] = built->input->only_asked[i] && i != asked->shape;
        as_asked.shapes.numbers[i] = i == asked->shape ? 0 : built->shapes.numbers[i];
    }
    input->daemons = ARENA_ARRAY(arena, built->input->daemon_count, uint32_t);
    input->daemon_count = 0;
    for (size_t i = 0; i < built->input->daemon_count; i++) {
        uint32_t daemon = built->input->daemons[i];
        if (daemon != CASE_UNKNOWN && built->shapes.numbers[daemon] != SOLVER_NONE)
            input->daemons[input->daemon_count++] = daemon;
    }
    as_asked.input = input;
    build_with(&as_asked, pod, arena, changed);
}

/* Everywhere the pod could be, the place of the answer among them; each Node by the rules. */
static void check_outlook(struct solver_run *run, const struct built *built,
                          const struct solver_question *question,
                          const struct solver_answer *answer, const struct built *changed,
                          struct arena *arena)
{
    struct solver_outlook outlook;
    struct error error = {0};
    REQUIRE(solver_query_outlook(run, question, arena, &outlook, &error));
    reasons_check(built, outlook.reasons, arena);
    REQUIRE(answer->kind != SOLVER_ON_NODE || outlook.nodes[answer->node]);
    REQUIRE(answer->kind != SOLVER_ON_NODE_CLAIM || outlook.claims[answer->claim->pool] != NULL);
    for (uint32_t i = 0; i < built->pools.count; i++)
        REQUIRE(outlook.claims[i] == NULL || outlook.claims[i]->pool == i);
    for (uint32_t i = 0; i < built->nodes.count; i++) {
        const struct solver_placement place = {
            .pod = changed->pods.count - 1, .kind = SOLVER_ON_NODE, .index = i};
        const struct solver_plan plan = {.placements = &place, .placement_count = 1};
        if (outlook.nodes[i])
            plan_check(changed, &plan, arena);
    }
}

struct starving {
    struct solver_run *run;
    const struct solver_question *question;
    struct arena *arena;
};

static void starve(void *argument)
{
    struct starving *starving = argument;
    struct solver_answer answer;
    struct error error = {0};
    (void)solver_query(starving->run, starving->question, starving->arena, &answer, &error);
}

/* A question that ran out of memory leaves the run as it was. */
static void ask_in_vain(struct solver_run *run, const struct solver_question *question)
{
    enum { TOO_FEW_BYTES = 4096 };
    struct error error = {0};
    struct arena *small = arena_create(TOO_FEW_BYTES);
    REQUIRE(small != NULL);
    struct starving starving = {run, question, small};
    bool answered = arena_guard(small, starve, &starving, &error);
    REQUIRE(answered || error.what[0] != '\0');
    arena_destroy(small);
}

/* What nothing has is had nowhere. */
static void check_unknown(struct solver_run *run, const struct solver_question *question,
                          const struct solver_answer *answer, struct arena *arena)
{
    struct solver_question terse = *question;
    struct solver_answer unexplained;
    struct solver_strings zones;
    struct error error = {0};
    REQUIRE(answer->kind == SOLVER_UNSCHEDULABLE && answer->reasons.count == 1);
    terse.explain = false;
    REQUIRE(solver_query(run, &terse, arena, &unexplained, &error));
    REQUIRE(unexplained.kind == SOLVER_UNSCHEDULABLE && unexplained.reasons.count == 0);
    REQUIRE(solver_query_zones(run, question, arena, &zones, &error) && zones.count == 0);
}

void check_case_question(struct solver_run *run, const struct built *built,
                         const struct case_question *asked, struct arena *arena)
{
    struct solver_shape shape = built->input->shapes[asked->shape];
    if (!built->input->only_asked[asked->shape] &&
        built->shapes.numbers[asked->shape] == SOLVER_NONE)
        return; /* it was refused */
    size_t mount_count = asked->mounts ? shape.volume_count : 0;
    struct solver_mount *mounts = ARENA_ARRAY(arena, mount_count, struct solver_mount);
    for (size_t i = 0; i < mount_count; i++)
        mounts[i] = (struct solver_mount){.claim = "default/c0", .driver = "ebs.csi.aws.com"};
    struct solver_amount *items =
        ARENA_ARRAY(arena, shape.requests.count + 2, struct solver_amount);
    if (shape.requests.count > 0)
        memcpy(items, shape.requests.items, shape.requests.count * sizeof *items);
    shape.requests.items = items;
    if (asked->one_of_unknown)
        items[shape.requests.count++] = (struct solver_amount){SOLVER_NONE, 1};
    if (asked->none_of_unknown)
        items[shape.requests.count++] = (struct solver_amount){SOLVER_NONE, 0};
    struct solver_question question = {.shape = &shape,
                                       .mounts = mounts,
                                       .mount_count = mount_count,
                                       .beyond_limits = asked->beyond_limits,
                                       .reserved_fallback = asked->reserved_fallback,
                                       .explain = true};
    struct solver_pod pod = {.name = "new/asked",
                             .uid = "",
                             .shape = asked->shape,
                             .node = SOLVER_NONE,
                             .mounts = mounts,
                             .mount_count = mount_count};
    struct solver_answer answer;
    struct error error = {0};
    if (asked->starved)
        ask_in_vain(run, &question);
    if (!solver_query(run, &question, arena, &answer, &error)) {
        REQUIRE(error.what[0] != '\0' && built->input->only_asked[asked->shape]);
        return;
    }
    reasons_check(built, answer.reasons, arena);
    REQUIRE((answer.kind == SOLVER_UNSCHEDULABLE) == (answer.reasons.count > 0) ||
            (answer.kind == SOLVER_UNSCHEDULABLE && reasons_may_lack(built)));
    struct built changed;
    build_as_asked(built, asked, &pod, arena, &changed);
    const struct solver_plan *plan = solver_solve(solver_run_create(changed.problem, arena));
    REQUIRE(plan->placement_count == 1);
    const struct solver_placement *place = &plan->placements[0];
    const struct solver_node_claim *claim =
        place->kind == SOLVER_ON_NODE_CLAIM ? &plan->claims[place->index] : NULL;
    if (asked->one_of_unknown)
        check_unknown(run, &question, &answer, arena);
    else
        require_same(place_text(built->problem, answer.kind, answer.node, answer.claim, arena),
                     place_text(changed.problem, place->kind, place->index, claim, arena));
    check_outlook(run, built, &question, &answer, &changed, arena);
    question.mount_count = shape.volume_count + 1;
    question.mounts = ARENA_ARRAY(arena, question.mount_count, struct solver_mount);
    REQUIRE(!solver_query(run, &question, arena, &answer, &error));
    struct solver_strings zones;
    REQUIRE(!solver_query_zones(run, &question, arena, &zones, &error) && zones.count == 0);
    struct solver_outlook outlook;
    REQUIRE(!solver_query_outlook(run, &question, arena, &outlook, &error));
    REQUIRE(outlook.reasons.count == 0);
}
