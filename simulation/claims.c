/* Claims of pods and the volumes they get. */
#include "simulation/claims.h"

#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume.h"
#include "kube/volume_zones.h"
#include "solver/well_known.h"

struct places {
    struct solver_expressions *items;
    size_t count, capacity;
    bool anywhere;
};

/* ---- the book: every claim once, by namespace and name ---- */

struct claims_book {
    const struct snapshot *snapshot;
    struct arena *arena;
    struct {
        struct volume_choice **items;
        size_t count, capacity;
    } free_volumes; /* the smallest first */
    struct {
        struct claim_state **items;
        size_t count, capacity;
    } claims;
    struct claim_state **slots; /* open addressing; a power of two */
    size_t slot_count;
};

static uint64_t hash_of(struct text namespace, struct text name)
{
    uint64_t hash = 14695981039346656037ULL;
    for (size_t i = 0; i < namespace.size; i++)
        hash = (hash ^ (unsigned char)namespace.data[i]) * 1099511628211ULL;
    hash = (hash ^ '/') * 1099511628211ULL;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.data[i]) * 1099511628211ULL;
    return hash;
}

/* Where the claim is, or belongs. */
static struct claim_state **slot_of(const struct claims_book *book, struct text namespace,
                                    struct text name)
{
    size_t i = (size_t)hash_of(namespace, name) & (book->slot_count - 1);
    for (;; i = (i + 1) & (book->slot_count - 1)) {
        const struct claim_state *claim = book->slots[i];
        if (claim == NULL ||
            (text_equal(claim->namespace, namespace) && text_equal(claim->name, name)))
            return &book->slots[i];
    }
}

static void make_room(struct claims_book *book)
{
    if ((book->claims.count + 1) * 2 <= book->slot_count)
        return;
    book->slot_count *= 2;
    book->slots = ARENA_ARRAY(book->arena, book->slot_count, struct claim_state *);
    for (size_t i = 0; i < book->claims.count; i++) {
        struct claim_state *claim = book->claims.items[i];
        *slot_of(book, claim->namespace, claim->name) = claim;
    }
}

/* ---- volumes nobody has claimed ---- */

static int compare_choices(const void *a_pointer, const void *b_pointer)
{
    const struct volume_choice *a = *(struct volume_choice *const *)a_pointer;
    const struct volume_choice *b = *(struct volume_choice *const *)b_pointer;
    if (a->capacity_milli != b->capacity_milli)
        return a->capacity_milli < b->capacity_milli ? -1 : 1;
    return text_compare(a->volume->name, b->volume->name);
}

bool volume_choice_read(const struct snapshot *snapshot, const struct object *volume,
                        struct arena *arena, struct volume_choice *choice)
{
    const struct node *capacity = node_at(volume->root->node, "spec.capacity.storage");
    *choice = (struct volume_choice){.volume = volume};
    return capacity != NULL && quantity_milli(node_text(capacity), &choice->capacity_milli) &&
           volume_places_read(snapshot, volume, arena, &choice->places);
}

static void find_free_volumes(struct claims_book *book)
{
    for (size_t i = 0; i < snapshot_free_volume_count(book->snapshot); i++) {
        struct volume_choice *choice = ARENA_NEW(book->arena, struct volume_choice);
        if (volume_choice_read(book->snapshot, snapshot_free_volume(book->snapshot, i), book->arena,
                               choice))
            *LIST_PUSH(book->arena, &book->free_volumes) = choice;
    }
    if (book->free_volumes.count > 0)
        qsort(book->free_volumes.items, book->free_volumes.count, sizeof *book->free_volumes.items,
              compare_choices);
}

struct claims_book *claims_book_create(const struct snapshot *snapshot, struct arena *arena)
{
    enum { FIRST_SLOTS = 64 };
    struct claims_book *book = ARENA_NEW(arena, struct claims_book);
    book->snapshot = snapshot;
    book->arena = arena;
    book->slot_count = FIRST_SLOTS;
    book->slots = ARENA_ARRAY(arena, book->slot_count, struct claim_state *);
    find_free_volumes(book);
    return book;
}

