/* Policy files, loaded and checked together. */
#include <stdlib.h>
#include <string.h>

#include "policy/document.h"

struct policies {
    struct policy *items;
    size_t count, capacity;
};

/* Those of exceptions: bound to policies when all files are read. */
struct documents {
    struct exceptions_document *items;
    size_t count, capacity;
};

struct loading {
    struct arena *arena;
    const struct catalog *catalog;
    struct problems *errors, *warnings;
    struct policies policies;
    struct documents documents;
};

/* ---- documents ---- */

/* One file; its problems are collected here and then put in order. */
struct file {
    struct loading *loading;
    struct source source;
    struct problems problems;
    size_t document_count;
};

static void refuse_second_of_name(struct file *file, const struct policy *policy)
{
    const struct policies *policies = &file->loading->policies;
    FOR_EACH(first, policies) {
        if (!text_equal(first->name, policy->name))
            continue;
        problems_add(&file->problems, ERROR_POLICY, policy->place,
                     "metadata.name: a policy \"%.*s\" is at %s:%u already; every policy needs a "
                     "name of its own, and a file is read once",
                     TEXT_ARGS(policy->name), first->place.file, first->place.line);
        return;
    }
}

static void take_policy(struct file *file, const struct schema *schema, const struct node *root)
{
    struct loading *loading = file->loading;
    struct policy policy = {0};
    bool good = document_read(schema, root, loading->catalog, loading->warnings, &policy);
    if (policy.name.size > 0)
        refuse_second_of_name(file, &policy);
    if (good || policy.name.size > 0)
        *LIST_PUSH(loading->arena, &loading->policies) = policy;
}

static bool is_second_of_name(struct file *file, const struct exceptions_document *document)
{
    const struct documents *documents = &file->loading->documents;
    FOR_EACH(first, documents) {
        if (!text_equal(first->name, document->name))
            continue;
        problems_add(&file->problems, ERROR_POLICY, document->place,
                     "metadata.name: a document \"%.*s\" of kind GuardRailExceptions is at %s:%u "
                     "already; each needs a name of its own, and a file is read once",
                     TEXT_ARGS(document->name), first->place.file, first->place.line);
        return true;
    }
    return false;
}

static void take_exceptions(struct file *file, const struct schema *schema, const struct node *root)
{
    struct loading *loading = file->loading;
    struct exceptions_document document;
    if (exceptions_document_read(schema, root, loading->warnings, &document) &&
        !is_second_of_name(file, &document))
        *LIST_PUSH(loading->arena, &loading->documents) = document;
}

static void take_document(void *context, const struct node *root)
{
    struct file *file = context;
    if (node_is(root, NODE_NULL))
        return;
    file->document_count++;
    struct schema schema = {&file->source, file->loading->arena, &file->problems};
    if (document_is_exceptions(root))
        take_exceptions(file, &schema, root);
    else
        take_policy(file, &schema, root);
}

static int compare_places(const void *a_pointer, const void *b_pointer)
{
    const struct error *a = *(const struct error *const *)a_pointer;
    const struct error *b = *(const struct error *const *)b_pointer;
    if (a->place.line != b->place.line)
        return a->place.line < b->place.line ? -1 : 1;
    if (a->place.column != b->place.column)
        return a->place.column < b->place.column ? -1 : 1;
    return (a > b) - (a < b);
}

static void hand_over_problems(struct loading *loading, const struct problems *problems,
                               const char *file)
{
    size_t count = problems->count;
    const struct error **sorted =
        (const struct error **)ARENA_ARRAY(loading->arena, count, const struct error *);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &problems->items[i];
    if (count > 1)
        qsort((void *)sorted, count, sizeof *sorted, compare_places);
    for (size_t i = 0; i < count; i++)
        problems_add_error(loading->errors, sorted[i]);
    if (count >= SCHEMA_PROBLEMS_MAX)
        problems_add(loading->errors, ERROR_POLICY, (struct place){file, 0, 0},
                     "more problems may follow: only the first %d are shown", SCHEMA_PROBLEMS_MAX);
}

static void read_documents(struct file *file, bool json)
{
    struct arena *arena = file->loading->arena;
    if (!json) {
        doc_read_yaml(&file->source, YAML_POLICY, &doc_limits_policy, arena, &file->problems,
                      take_document, file);
        return;
    }
    const struct node *root = NULL;
    struct error error;
    if (doc_read_json(&file->source, &doc_limits_policy, &file->problems, arena, &root, &error))
        take_document(file, root);
    else
        problems_add_error(&file->problems, &error);
}

