/* What a rail says of one object: told from what it says of the old one, and cut. An object can be
 * wrong in a hundred thousand places; what is kept of that does not grow with it. */
#include "policy/record.h"

/* ---- bags ---- */

static struct bag_slot *bag_find(const struct bag *bag, uint64_t hash)
{
    size_t slot = hash & (bag->capacity - 1);
    while (bag->slots[slot].hash != 0 && bag->slots[slot].hash != hash)
        slot = (slot + 1) & (bag->capacity - 1);
    return &bag->slots[slot];
}

static void bag_grow(struct bag *bag, struct arena *arena)
{
    struct bag grown = {.capacity = bag->capacity == 0 ? 64 : 2 * bag->capacity, .used = bag->used};
    grown.slots = ARENA_ARRAY(arena, grown.capacity, struct bag_slot);
    for (size_t i = 0; i < bag->capacity; i++)
        if (bag->slots[i].hash != 0)
            *bag_find(&grown, bag->slots[i].hash) = bag->slots[i];
    *bag = grown;
}

/* How often it was there before. */
static size_t bag_add(struct bag *bag, struct arena *arena, uint64_t hash, int64_t extent)
{
    if (2 * bag->used >= bag->capacity)
        bag_grow(bag, arena);
    struct bag_slot *slot = bag_find(bag, hash);
    bag->used += slot->hash == 0;
    slot->hash = hash;
    if (extent > slot->extent)
        slot->extent = extent;
    return slot->count++;
}

/* Whether it is there, to no less an extent. */
static bool bag_take(struct bag *bag, uint64_t hash, int64_t extent)
{
    struct bag_slot *slot = bag->used == 0 ? NULL : bag_find(bag, hash);
    if (slot == NULL || slot->count == 0 || slot->extent < extent)
        return false;
    slot->count--;
    return true;
}

/* ---- what was said, in a number ---- */

struct text name_of_item(const struct node *item)
{
    if (!node_is(item, NODE_MAP))
        return TEXT("");
    struct text name = node_string(node_get(item, "name"));
    return name.size > 0 ? name : node_string(node_get(item, "groupName"));
}

/* Many things may be wrong in one item. */
static struct text name_of(struct record *record, const struct node *item)
{
    if (record->last.item != item) {
        record->last.item = item;
        record->last.name = name_of_item(item);
    }
    return record->last.name;
}

static uint64_t hash_after(const struct record *record, uint64_t before, struct text t)
{
    return hash_fold(before ^ hash_text(record->seed, t), record->seed.factor);
}

/* Where it is: by names in place of list indices, so that an inserted container does not make the
 * others new, or by the indices. */
static uint64_t hash_field(struct record *record, const struct field *field, bool by_name);

/* Many things may be wrong in one list. */
static uint64_t hash_above(struct record *record, const struct field *above, bool by_name)
{
    if (record->above.field != above || record->above.by_name != by_name) {
        uint64_t hash = hash_field(record, above, by_name);
        record->above.field = above;
        record->above.by_name = by_name;
        record->above.hash = hash;
    }
    return record->above.hash;
}

static uint64_t hash_field(struct record *record, const struct field *field, bool by_name)
{
    if (field == NULL || field->parent == NULL)
        return 1;
    uint64_t above = hash_above(record, field->parent, by_name);
    if (field->key.data != NULL)
        return hash_after(record, above, field->key);
    /* A value has no name, and may be told of at its list. */
    if (by_name && !node_is(field->node, NODE_MAP))
        return above;
    if (by_name)
        return hash_after(record, ~above, name_of(record, field->node));
    struct text index = {(const char *)&field->index, sizeof field->index};
    return hash_after(record, ~above, index);
}

static uint64_t hash_draft(struct record *record, const struct draft *draft, bool by_name)
{
    uint64_t hash = hash_field(record, draft->field, by_name);
    if (draft->extent == 0)
        hash = hash_after(record, hash, draft->found);
    if (draft->fault.size > 0) {
        const struct text severity = {(const char *)&draft->severity, sizeof draft->severity};
        hash = hash_after(record, hash, severity);
        hash = hash_after(record, hash, draft->fault);
    } else
        hash = hash_after(record, hash, draft->statement);
    return hash == 0 ? 1 : hash;
}

/* One of several values that a draft tells of: beside which others it is told does not matter. */
static uint64_t hash_value(struct record *record, const struct draft *draft, size_t i)
{
    uint64_t hash = hash_field(record, draft->field, true);
    hash = hash_after(record, hash, TEXT("value"));
    hash = hash_after(record, hash, draft->values.items[i]);
    return hash == 0 ? 1 : hash;
}

/* ---- what the old object had ---- */

