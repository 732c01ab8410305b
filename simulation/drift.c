/* Finds the NodeClaims that an edit makes drift: by the hash of what they were made of, by their
 * labels, and by what an EC2NodeClass selects (docs/reference/karpenter.md 6.7 to 6.10). */
#include "simulation/drift.h"

#include "kube/karpenter_hash.h"
#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/drift_class.h"

enum when { BEFORE, AFTER };

/* ---- hashes ---- */

/* The hash that an object will have, and the one that its NodeClaims are taken to have. */
struct hash_edit {
    const struct karpenter_hash *names;
    struct text reason;
    bool has_before;
    struct text old_hash, version; /* as Karpenter has written them on the object; empty: not */
    struct text new_hash;          /* empty: not known, the fields decide */
    struct text_list paths;        /* what of the hashed fields changes */
};

static struct text decimal(uint64_t hash, struct arena *arena)
{
    return arena_printf(arena, "%llu", (unsigned long long)hash);
}

/* What an object without the annotation has is computed. */
static bool read_old_hash(struct hash_edit *edit, const struct object *before,
                          struct class_secret secret, struct arena *arena)
{
    uint64_t hash = 0;
    bool known = karpenter_hash_value(before, arena, &hash) && secret.known;
    struct text computed = decimal(hash ^ secret.value, arena);
    edit->old_hash = object_annotation(before, edit->names->annotation);
    edit->version = object_annotation(before, edit->names->version_annotation);
    if (edit->old_hash.size == 0 && known)
        edit->old_hash = computed;
    return known && text_equal(edit->old_hash, computed);
}

static struct hash_edit hash_edit_read(const struct object *before, const struct object *after,
                                       struct text reason, struct class_secret secret,
                                       struct arena *arena)
{
    struct hash_edit edit = {karpenter_hash(after), reason, .has_before = before != NULL};
    uint64_t hash = 0;
    bool known = karpenter_hash_value(after, arena, &hash) && secret.known;
    if (before != NULL) {
        bool in_step = read_old_hash(&edit, before, secret, arena);
        /* Karpenter has not written the hash of the last edit yet, which this one takes back. */
        in_step |= text_equal(edit.old_hash, decimal(hash ^ secret.value, arena));
        known &= in_step;
        karpenter_hash_compare(before, after, arena, &edit.paths);
    }
    if (edit.version.size == 0)
        edit.version = text_of(edit.names->version);
    if (known && text_is(edit.version, edit.names->version))
        edit.new_hash = decimal(hash ^ secret.value, arena);
    return edit;
}

/* Without a hash of the object after the edit: a NodeClaim that follows the object drifts when a
 * field changes, and another one may come to fit. */
static enum drift_answer by_fields(const struct hash_edit *edit, bool follows)
{
    bool changed = edit->paths.count > 0;
    if (!edit->has_before || (!follows && changed))
        return DRIFT_PERHAPS;
    return follows && !changed ? DRIFT_NO : DRIFT_YES;
}

/* Karpenter compares hashes of one version alone. */
static struct drift_cause hash_cause(const struct hash_edit *edit, const struct object *claim,
                                     enum when when, bool is_drifted)
{
    struct drift_cause cause = {.reason = edit->reason};
    struct text hash = object_annotation(claim, edit->names->annotation);
    struct text version = object_annotation(claim, edit->names->version_annotation);
    if (hash.size == 0 || !text_equal(version, edit->version))
        return cause;
    bool follows = edit->old_hash.size > 0 ? text_equal(hash, edit->old_hash) : !is_drifted;
    if (when == BEFORE)
        cause.holds = follows || edit->old_hash.size == 0 ? DRIFT_NO : DRIFT_YES;
    else if (edit->new_hash.size > 0)
        cause.holds = text_equal(hash, edit->new_hash) ? DRIFT_NO : DRIFT_YES;
    else
        cause.holds = by_fields(edit, follows);
    if (when == AFTER && follows && edit->paths.count > 0)
        cause.path = edit->paths.items[0];
    return cause;
}

