/* The keys of policy files: of GuardRails and of GuardRailExceptions. */
#include "policy/document.h"
#include "policy/pod_templates.h"

enum { NAME_BYTES_MAX = 253, LINE_BYTES_MAX = 1024 };

static const char *const api_versions[] = {"taffrail.dev/v1alpha1", NULL};
static const char *const kinds[] = {"GuardRails", NULL};
static const char *const exceptions_kinds[] = {"GuardRailExceptions", NULL};
/* In the order of enum mode. */
static const char *const modes[] = {"off", "audit", "warn", "enforce", NULL};
/* In the order of enum step. */
static const char *const steps[] = {"softer", "stricter", NULL};
static const char *const operations[] = {"CREATE", "UPDATE", "DELETE", NULL};

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
     .summary = "who asked for it; in a document of its own absent: the document's owner",
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
     .summary = "only when an object is created, updated or deleted",
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

static const struct key grant_keys[] = {
    {.name = "owner",
     .type = KEY_STRING,
     .offset = offsetof(struct grant, owner),
     .summary = "to whom: the spec.owner of documents of kind GuardRailExceptions",
     .maximum = LINE_BYTES_MAX,
     .required = true},
    {.name = "rails",
     .type = KEY_STRINGS,
     .offset = offsetof(struct grant, rails),
     .summary = "the rails that these documents may lift or move, of those this policy uses",
     .minimum = 1,
     .required = true},
    {.name = "namespaces",
     .type = KEY_GLOBS,
     .offset = offsetof(struct grant, namespaces),
     .summary = "in these namespaces only: what a document matches must lie within them; absent: "
                "everywhere, and objects in no namespace",
     .minimum = 1},
    {.name = "maxDuration",
     .type = KEY_DURATION,
     .offset = offsetof(struct grant, longest_s),
     .summary = "the longest that an exception may last from today; absent: any time"},
    {.name = "steps",
     .type = KEY_STRINGS,
     .offset = offsetof(struct grant, steps),
     .summary = "which overrides the documents may hold; softer ones have no end",
     .default_value = "[stricter]",
     .choices = steps},
    {0},
};

static const struct key spec_keys[] = {
    {.name = "mode",
     .type = KEY_ENUM,
     .offset = offsetof(struct document, mode),
     .summary =
         "what a finding does, for each rail that does not set its own: enforce denies, "
         "warn returns a warning, audit only records it, off looks for none; what a rail would "
         "add to Pods is added in enforce alone",
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
    {.name = "check",
     .type = KEY_STRING,
     .offset = offsetof(struct document, policy.check),
     .summary = "the command that a denial's last line names, for people without the policy's "
                "file: kubectl taffrail check --from-cluster -f FILE",
     .default_value = "taffrail check -p POLICY -f FILE",
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
    {.name = "grants",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, grants),
     .summary =
         "who may add exceptions and overrides to this policy in documents of their own (kind "
         "GuardRailExceptions), and to which rails; absent: nobody",
     .children = grant_keys,
     .item_size = sizeof(struct grant)},
    {.name = "podTemplates",
     .type = KEY_MAPS,
     .offset = offsetof(struct document, pod_templates),
     .summary = "custom resources that hold pod templates, and where; this policy's rails judge "
                "each template as they judge a Deployment's, but for those that ask for replicas; "
                "of an object the first 1000: one that has more is denied where a rail in enforce "
                "judges them",
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

/* ---- exceptions in documents of their own ---- */

static const struct key exceptions_metadata_keys[] = {
    {.name = "name",
     .type = KEY_STRING,
     .offset = offsetof(struct exceptions_document, name),
     .summary = "the document's name; findings say NAME/ID of an exception or override in it; no "
                "two documents have the same",
     .maximum = NAME_BYTES_MAX,
     .required = true},
    {.name = "labels",
     .type = KEY_NODE,
     .offset = offsetof(struct exceptions_document, labels),
     .summary = "not read"},
    {.name = "annotations",
     .type = KEY_NODE,
     .offset = offsetof(struct exceptions_document, annotations),
     .summary = "not read"},
    {0},
};

static const struct key exceptions_spec_keys[] = {
    {.name = "policies",
     .type = KEY_STRINGS,
     .offset = offsetof(struct exceptions_document, policies),
     .summary = "the policies it adds to, by metadata.name; each must be read with it, and grant "
                "what is in it",
     .minimum = 1,
     .required = true},
    {.name = "owner",
     .type = KEY_STRING,
     .offset = offsetof(struct exceptions_document, owner),
     .summary = "whose document it is: an owner under spec.grants of the policies",
     .maximum = LINE_BYTES_MAX,
     .required = true},
    {.name = "exceptions",
     .type = KEY_MAPS,
     .offset = offsetof(struct exceptions_document, exceptions),
     .summary = "what some objects may do for a while, as under spec.exceptions of a policy",
     .children = exception_keys,
     .item_size = sizeof(struct exception)},
    {.name = "overrides",
     .type = KEY_MAPS,
     .offset = offsetof(struct exceptions_document, overrides),
     .summary = "namespaces in which rails are one mode softer or stricter, as under "
                "spec.overrides of a policy",
     .children = override_keys,
     .item_size = sizeof(struct override)},
    {0},
};

const struct key exceptions_document_keys[] = {
    {.name = "apiVersion",
     .type = KEY_ENUM,
     .offset = offsetof(struct exceptions_document, api_version),
     .summary = "the version of this format",
     .choices = api_versions,
     .required = true},
    {.name = "kind",
     .type = KEY_ENUM,
     .offset = offsetof(struct exceptions_document, kind),
     .summary = "what the document is",
     .choices = exceptions_kinds,
     .required = true},
    {.name = "metadata",
     .type = KEY_MAP,
     .summary = "what the document is called",
     .children = exceptions_metadata_keys,
     .required = true},
    {.name = "spec",
     .type = KEY_MAP,
     .summary = "what it adds, to which policies",
     .children = exceptions_spec_keys,
     .required = true},
    {0},
};

/* ---- what every rail has ---- */

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
