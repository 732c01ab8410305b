/* Questions to a problem and problems made of others, against the same built from nothing. */
#include <string.h>

#include "solver_case.h"

/* What is different in the case that is built from nothing; indices of the case, SIZE_MAX: none. */
struct variation {
    size_t gone_node, removed_pod, placed_pod, placed_node;
    struct solver_pod added[3];
    size_t added_count;
    bool of_question; /* without what is pending */
};
static const struct variation as_it_is = {
    .gone_node = SIZE_MAX, .removed_pod = SIZE_MAX, .placed_pod = SIZE_MAX};

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

/* A node that stays; SIZE_MAX: there is none. */
static size_t draw_node(const struct built *built, const struct variation *variation,
                        uint64_t *state)
{
    size_t node = draw_taken(&built->nodes, state);
    return node == variation->gone_node ? SIZE_MAX : node;
}

static size_t draw_pod_there(const struct built *built, const struct variation *variation,
                             bool running, uint64_t *state)
{
    size_t index = draw_taken(&built->pods, state);
    if (index == SIZE_MAX || (built->input->pods[index].node != SOLVER_NONE) != running ||
        (running && built->input->pods[index].node == variation->gone_node))
        return SIZE_MAX;
    return index;
}

/* ---- from nothing ---- */

static void build_changed(const struct built *built, const struct variation *variation,
                          struct arena *arena, struct built *changed)
{
    struct solver_case *input = ARENA_NEW(arena, struct solver_case);
    struct built kept = *built;
    size_t count = 0, most = built->pods.count + variation->added_count;
    struct solver_pod *pods = ARENA_ARRAY(arena, most, struct solver_pod);
    for (size_t i = 0; i < built->pods.count; i++) {
        size_t index = built->pods.indices[i];
        pods[count] = built->input->pods[index];
        if (index == variation->placed_pod)
            pods[count].node = (uint32_t)variation->placed_node;
        bool pending = pods[count].node == SOLVER_NONE;
        bool gone = index == variation->removed_pod ||
                    (pending ? variation->of_question : pods[count].node == variation->gone_node);
        count += !gone;
    }
    for (size_t i = 0; i < variation->added_count; i++)
        pods[count++] = variation->added[i];
    *input = *built->input;
    input->pods = pods;
    input->pod_count = count;
    kept.pods.numbers = ARENA_ARRAY(arena, most, uint32_t); /* all wanted */
    kept.nodes.numbers = ARENA_ARRAY(arena, input->node_count, uint32_t);
    for (size_t i = 0; i < input->node_count; i++)
        kept.nodes.numbers[i] = i == variation->gone_node ? SOLVER_NONE : built->nodes.numbers[i];
    REQUIRE(case_build(input, false, &kept, arena, changed));
}

/* ---- questions ---- */

static const char *place_text(const struct solver_problem *problem, enum solver_place_kind kind,
                              uint32_t node, const struct solver_claim *claim, struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    if (kind == SOLVER_ON_NODE)
        text_builder_printf(&text, "on %s", solver_node_name(problem, node));
    else if (kind == SOLVER_ON_CLAIM)
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
    struct solver_zones zones;
    struct error error = {0};
    bool found = zone == NULL || question->shape->preferred_count > 0;
    REQUIRE(solver_query_zones(run, question, arena, &zones, &error));
    for (size_t i = 0; i < zones.all.count; i++) {
        REQUIRE(i == 0 || strcmp(zones.all.items[i - 1], zones.all.items[i]) < 0);
        found |= zone != NULL && strcmp(zones.all.items[i], zone) == 0;
    }
    for (size_t i = 0; i < built->input->pool_count; i++)
        for (size_t j = 0; j < built->input->pools[i].requirements.count; j++)
            found |= built->input->pools[i].requirements.items[j].min_values > 0;
    REQUIRE(found);
}

