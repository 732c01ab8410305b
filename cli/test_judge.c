/* Judges a case, and compares the result with what it expects. */
#include <string.h>
#include <time.h>

#include "cli/test.h"
#include "kube/manifest.h"
#include "report/report.h"
#include "server/server.h"

/* The world and the result of a case. */
struct trial {
    const struct test_case *one;
    const char *folder;
    struct arena *arena;
    int64_t now_unix_s;
    struct manifests objects, old_objects;
    struct problems warnings; /* of loading */
    struct world *world;
    struct text_builder differences;
    bool names_allowed; /* some expectation has `allowed` */
};

static struct text path_of(const struct trial *trial, struct text name)
{
    if (text_starts_with(name, TEXT("/")))
        return arena_text(trial->arena, name);
    return arena_printf(trial->arena, "%s/%.*s", trial->folder, TEXT_ARGS(name));
}

/* ---- the world ---- */

static const char *state_dir(const struct trial *trial)
{
    const struct node *state = trial->one->state;
    const char *usual = path_of(trial, TEXT("state")).data;
    if (state == NULL)
        return path_is_folder(usual) ? usual : NULL;
    return node_is(state, NODE_NULL) ? NULL : path_of(trial, node_string(state)).data;
}

static void add_problems(struct trial *trial, const struct problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        char line[1024];
        error_format(&problems->items[i], line, sizeof line);
        text_builder_printf(&trial->differences, "error: %s\n", line);
    }
}

static void read_objects(struct trial *trial, struct text name, struct manifests *objects)
{
    manifests_init(objects, trial->arena);
    objects->keep_unknown = true;
    if (name.size == 0)
        return;
    manifests_read(objects, path_of(trial, name).data, TEXT("default"));
    add_problems(trial, &objects->problems);
}

static struct path_list policies_of(const struct trial *trial)
{
    const struct test_case *one = trial->one;
    struct path_list paths = {0};
    if (!one->policies.given)
        *LIST_PUSH(trial->arena, &paths) = path_of(trial, one->policy).data;
    for (size_t i = 0; i < one->policies.count; i++)
        *LIST_PUSH(trial->arena, &paths) = path_of(trial, one->policies.items[i]).data;
    return paths;
}

/* The manifests of a case are judged as one change, as check does it; an update or a
 * deletion is judged by the state of the cluster. */
static bool load(struct trial *trial)
{
    const struct test_case *one = trial->one;
    read_objects(trial, one->manifest, &trial->objects);
    read_objects(trial, one->old, &trial->old_objects);
    const struct path_list policies = policies_of(trial);
    const struct world_options options = {
        .policy_paths = policies.items,
        .policy_path_count = policies.count,
        /* A case of the past says nothing of how long an exception may last from today. */
        .today_unix_s = (int64_t)time(NULL),
        .state_dir = state_dir(trial),
        .catalog_file = one->catalog.size > 0 ? path_of(trial, one->catalog).data : NULL,
        .change = one->old.size > 0 || one->deleted ? NULL : &trial->objects,
    };
    struct problems errors = {.arena = trial->arena};
    trial->warnings.arena = trial->arena;
    bool loaded =
        world_load(&options, 1, trial->now_unix_s, &trial->world, &errors, &trial->warnings);
    add_problems(trial, &errors);
    return loaded && trial->differences.size == 0;
}

/* ---- values as a case writes them, to be copied ---- */

enum { OPENING_BYTES = 3 }; /* "- {" */

