#include "pinning/warm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "pinning/warm_step.h"

enum {
    MOST_PENDING_PODS = 4096, /* that the problem has not been told of */
    /* What a problem may have grown by before it is made anew: always, and when there is time. */
    MOST_GROWN_BYTES = 24 << 20,
    IDLE_GROWN_BYTES = 4 << 20,
    BUDGET_BYTES = 1 << 30,
};

/* ---- memory ---- */

static void drop_run(struct warm *warm)
{
    warm->run = NULL;
    arena_reset(warm->asking);
}

static void forget_delta(struct warm *warm)
{
    warm->delta = (struct standing_delta){0};
    arena_reset(warm->pending);
}

enum { OWN_ARENAS = 5 };

static void own_arenas(struct warm *warm, struct arena **arenas[OWN_ARENAS])
{
    arenas[0] = &warm->problem;
    arenas[1] = &warm->pending;
    arenas[2] = &warm->asking;
    arenas[3] = &warm->passing;
    arenas[4] = &warm->piece;
}

/* After memory ran out nothing is certain but the offers that were finished. */
static void begin_again(struct warm *warm)
{
    struct arena **arenas[OWN_ARENAS];
    own_arenas(warm, arenas);
    warm->is_ready = false;
    warm->run = NULL;
    warm->delta = (struct standing_delta){0};
    for (size_t i = 0; i < OWN_ARENAS; i++) {
        arena_destroy(*arenas[i]);
        *arenas[i] = arena_create(BUDGET_BYTES);
    }
}

static bool has_memory(struct warm *warm)
{
    struct arena **arenas[OWN_ARENAS];
    own_arenas(warm, arenas);
    for (size_t i = 0; i < OWN_ARENAS; i++)
        if (*arenas[i] == NULL)
            return false;
    return true;
}

struct warm *warm_create(void)
{
    struct warm *warm = calloc(1, sizeof *warm);
    if (warm != NULL)
        begin_again(warm);
    if (warm == NULL || has_memory(warm))
        return warm;
    warm_destroy(warm);
    return NULL;
}

void warm_destroy(struct warm *warm)
{
    struct arena **arenas[OWN_ARENAS];
    if (warm == NULL)
        return;
    own_arenas(warm, arenas);
    for (size_t i = 0; i < OWN_ARENAS; i++)
        arena_destroy(*arenas[i]);
    pin_offers_release(warm->offers);
    free(warm);
}

size_t warm_bytes(const struct warm *warm)
{
    return arena_used_bytes(warm->problem) + arena_used_bytes(warm->pending) +
           arena_used_bytes(warm->asking);
}

static size_t grown_bytes(const struct warm *warm)
{
    return arena_used_bytes(warm->problem) - warm->built_bytes;
}

/* Runs body(argument) so that an allocation of any of the arenas that fails ends it. */
struct guarding {
    struct arena **arenas;
    size_t count;
    void (*body)(void *);
    void *argument;
    bool within;
};

static void guard_next(void *argument)
{
    struct guarding *guarding = argument;
    struct error error;
    if (guarding->count == 0) {
        guarding->body(guarding->argument);
        guarding->within = true;
        return;
    }
    struct arena *arena = guarding->arenas[0];
    guarding->arenas++;
    guarding->count--;
    (void)!arena_guard(arena, guard_next, guarding, &error);
}

/* ---- the problem ---- */

static struct standing_memory memory_of(const struct step *step)
{
    return (struct standing_memory){step->warm->problem, step->warm->passing, step->warm->piece};
}

static bool build(struct step *step)
{
    struct warm *warm = step->warm;
    struct error error;
    struct standing_memory memory = memory_of(step);
    drop_run(warm);
    forget_delta(warm);
    arena_reset(warm->problem);
    warm->is_ready = false;
    if (!standing_build(&warm->standing, step->snapshot, step->catalog, &step->settings, &memory,
                        &error))
        return false;
    warm->built_bytes = arena_used_bytes(warm->problem);
    warm->is_ready = true;
    return true;
}

