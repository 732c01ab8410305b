/* Judges the requests of an API server's audit log anew. */
#include <stdlib.h>
#include <string.h>

#include "cli/replay.h"
#include "kube/snapshot.h"
#include "policy/owner.h"
#include "report/format.h"

enum {
    SCRATCH_BYTES = 256 << 20, /* of one event */
    ROWS_BYTES = 256 << 20,
    SEEN_BYTES = 64 << 20, /* of one generation of objects that were seen */
    ROWS_MAX = 50000,
    TIME_BYTES = 40,
};

/* The objects that the log has shown, as JSON. When a generation is full the one before goes. */
struct generation {
    struct arena *arena;
    struct text_map index; /* of objects, plus one */
    LIST(struct text) objects;
};

struct replay {
    struct replay_options options;
    kind_set judged;                /* kinds of which some rail judges what is made or changed */
    kind_set deletions;             /* and what is deleted */
    struct custom_resources custom; /* that hold pod templates */
    struct arena *scratch, *kept;
    struct generation seen[2]; /* the younger first */
    struct text_map row_index; /* of rows, plus one */
    LIST(struct difference_row) rows;
    char first[TIME_BYTES], last[TIME_BYTES]; /* when requests came */
    struct replay_result result;
};

/* ---- objects that were seen ---- */

static struct text key_of(const struct audit_event *event, const struct object *object,
                          struct arena *arena)
{
    struct text name = event->name.size > 0 ? event->name : object->name;
    return arena_printf(arena, "%.*s.%.*s/%.*s/%.*s", TEXT_ARGS(event->resource),
                        TEXT_ARGS(event->group), TEXT_ARGS(event->namespace), TEXT_ARGS(name));
}

static struct text find_seen(const struct replay *replay, struct text key)
{
    for (size_t i = 0; i < COUNT_OF(replay->seen); i++) {
        size_t index = text_map_get(&replay->seen[i].index, key, 0);
        if (index > 0)
            return replay->seen[i].objects.items[index - 1];
    }
    return TEXT("");
}

struct sighting {
    struct generation *generation;
    struct text key, json;
};

static void keep_sighting(void *argument)
{
    const struct sighting *sighting = argument;
    struct generation *generation = sighting->generation;
    struct text json = arena_text(generation->arena, sighting->json);
    size_t index = text_map_get(&generation->index, sighting->key, 0);
    if (index == 0) {
        struct text key = arena_text(generation->arena, sighting->key);
        *LIST_PUSH(generation->arena, &generation->objects) = json;
        *text_map_at(&generation->index, generation->arena, key) = generation->objects.count;
    } else {
        generation->objects.items[index - 1] = json;
    }
}

static void see(struct replay *replay, struct text key, struct text json)
{
    struct sighting sighting = {&replay->seen[0], key, json};
    struct error error;
    if (arena_guard(replay->seen[0].arena, keep_sighting, &sighting, &error))
        return;
    struct generation old = replay->seen[1];
    arena_reset(old.arena);
    replay->seen[1] = replay->seen[0];
    replay->seen[0] = (struct generation){.arena = old.arena};
    (void)!arena_guard(replay->seen[0].arena, keep_sighting, &sighting, &error);
}

/* ---- rows ---- */

/* What one rail says of a request. */
struct rail_actions {
    const char *rail;
    enum action before, after;
    bool undecided[2];             /* before, after: something of it */
    const struct finding *finding; /* the worst under the new policies; NULL: none */
    const struct finding *lost;    /* of the old */
};
struct rail_list {
    struct rail_actions *items;
    size_t count, capacity;
};

static struct rail_actions *rail_at_name(struct rail_list *list, const char *rail,
                                         struct arena *arena)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].rail, rail) == 0)
            return &list->items[i];
    struct rail_actions *item = LIST_PUSH(arena, list);
    item->rail = rail;
    return item;
}

