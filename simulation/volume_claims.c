/* The PersistentVolumeClaims of pods: where each can be mounted, and the volumes that they are
 * bound to, round after round. */
#include "simulation/volume_claims.h"

#include <stdlib.h>
#include <string.h>

#include "kube/claim_binding.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/to_solver.h"
#include "kube/volume_zones.h"
#include "kube/zone.h"
#include "solver/well_known.h"

struct local_term {
    const struct solver_expressions *like; /* but for the hosts */
    LIST(const char *) hosts;
};
struct terms {
    struct solver_expressions *items;
    size_t count, capacity;
    bool anywhere, local;
    LIST(struct local_term) local_terms; /* until all are found */
};

/* ---- the claims: every claim once, by namespace and name ---- */

struct volume_claims {
    const struct snapshot *snapshot;
    struct arena *arena;
    bool searched;                             /* free_volumes are found */
    LIST(struct volume_choice *) free_volumes; /* by capacity, ascending */
    LIST(struct volume_offer *) offers;
    size_t round; /* how often volumes were taken */
    LIST(struct volume_claim *) all;
    struct text_map numbers; /* by namespace/name: the index in all, from 1 */
};

/* ---- volumes nobody has claimed ---- */

static int compare_choices(const void *a_pointer, const void *b_pointer)
{
    const struct volume_choice *a = *(struct volume_choice *const *)a_pointer;
    const struct volume_choice *b = *(struct volume_choice *const *)b_pointer;
    if (a->capacity_milli != b->capacity_milli)
        return a->capacity_milli < b->capacity_milli ? -1 : 1;
    return text_compare(a->volume->name, b->volume->name);
}

static bool read_choice(const struct volume_claims *claims, const struct object *volume,
                        struct volume_choice *choice)
{
    choice->volume = volume;
    return volume_capacity(volume, &choice->capacity_milli) &&
           volume_terms_read(claims->snapshot, volume, claims->arena, &choice->terms);
}

static void find_free_volumes(struct volume_claims *claims)
{
    claims->searched = true;
    for (size_t i = 0; i < snapshot_free_volume_count(claims->snapshot); i++) {
        struct volume_choice *choice = ARENA_NEW(claims->arena, struct volume_choice);
        if (read_choice(claims, snapshot_free_volume(claims->snapshot, i), choice))
            *LIST_PUSH(claims->arena, &claims->free_volumes) = choice;
    }
    if (claims->free_volumes.count > 0)
        qsort(claims->free_volumes.items, claims->free_volumes.count,
              sizeof *claims->free_volumes.items, compare_choices);
}

struct volume_claims *volume_claims_create(const struct snapshot *snapshot, struct arena *arena)
{
    struct volume_claims *claims = ARENA_NEW(arena, struct volume_claims);
    claims->snapshot = snapshot;
    claims->arena = arena;
    return claims;
}

/* ---- which volumes a claim may get ---- */

static void find_choices(struct volume_claims *claims, const struct claim_binding *binding,
                         struct volume_offer *offer)
{
    LIST(struct volume_choice *) found = {0};
    for (size_t i = 0; i < claims->free_volumes.count; i++) {
        struct volume_choice *choice = claims->free_volumes.items[i];
        if (volume_suits(choice->volume, choice->capacity_milli, binding))
            *LIST_PUSH(claims->arena, &found) = choice;
    }
    offer->choices = found.items;
    offer->choice_count = found.count;
}

static bool same_expression(const struct solver_expression *a, const struct solver_expression *b)
{
    if (a->op != b->op || a->value_count != b->value_count || strcmp(a->key, b->key) != 0)
        return false;
    for (size_t i = 0; i < a->value_count; i++)
        if (strcmp(a->values[i], b->values[i]) != 0)
            return false;
    return true;
}

static bool has_term(const struct terms *terms, const struct solver_expressions *term)
{
    for (size_t i = 0; i < terms->count; i++) {
        const struct solver_expressions *other = &terms->items[i];
        size_t same = 0;
        if (other->count != term->count)
            continue;
        while (same < term->count && same_expression(&term->items[same], &other->items[same]))
            same++;
        if (same == term->count)
            return true;
    }
    return false;
}

