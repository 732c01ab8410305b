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
