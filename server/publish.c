/* Combines worlds and publishes them. */
#include "server/publish.h"

#include <pthread.h>
#include <stdlib.h>

/* Two threads publish: one reloads, one watches a cluster. Only they take the lock; a request pins
 * its world without it. */
struct publisher {
    pthread_mutex_t mutex;
    struct cell *cell;
    struct loaded_policies *rules; /* NULL: none yet */
    struct cluster_view *view; /* NULL: no watched cluster; the rules hold the objects of files */
    struct visibility visibility;
    void (*hear)(void *context);
    void *hear_context;
};

struct composed_world {
    struct world world;
    struct loaded_policies *rules;
    struct cluster_view *view;
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

/* ---- reference counts; under the lock ---- */

static struct loaded_policies *hold_policies(struct loaded_policies *rules)
{
    if (rules != NULL)
        rules->hold_count++;
    return rules;
}

static void release_policies(struct loaded_policies *rules)
{
    if (rules == NULL || --rules->hold_count > 0)
        return;
    world_destroy((void *)(uintptr_t)rules->world);
    free(rules);
}

static struct cluster_view *hold_view(struct cluster_view *view)
{
    if (view != NULL)
        view->hold_count++;
    return view;
}

static void release_view(struct cluster_view *view)
{
    if (view == NULL || --view->hold_count > 0)
        return;
    release_policies(view->rules);
    view->give_back(view);
}

/* ---- making worlds; under the lock ---- */

static void destroy_composed(void *destroyed)
{
    struct composed_world *composed = destroyed;
    release_view(composed->view);
    release_policies(composed->rules);
    free(composed);
}

static bool publish(struct publisher *publisher, struct loaded_policies *rules,
                    struct cluster_view *view, const struct visibility *visibility)
{
    struct composed_world *composed = malloc(sizeof *composed);
    if (composed == NULL)
        return false;
    *composed = (struct composed_world){
        .world = *rules->world,
        .rules = hold_policies(rules),
        .view = hold_view(view),
    };
    if (view != NULL) {
        composed->world.snapshot = view->snapshot;
        composed->world.supply = view->supply;
        composed->world.unseen = visibility->unseen;
        composed->world.owners = visibility->owners;
        composed->world.blind = false;
        composed->world.of_cluster = true;
        composed->world.live = true;
        composed->world.volumes_are_stale = visibility->volumes_are_stale;
    }
    cell_publish(publisher->cell, composed, destroy_composed);
    return true;
}

/* ---- the two publishing threads ---- */

static bool take_policies(struct publisher *publisher, struct loaded_policies *rules)
{
    if (!publish(publisher, rules, publisher->view, &publisher->visibility))
        return false;
    release_policies(publisher->rules);
    publisher->rules = hold_policies(rules);
    return true;
}

bool publisher_set_policies(struct publisher *publisher, struct world *world)
{
    struct loaded_policies *rules = malloc(sizeof *rules);
    if (rules == NULL)
        return false;
    *rules = (struct loaded_policies){.world = world};
    pthread_mutex_lock(&publisher->mutex);
    bool taken = take_policies(publisher, rules);
    void (*hear)(void *context) = publisher->hear;
    void *context = publisher->hear_context;
    pthread_mutex_unlock(&publisher->mutex);
    if (!taken)
        free(rules);
    else if (hear != NULL)
        hear(context);
    return taken;
}

static bool take_view(struct publisher *publisher, struct cluster_view *view,
                      const struct visibility *visibility)
{
    struct cluster_view *next = view == NULL ? publisher->view : view;
    if (publisher->rules != NULL && !publish(publisher, publisher->rules, next, visibility))
        return false;
    publisher->visibility = *visibility;
    if (view != NULL) {
        hold_policies(view->rules);
        release_view(publisher->view);
        publisher->view = hold_view(view);
    }
    return true;
}

bool publisher_set_view(struct publisher *publisher, struct cluster_view *view,
                        const struct visibility *visibility)
{
    pthread_mutex_lock(&publisher->mutex);
    bool taken = take_view(publisher, view, visibility);
    pthread_mutex_unlock(&publisher->mutex);
    return taken;
}

struct loaded_policies *publisher_hold_policies(struct publisher *publisher)
{
    pthread_mutex_lock(&publisher->mutex);
    struct loaded_policies *rules = hold_policies(publisher->rules);
    pthread_mutex_unlock(&publisher->mutex);
    return rules;
}

void publisher_release_policies(struct publisher *publisher, struct loaded_policies *rules)
{
    pthread_mutex_lock(&publisher->mutex);
    release_policies(rules);
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
    release_policies(publisher->rules);
    pthread_mutex_destroy(&publisher->mutex);
    free(publisher);
}