/* ---- which volumes a claim may get ---- */

static bool list_has(const struct node *list, struct text wanted)
{
    for (size_t i = 0; node_is(list, NODE_LIST) && i < node_count(list); i++)
        if (text_equal(node_string(node_item(list, i)), wanted))
            return true;
    return false;
}

static struct text volume_mode(const struct node *spec)
{
    struct text mode = node_string(node_get(spec, "volumeMode"));
    return mode.size > 0 ? mode : TEXT("Filesystem");
}

/* Reserved for another, for this claim, or for none. */
enum reserved { RESERVED_NOT, RESERVED_HERE, RESERVED_ELSEWHERE };
static enum reserved reserved_for(const struct object *volume, struct text namespace,
                                  struct text name)
{
    const struct node *reference = node_at(volume->root->node, "spec.claimRef");
    if (!node_is(reference, NODE_MAP))
        return RESERVED_NOT;
    bool here = text_equal(node_string(node_get(reference, "name")), name) &&
                text_equal(node_string(node_get(reference, "namespace")), namespace);
    return here ? RESERVED_HERE : RESERVED_ELSEWHERE;
}

bool volume_suits(const struct volume_choice *choice, struct text namespace, struct text name,
                  const struct node *spec, struct text class_name)
{
    const struct node *volume_spec = node_get(choice->volume->root->node, "spec");
    const struct node *selector = node_get(spec, "selector");
    const struct node *modes = node_get(spec, "accessModes");
    const struct node *storage = node_at(spec, "resources.requests.storage");
    int64_t wanted_milli = 0;
    if (!text_equal(node_string(node_get(volume_spec, "storageClassName")), class_name) ||
        reserved_for(choice->volume, namespace, name) == RESERVED_ELSEWHERE ||
        !text_equal(volume_mode(volume_spec), volume_mode(spec)))
        return false;
    if (storage != NULL && (!quantity_milli(node_text(storage), &wanted_milli) ||
                            choice->capacity_milli < wanted_milli))
        return false;
    for (size_t i = 0; node_is(modes, NODE_LIST) && i < node_count(modes); i++)
        if (!list_has(node_get(volume_spec, "accessModes"), node_string(node_item(modes, i))))
            return false;
    return !node_is(selector, NODE_MAP) || selector_matches(selector, choice->volume->labels);
}

static void find_choices(struct claims_book *book, struct claim_state *claim,
                         const struct node *spec, struct text class_name)
{
    struct {
        struct volume_choice **items;
        size_t count, capacity;
    } found = {0};
    for (size_t i = 0; i < book->free_volumes.count; i++)
        if (volume_suits(book->free_volumes.items[i], claim->namespace, claim->name, spec,
                         class_name))
            *LIST_PUSH(book->arena, &found) = book->free_volumes.items[i];
    claim->choices = found.items;
    claim->choice_count = found.count;
}

static size_t count_free(const struct claim_state *claim)
{
    size_t count = 0;
    for (size_t i = 0; i < claim->choice_count; i++)
        count += claim->choices[i]->taken ? 0 : 1;
    return count;
}

static void add_places(struct places *places, const struct solver_volume *more, struct arena *arena)
{
    places->anywhere = places->anywhere || more->alternative_count == 0;
    for (size_t i = 0; i < more->alternative_count; i++)
        *LIST_PUSH(arena, places) = more->alternatives[i];
}

/* Anywhere a free volume is, or one can be made. Where a class makes none and none is seen, its
 * volumes may come with their nodes. */
