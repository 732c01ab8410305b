#include "kube/warm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "kube/pin_offers.h"
#include "kube/standing.h"

enum {
    MOST_LAYERS = 32,         /* of a problem; each makes look-ups a little longer */
    TIDY_LAYERS = 2,          /* more than these are too many when there is time */
    MOST_PENDING_PODS = 4096, /* that the problem has not been told of */
    MOST_DERIVED_BYTES = 24 << 20,
    FIRST_DERIVED_BYTES = 2 << 20, /* before which tidying is not worth it */
    BUDGET_BYTES = 1 << 30,
};

/* Most events change no offer: the problem is told of them when a set has to be asked. */
struct warm {
    struct standing standing;
    bool is_ready;
    struct arena *layers[MOST_LAYERS]; /* of the problem; each stands on those before it */
    size_t layer_count;
    struct standing_delta delta; /* in pending: what the problem has not been told of */
    struct arena *pending;
    struct solver_run *run; /* of the problem, in asking; NULL: none yet */
    struct arena *asking;
    struct arena *passing, *piece;
    const struct pin_offers *offers; /* the last ones, held; NULL: none */
};

/* ---- memory ---- */

static void drop_layers(struct warm *warm)
{
    for (; warm->layer_count > 0; warm->layer_count--)
        arena_destroy(warm->layers[warm->layer_count - 1]);
}

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

struct warm *warm_create(void)
{
    struct warm *warm = calloc(1, sizeof *warm);
    if (warm == NULL)
        return NULL;
    warm->pending = arena_create(BUDGET_BYTES);
    warm->asking = arena_create(BUDGET_BYTES);
    warm->passing = arena_create(BUDGET_BYTES);
    warm->piece = arena_create(BUDGET_BYTES);
    if (warm->pending != NULL && warm->asking != NULL && warm->passing != NULL &&
        warm->piece != NULL)
        return warm;
    warm_destroy(warm);
    return NULL;
}

void warm_destroy(struct warm *warm)
{
    if (warm == NULL)
        return;
    drop_layers(warm);
    arena_destroy(warm->pending);
    arena_destroy(warm->asking);
    arena_destroy(warm->passing);
    arena_destroy(warm->piece);
    pin_offers_release(warm->offers);
    free(warm);
}

size_t warm_bytes(const struct warm *warm)
{
    size_t bytes = arena_used_bytes(warm->pending) + arena_used_bytes(warm->asking);
    for (size_t i = 0; i < warm->layer_count; i++)
        bytes += arena_used_bytes(warm->layers[i]);
    return bytes;
}

static size_t derived_bytes(const struct warm *warm)
{
    size_t bytes = 0;
    for (size_t i = 1; i < warm->layer_count; i++)
        bytes += arena_used_bytes(warm->layers[i]);
    return bytes;
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

/* ---- a step ---- */

struct step {
    struct warm *warm;
    const struct snapshot *snapshot;
    const struct live_changes *changes;
    const struct catalog *catalog;
    struct arena *layer;       /* of the next problem; NULL: it was used */
    struct pin_offers *offers; /* the next; its arena is its own */
    bool anew;
    bool all_sets; /* are asked again */
    bool sets_changed;
    bool machines_changed, namespaces_changed, daemons_changed;
    bool zones_may_differ;
    bool *minds; /* by old offer: it is asked again */
    bool unchanged;
    bool good;
};

static struct standing_memory memory_of(const struct step *step)
{
    return (struct standing_memory){step->layer, step->warm->passing, step->warm->piece};
}

static size_t offer_count(const struct step *step)
{
    return step->warm->offers == NULL ? 0 : step->warm->offers->count;
}

/* ---- what changed ---- */

static const struct node *status_part(const struct object *pod, const char *name)
{
    return node_get(node_get(pod->root->node, "status"), name);
}

static bool nodes_equal(const struct node *a, const struct node *b)
{
    return a == b || (a != NULL && b != NULL && node_equal(a, b));
}

/* Whether nobody who looks at pods that run can tell them apart. */
static bool is_same_pod(const struct object *a, const struct object *b)
{
    static const char *const parts[] = {"conditions", "containerStatuses", "initContainerStatuses"};
    if (a == NULL || b == NULL)
        return a == b;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!nodes_equal(status_part(a, parts[i]), status_part(b, parts[i])))
            return false;
    return a->deleting == b->deleting && a->created_unix_s == b->created_unix_s &&
           pod_is_done(a) == pod_is_done(b) && text_equal(a->uid, b->uid) &&
           text_equal(a->controller.kind, b->controller.kind) &&
           text_equal(a->controller.name, b->controller.name) &&
           nodes_equal(a->labels, b->labels) &&
           nodes_equal(node_get(a->root->node, "spec"), node_get(b->root->node, "spec"));
}