static bool derive(struct step *step)
{
    struct warm *warm = step->warm;
    struct error error;
    struct standing_memory memory = memory_of(step);
    struct standing_effect effect;
    drop_run(warm); /* of a problem that will be no more */
    if (grown_bytes(warm) > MOST_GROWN_BYTES ||
        !standing_derive(&warm->standing, step->snapshot, &warm->delta, &memory, &effect, &error)) {
        /* What the new one does not say is asked for again. */
        step->all_sets |= step->machines_changed;
        return build(step);
    }
    forget_delta(warm);
    mind_effect(step, &effect);
    return true;
}

/* ---- the offers ---- */

/* Whether the template of a set is what it was when it was asked about. */
static bool is_same_set(const struct step *step, const struct object *set)
{
    for (size_t i = 0; step->sets_changed && i < step->changes->count; i++) {
        const struct store_change *change = &step->changes->items[i];
        if (change->kind == KIND_STATEFUL_SET && change->after == set)
            return change->before != NULL &&
                   nodes_equal(node_at(change->before->root->node, "spec.template"),
                               node_at(set->root->node, "spec.template"));
    }
    return true;
}

/* The offer there was; NULL: the set has to be asked. */
static const struct pin_offer *old_offer(const struct step *step, const struct object *set)
{
    const struct pin_offers *offers = step->warm->offers;
    size_t index = step->all_sets ? PIN_NO_OFFER : pin_offers_index(offers, set);
    return index == PIN_NO_OFFER || step->minds[index] || !is_same_set(step, set)
               ? NULL
               : &offers->items[index];
}

/* The sets that make claims, each with its old offer unless it has to be asked. */
struct set_list {
    struct {
        const struct object *set;
        const struct pin_offer *old;
    } * items;
    size_t count;
    bool any_asked, any_namespace_new;
};

static struct set_list list_sets(const struct step *step)
{
    size_t most = snapshot_count(step->snapshot, KIND_STATEFUL_SET);
    struct set_list sets = {0};
    sets.items = arena_array(step->warm->passing, most, sizeof *sets.items);
    for (size_t i = 0; i < most; i++) {
        const struct object *set = snapshot_object(step->snapshot, KIND_STATEFUL_SET, i);
        if (!set_makes_claims(set))
            continue;
        sets.items[sets.count].set = set;
        sets.items[sets.count].old = old_offer(step, set);
        sets.any_asked |= sets.items[sets.count].old == NULL;
        sets.any_namespace_new |= !standing_knows_namespace(&step->warm->standing, set->namespace);
        sets.count++;
    }
    return sets;
}

static void make_offers(struct step *step, const struct set_list *sets)
{
    struct warm *warm = step->warm;
    struct pin_offers *offers = step->offers;
    offers->items = ARENA_ARRAY(offers->arena, sets->count, struct pin_offer);
    if (sets->any_asked && warm->run == NULL)
        warm->run = solver_run_create(warm->standing.problem, warm->asking);
    for (size_t i = 0; i < sets->count; i++) {
        struct pin_offer *offer = &offers->items[offers->count++];
        if (sets->items[i].old != NULL)
            pin_offer_copy(sets->items[i].old, offers->arena, offer);
        else
            pin_offer_ask(step->snapshot, warm->standing.problem, warm->run, sets->items[i].set,
                          offers->arena, warm->piece, offer);
        arena_reset(warm->piece);
    }
}

static bool any_minds(const struct step *step)
{
    for (size_t i = 0; i < offer_count(step); i++)
        if (step->minds[i])
            return true;
    return false;
}

static bool step_on(struct step *step)
{
    struct warm *warm = step->warm;
    bool told = warm->delta.pods.count == 0;
    if (step->machines_changed || step->namespaces_changed ||
        warm->delta.pods.count > MOST_PENDING_PODS) {
        if (!derive(step))
            return false;
        told = true;
    }
    step->unchanged = !step->sets_changed && !step->all_sets && !any_minds(step);
    if (step->unchanged)
        return true;
    struct set_list sets = list_sets(step);
    if (sets.any_asked && (!told || sets.any_namespace_new) && !derive(step))
        return false;
    make_offers(step, &sets);
    return true;
}