/* ---- requirements of a NodePool ---- */

struct requirement_set {
    struct pool pool;
    struct solver_requirements requirements;
    struct text *paths; /* of each; empty: not asked for yet */
};

static void requirements_read(struct requirement_set *set, const struct object *object,
                              struct solver_names *names, struct arena *arena)
{
    if (object == NULL || !pool_read(object, arena, &set->pool))
        return;
    expressions_add(&set->pool.requirements, names, &set->requirements, arena);
    set->paths = ARENA_ARRAY(arena, set->requirements.count, struct text);
}

/* The value that Karpenter reads for a key: old spellings count. */
static const struct node *label_value(const struct object *claim, struct text key)
{
    const struct node *value = node_member(claim->labels, key);
    if (value != NULL || !node_is(claim->labels, NODE_MAP))
        return value;
    for (size_t i = 0; i < node_count(claim->labels) && value == NULL; i++) {
        const struct member *label = &claim->labels->members[i];
        if (text_equal(canonical_key(member_key(label)), key))
            value = &label->value;
    }
    return value;
}

static bool fits(const struct solver_requirement *requirement, const struct object *claim,
                 struct solver_names *names)
{
    struct text key;
    key.data = solver_names_key_text(names, requirement->key, &key.size);
    return requirement_takes_label(requirement, label_value(claim, key), names);
}

/* The path of the first expression with the key of a requirement. */
static struct text requirement_path(struct requirement_set *set, size_t index,
                                    struct solver_names *names, struct arena *arena)
{
    struct text key;
    key.data = solver_names_key_text(names, set->requirements.items[index].key, &key.size);
    FOR_EACH(expression, &set->pool.requirements)
        if (set->paths[index].size == 0 && text_equal(expression_canonical_key(expression), key))
            set->paths[index] = field_path(arena, expression->field);
    return set->paths[index];
}

static struct drift_cause requirement_cause(struct requirement_set *set, const struct object *claim,
                                            struct solver_names *names, struct arena *arena)
{
    struct drift_cause cause = {.reason = TEXT("RequirementsDrifted")};
    arena_tick(arena, set->requirements.count);
    for (size_t i = 0; i < set->requirements.count && cause.holds == DRIFT_NO; i++)
        if (!fits(&set->requirements.items[i], claim, names)) {
            cause.holds = DRIFT_YES;
            cause.path = requirement_path(set, i, names, arena);
        }
    return cause;
}

/* ---- one edit ---- */

/* Who says whether a node fits its class. */
enum provider {
    PROVIDER_NOBODY, /* kwok: nothing drifts */
    PROVIDER_AWS,
    PROVIDER_UNKNOWN,
};
struct edit {
    const struct object *before, *after;
    struct arena *arena;
    bool of_class;
    struct hash_edit hash; /* of a NodePool, or of an EC2NodeClass */
    struct solver_names *names;
    struct requirement_set requirements[2];
    enum provider provider;
    bool spec_changes; /* of a class whose provider is unknown */
    struct class_selections selections;
    struct text_map pools; /* those whose NodeClaims are judged; for a class those that name it */
};

static struct drift_cause later_of(struct drift_cause a, struct drift_cause b)
{
    return a.holds >= b.holds ? a : b;
}

static struct drift_cause pool_cause(struct edit *edit, const struct object *claim, enum when when,
                                     bool is_drifted)
{
    struct drift_cause hash = hash_cause(&edit->hash, claim, when, is_drifted);
    if (hash.holds == DRIFT_YES)
        return hash;
    return later_of(hash,
                    requirement_cause(&edit->requirements[when], claim, edit->names, edit->arena));
}

static struct drift_cause class_cause(struct edit *edit, const struct object *claim, enum when when,
                                      bool is_drifted)
{
    if (edit->provider == PROVIDER_AWS) {
        struct drift_cause hash = hash_cause(&edit->hash, claim, when, is_drifted);
        if (when == BEFORE || hash.holds == DRIFT_YES)
            return hash;
        return later_of(hash, class_selections_cause(&edit->selections, claim));
    }
    struct drift_cause cause = {0};
    if (edit->provider == PROVIDER_UNKNOWN && when == AFTER && edit->spec_changes)
        cause = (struct drift_cause){DRIFT_PERHAPS, TEXT(""), TEXT("spec")};
    return cause;
}

