/* A policy file's keys, read by their tables. */
#include "policy/document.h"

#include <stdarg.h>
#include <stdlib.h>

#include "policy/pod_templates.h"

/* ---- the keys ---- */

enum { NAME_BYTES_MAX = 253, LINE_BYTES_MAX = 1024 };

struct rail_common {
    enum mode mode;
    bool mode_given, since_given;
    int64_t since_unix_s;
};

static const char *const api_versions[] = {"taffrail.dev/v1alpha1", NULL};
static const char *const kinds[] = {"GuardRails", NULL};
/* In the order of enum mode. */
static const char *const modes[] = {"off", "audit", "warn", "enforce", NULL};
/* In the order of enum step. */
static const char *const steps[] = {"softer", "stricter", NULL};
static const char *const operations[] = {"CREATE", "UPDATE", NULL};

/* clang-format off */
/* What a policy's match, an exception's and an override's have in common. */
#define NAMESPACE_KEYS(at) \
    {.name = "namespaces", \
     .type = KEY_GLOBS, \
     .offset = (at) + offsetof(struct match_rules, namespaces), \
     .summary = "only these namespaces; cluster-scoped objects are then out of reach", \
     .minimum = 1}, \
    {.name = "excludeNamespaces", \
     .type = KEY_GLOBS, \
     .offset = (at) + offsetof(struct match_rules, exclude_namespaces), \
     .summary = "not these namespaces"}, \
    {.name = "namespaceSelector", \
     .type = KEY_SELECTOR, \
     .offset = (at) + offsetof(struct match_rules, namespace_selector), \
     .summary = "only namespaces with these labels; cluster-scoped objects are then out of " \
                "reach"}

/* A policy's match and an exception's. */
#define MATCH_KEYS(at) \
    NAMESPACE_KEYS(at), \
    {.name = "labelSelector", \
     .type = KEY_SELECTOR, \
     .offset = (at) + offsetof(struct match_rules, label_selector), \
     .summary = "only objects with these labels of their own (not those of a pod template); " \
                "whoever writes an object writes its labels"}, \
    {.name = "kinds", \
     .type = KEY_KINDS, \
     .offset = (at) + offsetof(struct match_rules, kinds), \
     .summary = "only objects of these kinds, such as Deployment or NodePool; of a custom " \
                "resource under podTemplates KIND.GROUP, such as RayCluster.ray.io", \
     .given_offset = (at) + offsetof(struct match_rules, kinds_given), \
     .minimum = 1}, \
    {.name = "names", \
     .type = KEY_GLOBS, \
     .offset = (at) + offsetof(struct match_rules, names), \
     .summary = "only objects whose root owner has such a name; of a Pod that a Deployment made " \
                "that is the Deployment's", \
     .minimum = 1}
/* clang-format on */

static const struct key exception_match_keys[] = {
    MATCH_KEYS(offsetof(struct exception, match)),
    {0},
};

static const struct key exception_keys[] = {
    {.name = "id",
     .type = KEY_STRING,
     .offset = offsetof(struct exception, id),
     .summary = "a name for it, such as the number of a ticket; once in a policy",
     .maximum = NAME_BYTES_MAX,
     .required = true},
    {.name = "rails",
     .type = KEY_STRINGS,
     .offset = offsetof(struct exception, rails),
     .summary = "the rails it lifts, of those this policy uses",
     .minimum = 1,
     .required = true},
    {.name = "match",
     .type = KEY_MAP,
     .offset = offsetof(struct exception, match),
     .summary = "which objects it is for; absent: all that the policy reaches",
     .children = exception_match_keys,
     .given_offset = offsetof(struct exception, match.given)},
    {.name = "owner",
     .type = KEY_STRING,
     .offset = offsetof(struct exception, owner),
     .summary = "who asked for it",
     .maximum = LINE_BYTES_MAX},
    {.name = "reason",
     .type = KEY_STRING,
     .offset = offsetof(struct exception, reason),
     .summary = "why it was granted",
     .maximum = LINE_BYTES_MAX},
    {.name = "expires",
     .type = KEY_TIME_END,
     .offset = offsetof(struct exception, expires_unix_s),
     .summary = "when it ends; of a day that is its end in UTC",
     .required = true},
    {0},
};

static const struct key match_keys[] = {
    MATCH_KEYS(offsetof(struct document, policy.match)),
    {.name = "excludeGroups",
     .type = KEY_STRINGS,
     .offset = offsetof(struct document, policy.match.exclude_groups),
     .summary = "not what members of these groups ask for; names, in which * and ? are special"},
    {.name = "serviceAccounts",
     .type = KEY_ACCOUNTS,
     .offset = offsetof(struct document, policy.match.service_accounts),
     .summary = "only what these service accounts ask for, as in ci-*/deployer; "
                "the Pods of a workload are asked for by a controller of kube-system, whoever "
                "applied the workload",
     .minimum = 1},
    {.name = "excludeServiceAccounts",
     .type = KEY_ACCOUNTS,
     .offset = offsetof(struct document, policy.match.exclude_service_accounts),
     .summary = "not what these service accounts ask for"},
    {.name = "operations",
     .type = KEY_STRINGS,
     .offset = offsetof(struct document, policy.match.operations),
     .summary = "only when an object is created, or only when it is updated",
     .choices = operations,
     .minimum = 1},
    {0},
};

