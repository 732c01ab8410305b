/* The rail node-rotation: nodes that grow old, and images that change by themselves. */
#include "policy/rails/node_rotation.h"

#include "kube/placeholder.h"
#include "kube/time.h"
#include "policy/rails/duration_fault.h"

struct settings {
    int64_t max_expire_s;
    bool require_grace_period, pinned_ami;
};

static const struct key keys[] = {
    {.name = "maxExpireAfter",
     .type = KEY_DURATION,
     .offset = offsetof(struct settings, max_expire_s),
     .summary = "the longest a node may live, as in 336h",
     .default_value = "720h"},
    {.name = "requireTerminationGracePeriod",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, require_grace_period),
     .summary = "every NodePool says how long a node may take to drain, so that a pod cannot hold "
                "an expired node for ever",
     .default_value = "false"},
    {.name = "pinnedAmi",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, pinned_ami),
     .summary = "an EC2NodeClass selects images that do not change by themselves",
     .default_value = "true"},
    {0},
};

struct text node_rotation_most(const struct rail_call *call)
{
    const struct settings *settings = rail_settings(call, &rail_node_rotation);
    return settings == NULL ? TEXT("") : duration_text(settings->max_expire_s, call->arena);
}

/* ---- how old nodes grow ---- */

/* An age as its object writes it. */
struct age {
    const struct field *field;
    bool in_seconds; /* of a Provisioner, as a number */
    int64_t seconds;
};

static struct text age_text(const struct age *age, int64_t seconds, struct arena *arena)
{
    return age->in_seconds ? arena_printf(arena, "%lld", (long long)seconds)
                           : duration_text(seconds, arena);
}

static void report_old(struct rail_call *call, const struct settings *settings,
                       const struct age *age, struct text statement)
{
    struct text most = age_text(age, settings->max_expire_s, call->arena);
    report_with(call, .field = age->field, .found = node_text(age->field->node),
                .statement = statement,
                .fix = arena_printf(call->arena, "Set it to at most %.*s.", TEXT_ARGS(most)),
                .replacement = most);
}

/* Each time a node is bought, and pods move, for an age at which no image is out of date. */
static void warn_of_young(struct rail_call *call, const struct settings *settings,
                          const struct age *age)
{
    enum { MINUTE_S = 60, YOUNG_S = 12 * 3600, DAY_S = 24 * 3600 };
    struct arena *arena = call->arena;
    if (age->seconds >= YOUNG_S || settings->max_expire_s < DAY_S)
        return;
    struct text often = age->seconds < MINUTE_S ? TEXT("as soon as it is there")
                                                : arena_printf(arena, "%lld times a day",
                                                               (long long)(DAY_S / age->seconds));
    struct text least = age_text(age, DAY_S, arena);
    report_as(call, SEVERITY_WARN, .field = age->field, .found = node_text(age->field->node),
              .statement =
                  arena_printf(arena, "With %.*s %.*s each node is drained and replaced %.*s.",
                               TEXT_ARGS(age->field->key), TEXT_ARGS(node_text(age->field->node)),
                               TEXT_ARGS(often)),
              .fix = arena_printf(arena, "Set it to at least %.*s.", TEXT_ARGS(least)));
}

static void judge_age(struct rail_call *call, const struct settings *settings,
                      const struct age *age)
{
    struct arena *arena = call->arena;
    if (age->seconds <= settings->max_expire_s)
        warn_of_young(call, settings, age);
    else
        report_old(call, settings, age,
                   arena_printf(arena, "%.*s %.*s is above the maximum of %.*s.",
                                TEXT_ARGS(age->field->key), TEXT_ARGS(node_text(age->field->node)),
                                TEXT_ARGS(duration_text(settings->max_expire_s, arena))));
}

/* ---- NodePool ---- */

static void report_no_duration(struct rail_call *call, const struct field *field, struct text fix)
{
    struct draft draft = duration_fault(field, call->arena);
    if (fix.size > 0)
        draft.fix = fix;
    report_draft(call, &draft);
}

static void judge_expiry(struct rail_call *call, const struct settings *settings,
                         const struct field *field)
{
    enum { DEFAULT_S = 720 * 3600 };
    struct age age = {.field = field, .seconds = DEFAULT_S};
    if (!node_is_given(field->node)) {
        if (age.seconds > settings->max_expire_s)
            report_old(call, settings, &age,
                       arena_printf(call->arena,
                                    "Without expireAfter nodes live for 720h, above the maximum "
                                    "of %.*s.",
                                    TEXT_ARGS(duration_text(settings->max_expire_s, call->arena))));
        return;
    }
    if (text_is(node_text(field->node), "Never"))
        report_old(call, settings, &age,
                   TEXT("With expireAfter: Never no node is replaced for its age, however old its "
                        "kernel and its image."));
    else if (duration_parse(node_string(field->node), &age.seconds))
        judge_age(call, settings, &age);
    else if (!text_has_placeholder(node_string(field->node)))
        report_no_duration(call, field, TEXT(""));
}

