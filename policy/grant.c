/* Exceptions and overrides in documents of their own (kind GuardRailExceptions): bound to the
 * policies that they name, as far as these grant it to their owner. */
#include "policy/document.h"
#include "policy/pod_templates.h"

/* ---- reading ---- */

bool grants_read(const struct schema *schema, const struct field *spec,
                 const struct rails_named *named, struct grant *grants, size_t count)
{
    const struct field *list = field_get(schema->arena, spec, "grants");
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(schema->arena, list, i);
        grants[i].place = source_place(schema->source, schema->arena, field_offset(item));
        good = rails_check(schema, named, item, &grants[i].rails) && good;
    }
    return good;
}

/* Of one that has no owner of its own it is the document's. */
static void complete_exceptions(const struct exceptions_document *document)
{
    struct exception *exceptions = document->exceptions.items;
    for (size_t i = 0; i < document->exceptions.count; i++)
        if (exceptions[i].owner.size == 0)
            exceptions[i].owner = document->owner;
}

static bool check_policies(const struct schema *schema, const struct exceptions_document *document)
{
    const struct key_strings *names = &document->policies;
    const struct field *list = field_get(schema->arena, document->spec, "policies");
    bool good = true;
    for (size_t i = 1; i < names->count; i++)
        if (texts_have(names->items, i, names->items[i]))
            good = schema_problem(schema, field_item(schema->arena, list, i),
                                  names->nodes[i]->offset, "found %.*s, which is named already",
                                  TEXT_ARGS(schema_found(schema, names->nodes[i])));
    return good;
}

bool exceptions_document_read(const struct schema *schema, const struct node *root,
                              struct problems *warnings, struct exceptions_document *document)
{
    const struct field *top = field_root(schema->arena, root);
    *document = (struct exceptions_document){.schema = *schema};
    struct schema_part part = {exceptions_document_keys, document};
    bool good = schema_read(schema, top, &part, 1);
    document->spec = field_get(schema->arena, top, "spec");
    document->place = source_place(schema->source, schema->arena,
                                   field_offset(field_at(schema->arena, top, "metadata.name")));
    good = check_policies(schema, document) && good;
    good = exceptions_read(schema, document->spec, document->exceptions.items,
                           document->exceptions.count) &&
           good;
    good = overrides_read(schema, document->spec, document->overrides.items,
                          document->overrides.count) &&
           good;
    complete_exceptions(document);
    if (good && document->exceptions.count + document->overrides.count == 0)
        problems_add(warnings, ERROR_POLICY, document->place,
                     "the document \"%.*s\" holds neither exceptions nor overrides, so it changes "
                     "nothing",
                     TEXT_ARGS(document->name));
    return good;
}

/* ---- what is granted ---- */

/* A document, and one of the policies that it names. */
struct binding {
    struct schema schema;
    const struct exceptions_document *document;
    const struct policy *policy;
    struct text whose; /* the policy "base" (base.yaml:4:9) */
    struct rails_named named;
};

/* What an exception and an override have in common: which rails it is for, and where. */
struct scope {
    const struct field *item;
    const struct key_strings *rails, *namespaces;
    const char *step; /* of an override; NULL: of an exception */
};

static struct text printed_place(const struct place *place, struct arena *arena)
{
    return arena_printf(arena, "%s:%u:%u", place->file, place->line, place->column);
}

static bool grants_namespace(const struct grant *grant, const struct text *namespace)
{
    if (!grant->namespaces.given)
        return true;
    for (size_t i = 0; namespace != NULL && i < grant->namespaces.count; i++)
        if (text_glob_is_within(*namespace, grant->namespaces.items[i]))
            return true;
    return false;
}

static bool lasts_longer(const struct grant *a, const struct grant *b)
{
    return b == NULL || (b->longest_s != 0 && (a->longest_s == 0 || a->longest_s > b->longest_s));
}

/* What comes nearest to a grant of one rail in one namespace (NULL: everywhere). */
struct nearest {
    const struct grant *of_namespace, *whole;
    bool of_rail;
};

static struct nearest nearest_grant(const struct binding *binding, struct text rail,
                                    const struct text *namespace, const char *step)
{
    struct nearest nearest = {NULL, NULL, false};
    for (size_t i = 0; i < binding->policy->grant_count; i++) {
        const struct grant *grant = &binding->policy->grants[i];
        if (!text_equal(grant->owner, binding->document->owner) ||
            !texts_have(grant->rails.items, grant->rails.count, rail))
            continue;
        nearest.of_rail = true;
        if (!grants_namespace(grant, namespace))
            continue;
        if (nearest.of_namespace == NULL)
            nearest.of_namespace = grant;
        if ((step == NULL || texts_have(grant->steps.items, grant->steps.count, text_of(step))) &&
            lasts_longer(grant, nearest.whole))
            nearest.whole = grant;
    }
    return nearest;
}