/* NULL: no draft of the old object reached anything there. */
static struct place_reached *find_place(struct excuses *excuses, uint64_t place)
{
    for (size_t i = 0; i < excuses->places.count; i++)
        if (excuses->places.items[i].place == place)
            return &excuses->places.items[i];
    return NULL;
}

static void reaches_add(struct record *record, struct excuses *excuses, const struct draft *draft)
{
    uint64_t place = hash_field(record, draft->field, true);
    struct place_reached *reached = find_place(excuses, place);
    if (reached == NULL) {
        reached = LIST_PUSH(record->arena, &excuses->places);
        *reached = (struct place_reached){.place = place};
    }
    *LIST_PUSH(record->arena, &reached->reaches) = draft->reach;
}

static bool was_reached(struct record *record, struct excuses *excuses, const struct draft *draft)
{
    const struct place_reached *reached =
        find_place(excuses, hash_field(record, draft->field, true));
    return reached != NULL && draft->was_reached(draft->reach, reached->reaches.items,
                                                 reached->reaches.count, record->arena);
}

static void excuses_add(struct record *record, struct excuses *excuses, const struct draft *draft)
{
    if (draft->was_reached != NULL) {
        reaches_add(record, excuses, draft);
        return;
    }
    for (size_t i = 0; i < draft->values.count; i++)
        bag_add(&excuses->said, record->arena, hash_value(record, draft, i), 0);
    if (draft->values.count == 0)
        bag_add(&excuses->said, record->arena, hash_draft(record, draft, true), draft->extent);
}

/* Whether all that the draft tells of was there before; then that excuses nothing else that is
 * said. */
static bool excuses_take(struct record *record, struct excuses *excuses, const struct draft *draft)
{
    if (draft->was_reached != NULL)
        return was_reached(record, excuses, draft);
    struct bag *said = &excuses->said;
    if (draft->values.count == 0)
        return bag_take(said, hash_draft(record, draft, true), draft->extent);
    size_t taken = 0;
    while (taken < draft->values.count && bag_take(said, hash_value(record, draft, taken), 0))
        taken++;
    if (taken == draft->values.count)
        return true;
    while (taken > 0)
        bag_add(said, record->arena, hash_value(record, draft, --taken), 0);
    return false;
}

/* ---- the record ---- */

/* Whether a field lies in the template that is judged, not elsewhere in the custom resource. */
static bool is_in_template(const struct field *field, const struct pod_template *template)
{
    while (field != NULL && field != template->spec && field != template->metadata)
        field = field->parent;
    return field != NULL;
}

/* What a rail says of the custom resource itself it says at each of its templates. */
static bool is_told(struct record *record, const struct draft *draft)
{
    const struct pod_template *template = record->object->template;
    return template != NULL && !is_in_template(draft->field, template) &&
           bag_add(&record->told, record->arena, hash_draft(record, draft, false), 0) > 0;
}

void record_add(struct record *record, const struct draft *draft)
{
    if (is_told(record, draft))
        return;
    if (record->of_old) {
        excuses_add(record, record->excuses, draft);
        return;
    }
    bool pre_existing = record->excuses != NULL && excuses_take(record, record->excuses, draft);
    size_t *count = &record->counts[pre_existing][draft->severity];
    if ((*count)++ >= DRAFTS_KEPT && !record->keeps_all)
        return;
    struct draft *kept = LIST_PUSH(record->arena, &record->drafts);
    *kept = *draft;
    kept->pre_existing = pre_existing;
}

/* Where the old object is compared, or a template with its resource, what is said has to be known.
 */
bool record_counts(struct record *record, enum severity severity)
{
    size_t *count = &record->counts[false][severity];
    if (*count < DRAFTS_KEPT || record->keeps_all || record->of_old || record->excuses != NULL ||
        record->object->template != NULL)
        return false;
    (*count)++;
    return true;
}

bool record_is_whole(const struct record *record)
{
    size_t count = 0;
    for (int severity = 0; severity < SEVERITY_COUNT; severity++)
        count += record->counts[false][severity] + record->counts[true][severity];
    return count == record->drafts.count;
}

void record_excuse(struct record *record, struct excuses *excuses)
{
    for (size_t i = 0; i < record->drafts.count; i++) {
        struct draft *draft = &record->drafts.items[i];
        if (!excuses_take(record, excuses, draft))
            continue;
        draft->pre_existing = true;
        record->counts[false][draft->severity]--;
        record->counts[true][draft->severity]++;
    }
}

void record_excuse_all(struct record *record)
{
    for (size_t i = 0; i < record->drafts.count; i++)
        record->drafts.items[i].pre_existing = true;
    for (int severity = 0; severity < SEVERITY_COUNT; severity++) {
        record->counts[true][severity] += record->counts[false][severity];
        record->counts[false][severity] = 0;
    }
}