/* What is above the maximum would be found at the new place, too. */
static struct text fix_of_misplaced(const struct rail_call *call, const struct settings *settings,
                                    const struct node *old_value, const struct node *new_value)
{
    int64_t seconds;
    if (node_is_given(new_value))
        return TEXT("Remove it, since spec.template.spec.expireAfter counts.");
    if (duration_parse(node_string(old_value), &seconds) && seconds <= settings->max_expire_s)
        return TEXT("Move it to spec.template.spec.expireAfter.");
    return arena_printf(call->arena, "Write spec.template.spec.expireAfter: %.*s instead.",
                        TEXT_ARGS(duration_text(settings->max_expire_s, call->arena)));
}

static void judge_pool(struct rail_call *call, const struct settings *settings)
{
    struct arena *arena = call->arena;
    const struct field *root = call->object->root;
    const struct field *old_place = field_at(arena, root, "spec.disruption.expireAfter");
    const struct field *new_place = field_at(arena, root, "spec.template.spec.expireAfter");
    if (object_is_v1beta1(call->object)) {
        judge_expiry(call, settings, old_place);
        return;
    }
    if (node_is_given(old_place->node))
        report(call, SEVERITY_RAIL, old_place,
               fix_of_misplaced(call, settings, old_place->node, new_place->node),
               "expireAfter stands where v1beta1 had it. The API server drops it%s.",
               node_is_given(new_place->node) ? "" : ", and nodes expire after 720h");
    if (!node_is_given(old_place->node) || node_is_given(new_place->node))
        judge_expiry(call, settings, new_place);
    const struct field *grace = field_at(arena, root, "spec.template.spec.terminationGracePeriod");
    if (duration_is_malformed(grace))
        report_no_duration(call, grace,
                           text_is(node_string(grace->node), "Never")
                               ? TEXT("Remove it, since without one a drain may take any time.")
                               : TEXT(""));
    else if (settings->require_grace_period && node_text(grace->node).size == 0)
        report(call, SEVERITY_RAIL, grace, TEXT("Set terminationGracePeriod: 24h."),
               "Without terminationGracePeriod a pod that may not be evicted keeps an expired "
               "node for ever.");
}

/* ---- Provisioner ---- */

static void judge_provisioner(struct rail_call *call, const struct settings *settings)
{
    struct age age = {
        .field = field_at(call->arena, call->object->root, "spec.ttlSecondsUntilExpired"),
        .in_seconds = true,
    };
    if (node_integer(age.field->node, &age.seconds))
        judge_age(call, settings, &age);
}

/* ---- EC2NodeClass: images ---- */

/* The version within the name of an image: "...-v20250116", "...-v1.32.0-cacc4ce9". */
static struct text version_of_image(struct text name)
{
    for (size_t i = 0; i + 2 < name.size; i++) {
        if (name.data[i] != '-' || name.data[i + 1] != 'v' || name.data[i + 2] < '0' ||
            name.data[i + 2] > '9')
            continue;
        struct text version = {name.data + i + 1, name.size - i - 1};
        text_split(version, '-', &version, NULL);
        return version;
    }
    return TEXT("");
}

/* The version of the images that nodes of the class get, by its status; empty when not known. */
static struct text version_in_use(const struct object *class)
{
    const struct node *images = node_at(class->root->node, "status.amis");
    for (size_t i = 0; i < node_count(images); i++) {
        struct text version = version_of_image(node_string(node_get(node_item(images, i), "name")));
        if (version.size > 0)
            return version;
    }
    return TEXT("");
}

/* Where the images in use are not in view, kubectl shows them. */
static struct text fix_of_alias(const struct object *class, struct text family, struct arena *arena)
{
    struct text version = version_in_use(class);
    if (text_starts_with(family, TEXT("windows")))
        return TEXT("Select the images by id, since Windows has no alias of one version.");
    if (version.size > 0)
        return arena_printf(arena, "Pin the version that is in use: %.*s@%.*s.", TEXT_ARGS(family),
                            TEXT_ARGS(version));
    if (text_is(family, "al2"))
        return TEXT("Move to al2023, and pin a release that you have tested, as in "
                    "al2023@vYYYYMMDD.");
    bool bottlerocket = text_is(family, "bottlerocket");
    return arena_printf(arena,
                        "Pin a %srelease%s that you have tested, as in %.*s@%s; kubectl get "
                        "ec2nodeclass %.*s -o jsonpath='{.status.amis[*].name}' shows the one in "
                        "use.",
                        bottlerocket ? "Bottlerocket " : "",
                        bottlerocket ? " (not a version of Kubernetes)" : "", TEXT_ARGS(family),
                        bottlerocket ? "vX.Y.Z" : "vYYYYMMDD", TEXT_ARGS(class->name));
}