static struct drift_cause cause_of(struct edit *edit, const struct object *claim, enum when when,
                                   bool is_drifted)
{
    return edit->of_class ? class_cause(edit, claim, when, is_drifted)
                          : pool_cause(edit, claim, when, is_drifted);
}

/* Whether the edit can take the reason away for which a NodeClaim is drifted now. */
static bool decides(const struct edit *edit, struct text reason)
{
    if (!edit->of_class)
        return TEXT_IS_ONE_OF(reason, "NodePoolDrifted", "RequirementsDrifted");
    return edit->provider == PROVIDER_AWS && (text_equal(reason, edit->hash.reason) ||
                                              class_selections_decide(&edit->selections, reason));
}

static struct drift_claim judge(struct edit *edit, const struct object *claim)
{
    bool is_drifted = object_condition_holds(claim, "Drifted");
    struct text now =
        is_drifted ? node_string(node_get(object_condition(claim, "Drifted"), "reason")) : TEXT("");
    struct drift_cause before = cause_of(edit, claim, BEFORE, is_drifted);
    struct drift_cause after = cause_of(edit, claim, AFTER, is_drifted);
    bool was = is_drifted || before.holds == DRIFT_YES;
    if (after.holds != DRIFT_YES && is_drifted && !decides(edit, now))
        after = (struct drift_cause){DRIFT_YES, now, TEXT("")};
    struct drift_claim judged = {claim, DRIFT_NONE, after.reason, after.path};
    if (was && after.holds == DRIFT_NO)
        judged =
            (struct drift_claim){claim, DRIFT_UNDONE, is_drifted ? now : before.reason, TEXT("")};
    else if (was)
        judged.verdict = DRIFT_ALREADY;
    else if (after.holds == DRIFT_NO)
        judged = (struct drift_claim){.claim = claim, .verdict = DRIFT_NONE};
    else
        judged.verdict = after.holds == DRIFT_YES ? DRIFT_NEWLY : DRIFT_UNKNOWN;
    return judged;
}

/* ---- which NodeClaims ---- */

static void find_pools(struct edit *edit, const struct snapshot *snapshot)
{
    if (!edit->of_class)
        *text_map_at(&edit->pools, edit->arena, edit->after->name) = 1;
    for (size_t i = 0; edit->of_class && i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        if (node_class_is_named(pool->node_class_group, pool->node_class_kind,
                                pool->node_class_name, edit->after))
            *text_map_at(&edit->pools, edit->arena, pool->object->name) = 1;
    }
}

/* Karpenter asks the NodePool for the class; the NodeClaim tells it where the NodePool cannot be
 * seen. */
static bool is_concerned(const struct edit *edit, const struct snapshot *snapshot,
                         const struct object *claim)
{
    struct text pool = node_string(node_get(claim->labels, "karpenter.sh/nodepool"));
    if (claim->deleting || pool.size == 0)
        return false;
    if (text_map_has(&edit->pools, pool))
        return true;
    if (!edit->of_class || snapshot_find(snapshot, KIND_NODE_POOL, TEXT(""), pool) != NULL)
        return false;
    const struct node *of_claim = node_at(claim->root->node, "spec.nodeClassRef");
    return node_class_is_named(node_string(node_get(of_claim, "group")),
                               node_string(node_get(of_claim, "kind")),
                               node_string(node_get(of_claim, "name")), edit->after);
}

/* ---- the edit of a pool, the edit of a class ---- */

static void read_pool_edit(struct edit *edit)
{
    const struct object *sides[] = {[BEFORE] = edit->before, [AFTER] = edit->after};
    edit->hash = hash_edit_read(edit->before, edit->after, TEXT("NodePoolDrifted"),
                                (struct class_secret){.known = true}, edit->arena);
    edit->names = solver_names_create(edit->arena, NULL);
    for (size_t i = 0; i < COUNT_OF(sides); i++)
        requirements_read(&edit->requirements[i], sides[i], edit->names, edit->arena);
}