/* The number of documents found. */
static size_t read_text(struct loading *loading, const char *name, struct text text)
{
    struct file *file = ARENA_NEW(loading->arena, struct file);
    *file = (struct file){
        .loading = loading,
        .source = {.file = arena_text(loading->arena, text_of(name)).data, .text = text},
        .problems = {.arena = loading->arena},
    };
    read_documents(file, text_ends_with(text_of(name), TEXT(".json")));
    hand_over_problems(loading, &file->problems, file->source.file);
    return file->document_count;
}

static size_t read_file(struct loading *loading, const char *path)
{
    const char *name = path_as_shown(path);
    struct text text;
    struct error error;
    if (file_read(path, doc_limits_policy.bytes, loading->arena, &text, &error))
        return read_text(loading, name, text);
    error.place.file = name;
    problems_add_error(loading->errors, &error);
    return 0;
}

/* Cases of `taffrail test` and what they judge lie beside the policies they are about. */
static bool is_of_tests(struct text path)
{
    struct text name = TEXT("");
    struct text rest = path;
    while (text_split(rest, '/', &name, &rest))
        if (text_is(name, "tests"))
            return true;
    return text_is(rest, "cases.yaml");
}

bool policy_key_is_read(struct text key)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    for (size_t i = 0; i < COUNT_OF(endings); i++)
        if (text_ends_with(key, text_of(endings[i])))
            return key.data[0] != '.' && !is_of_tests(key);
    return false;
}

void policy_find_files(const char *path, struct arena *arena, struct path_list *files,
                       struct problems *problems)
{
    if (!path_is_folder(path)) {
        *LIST_PUSH(arena, files) = path;
        return;
    }
    struct path_list all = {0};
    folder_find_documents(path, NULL, arena, &all, problems);
    size_t above = strlen(path); /* the folder that is given may itself be named tests */
    while (above > 1 && path[above - 1] == '/')
        above--;
    for (size_t i = 0; i < all.count; i++)
        if (!is_of_tests(text_of(all.items[i] + above)))
            *LIST_PUSH(arena, files) = all.items[i];
}

static size_t read_folder(struct loading *loading, const char *path)
{
    struct path_list files = {0};
    policy_find_files(path, loading->arena, &files, loading->errors);
    size_t documents = 0;
    for (size_t i = 0; i < files.count; i++)
        documents += read_file(loading, files.items[i]);
    return documents;
}

static void expect_policy(struct loading *loading, const char *path, bool folder, size_t documents,
                          size_t errors_before)
{
    if (documents == 0 && loading->errors->count == errors_before)
        problems_add(
            loading->errors, ERROR_POLICY, (struct place){path, 0, 0},
            folder ? "there is no policy in this folder: expected .yaml, .yml or .json "
                     "files of kind GuardRails or GuardRailExceptions, outside folders named tests"
                   : "there is no policy in this file: expected a document of kind "
                     "GuardRails or GuardRailExceptions");
}

static void read_path(struct loading *loading, const char *given_path)
{
    const char *path = arena_text(loading->arena, text_of(given_path)).data;
    size_t errors_before = loading->errors->count;
    bool folder = path_is_folder(path);
    size_t documents = folder ? read_folder(loading, path) : read_file(loading, path);
    expect_policy(loading, path, folder, documents, errors_before);
}

static void read_given(struct loading *loading, const struct policy_text *given)
{
    size_t errors_before = loading->errors->count;
    size_t documents = read_text(loading, given->name, given->text);
    expect_policy(loading, given->name, false, documents, errors_before);
}

/* ---- together ---- */