static void judge_alias(struct rail_call *call, const struct field *field)
{
    struct arena *arena = call->arena;
    struct text alias = node_string(field->node);
    struct text family, version;
    if (!text_split(alias, '@', &family, &version) || !text_is(version, "latest"))
        return;
    bool over = text_is(family, "al2");
    /* node-class says that its images have come to their end. */
    if (over && rail_settings(call, &rail_node_class) != NULL)
        return;
    struct text fix = fix_of_alias(call->object, family, arena);
    if (over)
        report(call, SEVERITY_RAIL, field, fix,
               "al2@latest has had no new image since November 2025, and has none for Kubernetes "
               "1.33 or later.");
    else
        report(call, SEVERITY_RAIL, field, fix,
               "With %.*s all nodes are replaced whenever an image is published, tested or not.",
               TEXT_ARGS(alias));
}

static void report_moving(struct rail_call *call, const struct field *field, const char *why)
{
    struct text found = node_string(field->node);
    report(call, SEVERITY_RAIL, field, TEXT("Name one image, or its id."), "\"%.*s\" %s.",
           TEXT_ARGS(found), why);
}

static void judge_tags(struct rail_call *call, const struct field *tags)
{
    FOR_MEMBERS(tag, call->arena, tags)
        if (text_is_glob(node_string(tag->node)))
            report_moving(call, tag, "selects whatever image has the tag when a node is made");
}

/* A version of a parameter stays as it is (docs/reference/karpenter.md 6.10). */
static bool names_version(struct text parameter)
{
    struct text version;
    return text_split_last(parameter, ':', NULL, &version) && text_is_digits(version);
}

static void judge_parameter(struct rail_call *call, const struct field *parameter)
{
    static const char *const moving[] = {
        "*/recommended/*",
        "*/recommended",
        "*/latest/*",
        "*/latest",
        "*/aws/service/ami-*-latest/*",
        "*/aws/service/canonical/*/current/*",
    };
    struct text path = node_string(parameter->node);
    if (names_version(path))
        return;
    for (size_t i = 0; i < COUNT_OF(moving); i++) {
        if (!text_matches_glob(path, text_of(moving[i])))
            continue;
        report_moving(call, parameter, "is a parameter that moves on with each new image");
        return;
    }
}

static void judge_term(struct rail_call *call, const struct field *term)
{
    struct arena *arena = call->arena;
    judge_alias(call, field_get(arena, term, "alias"));
    const struct field *name = field_get(arena, term, "name");
    if (text_is_glob(node_string(name->node)))
        report_moving(call, name, "selects whatever image matches when a node is made");
    judge_tags(call, field_get(arena, term, "tags"));
    judge_parameter(call, field_get(arena, term, "ssmParameter"));
}

static void judge_class(struct rail_call *call)
{
    const struct field *terms = field_at(call->arena, call->object->root, "spec.amiSelectorTerms");
    FOR_FIELDS(term, call->arena, terms)
        judge_term(call, term);
    /* Of an object to write anew api-versions says which images it is to have. */
    bool told = object_is_v1beta1(call->object) && rail_settings(call, &rail_api_versions) != NULL;
    if (node_count(terms->node) == 0 && !told)
        report_found(call, SEVERITY_RAIL, terms, TEXT(""), TEXT("Select one image by id or name."),
                     "%s",
                     object_is_v1beta1(call->object)
                         ? "Without amiSelectorTerms the newest image of the amiFamily counts. "
                           "All nodes are replaced whenever one is published."
                         : "Without amiSelectorTerms no image is selected.");
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    if (call->object->kind == KIND_NODE_POOL)
        judge_pool(call, settings);
    else if (call->object->kind == KIND_PROVISIONER)
        judge_provisioner(call, settings);
    else if (settings->pinned_ami)
        judge_class(call);
}

const struct rail rail_node_rotation = {
    .name = "node-rotation",
    .summary = "nodes that are replaced in time, by images you chose",
    .detail =
        "A node is patched by being replaced. expireAfter says how old one may grow; the rail "
        "finds Never, what is above maxExpireAfter, what is no duration, and a value left at "
        "spec.disruption.expireAfter, where v1 drops it silently. Missing, it is 720h. A "
        "terminationGracePeriod that is no duration is found, too. Less than 12h is a warning: "
        "each "
        "time a node is bought and pods move. Of a Provisioner ttlSecondsUntilExpired is judged, "
        "where it is written.\n\n"
        "On v1 an expired node is drained at once, whatever the disruption budgets say (the rail "
        "disruption-budgets tells when), and the drain waits for each pod that may not be "
        "evicted: terminationGracePeriod bounds it.\n\n"
        "The other half is the image. An alias @latest, a name or a tag with a wildcard and an "
        "SSM parameter of recommended, latest or (of Canonical) current images select whatever was "
        "published last: "
        "Karpenter then replaces the nodes of every cluster on that day. Pinned, an image is "
        "rolled out by changing the EC2NodeClass. Where status.amis shows it, the fix names the "
        "version in use. A v1beta1 class that selects no image is left to api-versions, where the "
        "policy has that rail.",
    .example = "node-rotation:\n"
               "  mode: enforce\n"
               "  maxExpireAfter: 336h\n"
               "  requireTerminationGracePeriod: true\n"
               "  pinnedAmi: true\n",
    .kinds = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER) | KIND_BIT(KIND_EC2_NODE_CLASS),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