/* A pod came to a machine, went or changed: which sets care? */
static void mind_pod(struct step *step, const struct object *pod,
                     const struct stood_machine *machine)
{
    bool keeps_away = node_at(pod->root->node, "spec.affinity.podAntiAffinity") != NULL;
    for (size_t i = 0; i < offer_count(step); i++) {
        const struct pin_offer *offer = &step->warm->offers->items[i];
        if (step->minds[i])
            continue;
        step->minds[i] = machine->zone_unclear || pin_offer_minds_room(offer, machine->zone);
        if (step->minds[i] || !(keeps_away || offer->others_matter))
            continue;
        const struct object *set =
            snapshot_find(step->snapshot, KIND_STATEFUL_SET, offer->namespace, offer->name);
        step->minds[i] = set != NULL && pin_offer_minds_pod(offer, set, pod, step->warm->passing);
    }
}

static void note_pod(struct step *step, const struct live_change *change)
{
    struct warm *warm = step->warm;
    const struct object *sides[] = {change->before, change->after};
    bool known = false;
    if (is_same_pod(change->before, change->after))
        return;
    for (size_t i = 0; i < 2; i++) {
        const struct object *pod = sides[i];
        if (pod == NULL)
            continue;
        step->daemons_changed |= text_is(pod->controller.kind, "DaemonSet");
        const struct stood_machine *machine =
            pod_stands(pod)
                ? standing_machine(&warm->standing,
                                   node_string(node_at(pod->root->node, "spec.nodeName")))
                : NULL;
        if (machine == NULL)
            continue;
        known = true;
        mind_pod(step, pod, machine);
    }
    const struct object *pod = change->after != NULL ? change->after : change->before;
    if (known)
        *LIST_PUSH(warm->pending, &warm->delta.pods) = (struct pod_name){
            arena_text(warm->pending, pod->namespace), arena_text(warm->pending, pod->name)};
}

/* Zones that nothing names any more, or that something names for the first time. */
static void note_zones(struct step *step, const struct zones *zones, bool of_before)
{
    const struct zones *still =
        of_before ? snapshot_node_zones(step->snapshot) : &step->warm->standing.zones;
    for (size_t i = 0; i < zones->count; i++)
        step->zones_may_differ |= !zones_have(still, zones->items[i]);
}

static void note_volume(struct step *step, const struct live_change *change)
{
    const struct object *sides[] = {change->before, change->after};
    for (size_t i = 0; i < 2; i++) {
        struct zones zones = {0};
        if (sides[i] != NULL)
            volume_add_zones(step->snapshot, sides[i], step->warm->passing, &zones);
        note_zones(step, &zones, i == 0);
    }
}

static void note_node(struct step *step, const struct live_change *change)
{
    const struct object *sides[] = {change->before, change->after};
    struct warm *warm = step->warm;
    for (size_t i = 0; i < 2; i++) {
        struct zones zones = {0};
        for (size_t j = 0; sides[i] != NULL && j < node_count(sides[i]->labels); j++) {
            const struct member *label = &sides[i]->labels->members[j];
            if (zone_key_of((struct text){label->key, label->key_size}) == ZONE_KEY_NAME)
                zones_add(&zones, node_string(&label->value), warm->passing);
        }
        note_zones(step, &zones, i == 0);
    }
    const struct object *node = sides[1] != NULL ? sides[1] : sides[0];
    *LIST_PUSH(warm->pending, &warm->delta.nodes) = arena_text(warm->pending, node->name);
    step->machines_changed = true;
}

static void note_claim(struct step *step, const struct live_change *change)
{
    struct warm *warm = step->warm;
    const struct object *claim = change->after != NULL ? change->after : change->before;
    *LIST_PUSH(warm->pending, &warm->delta.claims) = arena_text(warm->pending, claim->name);
    step->machines_changed = true;
}

