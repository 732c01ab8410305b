#include "server/publish.h"

#include <pthread.h>
#include <stdlib.h>

/* Two threads publish: one that reloads, one that watches a cluster. The lock is theirs alone; a
 * request pins its world without it. */
struct publisher {
    pthread_mutex_t mutex;
    struct cell *cell;
    struct rules *rules; /* NULL: none yet */
    struct view *view;   /* NULL: there is no live cluster; the rules hold what files showed */
    struct sight sight;
    void (*hear)(void *context);
    void *hear_context;
};

struct composed_world {
    struct world world;
    struct rules *rules;
    struct view *view;
};

struct publisher *publisher_create(unsigned slot_count)
{
    struct publisher *publisher = calloc(1, sizeof *publisher);
    struct cell *cell = cell_create(slot_count);
    if (publisher == NULL || cell == NULL) {
        free(publisher);
        cell_destroy(cell);
        return NULL;
    }
    pthread_mutex_init(&publisher->mutex, NULL);
    publisher->cell = cell;
    return publisher;
}

struct cell *publisher_cell(struct publisher *publisher)
{
    return publisher->cell;
}

/* ---- counting; under the lock ---- */

static struct rules *hold_rules(struct rules *rules)
{
    if (rules != NULL)
        rules->hold_count++;
    return rules;
}

static void release_rules(struct rules *rules)
{
    if (rules == NULL || --rules->hold_count > 0)
        return;
    world_destroy((void *)(uintptr_t)rules->world);
    free(rules);
}

static struct view *hold_view(struct view *view)
{
    if (view != NULL)
        view->hold_count++;
    return view;
}

static void release_view(struct view *view)
{
    if (view == NULL || --view->hold_count > 0)
        return;
    release_rules(view->rules);
    view->give_back(view);
}

/* ---- composing; under the lock ---- */

static void destroy_composed(void *destroyed)
{
    struct composed_world *composed = destroyed;
    release_view(composed->view);
    release_rules(composed->rules);
    free(composed);
}

static bool publish(struct publisher *publisher, struct rules *rules, struct view *view,
                    const struct sight *sight)
{
    struct composed_world *composed = malloc(sizeof *composed);
    if (composed == NULL)
        return false;
    *composed = (struct composed_world){
        .world = *rules->world,
        .rules = hold_rules(rules),
        .view = hold_view(view),
    };
    if (view != NULL) {
        composed->world.snapshot = view->snapshot;
        composed->world.offers = view->offers;
        composed->world.places = view->places;
        composed->world.unseen = sight->unseen;
        composed->world.owners = sight->owners;
        composed->world.blind = false;
        composed->world.live = true;
        composed->world.volumes_are_stale = sight->volumes_are_stale;
    }
    cell_publish(publisher->cell, composed, destroy_composed);
    return true;
}

/* ---- the two who publish ---- */

static bool take_rules(struct publisher *publisher, struct rules *rules)
{
    if (!publish(publisher, rules, publisher->view, &publisher->sight))
        return false;
    release_rules(publisher->rules);
    publisher->rules = hold_rules(rules);
    return true;
}

bool publisher_set_rules(struct publisher *publisher, struct world *world)
{
    struct rules *rules = malloc(sizeof *rules);
    if (rules == NULL)
        return false;
    *rules = (struct rules){.world = world};
    pthread_mutex_lock(&publisher->mutex);
    bool taken = take_rules(publisher, rules);
    void (*hear)(void *context) = publisher->hear;
    void *context = publisher->hear_context;
    pthread_mutex_unlock(&publisher->mutex);
    if (!taken)
        free(rules);
    else if (hear != NULL)
        hear(context);
    return taken;
}

static bool take_view(struct publisher *publisher, struct view *view, const struct sight *sight)
{
    struct view *next = view == NULL ? publisher->view : view;
    if (publisher->rules != NULL && !publish(publisher, publisher->rules, next, sight))
        return false;
    publisher->sight = *sight;
    if (view != NULL) {
        hold_rules(view->rules);
        release_view(publisher->view);
        publisher->view = hold_view(view);
    }
    return true;
}

bool publisher_set_view(struct publisher *publisher, struct view *view, const struct sight *sight)
{
    pthread_mutex_lock(&publisher->mutex);
    bool taken = take_view(publisher, view, sight);
    pthread_mutex_unlock(&publisher->mutex);
    return taken;
}

struct rules *publisher_hold_rules(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->mutex);
    struct rules *rules = hold_rules(publisher->rules);
    pthread_mutex_unlock(&publisher->mutex);
    return rules;
}

void publisher_release_rules(struct publisher *publisher, struct rules *rules)
{
    pthread_mutex_lock(&publisher->mutex);
    release_rules(rules);
    pthread_mutex_unlock(&publisher->mutex);
}

void publisher_listen(struct publisher *publisher, void (*hear)(void *context), void *context)
{
    pthread_mutex_lock(&publisher->mutex);
    publisher->hear = hear;
    publisher->hear_context = context;
    pthread_mutex_unlock(&publisher->mutex);
}

void publisher_destroy(struct publisher *publisher)
{
    if (publisher == NULL)
        return;
    cell_destroy(publisher->cell);
    release_view(publisher->view);
    release_rules(publisher->rules);
    pthread_mutex_destroy(&publisher->mutex);
    free(publisher);
}