static bool take_verdict(struct rail_list *list, const struct verdict *verdict, bool after,
                         struct arena *arena)
{
    bool undecided = false;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        /* What was there before the request is not what it asks for. */
        if (finding->pre_existing)
            continue;
        struct rail_actions *rail = rail_at_name(list, finding->rail, arena);
        undecided |= finding->undecided;
        rail->undecided[after] |= finding->undecided;
        if (finding->undecided)
            continue;
        enum action *action = after ? &rail->after : &rail->before;
        const struct finding **worst = after ? &rail->finding : &rail->lost;
        if (*worst == NULL || finding->action > *action)
            *worst = finding;
        if (finding->action > *action)
            *action = finding->action;
    }
    return undecided;
}

/* "denied by compute guard rails: 1 problem in Pod web/shop: zones, topology-keys", and more lines:
 * the rails at the end of the first. */
static bool take_denial(struct rail_list *list, struct text message, struct arena *arena)
{
    static const char mark[] = "denied by compute guard rails: ";
    const char *begin =
        message.size == 0 ? NULL : memmem(message.data, message.size, mark, sizeof mark - 1);
    if (begin == NULL)
        return false;
    struct text line = {begin, message.size - (size_t)(begin - message.data)};
    struct text names = TEXT("");
    text_split(line, '\n', &line, NULL);
    if (!text_split_last(line, ':', NULL, &names))
        return true;
    while (names.size > 0) {
        struct text name = names;
        struct text rest = {names.data + names.size, 0};
        text_split(names, ',', &name, &rest);
        while (name.size > 0 && name.data[0] == ' ')
            name = (struct text){name.data + 1, name.size - 1};
        const struct rail *rail = rail_find(name);
        if (rail != NULL)
            rail_at_name(list, rail_name(rail), arena)->before = ACTION_DENY;
        names = rest;
    }
    return true;
}

static bool names_rail(struct text names, const char *rail)
{
    struct text name = names;
    bool found = false;
    while (!found && names.size > 0) {
        struct text rest = {names.data + names.size, 0};
        name = names;
        text_split(names, ',', &name, &rest);
        found = text_is(name, rail);
        names = rest;
    }
    return found;
}

/* The webhook's annotation WEBHOOK/rails names what it found. How strict that was is not said of
 * each: what did not deny then, and does not now, is taken to be as it was. */
static void take_annotations(struct rail_list *list, const struct node *annotations)
{
    for (size_t i = 0; i < node_count(annotations); i++) {
        const struct member *member = &annotations->members[i];
        if (!text_ends_with(member_key(member), TEXT("/rails")))
            continue;
        for (size_t j = 0; j < list->count; j++)
            if (list->items[j].after < ACTION_DENY &&
                names_rail(node_string(&member->value), list->items[j].rail))
                list->items[j].before = list->items[j].after;
    }
}

struct owner_names {
    struct text kind, name;
};

/* A CronJob's Jobs are named after the minute: "nightly-29401320" is told as "nightly-*". */
static struct text without_time(struct text name, struct arena *arena)
{
    enum { DIGITS_MIN = 8 };
    struct text before, after;
    if (!text_split_last(name, '-', &before, &after) || after.size < DIGITS_MIN ||
        !text_is_digits(after))
        return name;
    return arena_printf(arena, "%.*s-*", TEXT_ARGS(before));
}

static struct owner_names owner_of(const struct replay *replay, const struct subject *subject,
                                   struct arena *arena)
{
    const struct object *object = subject->object;
    const struct root_owner root = root_owner_find(replay->options.after, subject);
    if (root.object != NULL)
        return (struct owner_names){root.object->kind_name, root.object->name};
    if (object->controller.name.size == 0)
        return (struct owner_names){object->kind_name, object_display_name(object, arena)};
    struct text name = owner_name_without_hash(object);
    bool of_deployment = !text_equal(name, object->controller.name);
    if (of_deployment)
        return (struct owner_names){TEXT("Deployment"), name};
    return (struct owner_names){object->controller.kind, without_time(name, arena)};
}

struct row_keeping {
    struct replay *replay;
    struct text key;
    struct difference_row row;
};

