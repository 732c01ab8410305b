/* How a document of the kind GuardRails becomes a policy. */
#include "policy/document.h"

#include <stdarg.h>
#include <stdlib.h>

#include "policy/pod_templates.h"

/* ---- rails ---- */

/* What reading the rails of one document needs. */
struct document_reader {
    const struct schema *schema;
    const struct catalog *catalog;
    struct problems *warnings;
    struct document *document;
};

static bool refuse_unknown_rail(const struct document_reader *reader, const struct field *rails,
                                const struct member *member)
{
    size_t count = rail_count();
    struct text *names = ARENA_ARRAY(reader->schema->arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        names[i] = text_of(rail_at(i)->name);
    return schema_unknown(reader->schema, rails, member, "rail", names, count);
}

void loading_warn(const struct rail_loading *loading, const struct node *at, const char *format,
                  ...)
{
    va_list args;
    va_start(args, format);
    struct text warning = arena_vprintf(loading->arena, format, args);
    va_end(args);
    problems_add(loading->warnings, ERROR_POLICY,
                 source_place(loading->source, loading->arena, at->offset), "%.*s",
                 TEXT_ARGS(warning));
}

static bool read_rail(const struct document_reader *reader, const struct field *rails,
                      const struct member *member, struct rail_use *use)
{
    const struct schema *schema = reader->schema;
    struct text name = member_key(member);
    const struct rail *rail = rail_find(name);
    if (rail == NULL)
        return refuse_unknown_rail(reader, rails, member);
    /* Nothing after the name is as {}: all defaults. */
    const struct field *field = field_member(schema->arena, rails, name);
    if (!node_is(field->node, NODE_MAP) && !node_is(field->node, NODE_NULL))
        return schema_refuse(schema, field, TEXT("a map of the rail's keys"),
                             TEXT(", such as {mode: enforce}"));

    void *settings = arena_alloc(schema->arena, rail->settings_size);
    struct rail_common common = {0};
    const struct schema_part parts[] = {{rail->keys, settings}, {rail_common_keys, &common}};
    if (!schema_read(schema, field, parts, 2))
        return false;
    if (rail->prepare != NULL)
        rail->prepare(settings,
                      &(struct rail_loading){reader->catalog, &member->value, schema->source,
                                             schema->arena, reader->warnings});
    const struct document *document = reader->document;
    enum mode mode = document->mode;
    if (rail->only_warns && mode != MODE_OFF)
        mode = MODE_WARN;
    *use = (struct rail_use){
        .rail = rail,
        .settings = settings,
        .mode = common.mode_given ? common.mode : mode,
        .since_unix_s = common.since_given ? common.since_unix_s : document->since_unix_s,
        .place = source_place(schema->source, schema->arena, member->key_offset),
    };
    return true;
}

static int compare_rails(const void *a, const void *b)
{
    return text_compare(text_of(((const struct rail_use *)a)->rail->name),
                        text_of(((const struct rail_use *)b)->rail->name));
}

static bool read_rails(const struct document_reader *reader, const struct field *rails)
{
    const struct schema *schema = reader->schema;
    if (rails->node == NULL)
        return true;
    if (!node_is(rails->node, NODE_MAP))
        return schema_refuse(schema, rails, TEXT("a map of rails by name"), TEXT(""));
    size_t count = node_count(rails->node);
    struct rail_use *uses = ARENA_ARRAY(schema->arena, count, struct rail_use);
    bool good = true;
    for (size_t i = 0; i < count; i++)
        good = read_rail(reader, rails, &rails->node->members[i], &uses[i]) && good;
    if (!good)
        return false;
    if (count > 1)
        qsort(uses, count, sizeof *uses, compare_rails);
    reader->document->policy.rails = uses;
    reader->document->policy.rail_count = count;
    return true;
}

/* ---- the whole ---- */

static bool read_templates(const struct schema *schema, const struct field *spec,
                           struct document *document)
{
    struct templated_kind *items = document->pod_templates.items;
    size_t count = document->pod_templates.count;
    struct arena *arena = schema->arena;
    struct policy *policy = &document->policy;
    bool good = pod_templates_check(schema, spec, items, count);
    good = custom_kinds_check(schema, field_get(arena, spec, "match"), &policy->match.kinds, items,
                              count) &&
           good;
    const struct field *exceptions = field_get(arena, spec, "exceptions");
    for (size_t i = 0; i < policy->exception_count; i++)
        good =
            custom_kinds_check(schema, field_get(arena, field_item(arena, exceptions, i), "match"),
                               &policy->exceptions[i].match.kinds, items, count) &&
            good;
    policy->templated = items;
    policy->templated_count = count;
    return good;
}

static bool is_of_kind(const struct node *root, const char *kind)
{
    return text_is(node_string(node_get(root, "kind")), kind);
}

bool document_is_exceptions(const struct node *root)
{
    return node_is(root, NODE_MAP) && is_of_kind(root, "GuardRailExceptions");
}

/* What only the policy's own document may hold: who grants, and what else adds to it. */
static bool read_additions(const struct schema *schema, const struct field *spec,
                           struct document *document)
{
    struct policy *policy = &document->policy;
    struct rails_named named = rails_of_spec(schema, spec);
    struct exception *exceptions = document->exceptions.items;
    struct override *overrides = document->overrides.items;
    policy->exceptions = exceptions;
    policy->exception_count = document->exceptions.count;
    policy->overrides = overrides;
    policy->override_count = document->overrides.count;
    policy->grants = document->grants.items;
    policy->grant_count = document->grants.count;

    bool good = exceptions_read(schema, spec, exceptions, policy->exception_count);
    const struct field *list = field_get(schema->arena, spec, "exceptions");
    for (size_t i = 0; i < policy->exception_count; i++)
        good =
            rails_check(schema, &named, field_item(schema->arena, list, i), &exceptions[i].rails) &&
            good;
    good = overrides_read(schema, spec, overrides, policy->override_count) && good;
    list = field_get(schema->arena, spec, "overrides");
    for (size_t i = 0; i < policy->override_count; i++)
        good = override_check(schema, &named, field_item(schema->arena, list, i), &overrides[i],
                              policy) &&
               good;
    return grants_read(schema, spec, &named, document->grants.items, policy->grant_count) && good;
}

bool document_read(const struct schema *schema, const struct node *root,
                   const struct catalog *catalog, struct problems *warnings, struct policy *policy)
{
    const struct field *top = field_root(schema->arena, root);
    if (!node_is(root, NODE_MAP))
        return schema_refuse(schema, top, TEXT("a map with apiVersion, kind, metadata and spec"),
                             TEXT(""));
    /* Of something else altogether every key would be a problem: one is enough. */
    if (node_is(node_get(root, "kind"), NODE_STRING) && !is_of_kind(root, "GuardRails"))
        return schema_refuse(schema, field_get(schema->arena, top, "kind"),
                             TEXT("GuardRails or GuardRailExceptions"),
                             TEXT("; a policy folder holds nothing else, but for folders named "
                                  "tests and files named cases.yaml"));

    struct document document = {0};
    bool good = schema_read(schema, top, &(struct schema_part){document_keys, &document}, 1);
    const struct field *spec = field_get(schema->arena, top, "spec");
    document.policy.source = schema->source;
    document.policy.spec = spec;
    karpenter_note_places(schema, spec, &document.policy.karpenter);
    review_limits_note_place(schema, spec, &document.policy.limits);
    document.policy.place = source_place(
        schema->source, schema->arena, field_offset(field_at(schema->arena, top, "metadata.name")));

    struct document_reader reader = {schema, catalog, warnings, &document};
    good = read_rails(&reader, field_get(schema->arena, spec, "rails")) && good;
    good = read_additions(schema, spec, &document) && good;
    good = read_templates(schema, spec, &document) && good;
    struct trusted_controller *trusted = document.trusted_controllers.items;
    document.policy.trusted_count = document.trusted_controllers.count;
    document.policy.trusted = trusted;
    good = trusted_controllers_check(schema, spec, trusted, document.policy.trusted_count) && good;
    document.policy.refused = !good;
    *policy = document.policy;
    if (good && policy->rail_count == 0)
        problems_add(warnings, ERROR_POLICY, policy->place,
                     "the policy \"%.*s\" names no rail under spec.rails, so it finds nothing",
                     TEXT_ARGS(policy->name));
    return good;
}

struct place policy_place(const struct policy *policy, const char *path, struct arena *arena)
{
    return source_place(policy->source, arena, field_offset(field_at(arena, policy->spec, path)));
}