static void add_text(struct text_builder *line, struct text value)
{
    bool plain = value.size > 0;
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '_';
        bool inner = (c >= '0' && c <= '9') || c == '.' || c == '-';
        plain = plain && (word || (inner && i > 0));
    }
    if (plain) {
        text_builder_add(line, value);
        return;
    }
    text_builder_add(line, TEXT("\""));
    for (size_t i = 0; i < value.size; i++) {
        char c = value.data[i];
        text_builder_printf(line, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
    text_builder_add(line, TEXT("\""));
}

static void add_key(struct text_builder *line, const char *key)
{
    text_builder_printf(line, "%s%s: ", line->size > OPENING_BYTES ? ", " : "", key);
}

static void add_value(struct text_builder *line, const char *key, struct text value)
{
    if (value.size == 0)
        return;
    add_key(line, key);
    add_text(line, value);
}

static void add_found(struct text_builder *line, struct text value)
{
    add_key(line, "found");
    add_text(line, value);
}

static void add_list(struct text_builder *line, const char *key, const struct text *items,
                     size_t count)
{
    add_key(line, key);
    text_builder_add(line, TEXT("["));
    for (size_t i = 0; i < count; i++) {
        text_builder_add(line, i > 0 ? TEXT(", ") : TEXT(""));
        add_text(line, items[i]);
    }
    text_builder_add(line, TEXT("]"));
}

static void add_number(struct text_builder *line, const char *key, int64_t value)
{
    if (value > 0)
        text_builder_printf(line, ", %s: %lld", key, (long long)value);
}

static void add_flag(struct text_builder *line, const char *key, bool given, bool value)
{
    if (given)
        text_builder_printf(line, ", %s: %s", key, value ? "true" : "false");
}

static void end_line(struct trial *trial, struct text_builder *line)
{
    text_builder_printf(&trial->differences, "%.*s}\n", TEXT_ARGS(text_builder_text(line)));
}

/* ---- findings ---- */

struct found {
    const struct finding *finding;
    const struct object *object;
    struct place place;
    const struct expected_finding *expected; /* whose it is; NULL: nobody expects it */
    size_t asked_for;                        /* the number of the last one that asked for it */
};
struct founds {
    struct found *items;
    size_t count, capacity;
};

static bool agrees(struct text actual, struct text expected)
{
    return expected.size == 0 || text_equal(actual, expected);
}

static bool allowed_agree(const struct finding *finding, const struct key_strings *expected)
{
    bool equal = finding->allowed_count == expected->count;
    for (size_t i = 0; equal && i < expected->count; i++)
        equal = text_equal(finding->allowed[i], expected->items[i]);
    return equal;
}

static bool finding_agrees(const struct found *found, const struct expected_finding *expected)
{
    const struct finding *finding = found->finding;
    const struct object *object = found->object;
    const char *action = expected_actions[expected->action];
    return text_is(expected->rail, finding->rail) &&
           (!expected->action_given || strcmp(action_name(finding->action), action) == 0) &&
           agrees(finding->path, expected->field) &&
           (expected->found == NULL || text_equal(finding->found, node_string(expected->found))) &&
           (!expected->allowed.given || allowed_agree(finding, &expected->allowed)) &&
           agrees(finding->policy, expected->policy) &&
           agrees(finding->exception, expected->exception) &&
           agrees(finding->override, expected->override) &&
           agrees(object->kind_name, expected->kind) && agrees(object->name, expected->name) &&
           text_holds(finding->message, expected->message) &&
           text_holds(finding->fix, expected->fix) &&
           (!expected->undecided_given || finding->undecided == expected->undecided) &&
           (!expected->pre_existing_given || finding->pre_existing == expected->pre_existing) &&
           (expected->line == 0 || expected->line == found->place.line) &&
           (expected->column == 0 || expected->column == found->place.column);
}

static void say_missing(struct trial *trial, const struct expected_finding *expected)
{
    struct text_builder line = {.arena = trial->arena};
    text_builder_add(&line, TEXT("- {"));
    add_value(&line, "rail", expected->rail);
    if (expected->action_given)
        add_value(&line, "action", text_of(expected_actions[expected->action]));
    add_value(&line, "kind", expected->kind);
    add_value(&line, "name", expected->name);
    add_value(&line, "field", expected->field);
    if (expected->found != NULL)
        add_found(&line, node_string(expected->found));
    if (expected->allowed.given)
        add_list(&line, "allowed", expected->allowed.items, expected->allowed.count);
    add_value(&line, "message", expected->message);
    add_value(&line, "fix", expected->fix);
    add_value(&line, "policy", expected->policy);
    add_value(&line, "exception", expected->exception);
    add_value(&line, "override", expected->override);
    add_flag(&line, "undecided", expected->undecided_given, expected->undecided);
    add_flag(&line, "preExisting", expected->pre_existing_given, expected->pre_existing);
    add_number(&line, "line", expected->line);
    add_number(&line, "column", expected->column);
    end_line(trial, &line);
}

static void say_unexpected(struct trial *trial, const struct found *found)
{
    const struct finding *finding = found->finding;
    struct text_builder line = {.arena = trial->arena};
    text_builder_add(&line, TEXT("+ {"));
    add_value(&line, "rail", text_of(finding->rail));
    add_value(&line, "action", text_of(action_name(finding->action)));
    if (trial->objects.count > 1) {
        add_value(&line, "kind", found->object->kind_name);
        add_value(&line, "name", found->object->name);
    }
    add_value(&line, "field", finding->path);
    add_found(&line, finding->found);
    if (trial->names_allowed)
        add_list(&line, "allowed", finding->allowed, finding->allowed_count);
    add_value(&line, "message", finding->message);
    add_value(&line, "exception", finding->exception);
    add_value(&line, "override", finding->override);
    add_flag(&line, "undecided", finding->undecided, true);
    add_flag(&line, "preExisting", finding->pre_existing, true);
    add_number(&line, "line", found->place.line);
    add_number(&line, "column", found->place.column);
    end_line(trial, &line);
}

/* Gives it a finding that is free, or else one whose owner finds another. So it does not matter in
 * which order findings are expected. */
static bool find_expected(struct founds *founds, const struct expected_finding *expected,
                          size_t number)
{
    for (size_t pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < founds->count; i++) {
            struct found *found = &founds->items[i];
            if ((pass == 0) != (found->expected == NULL) || found->asked_for == number ||
                !finding_agrees(found, expected))
                continue;
            found->asked_for = number;
            if (found->expected != NULL && !find_expected(founds, found->expected, number))
                continue;
            found->expected = expected;
            return true;
        }
    return false;
}

static void compare_findings(struct trial *trial, struct founds *founds)
{
    const struct expected_finding *expected = trial->one->findings.items;
    for (size_t i = 0; i < trial->one->findings.count; i++) {
        trial->names_allowed = trial->names_allowed || expected[i].allowed.given;
        if (!find_expected(founds, &expected[i], i + 1))
            say_missing(trial, &expected[i]);
    }
    for (size_t i = 0; i < founds->count; i++)
        if (founds->items[i].expected == NULL)
            say_unexpected(trial, &founds->items[i]);
}

/* ---- judging ---- */

static struct subject subject_of(const struct trial *trial, size_t number)
{
    const struct object *old =
        number < trial->old_objects.count ? &trial->old_objects.items[number] : NULL;
    return (struct subject){
        .operation = trial->one->deleted ? OPERATION_DELETE
                     : old == NULL       ? OPERATION_CREATE
                                         : OPERATION_UPDATE,
        .object = &trial->objects.items[number],
        .old_object = old,
        .requester = {trial->one->user, trial->one->groups.items, trial->one->groups.count},
    };
}

static void judge_findings(struct trial *trial)
{
    struct founds founds = {0};
    bool allowed = true;
    for (size_t i = 0; i < trial->objects.count; i++) {
        const struct subject subject = subject_of(trial, i);
        struct verdict verdict;
        policy_evaluate(trial->world, &subject, trial->now_unix_s, trial->arena, &verdict);
        allowed = allowed && verdict.action != ACTION_DENY;
        for (size_t j = 0; j < verdict.finding_count; j++) {
            const struct finding *finding = &verdict.findings[j];
            *LIST_PUSH(trial->arena, &founds) = (struct found){
                .finding = finding,
                .object = subject.object,
                .place = source_place(subject.object->source, trial->arena,
                                      field_offset(finding->field)),
            };
        }
    }
    compare_findings(trial, &founds);
    if (trial->one->allowed_given && trial->one->allowed != allowed)
        text_builder_printf(&trial->differences, "- allowed: %s\n+ allowed: %s\n",
                            allowed ? "false" : "true", allowed ? "true" : "false");
}

/* ---- changes ---- */

struct changes {
    struct change *items;
    size_t count, capacity;
};

static bool change_agrees(const struct change *change, const struct expected_change *expected)
{
    return text_is(expected->rail, change->rail) &&
           (!expected->outcome_given || (int)change->outcome == expected->outcome) &&
           text_holds(change->added, expected->added) && agrees(change->policy, expected->policy) &&
           agrees(change->exception, expected->exception);
}

static void say_change(struct trial *trial, const char *mark, const struct change *change,
                       bool outcome_given)
{
    struct text_builder line = {.arena = trial->arena};
    text_builder_printf(&line, "%s{", mark);
    add_value(&line, "rail", text_of(change->rail));
    if (outcome_given)
        add_value(&line, "outcome", text_of(outcome_name(change->outcome)));
    add_value(&line, "added", change->added);
    add_value(&line, "policy", change->policy);
    add_value(&line, "exception", change->exception);
    end_line(trial, &line);
}

/* Each change builds on the one before, so their order counts. */
static void compare_changes(struct trial *trial, const struct changes *changes)
{
    const struct expected_change *expected = trial->one->changes.items;
    size_t expected_count = trial->one->changes_given ? trial->one->changes.count : 0;
    for (size_t i = 0; trial->one->changes_given; i++) {
        bool wanted = i < expected_count;
        bool there = i < changes->count;
        if (!wanted && !there)
            return;
        if (wanted && there && change_agrees(&changes->items[i], &expected[i]))
            continue;
        const struct change missing =
            wanted ? (struct change){.rail = expected[i].rail.data,
                                     .outcome = (enum change_outcome)expected[i].outcome,
                                     .added = expected[i].added,
                                     .policy = expected[i].policy,
                                     .exception = expected[i].exception}
                   : (struct change){0};
        if (wanted)
            say_change(trial, "- ", &missing, expected[i].outcome_given);
        if (there)
            say_change(trial, "+ ", &changes->items[i], true);
    }
}

static void compare_warnings(struct trial *trial, const struct changes *changes)
{
    const struct key_strings *expected = &trial->one->change_warnings;
    const struct subject subject = subject_of(trial, 0);
    size_t told = 0;
    for (size_t i = 0; expected->given && i < changes->count; i++) {
        const struct change *change = &changes->items[i];
        if (requester_is_controller(&subject.requester) ||
            (change->outcome != OUTCOME_APPLIED && change->outcome != OUTCOME_WARNED))
            continue;
        struct text warning = message_change(change, trial->arena);
        if (told >= expected->count || !text_equal(warning, expected->items[told]))
            text_builder_printf(&trial->differences, "+ a warning: %.*s\n", TEXT_ARGS(warning));
        else
            told++;
    }
    for (; expected->given && told < expected->count; told++)
        text_builder_printf(&trial->differences, "- a warning: %.*s\n",
                            TEXT_ARGS(expected->items[told]));
}

static void say_value(struct trial *trial, const char *mark, struct text path,
                      const struct node *value)
{
    struct text printed = TEXT("null");
    struct error error;
    if (value != NULL && !json_print(json_of_node(value), false, trial->arena, &printed, &error))
        printed = arena_text(trial->arena, text_of(error.what));
    text_builder_printf(&trial->differences, "%s%.*s: %.*s\n", mark, TEXT_ARGS(path),
                        TEXT_ARGS(printed));
}

static void compare_after(struct trial *trial, const struct node *changed)
{
    const struct node *after = trial->one->after;
    for (size_t i = 0; i < node_count(after); i++) {
        const struct member *member = &after->members[i];
        struct text path = member_key(member);
        const struct node *there = node_at(changed, arena_text(trial->arena, path).data);
        const struct node *wanted = node_is(&member->value, NODE_NULL) ? NULL : &member->value;
        if ((there == NULL) != (wanted == NULL) || (there != NULL && !node_equal(there, wanted))) {
            say_value(trial, "- ", path, wanted);
            say_value(trial, "+ ", path, there);
        }
    }
}

static void judge_changes(struct trial *trial)
{
    const struct test_case *one = trial->one;
    struct changes all = {0};
    const struct node *first = NULL;
    for (size_t i = 0; i < trial->objects.count; i++) {
        const struct subject subject = subject_of(trial, i);
        const struct node *changed = subject.object->root->node;
        struct verdict verdict = {0};
        struct error error;
        policy_mutate(trial->world, &subject, trial->now_unix_s, trial->arena, &verdict);
        for (size_t j = 0; j < verdict.change_count; j++)
            *LIST_PUSH(trial->arena, &all) = verdict.changes[j];
        if (!doc_patch(changed, verdict.patch.items, verdict.patch.count, trial->arena, &changed,
                       &error))
            text_builder_printf(&trial->differences, "error: the changes cannot be made: %s\n",
                                error.what);
        if (i == 0)
            first = changed;
    }
    compare_changes(trial, &all);
    compare_warnings(trial, &all);
    if (one->after != NULL)
        compare_after(trial, first);
}

static void compare_load_warnings(struct trial *trial)
{
    struct text expected = trial->one->load_warns;
    for (size_t i = 0; i < trial->warnings.count; i++)
        if (text_holds(text_of(trial->warnings.items[i].what), expected))
            return;
    if (expected.size > 0)
        text_builder_printf(&trial->differences, "- loading the policy warns: %.*s\n",
                            TEXT_ARGS(expected));
}

struct text test_case_judge(const struct test_case *one, const char *folder, struct arena *arena)
{
    struct trial trial = {
        .one = one,
        .folder = folder,
        .arena = arena,
        .now_unix_s = one->now_unix_s != 0 ? one->now_unix_s : (int64_t)time(NULL),
        .differences = {.arena = arena},
    };
    if (load(&trial)) {
        compare_load_warnings(&trial);
        judge_findings(&trial);
        judge_changes(&trial);
    }
    struct text differences = text_builder_text(&trial.differences);
    world_destroy(trial.world);
    return differences;
}