/* ---- what is not ---- */

static struct text owner_of(const struct binding *binding)
{
    return schema_printable(binding->schema.arena, binding->document->owner);
}

/* "what (FILE:LINE:COLUMN), what (...)" of the owner's grants: each with its rails. */
static struct text granted_rails(const struct binding *binding)
{
    struct arena *arena = binding->schema.arena;
    struct text_builder words = {.arena = arena};
    for (size_t i = 0; i < binding->policy->grant_count; i++) {
        const struct grant *grant = &binding->policy->grants[i];
        if (!text_equal(grant->owner, binding->document->owner))
            continue;
        struct text rails = schema_join(arena, grant->rails.items, grant->rails.count);
        text_builder_printf(&words, "%s%.*s (%.*s)", words.size == 0 ? "" : "; ", TEXT_ARGS(rails),
                            TEXT_ARGS(printed_place(&grant->place, arena)));
    }
    return text_builder_text(&words);
}

static bool refuse_rail(const struct binding *binding, const struct scope *scope, size_t index,
                        struct text rail)
{
    struct arena *arena = binding->schema.arena;
    struct text granted = granted_rails(binding);
    if (!scope->rails->given) /* an override of all rails */
        return schema_problem(&binding->schema, scope->item, scope->item->node->offset,
                              "names no rails, which means all, and %.*s grants \"%.*s\" no "
                              "%.*s: name some of these: %.*s",
                              TEXT_ARGS(binding->whose), TEXT_ARGS(owner_of(binding)),
                              TEXT_ARGS(rail), TEXT_ARGS(granted));
    const struct field *list = field_get(arena, scope->item, "rails");
    return schema_problem(
        &binding->schema, field_item(arena, list, index), scope->rails->nodes[index]->offset,
        "%.*s does not grant \"%.*s\" to \"%.*s\", only: %.*s", TEXT_ARGS(binding->whose),
        TEXT_ARGS(rail), TEXT_ARGS(owner_of(binding)), TEXT_ARGS(granted));
}

/* "ml-*, lab (FILE:LINE:COLUMN)" of each of the owner's grants of the rail. */
static struct text granted_namespaces(const struct binding *binding, struct text rail)
{
    struct arena *arena = binding->schema.arena;
    struct text_builder words = {.arena = arena};
    for (size_t i = 0; i < binding->policy->grant_count; i++) {
        const struct grant *grant = &binding->policy->grants[i];
        if (!text_equal(grant->owner, binding->document->owner) ||
            !texts_have(grant->rails.items, grant->rails.count, rail))
            continue;
        struct text globs = schema_join(arena, grant->namespaces.items, grant->namespaces.count);
        text_builder_printf(&words, "%s%.*s (%.*s)", words.size == 0 ? "" : "; ", TEXT_ARGS(globs),
                            TEXT_ARGS(printed_place(&grant->place, arena)));
    }
    return text_builder_text(&words);
}

static bool refuse_namespace(const struct binding *binding, const struct scope *scope, size_t index,
                             struct text rail)
{
    const struct schema *schema = &binding->schema;
    const struct field *match = field_get(schema->arena, scope->item, "match");
    struct text granted =
        arena_printf(schema->arena, "%.*s grants \"%.*s\" to \"%.*s\" only in %.*s",
                     TEXT_ARGS(binding->whose), TEXT_ARGS(rail), TEXT_ARGS(owner_of(binding)),
                     TEXT_ARGS(granted_namespaces(binding, rail)));
    if (!scope->namespaces->given)
        return schema_problem(schema, match, field_offset(match),
                              "names no namespaces, and %.*s: give `namespaces` within these",
                              TEXT_ARGS(granted));
    const struct node *node = scope->namespaces->nodes[index];
    const struct field *list = field_get(schema->arena, match, "namespaces");
    return schema_problem(schema, field_item(schema->arena, list, index), node->offset,
                          "found %.*s, and %.*s", TEXT_ARGS(schema_found(schema, node)),
                          TEXT_ARGS(granted));
}