/* Copies what the row shows to where it lasts. */
static void copy_row(void *argument)
{
    struct row_keeping *keeping = argument;
    struct replay *replay = keeping->replay;
    struct arena *arena = replay->kept;
    struct difference_row row = keeping->row;
    struct text *const texts[] = {&row.namespace, &row.kind, &row.name,    &row.user,
                                  &row.policy,    &row.path, &row.problem, &row.exception};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        *texts[i] = arena_text(arena, *texts[i]);
    *LIST_PUSH(arena, &replay->rows) = row;
    *text_map_at(&replay->row_index, arena, arena_text(arena, keeping->key)) = replay->rows.count;
}

/* False: there is no room for it. */
static bool keep_row(struct replay *replay, struct text key, const struct difference_row *row)
{
    struct row_keeping keeping = {replay, key, *row};
    struct error error;
    size_t count = replay->rows.count;
    if (count < ROWS_MAX && arena_guard(replay->kept, copy_row, &keeping, &error))
        return true;
    replay->rows.count = count;
    return false;
}

static void add_row(struct replay *replay, const struct difference_row *row)
{
    struct text key =
        arena_printf(replay->scratch, "%d\n%s\n%.*s\n%.*s\n%.*s\n%.*s", row->difference, row->rail,
                     TEXT_ARGS(row->namespace), TEXT_ARGS(row->kind), TEXT_ARGS(row->name),
                     TEXT_ARGS(row->user));
    size_t index = text_map_get(&replay->row_index, key, 0);
    if (index > 0)
        replay->rows.items[index - 1].count++;
    else if (!keep_row(replay, key, row))
        replay->result.rows_left_out++;
}

static void add_rows(struct replay *replay, const struct subject *subject,
                     const struct rail_list *rails)
{
    struct owner_names owner = owner_of(replay, subject, replay->scratch);
    bool denied_before = false, denied_after = false;
    for (size_t i = 0; i < rails->count; i++) {
        denied_before |= rails->items[i].before == ACTION_DENY;
        denied_after |= rails->items[i].after == ACTION_DENY;
    }
    for (size_t i = 0; i < rails->count; i++) {
        const struct rail_actions *rail = &rails->items[i];
        bool unclear = (rail->undecided[0] && rail->before == ACTION_NONE) ||
                       (rail->undecided[1] && rail->after == ACTION_NONE);
        enum difference difference =
            unclear ? DIFFERENCE_SAME : difference_of(rail->before, rail->after);
        bool lost = difference == DIFFERENCE_FREED || difference == DIFFERENCE_CLEARED;
        const struct finding *finding = lost ? rail->lost : rail->finding;
        struct difference_row row = {
            .difference = difference,
            .rail = rail->rail,
            .namespace = subject->object->namespace,
            .kind = owner.kind,
            .name = owner.name,
            .user = subject->requester.name,
            .before = rail->before,
            .after = rail->after,
            .denied_before = denied_before,
            .denied_after = denied_after,
            .count = 1,
        };
        if (finding != NULL) {
            row.policy = finding->policy;
            row.path = finding->path;
            row.problem = finding->problem;
        }
        if (row.after == ACTION_EXCEPTED)
            row.exception = finding_exception(rail->finding, replay->scratch);
        if (difference != DIFFERENCE_SAME)
            add_row(replay, &row);
    }
}

/* ---- one event ---- */

struct judging {
    struct replay *replay;
    struct text record;
    bool is_event;
    struct audit_event event;
    enum replay_outcome outcome;
    struct text key; /* of the object that the event leaves; empty: none */
    struct text json;
};

/* Whether some rail may judge it. */
static bool is_judged_kind(const struct replay *replay, const struct audit_event *event)
{
    enum kind kind = kind_of_resource(event->group, event->resource);
    kind_set kinds = replay->judged;
    if (text_starts_with(event->verb, TEXT("delete")))
        kinds |= replay->deletions;
    if (kind != KIND_UNKNOWN)
        return (kinds & KIND_BIT(kind)) != 0;
    for (size_t i = 0; i < replay->custom.count; i++)
        if (text_equal(replay->custom.items[i].group, event->group) &&
            text_equal(replay->custom.items[i].plural, event->resource))
            return true;
    return false;
}

static bool read_object(const struct node *node, const struct audit_event *event,
                        struct arena *arena, struct object *object)
{
    struct error error;
    if (node == NULL || !object_read(node, NULL, event->namespace, arena, object, &error))
        return false;
    if (object->name.size == 0)
        object->name = event->name;
    return true;
}