static void find_places(struct claim_state *claim, struct arena *arena)
{
    struct places places = {.anywhere = !claim->can_be_made && claim->choice_count == 0};
    for (size_t i = 0; i < claim->choice_count; i++)
        if (!claim->choices[i]->taken)
            add_places(&places, &claim->choices[i]->places, arena);
    if (claim->can_be_made)
        add_places(&places, &claim->made, arena);
    claim->places = (struct solver_volume){0};
    if (!places.anywhere)
        claim->places = (struct solver_volume){places.items, places.count};
    if (!claim->can_be_made && claim->choice_count > 0 && count_free(claim) == 0)
        claim->fault = (struct pod_fault){
            .kind = SOLVER_REASON_VOLUME,
            .later = true,
            .message =
                arena_printf(arena, "of the volumes that suit claim %s none is left", claim->id),
        };
}

void claims_book_refresh(struct claims_book *book)
{
    for (size_t i = 0; i < book->claims.count; i++)
        if (book->claims.items[i]->waits && book->claims.items[i]->choice_count > 0)
            find_places(book->claims.items[i], book->arena);
}

/* ---- reading a claim ---- */

/* The CSI drivers that stand in for what was once built into Kubernetes. */
static struct text csi_name(struct text provisioner)
{
    static const struct {
        const char *in_tree, *driver;
    } drivers[] = {
        {"kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
        {"kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
        {"kubernetes.io/azure-disk", "disk.csi.azure.com"},
        {"kubernetes.io/azure-file", "file.csi.azure.com"},
        {"kubernetes.io/cinder", "cinder.csi.openstack.org"},
        {"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"},
        {"kubernetes.io/portworx-volume", "pxd.portworx.com"},
    };
    for (size_t i = 0; i < COUNT_OF(drivers); i++)
        if (text_is(provisioner, drivers[i].in_tree))
            return text_of(drivers[i].driver);
    return provisioner;
}

static const char *driver_of_volume(const struct object *volume, struct arena *arena)
{
    const struct node *spec = node_get(volume->root->node, "spec");
    struct text driver = node_string(node_at(spec, "csi.driver"));
    if (driver.size > 0)
        return terminated(arena, driver);
    return node_is(node_get(spec, "awsElasticBlockStore"), NODE_MAP) ? "ebs.csi.aws.com" : NULL;
}

#define FAULT(claim, book, ...)                                        \
    ((claim)->fault = (struct pod_fault){.kind = SOLVER_REASON_VOLUME, \
                                         .message = arena_printf((book)->arena, __VA_ARGS__)})

static void read_bound(struct claims_book *book, struct claim_state *claim,
                       const struct object *object, struct text volume_name)
{
    const struct node *root = object->root->node;
    const struct object *volume =
        snapshot_find(book->snapshot, KIND_PERSISTENT_VOLUME, TEXT(""), volume_name);
    const struct node *annotations = node_at(root, "metadata.annotations");
    if (volume == NULL) {
        FAULT(claim, book, "the volume %.*s of claim %s is not in the cluster",
              TEXT_ARGS(volume_name), claim->id);
        return;
    }
    claim->driver = driver_of_volume(volume, book->arena);
    if (volume->deleting)
        FAULT(claim, book, "the volume %.*s of claim %s is being deleted", TEXT_ARGS(volume_name),
              claim->id);
    else if (node_get(annotations, "pv.kubernetes.io/bind-completed") == NULL &&
             node_get(root, "status") != NULL)
        FAULT(claim, book, "claim %s names the volume %.*s but is not bound to it yet", claim->id,
              TEXT_ARGS(volume_name));
    else if (!volume_places_read(book->snapshot, volume, book->arena, &claim->places))
        FAULT(claim, book, "the node affinity of volume %.*s cannot be understood",
              TEXT_ARGS(volume_name));
}

static void read_unbound(struct claims_book *book, struct claim_state *claim,
                         const struct field *root)
{
    struct claim read;
    struct storage_class class;
    claim_read(root, book->arena, &read);
    const struct object *object = claim_class(book->snapshot, &read);
    if (read.class_named && read.class_name.size == 0) {
        FAULT(claim, book, "claim %s is not bound and wants no StorageClass to make its volume",
              claim->id);
        return;
    }
    if (object == NULL || !storage_class_read(object, book->arena, &class)) {
        if (read.class_named)
            FAULT(claim, book, "the StorageClass \"%.*s\" of claim %s is not in the cluster",
                  TEXT_ARGS(read.class_name), claim->id);
        else
            FAULT(claim, book, "claim %s names no StorageClass and there is no default one",
                  claim->id);
        return;
    }
    if (!class.waits) {
        FAULT(claim, book,
              "claim %s is not bound, and its StorageClass \"%.*s\" binds Immediately: until then "
              "nobody knows where its volume is",
              claim->id, TEXT_ARGS(object->name));
        return;
    }
    const struct node *spec = node_get(root->node, "spec");
    claim->driver = terminated(book->arena, csi_name(class.provisioner));
    claim->can_be_made = !text_is(class.provisioner, "kubernetes.io/no-provisioner");
    claim->zonal = !claim_is_of_many_nodes(spec);
    class_places_read(book->snapshot, &class, book->arena, &claim->made);
    find_choices(book, claim, spec, object->name);
    find_places(claim, book->arena);
    claim->waits = true;
    struct text zone = claim_selected_zone(book->snapshot, root->node);
    if (zone.size > 0 && claim->zonal) {
        claim->places = volume_of_zone(terminated(book->arena, zone), book->arena);
        claim->waits = false;
    }
}

static void read_claim(struct claims_book *book, struct claim_state *claim,
                       const struct field *template)
{
    const struct object *object =
        snapshot_find(book->snapshot, KIND_PERSISTENT_VOLUME_CLAIM, claim->namespace, claim->name);
    if (object == NULL) {
        if (template != NULL)
            read_unbound(book, claim, template);
        else
            FAULT(claim, book, "claim %s is not in the cluster", claim->id);
        return;
    }
    const struct node *root = object->root->node;
    struct text volume_name = node_string(node_at(root, "spec.volumeName"));
    if (object->deleting)
        FAULT(claim, book, "claim %s is being deleted", claim->id);
    else if (text_is(node_string(node_at(root, "status.phase")), "Lost"))
        FAULT(claim, book, "claim %s has lost its volume", claim->id);
    else if (volume_name.size > 0)
        read_bound(book, claim, object, volume_name);
    else
        read_unbound(book, claim, object->root);
}

struct claim_state *claims_book_get(struct claims_book *book, struct text namespace,
                                    struct text name, const struct field *template)
{
    make_room(book);
    struct claim_state **slot = slot_of(book, namespace, name);
    if (*slot != NULL)
        return *slot;
    struct claim_state *claim = ARENA_NEW(book->arena, struct claim_state);
    claim->namespace = namespace;
    claim->name = name;
    claim->id = arena_printf(book->arena, "%.*s/%.*s", TEXT_ARGS(namespace), TEXT_ARGS(name)).data;
    *slot = claim;
    *LIST_PUSH(book->arena, &book->claims) = claim;
    read_claim(book, claim, template);
    return claim;
}

/* ---- binding ---- */

static struct volume_choice *choose(const struct claim_state *claim, struct solver_labels labels)
{
    for (size_t i = 0; i < claim->choice_count; i++)
        if (!claim->choices[i]->taken && places_fit(&claim->choices[i]->places, labels))
            return claim->choices[i];
    return NULL;
}

bool claim_fits(const struct claim_state *claim, struct solver_labels labels)
{
    if (!claim->waits)
        return places_fit(&claim->places, labels);
    if (choose(claim, labels) != NULL)
        return true;
    return claim->can_be_made ? places_fit(&claim->made, labels) : claim->choice_count == 0;
}

void claim_bind(struct claim_state *claim, struct solver_labels labels, struct arena *arena)
{
    const char *zone = label_of(labels, LABEL_ZONE);
    struct volume_choice *choice = choose(claim, labels);
    claim->waits = false;
    claim->places = claim->made;
    if (choice != NULL) {
        choice->taken = true;
        claim->places = choice->places;
    } else if (claim->zonal && zone != NULL) {
        claim->places = volume_of_zone(zone, arena);
    }
}