/* ---- local volumes ---- */

/* The one expression that names the hosts of a term; NULL: there is none, or more. */
static const struct solver_expression *hosts_of(const struct solver_expressions *term)
{
    const struct solver_expression *hosts = NULL;
    size_t count = 0;
    for (size_t i = 0; i < term->count; i++)
        if (term->items[i].op == SOLVER_IN && strcmp(term->items[i].key, LABEL_HOSTNAME) == 0) {
            hosts = &term->items[i];
            count++;
        }
    return count == 1 ? hosts : NULL;
}

static bool differ_in_hosts(const struct solver_expressions *a, const struct solver_expressions *b)
{
    const struct solver_expression *of_a = hosts_of(a), *of_b = hosts_of(b);
    size_t same = 0;
    if (a->count != b->count || of_a - a->items != of_b - b->items)
        return false;
    while (same < a->count &&
           (&a->items[same] == of_a || same_expression(&a->items[same], &b->items[same])))
        same++;
    return same == a->count;
}

/* A class may have thousands of local volumes, each on its node: one term names them all. */
static void add_local_term(struct terms *terms, const struct solver_expressions *term,
                           struct arena *arena)
{
    struct local_term *found = NULL;
    for (size_t i = 0; i < terms->local_terms.count && found == NULL; i++)
        if (differ_in_hosts(terms->local_terms.items[i].like, term))
            found = &terms->local_terms.items[i];
    if (found == NULL) {
        found = LIST_PUSH(arena, &terms->local_terms);
        *found = (struct local_term){.like = term};
    }
    const struct solver_expression *hosts = hosts_of(term);
    for (size_t i = 0; i < hosts->value_count; i++)
        *LIST_PUSH(arena, &found->hosts) = hosts->values[i];
}

static struct solver_expressions with_hosts(const struct local_term *local, struct arena *arena)
{
    const struct solver_expressions *like = local->like;
    struct solver_expression *items = ARENA_ARRAY(arena, like->count, struct solver_expression);
    memcpy(items, like->items, like->count * sizeof *items);
    struct solver_expression *hosts = &items[hosts_of(like) - like->items];
    hosts->values = local->hosts.items;
    hosts->value_count = local->hosts.count;
    return (struct solver_expressions){items, like->count};
}

/* ---- where a waiting claim can go ---- */

/* A set may have thousands of volumes in a few zones. */
static void add_terms(struct terms *terms, const struct solver_volume *more, struct arena *arena)
{
    terms->anywhere = terms->anywhere || more->alternative_count == 0;
    terms->local = terms->local || more->local;
    for (size_t i = 0; i < more->alternative_count; i++) {
        const struct solver_expressions *term = &more->alternatives[i];
        if (more->local && hosts_of(term) != NULL)
            add_local_term(terms, term, arena);
        else if (!has_term(terms, term))
            *LIST_PUSH(arena, terms) = *term;
    }
}

/* A waiting claim can go where a free volume is, or where one can be provisioned. Where the class
 * provisions none and none is visible, the volumes may come with their nodes. */
static void find_places(const struct volume_claim *claim, struct volume_offer *offer,
                        struct arena *arena)
{
    struct terms terms = {.anywhere = !claim->can_be_made && offer->choice_count == 0};
    offer->free_count = 0;
    for (size_t i = 0; i < offer->choice_count; i++) {
        if (offer->choices[i]->taken)
            continue;
        offer->free_count++;
        add_terms(&terms, &offer->choices[i]->terms, arena);
    }
    if (claim->can_be_made)
        add_terms(&terms, &claim->made, arena);
    FOR_EACH(local, &terms.local_terms)
        *LIST_PUSH(arena, &terms) = with_hosts(local, arena);
    offer->terms = (struct solver_volume){0};
    if (!terms.anywhere)
        offer->terms = (struct solver_volume){terms.items, terms.count, terms.local};
}