static void read_class_edit(struct edit *edit, const struct snapshot *snapshot)
{
    const struct object *before = edit->before, *after = edit->after;
    struct arena *arena = edit->arena;
    edit->of_class = true;
    if (after->kind == KIND_EC2_NODE_CLASS) {
        edit->provider = PROVIDER_AWS;
        edit->hash = hash_edit_read(before, after, TEXT("NodeClassDrift"),
                                    class_secret_find(snapshot, before, arena), arena);
        class_selections_read(&edit->selections, before, after);
    } else if (!text_is(group_of(after->api_version), "karpenter.kwok.sh")) {
        edit->provider = PROVIDER_UNKNOWN;
        edit->spec_changes = before == NULL || !node_equal(node_get(before->root->node, "spec"),
                                                           node_get(after->root->node, "spec"));
    }
}

static bool read_edit(struct edit *edit, const struct snapshot *snapshot)
{
    const struct object *after = edit->after;
    if (after->kind == KIND_NODE_POOL && karpenter_hash(after) != NULL)
        read_pool_edit(edit);
    else if (text_ends_with(after->kind_name, TEXT("NodeClass")) &&
             (after->kind != KIND_EC2_NODE_CLASS || !object_is_v1beta1(after)))
        read_class_edit(edit, snapshot);
    else
        return false;
    return true;
}

static void add_path(struct drift *drift, struct text_map *seen, struct text path,
                     struct arena *arena)
{
    if (path.size > 0 && text_map_add(seen, arena, path))
        *LIST_PUSH(arena, &drift->paths) = path;
}

/* What the edit changes, then the requirements that NodeClaims no longer meet. */
static void collect_paths(const struct edit *edit, struct drift *drift)
{
    struct text_map seen = {0};
    FOR_EACH(path, &edit->hash.paths)
        add_path(drift, &seen, *path, edit->arena);
    for (size_t i = 0; i < CLASS_SELECTIONS; i++)
        add_path(drift, &seen, class_selections_path(&edit->selections, i), edit->arena);
    FOR_EACH(claim, &drift->claims)
        if (claim->verdict == DRIFT_NEWLY || claim->verdict == DRIFT_UNKNOWN)
            add_path(drift, &seen, claim->path, edit->arena);
}

bool drift_of_edit(const struct snapshot *snapshot, const struct object *before,
                   const struct object *after, struct arena *arena, struct drift *drift)
{
    struct edit edit = {.before = before, .after = after, .arena = arena};
    *drift = (struct drift){0};
    if (!read_edit(&edit, snapshot))
        return false;
    find_pools(&edit, snapshot);
    drift->claims.capacity = snapshot_count(snapshot, KIND_NODE_CLAIM);
    drift->claims.items = ARENA_ARRAY(arena, drift->claims.capacity, struct drift_claim);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE_CLAIM); i++) {
        const struct object *claim = snapshot_object(snapshot, KIND_NODE_CLAIM, i);
        if (!is_concerned(&edit, snapshot, claim))
            continue;
        struct drift_claim judged = judge(&edit, claim);
        *LIST_PUSH(arena, &drift->claims) = judged;
        drift->counts[judged.verdict]++;
    }
    drift->by_fields = edit.hash.names != NULL && edit.hash.new_hash.size == 0;
    collect_paths(&edit, drift);
    return true;
}

struct text drift_path(const struct object *pool, const struct object *claim, struct text reason,
                       struct arena *arena)
{
    if (text_is(reason, "NodePoolDrifted"))
        return karpenter_hash_unlike(pool, claim, arena);
    struct requirement_set set = {0};
    struct solver_names *names = solver_names_create(arena, NULL);
    requirements_read(&set, pool, names, arena);
    return text_is(reason, "RequirementsDrifted")
               ? requirement_cause(&set, claim, names, arena).path
               : TEXT("");
}