static void note_namespace(struct step *step, const struct live_change *change)
{
    struct warm *warm = step->warm;
    const struct object *namespace = change->after != NULL ? change->after : change->before;
    if (!standing_knows_namespace(&warm->standing, namespace->name) ||
        (change->before != NULL && change->after != NULL &&
         nodes_equal(change->before->labels, change->after->labels)))
        return;
    *LIST_PUSH(warm->pending, &warm->delta.namespaces) = arena_text(warm->pending, namespace->name);
    step->namespaces_changed = step->all_sets = true;
}

/* Claims, attach limits, budgets, and the workloads above ReplicaSets are not asked about. */
static void note_change(struct step *step, const struct live_change *change)
{
    switch (change->kind) {
    case KIND_POD:
        note_pod(step, change);
        break;
    case KIND_NODE:
        note_node(step, change);
        break;
    case KIND_NODE_CLAIM:
        note_claim(step, change);
        break;
    case KIND_NAMESPACE:
        note_namespace(step, change);
        break;
    case KIND_STATEFUL_SET:
        step->sets_changed = true;
        break;
    case KIND_DAEMON_SET:
        step->daemons_changed = true;
        break;
    case KIND_PERSISTENT_VOLUME:
        note_volume(step, change);
        break;
    case KIND_STORAGE_CLASS:
        step->zones_may_differ = true;
        break;
    case KIND_NODE_POOL:
    case KIND_EC2_NODE_CLASS:
    case KIND_LIMIT_RANGE:
        step->anew = true;
        break;
    default:
        break;
    }
}

static void note_changes(struct step *step)
{
    struct warm *warm = step->warm;
    step->minds = ARENA_ARRAY(warm->passing, offer_count(step), bool);
    for (size_t i = 0; i < step->changes->count && !step->anew; i++)
        note_change(step, &step->changes->items[i]);
    if (step->anew)
        return;
    step->anew = (step->zones_may_differ &&
                  !standing_zones_agree(&warm->standing, step->snapshot, warm->passing)) ||
                 (step->daemons_changed &&
                  !standing_daemons_agree(&warm->standing, step->snapshot, warm->passing));
}

/* ---- the problem ---- */

static bool build(struct step *step)
{
    struct warm *warm = step->warm;
    struct error error;
    struct standing_memory memory = memory_of(step);
    drop_run(warm);
    drop_layers(warm);
    forget_delta(warm);
    warm->is_ready = false;
    if (!standing_build(&warm->standing, step->snapshot, step->catalog, &memory, &error))
        return false;
    warm->layers[warm->layer_count++] = step->layer;
    step->layer = NULL;
    warm->is_ready = true;
    return true;
}

/* What machines that came, went or changed mean to those who were asked before. */
static void mind_effect(struct step *step, const struct standing_effect *effect)
{
    struct warm *warm = step->warm;
    step->all_sets |= effect->limits_differ;
    for (size_t i = 0; i < effect->machines.count && !step->all_sets; i++) {
        const struct stood_machine *machine = &effect->machines.items[i];
        for (size_t j = 0; j < offer_count(step); j++) {
            const struct pin_offer *offer = &warm->offers->items[j];
            step->minds[j] |= machine->zone_unclear || offer->others_matter ||
                              pin_offer_minds_room(offer, machine->zone);
        }
    }
    for (size_t i = 0; i < effect->arrived.count && !step->all_sets; i++) {
        const struct object *pod = effect->arrived.items[i];
        const struct stood_machine *machine = standing_machine(
            &warm->standing, node_string(node_at(pod->root->node, "spec.nodeName")));
        if (machine != NULL)
            mind_pod(step, pod, machine);
    }
}

static bool derive(struct step *step)
{
    struct warm *warm = step->warm;
    struct error error;
    struct standing_memory memory = memory_of(step);
    struct standing_effect effect;
    if (warm->layer_count == MOST_LAYERS || derived_bytes(warm) > MOST_DERIVED_BYTES ||
        !standing_derive(&warm->standing, step->snapshot, &warm->delta, &memory, &effect, &error)) {
        /* What the new one does not say is asked for again. */
        step->all_sets |= step->machines_changed;
        return build(step);
    }
    warm->layers[warm->layer_count++] = step->layer;
    step->layer = NULL;
    drop_run(warm);
    forget_delta(warm);
    mind_effect(step, &effect);
    return true;
}

/* ---- the offers ---- */