/* The claims of a set want the same, and those of its few templates come by turns. A volume that
 * names one of them is not offered: the two are bound. */
static struct volume_offer *find_offer(struct volume_claims *claims,
                                       const struct volume_claim *claim,
                                       const struct claim_binding *binding)
{
    enum { MOST_BACK = 8 };
    const struct node *spec = node_get(binding->root, "spec");
    size_t count = claims->offers.count;
    for (size_t i = count; i > 0 && count - i < MOST_BACK; i--) {
        struct volume_offer *offer = claims->offers.items[i - 1];
        if (offer->class == binding->class && node_equal(offer->spec, spec))
            return offer;
    }
    if (!claims->searched)
        find_free_volumes(claims);
    struct volume_offer *offer = ARENA_NEW(claims->arena, struct volume_offer);
    offer->class = binding->class;
    offer->spec = spec;
    find_choices(claims, binding, offer);
    find_places(claim, offer, claims->arena);
    *LIST_PUSH(claims->arena, &claims->offers) = offer;
    return offer;
}

static void take_offer(struct volume_claim *claim, struct arena *arena)
{
    const struct volume_offer *offer = claim->offer;
    claim->terms = offer->terms;
    if (!claim->can_be_made && offer->choice_count > 0 && offer->free_count == 0)
        claim->fault = (struct pod_fault){
            .kind = SOLVER_REASON_VOLUME,
            .later = true,
            .message =
                arena_printf(arena, "of the volumes that suit claim %s none is left", claim->id),
        };
}

void volume_claims_refresh(struct volume_claims *claims)
{
    claims->round++;
    for (size_t i = 0; i < claims->all.count; i++) {
        struct volume_claim *claim = claims->all.items[i];
        if (!claim->waits || claim->offer->choice_count == 0)
            continue;
        if (claim->offer->round < claims->round)
            find_places(claim, claim->offer, claims->arena);
        claim->offer->round = claims->round;
        take_offer(claim, claims->arena);
    }
}

/* ---- reading a claim ---- */

/* The CSI drivers that replace the in-tree plugins. */
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

/* Why no pod can mount the claim now; empty: one can. */
static struct text fault_of(const struct volume_claim *claim, const struct claim_binding *binding,
                            struct arena *arena)
{
    struct text volume = binding->volume_name;
    struct text class = binding->class == NULL ? binding->claim.class_name : binding->class->name;
    switch (binding->state) {
    case BINDING_CLAIM_NOT_SEEN:
        return arena_printf(arena, "claim %s is not in the cluster", claim->id);
    case BINDING_CLAIM_DELETING:
        return arena_printf(arena, "claim %s is being deleted", claim->id);
    case BINDING_CLAIM_LOST:
        return arena_printf(arena, "claim %s has lost its volume", claim->id);
    case BINDING_VOLUME_NOT_SEEN:
        return arena_printf(arena, "the volume %.*s of claim %s is not in the cluster",
                            TEXT_ARGS(volume), claim->id);
    case BINDING_VOLUME_DELETING:
        return arena_printf(arena, "the volume %.*s of claim %s is being deleted",
                            TEXT_ARGS(volume), claim->id);
    case BINDING_VOLUME_OF_ANOTHER:
        return arena_printf(arena, "the volume %.*s of claim %s is bound to another claim",
                            TEXT_ARGS(volume), claim->id);
    case BINDING_NAMED: /* A file may leave the status out. */
        if (node_get(binding->root, "status") == NULL)
            return TEXT("");
        return arena_printf(arena, "claim %s names the volume %.*s but is not bound to it yet",
                            claim->id, TEXT_ARGS(volume));
    case BINDING_NO_CLASS:
        return arena_printf(
            arena, "claim %s is not bound and wants no StorageClass to make its volume", claim->id);
    case BINDING_CLASS_NOT_SEEN:
        if (!binding->claim.class_named)
            return arena_printf(arena, "claim %s names no StorageClass and there is no default one",
                                claim->id);
        return arena_printf(arena, "the StorageClass \"%.*s\" of claim %s is not in the cluster",
                            TEXT_ARGS(class), claim->id);
    case BINDING_IMMEDIATE:
        return arena_printf(arena,
                            "claim %s is not bound, and its StorageClass \"%.*s\" binds "
                            "Immediately: until then nobody knows where its volume is",
                            claim->id, TEXT_ARGS(class));
    case BINDING_BOUND:
    case BINDING_RESERVED:
    case BINDING_WAITS:
        break;
    }
    return TEXT("");
}