static bool refuse_step(const struct binding *binding, const struct scope *scope, struct text rail,
                        const struct grant *grant)
{
    struct arena *arena = binding->schema.arena;
    const struct field *step = field_get(arena, scope->item, "step");
    struct text steps = grant->steps.count == 0
                            ? TEXT("none")
                            : schema_join(arena, grant->steps.items, grant->steps.count);
    return schema_problem(&binding->schema, step, step->node->offset,
                          "found \"%s\", and of the overrides of \"%.*s\" %.*s grants to \"%.*s\": "
                          "%.*s (%.*s)",
                          scope->step, TEXT_ARGS(rail), TEXT_ARGS(binding->whose),
                          TEXT_ARGS(owner_of(binding)), TEXT_ARGS(steps),
                          TEXT_ARGS(printed_place(&grant->place, arena)));
}

/* One problem is said of a rail: the first. */
static bool check_rail(const struct binding *binding, const struct scope *scope, size_t index,
                       struct text rail, const struct grant **least)
{
    size_t count = scope->namespaces->given ? scope->namespaces->count : 1;
    for (size_t i = 0; i < count; i++) {
        const struct text *namespace =
            scope->namespaces->given ? &scope->namespaces->items[i] : NULL;
        struct nearest nearest = nearest_grant(binding, rail, namespace, scope->step);
        if (!nearest.of_rail)
            return refuse_rail(binding, scope, index, rail);
        if (nearest.of_namespace == NULL)
            return refuse_namespace(binding, scope, i, rail);
        if (nearest.whole == NULL)
            return refuse_step(binding, scope, rail, nearest.of_namespace);
        if (*least == NULL || lasts_longer(*least, nearest.whole))
            *least = nearest.whole;
    }
    return true;
}

/* Whether all of it is granted; *least is of the grants it rests on the one with the least time. */
static bool check_scope(const struct binding *binding, const struct scope *scope,
                        const struct grant **least)
{
    bool good = true;
    for (size_t i = 0; i < scope->rails->count; i++)
        good = check_rail(binding, scope, i, scope->rails->items[i], least) && good;
    for (size_t i = 0; good && !scope->rails->given && i < binding->named.count; i++)
        good = check_rail(binding, scope, 0, binding->named.names[i], least);
    return good;
}

/* ---- binding ---- */

static struct text qualified(const struct binding *binding, struct text id)
{
    return arena_printf(binding->schema.arena, "%.*s/%.*s", TEXT_ARGS(binding->document->name),
                        TEXT_ARGS(id));
}

static void bind_exceptions(const struct binding *binding, struct bound_policy *bound)
{
    const struct schema *schema = &binding->schema;
    const struct policy *policy = binding->policy;
    const struct exception *exceptions = binding->document->exceptions.items;
    const struct field *list = field_get(schema->arena, binding->document->spec, "exceptions");
    for (size_t i = 0; i < binding->document->exceptions.count; i++) {
        const struct field *item = field_item(schema->arena, list, i);
        struct exception exception = exceptions[i];
        struct scope scope = {item, &exception.rails, &exception.match.namespaces, NULL};
        bool good = rails_check(schema, &binding->named, item, &exception.rails) &&
                    check_scope(binding, &scope, &exception.grant);
        good = custom_kinds_check(schema, field_get(schema->arena, item, "match"),
                                  &exception.match.kinds, policy->templated,
                                  policy->templated_count) &&
               good;
        exception.id = qualified(binding, exception.id);
        if (good)
            *LIST_PUSH(schema->arena, &bound->exceptions) = exception;
    }
}

static void bind_overrides(const struct binding *binding, struct bound_policy *bound)
{
    static const char *const steps[] = {[STEP_SOFTER] = "softer", [STEP_STRICTER] = "stricter"};
    const struct schema *schema = &binding->schema;
    const struct override *overrides = binding->document->overrides.items;
    const struct field *list = field_get(schema->arena, binding->document->spec, "overrides");
    for (size_t i = 0; i < binding->document->overrides.count; i++) {
        const struct field *item = field_item(schema->arena, list, i);
        struct override override = overrides[i];
        const struct grant *least = NULL;
        struct scope scope = {item, &override.rails, &override.match.namespaces,
                              steps[override.step]};
        bool good = override_check(schema, &binding->named, item, &override, binding->policy) &&
                    check_scope(binding, &scope, &least);
        override.id = qualified(binding, override.id);
        if (good)
            *LIST_PUSH(schema->arena, &bound->overrides) = override;
    }
}