/* Two of a name are refused; which is first is told alike all the same. */
static int compare_files(const struct place *a, const struct place *b)
{
    int order = strcmp(a->file, b->file);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_policies(const void *a_pointer, const void *b_pointer)
{
    const struct policy *a = a_pointer;
    const struct policy *b = b_pointer;
    int order = text_compare(a->name, b->name);
    return order != 0 ? order : compare_files(&a->place, &b->place);
}

static int compare_documents(const void *a_pointer, const void *b_pointer)
{
    const struct exceptions_document *a = a_pointer;
    const struct exceptions_document *b = b_pointer;
    return text_compare(a->name, b->name);
}

/* Whatever the order of the files, the policies and what is added to them are the same. */
static void put_in_order(struct loading *loading)
{
    struct policies *policies = &loading->policies;
    struct documents *documents = &loading->documents;
    if (policies->count > 1)
        qsort(policies->items, policies->count, sizeof *policies->items, compare_policies);
    if (documents->count > 1)
        qsort(documents->items, documents->count, sizeof *documents->items, compare_documents);
}

static void begin_bound(struct bound_policy *bound, struct policy *policy, struct arena *arena)
{
    bound->policy = policy;
    for (size_t i = 0; i < policy->exception_count; i++)
        *LIST_PUSH(arena, &bound->exceptions) = policy->exceptions[i];
    for (size_t i = 0; i < policy->override_count; i++)
        *LIST_PUSH(arena, &bound->overrides) = policy->overrides[i];
}

static void end_bound(const struct bound_policy *bound)
{
    struct policy *policy = bound->policy;
    policy->exceptions = bound->exceptions.items;
    policy->exception_count = bound->exceptions.count;
    policy->overrides = bound->overrides.items;
    policy->override_count = bound->overrides.count;
}

static void bind_documents(struct loading *loading)
{
    struct arena *arena = loading->arena;
    const struct policies *policies = &loading->policies;
    const struct documents *documents = &loading->documents;
    if (documents->count == 0)
        return;
    struct bound_policy *bound = ARENA_ARRAY(arena, policies->count, struct bound_policy);
    for (size_t i = 0; i < policies->count; i++)
        begin_bound(&bound[i], &policies->items[i], arena);
    FOR_EACH(document, documents) {
        struct problems problems = {.arena = arena};
        exceptions_document_bind(document, bound, policies->count, &problems);
        hand_over_problems(loading, &problems, document->place.file);
    }
    for (size_t i = 0; i < policies->count; i++)
        end_bound(&bound[i]);
}

bool policy_load_all(const struct policy_sources *sources, const struct catalog *catalog,
                     struct arena *arena, const struct policy_set **policies,
                     struct problems *errors, struct problems *warnings)
{
    struct loading loading = {arena, catalog, errors, warnings, {0}, {0}};
    size_t errors_before = errors->count;
    for (size_t i = 0; i < sources->path_count; i++)
        read_path(&loading, sources->paths[i]);
    for (size_t i = 0; i < sources->text_count; i++)
        read_given(&loading, &sources->texts[i]);
    put_in_order(&loading);
    bind_documents(&loading);
    struct policy_set *set = ARENA_NEW(arena, struct policy_set);
    *set = (struct policy_set){.items = loading.policies.items, .count = loading.policies.count};
    karpenter_settle(set, errors, warnings);
    review_limits_settle(set, errors);
    *policies = set;
    return errors->count == errors_before;
}

bool policy_load(const char *const *paths, size_t path_count, const struct catalog *catalog,
                 struct arena *arena, const struct policy_set **policies, struct problems *errors,
                 struct problems *warnings)
{
    const struct policy_sources sources = {.paths = paths, .path_count = path_count};
    return policy_load_all(&sources, catalog, arena, policies, errors, warnings);
}

size_t policy_set_count(const struct policy_set *policies)
{
    return policies->count;
}

bool policy_set_uses(const struct policy_set *policies, const struct rail *rail)
{
    FOR_EACH(policy, policies)
        for (size_t i = 0; i < policy->rail_count; i++)
            if (policy->rails[i].rail == rail && policy_may_use(policy, &policy->rails[i]))
                return true;
    return false;
}

bool policy_set_judges(const struct policy_set *policies, const struct rail *rail, enum kind kind,
                       enum operation operation)
{
    FOR_EACH(policy, policies)
        for (size_t i = 0; i < policy->rail_count; i++) {
            const struct rail_use *use = &policy->rails[i];
            if (use->rail == rail && policy_may_use(policy, use) &&
                rail_judges(rail, kind, operation) &&
                (rail->asks_for == NULL || rail->asks_for(use->settings, kind)))
                return true;
        }
    return false;
}

kind_set policy_set_judged_kinds(const struct policy_set *policies)
{
    kind_set kinds = 0;
    for (size_t i = 0; i < rail_count(); i++)
        if (policy_set_uses(policies, rail_at(i)))
            kinds |= rail_kinds(rail_at(i)) & ~rail_at(i)->changes_of & ~rail_at(i)->deletions_of;
    return kinds;
}

bool policy_set_asks_supply(const struct policy_set *policies)
{
    for (size_t i = 0; i < rail_count(); i++)
        if (rail_at(i)->asks_supply && policy_set_uses(policies, rail_at(i)))
            return true;
    return false;
}

bool policy_set_plans(const struct policy_set *policies)
{
    for (size_t i = 0; i < rail_count(); i++)
        if (rail_at(i)->plans && policy_set_uses(policies, rail_at(i)))
            return true;
    return false;
}

static bool changes_pods(const struct policy *policy, const struct rail_use *use)
{
    const struct rail *rail = use->rail;
    return policy_may_use(policy, use) && rail->change != NULL && rail->may_change(use->settings);
}

bool policy_set_changes_pods(const struct policy_set *policies)
{
    FOR_EACH(policy, policies)
        for (size_t i = 0; i < policy->rail_count; i++)
            if (changes_pods(policy, &policy->rails[i]))
                return true;
    return false;
}