static void set_fault(struct volume_claim *claim, struct text message)
{
    claim->fault = (struct pod_fault){.kind = SOLVER_REASON_VOLUME, .message = message};
}

/* No other nodes have the driver of EKS Auto Mode (docs/reference/karpenter.md 4.2). */
static void keep_to_auto_mode(struct volume_claim *claim, struct arena *arena)
{
    static const char *const values[] = {"auto"};
    static const struct solver_expression there = {
        .key = LABEL_COMPUTE_TYPE, .op = SOLVER_IN, .values = values, .value_count = 1};
    static const struct solver_expressions anywhere;
    size_t count = claim->terms.alternative_count;
    struct solver_expressions *terms = ARENA_ARRAY(arena, count + 1, struct solver_expressions);
    terms[0] = expressions_with(anywhere, there, arena);
    for (size_t i = 0; i < count; i++)
        terms[i] = expressions_with(claim->terms.alternatives[i], there, arena);
    claim->terms = (struct solver_volume){terms, count > 0 ? count : 1, claim->terms.local};
}

void volume_claim_locate(struct volume_claims *claims, struct volume_claim *claim)
{
    const struct object *volume = claim->volume;
    claim->volume = NULL;
    if (volume != NULL &&
        !volume_terms_read(claims->snapshot, volume, claims->arena, &claim->terms))
        set_fault(claim, arena_printf(claims->arena,
                                      "the node affinity of volume %.*s cannot be understood",
                                      TEXT_ARGS(volume->name)));
    if (volume != NULL && claim->driver != NULL &&
        strcmp(claim->driver, "ebs.csi.eks.amazonaws.com") == 0)
        keep_to_auto_mode(claim, claims->arena);
}

/* docs/reference/karpenter.md 4.4. */
static void find_nodes_only(struct volume_claim *claim, const struct claim_binding *binding,
                            struct arena *arena)
{
    struct text in_spec = node_string(node_at(binding->root, "spec.storageClassName"));
    if (!binding->claim.class_named || in_spec.size > 0)
        return;
    claim->nodes_only = (struct pod_fault){
        .kind = SOLVER_REASON_VOLUME,
        .message = arena_printf(arena,
                                "Karpenter does not read the annotation " CLAIM_CLASS_ANNOTATION
                                " of claim %s, so it leaves its pods alone",
                                claim->id),
        .fix = TEXT("write spec.storageClassName into the claim"),
    };
}

static void read_waiting(struct volume_claims *claims, struct volume_claim *claim,
                         const struct claim_binding *binding)
{
    struct storage_class class;
    if (!storage_class_read(binding->class, claims->arena, &class))
        return;
    claim->driver = terminated(claims->arena, csi_name(class.provisioner));
    claim->can_be_made = !text_is(class.provisioner, "kubernetes.io/no-provisioner");
    claim->zonal = !made_volume_is_everywhere(&class, node_get(binding->root, "spec"));
    class_terms_read(claims->snapshot, &class, claims->arena, &claim->made);
    find_nodes_only(claim, binding, claims->arena);
    claim->offer = find_offer(claims, claim, binding);
    take_offer(claim, claims->arena);
    claim->waits = true;
    struct text zone = claim_selected_zone(claims->snapshot, binding->root);
    if (zone.size > 0 && claim->zonal) {
        claim->terms = volume_of_zone(terminated(claims->arena, zone), claims->arena);
        claim->waits = false;
    }
}

/* A claim that is not stored yet is bound to a volume that is made for it before anything is bought
 * for its pods. Where, is known of a file system, and of a class of one zone. */