static const struct key override_match_keys[] = {
    NAMESPACE_KEYS(offsetof(struct override, match)),
    {0},
};

static const struct key override_keys[] = {
    {.name = "id",
     .type = KEY_STRING,
     .offset = offsetof(struct override, id),
     .summary = "a name for it, which findings carry; once in a policy",
     .maximum = NAME_BYTES_MAX,
     .required = true},
    {.name = "match",
     .type = KEY_MAP,
     .offset = offsetof(struct override, match),
     .summary = "the namespaces it is for, by namespaces or by namespaceSelector",
     .children = override_match_keys,
     .given_offset = offsetof(struct override, match.given),
     .required = true},
    {.name = "rails",
     .type = KEY_STRINGS,
     .offset = offsetof(struct override, rails),
     .summary = "the rails it moves, of those this policy uses; absent: all of them",
     .minimum = 1},
    {.name = "step",
     .type = KEY_ENUM,
     .offset = offsetof(struct override, step),
     .summary = "to which side of off, audit, warn, enforce, by one: softer makes warn of enforce, "
                "stricter makes enforce of warn",
     .choices = steps,
     .required = true},
    {.name = "reason",
     .type = KEY_STRING,
     .offset = offsetof(struct override, reason),
     .summary = "why",
     .maximum = LINE_BYTES_MAX},
    {0},
};

static const struct key spec_keys[] = {
    {.name = "mode",
     .type = KEY_ENUM,
     .offset = offsetof(struct document, mode),
     .summary = "what a finding does, for each rail that does not set its own: enforce denies, "
                "warn returns a warning, audit only records it, off looks for none",
     .default_value = "audit",
     .choices = modes},
    {.name = "since",
     .type = KEY_TIME,
     .offset = offsetof(struct document, since_unix_s),
     .summary = "spare what is older: a new Pod of a workload from before this day or time is "
                "warned, not denied; for each rail that does not set its own"},
    {.name = "contact",
     .type = KEY_STRING,
     .offset = offsetof(struct document, policy.contact),
     .summary = "whom to ask; ends every denial",
     .maximum = LINE_BYTES_MAX},
    {.name = "docs",
     .type = KEY_STRING,
     .offset = offsetof(struct document, policy.docs),
     .summary = "where to read more; {rail} becomes the rail's name",
     .maximum = LINE_BYTES_MAX},
    {.name = "match",
     .type = KEY_MAP,
     .offset = offsetof(struct document, policy.match),
     .summary = "which objects the policy is for; absent: all that the webhook is sent",
     .children = match_keys,
     .given_offset = offsetof(struct document, policy.match.given)},
    {.name = "karpenter",
     .type = KEY_MAP,
     .summary = "how the cluster's Karpenter is set, as its own options name it, as far as that "
                "changes what is found; true of the whole cluster, whatever match says, so that "
                "no two policies may contradict each other",
     .children = karpenter_keys},
    {.name = "extendedResourceToleration",
     .type = KEY_BOOL,
     .offset = offsetof(struct document, policy.extended_resource_toleration),
     .summary = "whether the cluster's API server adds to a Pod the tolerations of the extended "
                "resources that it asks for (the admission plugin of this name). EKS and GKE run "
                "it; where it does not run, false lets accelerators ask for the toleration",
     .default_value = "true"},
    {.name = "limits",
     .type = KEY_MAP,
     .summary = "how long a review may take; over several policies the smallest counts",
     .children = review_limit_keys},
    {.name = "rails",
     .type = KEY_RAILS,
     .offset = offsetof(struct document, rails),
     .summary = "the rails that are on, by name, each with its keys; {} is a rail with its "
                "defaults, and one that is not named is off"},
    {.name = "exceptions",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, exceptions),
     .summary = "what some objects may do for a while",
     .children = exception_keys,
     .item_size = sizeof(struct exception)},
    {.name = "overrides",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, overrides),
     .summary = "namespaces in which rails are one mode softer or stricter than the policy says; "
                "of several that apply a stricter one wins, and never more than one step. A "
                "namespace's owners have no say in it as long as it is chosen by name, or by a "
                "label that they may not set",
     .children = override_keys,
     .item_size = sizeof(struct override)},
    {.name = "podTemplates",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, pod_templates),
     .summary = "custom resources that hold pod templates, and where; this policy's rails judge "
                "each template as they judge a Deployment's, but for those that ask for replicas",
     .children = pod_template_keys,
     .item_size = sizeof(struct templated_kind)},
    {.name = "trustedControllers",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, trusted_controllers),
     .summary = "who makes objects for others, besides Kubernetes' own controllers: what this "
                "account makes for such an owner counts as the owner's, and what has a pod "
                "template is not denied itself; of all policies together",
     .children = trusted_controller_keys,
     .item_size = sizeof(struct trusted_controller)},
    {0},
};