/* As it was before an update: as the log showed it last, or else as the cluster has it. */
static const struct object *find_old(const struct judging *judging, struct arena *arena)
{
    const struct replay *replay = judging->replay;
    const struct audit_event *event = &judging->event;
    struct text json = find_seen(replay, judging->key);
    if (json.size > 0) {
        struct doc_limits limits = doc_limits_review;
        struct source *source = ARENA_NEW(arena, struct source);
        struct object *object = ARENA_NEW(arena, struct object);
        const struct node *root = NULL;
        struct error error;
        source->text = json;
        if (doc_read_json(source, &limits, NULL, arena, &root, &error) &&
            read_object(root, event, arena, object))
            return object;
    }
    enum kind kind = kind_of_resource(event->group, event->resource);
    return kind == KIND_UNKNOWN
               ? NULL
               : snapshot_find(replay->options.after->snapshot, kind,
                               kind_table[kind].namespaced ? event->namespace : TEXT(""),
                               event->name);
}

/* What the request is, or why it is not judged. *node is its object. */
static enum replay_outcome sort_out(const struct judging *judging, bool denied,
                                    enum operation *operation, const struct node **node)
{
    const struct audit_event *event = &judging->event;
    bool patch = text_is(event->verb, "patch");
    *operation = text_is(event->verb, "create") ? OPERATION_CREATE : OPERATION_UPDATE;
    *node = patch ? event->response_object : event->request_object;
    if (text_starts_with(event->verb, TEXT("delete")))
        return is_judged_kind(judging->replay, event) ? REPLAY_DELETE : REPLAY_OTHER_KIND;
    if (!text_is(event->verb, "create") && !text_is(event->verb, "update") && !patch)
        return REPLAY_OTHER_KIND;
    if (!is_judged_kind(judging->replay, event))
        return REPLAY_OTHER_KIND;
    if (event->subresource.size > 0)
        return REPLAY_SUBRESOURCE;
    if (event->dry_run)
        return REPLAY_DRY_RUN;
    if (event->code >= 300 && !denied)
        return REPLAY_FAILED;
    enum { CREATED = 201 };
    if (patch && event->code == CREATED)
        *operation = OPERATION_CREATE; /* applied by the server's side */
    if (patch && (*node == NULL || denied))
        return REPLAY_PATCH;
    return *node == NULL ? REPLAY_NO_OBJECT : REPLAY_JUDGED;
}

static void compare(struct judging *judging, const struct subject *subject, bool denied,
                    struct rail_list *rails)
{
    struct replay *replay = judging->replay;
    const struct replay_options *options = &replay->options;
    struct arena *arena = replay->scratch;
    struct verdict verdict;
    policy_evaluate(options->after, subject, options->now_unix_s, arena, &verdict);
    bool undecided = take_verdict(rails, &verdict, true, arena);
    if (options->before != NULL) {
        /* What was denied then says nothing of the old policies now. */
        for (size_t i = 0; i < rails->count; i++)
            rails->items[i].before = ACTION_NONE;
        policy_evaluate(options->before, subject, options->now_unix_s, arena, &verdict);
        take_verdict(rails, &verdict, false, arena);
    } else if (!denied) {
        take_annotations(rails, judging->event.annotations);
    }
    replay->result.undecided += undecided;
    add_rows(replay, subject, rails);
}

static enum replay_outcome judge(struct judging *judging)
{
    struct replay *replay = judging->replay;
    struct arena *arena = replay->scratch;
    const struct audit_event *event = &judging->event;
    struct rail_list rails = {0};
    bool denied = event->code >= 300 && take_denial(&rails, event->message, arena);
    enum operation operation;
    const struct node *node;
    struct object object;
    enum replay_outcome outcome = sort_out(judging, denied, &operation, &node);
    if (outcome != REPLAY_JUDGED)
        return outcome;
    if (!read_object(node, event, arena, &object))
        return REPLAY_NO_OBJECT;
    judging->key = key_of(event, &object, arena);
    struct subject subject = {
        .operation = operation,
        .object = &object,
        .requester = {event->user, event->groups, event->group_count},
        .resource_kind = kind_of_resource(event->group, event->resource),
    };
    if (operation == OPERATION_UPDATE)
        subject.old_object = find_old(judging, arena);
    if (!denied)
        judging->json = text_is(event->verb, "patch") ? event->response_json : event->request_json;
    if (operation == OPERATION_UPDATE && subject.old_object == NULL)
        return REPLAY_OLD_UNSEEN;
    compare(judging, &subject, denied, &rails);
    return REPLAY_JUDGED;
}