static void run_step(void *argument)
{
    struct step *step = argument;
    struct warm *warm = step->warm;
    step->anew = step->changes == NULL || !warm->is_ready || warm->offers == NULL ||
                 step->catalog != warm->standing.catalog ||
                 !karpenter_settings_equal(&step->settings, &warm->standing.settings);
    if (!step->anew)
        note_changes(step);
    if (!step->anew) {
        step->good = step_on(step);
        return;
    }
    step->all_sets = true;
    step->good = build(step);
    if (!step->good)
        return;
    struct set_list sets = list_sets(step);
    make_offers(step, &sets);
}

static bool guarded(struct step *step, struct arena *of_offers, void (*body)(void *))
{
    struct warm *warm = step->warm;
    struct arena *arenas[] = {of_offers,    warm->problem, warm->pending,
                              warm->asking, warm->passing, warm->piece};
    struct guarding guarding = {arenas, COUNT_OF(arenas), body, step, false};
    guard_next(&guarding);
    if (!guarding.within) {
        begin_again(warm);
        return false;
    }
    arena_reset(warm->passing);
    arena_reset(warm->piece);
    return step->good;
}

const struct pin_offers *warm_next(struct warm *warm, const struct snapshot *snapshot,
                                   const struct store_changes *changes,
                                   const struct catalog *catalog,
                                   const struct karpenter_settings *settings)
{
    if (!has_memory(warm))
        begin_again(warm);
    struct arena *of_offers = has_memory(warm) ? arena_create(BUDGET_BYTES) : NULL;
    struct pin_offers *offers = of_offers != NULL ? calloc(1, sizeof *offers) : NULL;
    if (offers == NULL) {
        arena_destroy(of_offers);
        warm->is_ready = false;
        return NULL;
    }
    offers->arena = of_offers;
    struct step step = {.warm = warm,
                        .snapshot = snapshot,
                        .changes = changes,
                        .catalog = catalog,
                        .offers = offers};
    if (settings != NULL)
        step.settings = *settings;
    bool good = guarded(&step, of_offers, run_step);
    if (good && !step.unchanged) {
        pin_offers_release(warm->offers);
        atomic_init(&offers->holds, 2);
        warm->offers = offers;
        return offers;
    }
    arena_destroy(of_offers);
    free(offers);
    warm->is_ready = warm->is_ready && good;
    if (!good)
        return NULL;
    pin_offers_hold(warm->offers);
    return warm->offers;
}

static void tidy(void *argument)
{
    struct step *step = argument;
    step->good = build(step);
}

bool warm_tidy(struct warm *warm, const struct snapshot *snapshot)
{
    if (!warm->is_ready || grown_bytes(warm) < IDLE_GROWN_BYTES)
        return false;
    struct arena *none = arena_create(0);
    if (none == NULL)
        return false;
    struct step step = {.warm = warm,
                        .snapshot = snapshot,
                        .catalog = warm->standing.catalog,
                        .settings = warm->standing.settings};
    bool good = guarded(&step, none, tidy);
    arena_destroy(none);
    return good;
}

/* ---- once ---- */

struct copying {
    const struct pin_offers *from;
    struct pin_offers *copy;
    struct arena *arena;
};

static void copy_offers(void *argument)
{
    struct copying *copying = argument;
    struct pin_offers *copy = ARENA_NEW(copying->arena, struct pin_offers);
    copy->items = ARENA_ARRAY(copying->arena, copying->from->count, struct pin_offer);
    for (size_t i = 0; i < copying->from->count; i++)
        pin_offer_copy(&copying->from->items[i], copying->arena, &copy->items[copy->count++]);
    copying->copy = copy;
}

const struct pin_offers *pin_offers_create(const struct snapshot *snapshot,
                                           const struct catalog *catalog,
                                           const struct karpenter_settings *settings,
                                           struct arena *arena)
{
    struct warm *warm = warm_create();
    if (warm == NULL)
        return NULL;
    struct error error;
    struct copying copying = {.from = warm_next(warm, snapshot, NULL, catalog, settings),
                              .arena = arena};
    bool copied = copying.from != NULL && arena_guard(arena, copy_offers, &copying, &error);
    pin_offers_release(copying.from);
    warm_destroy(warm);
    return copied ? copying.copy : NULL;
}