static bool read_immediate(struct volume_claims *claims, struct volume_claim *claim,
                           const struct claim_binding *binding)
{
    struct storage_class class;
    struct zones zones = {0};
    bool stored = binding->uid.size > 0 || node_get(binding->root, "status") != NULL;
    if (binding->state != BINDING_IMMEDIATE || stored ||
        !storage_class_read(binding->class, claims->arena, &class) ||
        text_is(class.provisioner, "kubernetes.io/no-provisioner"))
        return false;
    if (find_offer(claims, claim, binding)->choice_count > 0)
        return false;
    claim->driver = terminated(claims->arena, csi_name(class.provisioner));
    if (driver_is_shared(class.provisioner))
        return true;
    class_terms_read(claims->snapshot, &class, claims->arena, &claim->terms);
    return volume_terms_add_zones(&claim->terms, claims->arena, &zones) && zones.count == 1;
}

static void read_claim(struct volume_claims *claims, struct volume_claim *claim,
                       const struct field *template)
{
    struct claim_binding binding;
    claim_binding_read(claims->snapshot, claim->namespace, claim->name, template, claims->arena,
                       &binding);
    if (binding.volume != NULL)
        claim->driver = driver_of_volume(binding.volume, claims->arena);
    claim->of_one_pod = claim_is_of_one_pod(node_get(binding.root, "spec"));
    struct text fault = fault_of(claim, &binding, claims->arena);
    if (read_immediate(claims, claim, &binding))
        return;
    if (fault.size > 0)
        set_fault(claim, fault);
    else if (binding.volume != NULL)
        claim->volume = binding.volume;
    else
        read_waiting(claims, claim, &binding);
}

struct volume_claim *volume_claim_get(struct volume_claims *claims, struct text namespace,
                                      struct text name, const struct field *template)
{
    struct arena *arena = claims->arena;
    struct text id = arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(namespace), TEXT_ARGS(name));
    size_t *number = text_map_at(&claims->numbers, arena, id);
    if (*number > 0)
        return claims->all.items[*number - 1];
    struct volume_claim *claim = ARENA_NEW(arena, struct volume_claim);
    claim->namespace = namespace;
    claim->name = name;
    claim->id = id.data;
    *LIST_PUSH(arena, &claims->all) = claim;
    *number = claims->all.count;
    read_claim(claims, claim, template);
    return claim;
}

/* ---- binding ---- */

static struct volume_choice *choose(const struct volume_claim *claim, struct solver_labels labels)
{
    const struct volume_offer *offer = claim->offer;
    for (size_t i = 0; i < offer->choice_count; i++)
        if (!offer->choices[i]->taken && volume_terms_fit(&offer->choices[i]->terms, labels))
            return offer->choices[i];
    return NULL;
}

bool volume_claim_fits(const struct volume_claim *claim, struct solver_labels labels)
{
    if (!claim->waits)
        return volume_terms_fit(&claim->terms, labels);
    if (choose(claim, labels) != NULL)
        return true;
    return claim->can_be_made ? volume_terms_fit(&claim->made, labels)
                              : claim->offer->choice_count == 0;
}

bool volume_claim_names_hosts(const struct volume_claim *claim)
{
    for (size_t i = 0; i < claim->terms.alternative_count; i++)
        if (hosts_of(&claim->terms.alternatives[i]) == NULL)
            return false;
    return claim->terms.alternative_count > 0;
}

void volume_claim_bind(struct volume_claim *claim, struct solver_labels labels, struct arena *arena)
{
    const char *zone = label_of(labels, LABEL_ZONE);
    struct volume_choice *choice = choose(claim, labels);
    claim->waits = false;
    claim->nodes_only = (struct pod_fault){0};
    claim->terms = claim->made;
    if (choice != NULL) {
        choice->taken = true;
        claim->terms = choice->terms;
    } else if (claim->zonal && zone != NULL) {
        claim->terms = volume_of_zone(zone, arena);
    }
}