static void judge_record(void *argument)
{
    struct judging *judging = argument;
    struct replay *replay = judging->replay;
    if (!audit_event_read(judging->record, replay->scratch, &judging->event))
        return;
    judging->is_event = true;
    if (text_is(judging->event.stage, "ResponseComplete"))
        judging->outcome = judge(judging);
}

/* Times of one form: they compare as texts. */
static void note_time(struct replay *replay, struct text time)
{
    if (time.size == 0 || time.size >= TIME_BYTES)
        return;
    if (replay->first[0] == '\0' || text_compare(time, text_of(replay->first)) < 0)
        snprintf(replay->first, TIME_BYTES, "%.*s", TEXT_ARGS(time));
    if (text_compare(time, text_of(replay->last)) > 0)
        snprintf(replay->last, TIME_BYTES, "%.*s", TEXT_ARGS(time));
}

bool replay_take(struct replay *replay, struct text record)
{
    struct judging judging = {replay, record, .outcome = REPLAY_OUTCOMES};
    struct error error;
    arena_reset(replay->scratch);
    if (!arena_guard(replay->scratch, judge_record, &judging, &error))
        judging.outcome = REPLAY_LIMIT;
    if (judging.outcome == REPLAY_OUTCOMES)
        return judging.is_event;
    replay->result.events++;
    replay->result.outcomes[judging.outcome]++;
    if (judging.outcome == REPLAY_JUDGED)
        note_time(replay, judging.event.received);
    if (judging.json.size > 0)
        see(replay, judging.key, judging.json);
    return judging.is_event;
}

/* ---- the whole ---- */

static kind_set kinds_judged(const struct policy_set *policies, enum operation operation)
{
    kind_set kinds = 0;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < rail_count() && (kinds & KIND_BIT(kind)) == 0; i++)
            if (policy_set_judges(policies, rail_at(i), kind, operation))
                kinds |= KIND_BIT(kind);
    return kinds;
}

static void take_policies(struct replay *replay, const struct policy_set *policies)
{
    replay->judged |=
        kinds_judged(policies, OPERATION_CREATE) | kinds_judged(policies, OPERATION_UPDATE);
    replay->deletions |= kinds_judged(policies, OPERATION_DELETE);
    policy_set_custom_resources(policies, replay->kept, &replay->custom);
}

struct replay *replay_create(const struct replay_options *options)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return NULL;
    replay->options = *options;
    replay->scratch = arena_create(SCRATCH_BYTES);
    replay->kept = arena_create(ROWS_BYTES);
    replay->seen[0].arena = arena_create(SEEN_BYTES);
    replay->seen[1].arena = arena_create(SEEN_BYTES);
    if (replay->scratch == NULL || replay->kept == NULL || replay->seen[0].arena == NULL ||
        replay->seen[1].arena == NULL) {
        replay_destroy(replay);
        return NULL;
    }
    take_policies(replay, options->after->policies);
    if (options->before != NULL)
        take_policies(replay, options->before->policies);
    return replay;
}

void replay_destroy(struct replay *replay)
{
    if (replay == NULL)
        return;
    arena_destroy(replay->scratch);
    arena_destroy(replay->kept);
    arena_destroy(replay->seen[0].arena);
    arena_destroy(replay->seen[1].arena);
    free(replay);
}

struct replay_result replay_result(struct replay *replay)
{
    replay->result.first = text_of(replay->first);
    replay->result.last = text_of(replay->last);
    replay->result.rows = replay->rows.items;
    replay->result.row_count = difference_rows_finish(replay->rows.items, replay->rows.count);
    return replay->result;
}