void check_question(struct solver_run *run, const struct built *built, uint64_t seed,
                    struct arena *arena)
{
    struct variation variation = as_it_is;
    struct solver_overlay_pod pods[2];
    struct solver_overlay overlay = {.pods = pods};
    uint32_t gone;
    if (built->shapes.count == 0)
        return;
    variation.of_question = true;
    if (draw(&seed, 3) == 0)
        variation.gone_node = draw_taken(&built->nodes, &seed);
    if (variation.gone_node != SIZE_MAX) {
        gone = built->nodes.numbers[variation.gone_node];
        overlay.gone_nodes = &gone;
        overlay.gone_node_count = 1;
    }
    for (size_t i = 0; i < 2 && draw(&seed, 2) == 0; i++) {
        size_t node = draw_node(built, &variation, &seed);
        if (node == SIZE_MAX)
            break;
        struct solver_pod pod = draw_pod(built, i == 0 ? "new/0" : "new/1", &seed, arena);
        pod.node = (uint32_t)node;
        variation.added[variation.added_count++] = pod;
        pods[overlay.pod_count++] =
            (struct solver_overlay_pod){built->shapes.numbers[pod.shape],
                                        built->nodes.numbers[node], pod.mounts, pod.mount_count};
    }
    struct solver_pod asked = draw_pod(built, "new/asked", &seed, arena);
    variation.added[variation.added_count++] = asked;

    const struct solver_question question = {.overlay = &overlay,
                                             .shape = &built->input->shapes[asked.shape],
                                             .mounts = asked.mounts,
                                             .mount_count = asked.mount_count};
    struct built changed;
    build_changed(built, &variation, arena, &changed);
    const struct solver_plan *plan = solver_solve(solver_run_create(changed.problem, arena));
    REQUIRE(plan->place_count == 1);
    const struct solver_place *place = &plan->places[0];
    const struct solver_claim *claim =
        place->kind == SOLVER_ON_CLAIM ? &plan->claims[place->index] : NULL;
    const char *wanted = place_text(changed.problem, place->kind, place->index, claim, arena);
    for (int i = 0; i < 2; i++)
        require_same(ask(run, built, &question, arena), wanted);
    const char *zone = claim != NULL ? claim->zone : NULL;
    if (place->kind == SOLVER_ON_NODE)
        zone = label_value(&built->input->nodes[changed.nodes.indices[place->index]].labels, ZONE);
    check_zones(run, built, &question, zone, arena);
}

/* ---- problems made of others ---- */

void check_derived(const struct built *built, uint64_t seed, struct arena *arena)
{
    struct variation variation = as_it_is;
    struct solver_builder *builder = solver_derive(built->problem, arena);
    const struct solver_problem *derived;
    struct error error = {0};
    uint32_t number;
    if (draw(&seed, 3) == 0)
        variation.gone_node = draw_taken(&built->nodes, &seed);
    variation.removed_pod = draw_pod_there(built, &variation, true, &seed);
    variation.placed_pod = draw_pod_there(built, &variation, false, &seed);
    variation.placed_node = draw_node(built, &variation, &seed);
    if (variation.placed_node == SIZE_MAX)
        variation.placed_pod = SIZE_MAX;
    if (variation.gone_node != SIZE_MAX)
        REQUIRE(solver_remove_node(builder, built->nodes.numbers[variation.gone_node], &error));
    if (variation.removed_pod != SIZE_MAX)
        REQUIRE(solver_remove_pod(builder, built->pods.numbers[variation.removed_pod], &error));
    if (variation.placed_pod != SIZE_MAX)
        REQUIRE(solver_place_pod(builder, built->pods.numbers[variation.placed_pod],
                                 built->nodes.numbers[variation.placed_node], &error));
    if (built->shapes.count > 0 && draw(&seed, 2) == 0) {
        struct solver_pod pod = draw_pod(built, "new/0", &seed, arena);
        variation.added[variation.added_count++] = pod;
        pod.shape = built->shapes.numbers[pod.shape];
        REQUIRE(solver_add_pod(builder, &pod, &number, &error));
    }
    REQUIRE(solver_build(builder, &built->input->settings, &derived, &error));
    struct built changed;
    build_changed(built, &variation, arena, &changed);
    struct text found = plan_text(derived, solver_solve(solver_run_create(derived, arena)), arena);
    struct text wanted =
        plan_text(changed.problem, solver_solve(solver_run_create(changed.problem, arena)), arena);
    require_same(found.data, wanted.data);
}