/* Whether the policy grants the owner anything. */
static bool check_owner(const struct binding *binding)
{
    const struct policy *policy = binding->policy;
    struct arena *arena = binding->schema.arena;
    struct text *owners = ARENA_ARRAY(arena, policy->grant_count, struct text);
    size_t count = 0;
    for (size_t i = 0; i < policy->grant_count; i++) {
        if (text_equal(policy->grants[i].owner, binding->document->owner))
            return true;
        if (!texts_have(owners, count, policy->grants[i].owner))
            owners[count++] = policy->grants[i].owner;
    }
    const struct field *owner = field_get(arena, binding->document->spec, "owner");
    if (policy->grant_count == 0)
        return schema_problem(&binding->schema, owner, field_offset(owner),
                              "%.*s grants nothing to anybody: exceptions and overrides stand in "
                              "its own document, or it says under spec.grants who may add them",
                              TEXT_ARGS(binding->whose));
    struct text near = schema_nearest(arena, binding->document->owner, owners, count);
    return schema_problem(&binding->schema, owner, field_offset(owner),
                          "%.*s grants nothing to \"%.*s\"%.*s%s under spec.grants (%.*s) it "
                          "names: %.*s",
                          TEXT_ARGS(binding->whose), TEXT_ARGS(owner_of(binding)), TEXT_ARGS(near),
                          near.size > 0 ? "" : ";",
                          TEXT_ARGS(printed_place(&policy->grants[0].place, arena)),
                          TEXT_ARGS(texts_join(owners, count, 5, arena)));
}

static void bind_to(const struct exceptions_document *document, struct bound_policy *bound,
                    struct problems *problems)
{
    const struct policy *policy = bound->policy;
    struct binding binding = {.schema = document->schema, .document = document, .policy = policy};
    struct arena *arena = binding.schema.arena;
    binding.schema.problems = problems;
    binding.whose = arena_printf(arena, "the policy \"%.*s\" (%.*s)", TEXT_ARGS(policy->name),
                                 TEXT_ARGS(printed_place(&policy->place, arena)));
    struct text *names = ARENA_ARRAY(arena, policy->rail_count, struct text);
    for (size_t i = 0; i < policy->rail_count; i++)
        names[i] = text_of(policy->rails[i].rail->name);
    binding.named = (struct rails_named){names, policy->rail_count, binding.whose};
    if (!check_owner(&binding))
        return;
    bind_exceptions(&binding, bound);
    bind_overrides(&binding, bound);
}

static void refuse_unknown(const struct exceptions_document *document, size_t index,
                           const struct bound_policy *policies, size_t policy_count,
                           struct problems *problems)
{
    enum { NAMED_MAX = 5 };
    struct schema schema = document->schema;
    struct arena *arena = schema.arena;
    schema.problems = problems;
    struct text *names = ARENA_ARRAY(arena, policy_count, struct text);
    struct text *placed = ARENA_ARRAY(arena, policy_count, struct text);
    for (size_t i = 0; i < policy_count; i++) {
        const struct policy *policy = policies[i].policy;
        names[i] = policy->name;
        placed[i] = arena_printf(arena, "%.*s (%.*s)", TEXT_ARGS(policy->name),
                                 TEXT_ARGS(printed_place(&policy->place, arena)));
    }
    const struct field *list = field_get(arena, document->spec, "policies");
    const struct node *node = document->policies.nodes[index];
    struct text near = schema_nearest(arena, document->policies.items[index], names, policy_count);
    struct text all =
        policy_count == 0 ? TEXT("none") : texts_join(placed, policy_count, NAMED_MAX, arena);
    schema_problem(&schema, field_item(arena, list, index), node->offset,
                   "found %.*s, and no policy of that name is read with it%.*s%s there are: %.*s",
                   TEXT_ARGS(schema_found(&schema, node)), TEXT_ARGS(near),
                   near.size > 0 ? "" : ";", TEXT_ARGS(all));
}

void exceptions_document_bind(const struct exceptions_document *document,
                              struct bound_policy *policies, size_t policy_count,
                              struct problems *problems)
{
    for (size_t i = 0; i < document->policies.count; i++) {
        struct bound_policy *bound = NULL;
        for (size_t j = 0; j < policy_count && bound == NULL; j++)
            if (text_equal(policies[j].policy->name, document->policies.items[i]))
                bound = &policies[j];
        if (bound == NULL)
            refuse_unknown(document, i, policies, policy_count, problems);
        else if (!bound->policy->refused)
            bind_to(document, bound, problems);
    }
}