static const struct key metadata_keys[] = {
    {.name = "name",
     .type = KEY_STRING,
     .offset = offsetof(struct document, policy.name),
     .summary = "the policy's name, which findings carry; no two policies have the same",
     .maximum = NAME_BYTES_MAX,
     .required = true},
    {.name = "labels",
     .type = KEY_NODE,
     .offset = offsetof(struct document, labels),
     .summary = "not read"},
    {.name = "annotations",
     .type = KEY_NODE,
     .offset = offsetof(struct document, annotations),
     .summary = "not read"},
    {0},
};

const struct key document_keys[] = {
    {.name = "apiVersion",
     .type = KEY_ENUM,
     .offset = offsetof(struct document, api_version),
     .summary = "the version of this format",
     .choices = api_versions,
     .required = true},
    {.name = "kind",
     .type = KEY_ENUM,
     .offset = offsetof(struct document, kind),
     .summary = "what the document is",
     .choices = kinds,
     .required = true},
    {.name = "metadata",
     .type = KEY_MAP,
     .summary = "what the policy is called",
     .children = metadata_keys,
     .required = true},
    {.name = "spec",
     .type = KEY_MAP,
     .summary = "what the policy says",
     .children = spec_keys,
     .required = true},
    {0},
};

const struct key rail_common_keys[] = {
    {.name = "mode",
     .type = KEY_ENUM,
     .offset = offsetof(struct rail_common, mode),
     .summary = "what a finding of this rail does; absent: as spec.mode says",
     .choices = modes,
     .given_offset = offsetof(struct rail_common, mode_given)},
    {.name = "since",
     .type = KEY_TIME,
     .offset = offsetof(struct rail_common, since_unix_s),
     .summary = "spare what is older: a new Pod of a workload from before this day or time is "
                "warned, not denied; absent: as spec.since says",
     .given_offset = offsetof(struct rail_common, since_given)},
    {0},
};

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

static bool is_other_kind(const struct node *root)
{
    const struct node *kind = node_get(root, "kind");
    return node_is(kind, NODE_STRING) && !text_is(node_string(kind), kinds[0]);
}

bool document_read(const struct schema *schema, const struct node *root,
                   const struct catalog *catalog, struct problems *warnings, struct policy *policy)
{
    const struct field *top = field_root(schema->arena, root);
    if (!node_is(root, NODE_MAP))
        return schema_refuse(schema, top, TEXT("a map with apiVersion, kind, metadata and spec"),
                             TEXT(""));
    /* Of something else altogether every key would be a problem: one is enough. */
    if (is_other_kind(root))
        return schema_refuse(schema, field_get(schema->arena, top, "kind"), TEXT("GuardRails"),
                             TEXT("; a policy folder holds nothing else, but for folders named "
                                  "tests and files named cases.yaml"));

    struct document document = {0};
    bool good = schema_read(schema, top, &(struct schema_part){document_keys, &document}, 1);
    const struct field *spec = field_get(schema->arena, top, "spec");
    karpenter_note_places(schema, spec, &document.policy.karpenter);
    review_limits_note_place(schema, spec, &document.policy.limits);
    struct exception *exceptions = document.exceptions.items;
    size_t exception_count = document.exceptions.count;
    document.policy.exceptions = exceptions;
    document.policy.exception_count = exception_count;
    document.policy.place = source_place(
        schema->source, schema->arena, field_offset(field_at(schema->arena, top, "metadata.name")));

    struct document_reader reader = {schema, catalog, warnings, &document};
    good = read_rails(&reader, field_get(schema->arena, spec, "rails")) && good;
    good = exceptions_check(schema, spec, exceptions, exception_count) && good;
    document.policy.overrides = document.overrides.items;
    document.policy.override_count = document.overrides.count;
    good = overrides_check(schema, spec, &document.policy) && good;
    good = read_templates(schema, spec, &document) && good;
    struct trusted_controller *trusted = document.trusted_controllers.items;
    document.policy.trusted_count = document.trusted_controllers.count;
    document.policy.trusted = trusted;
    good = trusted_controllers_check(schema, spec, trusted, document.policy.trusted_count) && good;
    *policy = document.policy;
    if (good && policy->rail_count == 0)
        problems_add(warnings, ERROR_POLICY, policy->place,
                     "the policy \"%.*s\" names no rail under spec.rails, so it finds nothing",
                     TEXT_ARGS(policy->name));
    return good;
}