/* Whether the template of a set is what it was when it was asked about. */
static bool is_same_set(const struct step *step, const struct object *set)
{
    for (size_t i = 0; step->sets_changed && i < step->changes->count; i++) {
        const struct live_change *change = &step->changes->items[i];
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
    size_t low = 0;
    size_t high = step->all_sets ? 0 : offer_count(step);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pin_offer *offer = &offers->items[middle];
        int order = text_compare(offer->namespace, set->namespace);
        if (order == 0)
            order = text_compare(offer->name, set->name);
        if (order == 0)
            return step->minds[middle] || !is_same_set(step, set) ? NULL : offer;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
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
                 step->catalog != warm->standing.catalog;
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

/* After memory ran out nothing is certain but what was finished before. */
static void begin_again(struct warm *warm)
{
    struct arena **arenas[] = {&warm->pending, &warm->asking, &warm->passing, &warm->piece};
    drop_layers(warm);
    warm->is_ready = false;
    warm->run = NULL;
    warm->delta = (struct standing_delta){0};
    for (size_t i = 0; i < sizeof arenas / sizeof *arenas; i++) {
        arena_destroy(*arenas[i]);
        *arenas[i] = arena_create(BUDGET_BYTES);
    }
}

static bool has_memory(const struct warm *warm)
{
    return warm->pending != NULL && warm->asking != NULL && warm->passing != NULL &&
           warm->piece != NULL;
}

static bool guarded(struct warm *warm, struct step *step, struct arena *of_offers,
                    void (*body)(void *))
{
    struct arena *arenas[] = {step->layer,  of_offers,     warm->pending,
                              warm->asking, warm->passing, warm->piece};
    struct guarding guarding = {arenas, sizeof arenas / sizeof *arenas, body, step, false};
    guard_next(&guarding);
    arena_destroy(step->layer);
    if (!guarding.within)
        begin_again(warm);
    else {
        arena_reset(warm->passing);
        arena_reset(warm->piece);
    }
    return guarding.within && step->good;
}

const struct pin_offers *warm_next(struct warm *warm, const struct snapshot *snapshot,
                                   const struct live_changes *changes,
                                   const struct catalog *catalog)
{
    struct arena *of_offers = has_memory(warm) ? arena_create(BUDGET_BYTES) : NULL;
    struct arena *layer = of_offers != NULL ? arena_create(BUDGET_BYTES) : NULL;
    struct pin_offers *offers = layer != NULL ? calloc(1, sizeof *offers) : NULL;
    if (offers == NULL) {
        arena_destroy(of_offers);
        arena_destroy(layer);
        if (!has_memory(warm))
            begin_again(warm);
        warm->is_ready = false;
        return NULL;
    }
    offers->arena = of_offers;
    struct step step = {.warm = warm,
                        .snapshot = snapshot,
                        .changes = changes,
                        .catalog = catalog,
                        .layer = layer,
                        .offers = offers};
    bool good = guarded(warm, &step, of_offers, run_step);
    if (good && !step.unchanged) {
        pin_offers_release(warm->offers);
        atomic_init(&offers->holds, 2);
        warm->offers = offers;
        return offers;
    }
    arena_destroy(of_offers);
    free(offers);
    if (good)
        pin_offers_hold(warm->offers);
    else
        warm->is_ready = false;
    return good ? warm->offers : NULL;
}

static void tidy(void *argument)
{
    struct step *step = argument;
    step->good = build(step);
}

bool warm_tidy(struct warm *warm, const struct snapshot *snapshot)
{
    if (!warm->is_ready || warm->layer_count <= TIDY_LAYERS ||
        derived_bytes(warm) < FIRST_DERIVED_BYTES)
        return false;
    struct arena *layer = arena_create(BUDGET_BYTES);
    struct arena *none = layer != NULL ? arena_create(BUDGET_BYTES) : NULL;
    if (none == NULL) {
        arena_destroy(layer);
        return false;
    }
    struct step step = {
        .warm = warm, .snapshot = snapshot, .catalog = warm->standing.catalog, .layer = layer};
    bool good = guarded(warm, &step, none, tidy);
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
                                           const struct catalog *catalog, struct arena *arena)
{
    struct warm *warm = warm_create();
    if (warm == NULL)
        return NULL;
    struct error error;
    struct copying copying = {.from = warm_next(warm, snapshot, NULL, catalog), .arena = arena};
    bool copied = copying.from != NULL && arena_guard(arena, copy_offers, &copying, &error);
    pin_offers_release(copying.from);
    warm_destroy(warm);
    return copied ? copying.copy : NULL;
}
