/* Which objects a policy and its exceptions reach. The rules are read from YAML, as people write
 * them. */
#include <stdio.h>
#include <string.h>

#include "catalog/catalog.h"
#include "policy/document.h"
#include "unit.h"

static void take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

static const struct node *read_node(struct arena *arena, const char *text, struct source **source)
{
    *source = ARENA_NEW(arena, struct source);
    (*source)->text = text_of(text);
    struct problems problems = {.arena = arena};
    const struct node *root = NULL;
    doc_read_yaml(*source, YAML_POLICY, &doc_limits_policy, arena, &problems, take_root,
                  (void *)&root);
    CU_ASSERT_FATAL(root != NULL && problems.count == 0);
    return root;
}

/* The policy with this under spec. */
static struct policy read_policy(struct arena *arena, const char *spec)
{
    struct text text = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails,"
                                    " metadata: {name: p}, spec: {%s}}",
                                    spec);
    struct source *source = NULL;
    const struct node *root = read_node(arena, text.data, &source);
    struct problems problems = {.arena = arena};
    struct schema schema = {source, arena, &problems};
    struct policy policy = {0};
    bool good = document_read(&schema, root, catalog_builtin(arena), &problems, &policy);
    if (!good)
        fprintf(stderr, "%s\n  %s\n", text.data, problems.items[0].what);
    CU_ASSERT_TRUE_FATAL(good);
    return policy;
}

/* ---- match ---- */

#define NO MATCH_NO
#define YES MATCH_YES
#define UNKNOWN MATCH_UNKNOWN
#define NAME "kubernetes.io/metadata.name"
#define UNTIERED "namespaceSelector: {matchExpressions: [{key: tier, operator: DoesNotExist}]}"

struct match_case {
    const char *match; /* under spec.match */
    enum kind kind;
    const char *namespace, *root_name, *group, *labels; /* labels NULL: not known */
    enum match_result expected;
};

static const struct match_case match_cases[] = {
    {"", KIND_POD, "a", "web", NULL, NULL, YES},
    {"", KIND_NODE_POOL, "", "pool", NULL, NULL, YES},
    /* namespaces */
    {"namespaces: [team-*]", KIND_POD, "team-a", "web", NULL, NULL, YES},
    {"namespaces: [team-*]", KIND_POD, "team", "web", NULL, NULL, NO},
    {"namespaces: [a, team-*]", KIND_POD, "team-a", "web", NULL, NULL, YES},
    {"namespaces: [\"*\"]", KIND_NODE_POOL, "", "pool", NULL, NULL, NO},
    {"namespaces: [\"*\"]", KIND_NAMESPACE, "", "team-a", NULL, NULL, NO},
    {"excludeNamespaces: [kube-*]", KIND_POD, "kube-system", "web", NULL, NULL, NO},
    {"excludeNamespaces: [kube-*]", KIND_POD, "a", "web", NULL, NULL, YES},
    {"excludeNamespaces: [\"*\"]", KIND_NODE_POOL, "", "pool", NULL, NULL, YES},
    {"excludeNamespaces: []", KIND_POD, "a", "web", NULL, NULL, YES},
    {"namespaces: [team-*], excludeNamespaces: [team-b]", KIND_POD, "team-a", "w", NULL, NULL, YES},
    {"namespaces: [team-*], excludeNamespaces: [team-b]", KIND_POD, "team-b", "w", NULL, NULL, NO},
    /* namespaceSelector */
    {"namespaceSelector: {matchLabels: {tier: prod}}", KIND_POD, "a", "w", NULL, "{tier: prod}",
     YES},
    {"namespaceSelector: {matchLabels: {tier: prod}}", KIND_POD, "a", "w", NULL, "{tier: dev}", NO},
    {"namespaceSelector: {matchLabels: {tier: prod}}", KIND_POD, "a", "w", NULL, "{}", NO},
    {"namespaceSelector: {matchLabels: {tier: prod}}", KIND_POD, "a", "w", NULL, NULL, UNKNOWN},
    {"namespaceSelector: {}", KIND_POD, "a", "w", NULL, "{}", YES},
    {"namespaceSelector: {}", KIND_NODE_POOL, "", "pool", NULL, NULL, NO},
    /* each has its name as a label */
    {"namespaceSelector: {}", KIND_POD, "a", "w", NULL, NULL, YES},
    {"namespaceSelector: {matchLabels: {" NAME ": a}}", KIND_POD, "a", "w", NULL, NULL, YES},
    {"namespaceSelector: {matchLabels: {" NAME ": b}}", KIND_POD, "a", "w", NULL, NULL, NO},
    {"namespaceSelector: {matchLabels: {" NAME ": a, tier: prod}}", KIND_POD, "a", "w", NULL, NULL,
     UNKNOWN},
    {"namespaceSelector: {matchLabels: {" NAME ": b, tier: prod}}", KIND_POD, "a", "w", NULL, NULL,
     NO},
    {"namespaceSelector: {matchExpressions: [{key: tier, operator: DoesNotExist}]}", KIND_POD, "a",
     "w", NULL, "{a: b}", YES},
    {"namespaceSelector: {matchExpressions: [{key: tier, operator: NotIn, values: [dev]}]}",
     KIND_POD, "a", "w", NULL, "{tier: dev}", NO},
    /* what is not known does not matter when the rest says no */
    {"namespaces: [b], namespaceSelector: {}", KIND_POD, "a", "w", NULL, NULL, NO},
    {"kinds: [Job], namespaceSelector: {}", KIND_POD, "a", "w", NULL, NULL, NO},
    {"names: [b], namespaceSelector: {}", KIND_POD, "a", "w", NULL, NULL, NO},
    {"excludeGroups: [g], namespaceSelector: {}", KIND_POD, "a", "w", "g", NULL, NO},
    /* kinds */
    {"kinds: [Pod, Job]", KIND_JOB, "a", "w", NULL, NULL, YES},
    {"kinds: [Pod, Job]", KIND_CRON_JOB, "a", "w", NULL, NULL, NO},
    {"kinds: [NodePool]", KIND_NODE_POOL, "", "pool", NULL, NULL, YES},
    {"kinds: [NodePool]", KIND_POD, "a", "w", NULL, NULL, NO},
    /* names */
    {"names: [\"train-*\"]", KIND_POD, "a", "train-7", NULL, NULL, YES},
    {"names: [\"train-*\"]", KIND_POD, "a", "web", NULL, NULL, NO},
    {"names: [gpu-?]", KIND_NODE_POOL, "", "gpu-1", NULL, NULL, YES},
    {"names: [gpu-?]", KIND_NODE_POOL, "", "gpu-10", NULL, NULL, NO},
    /* excludeGroups */
    {"excludeGroups: [\"system:masters\"]", KIND_POD, "a", "w", "system:masters", NULL, NO},
    {"excludeGroups: [\"system:*\"]", KIND_POD, "a", "w", "system:nodes", NULL, NO},
    {"excludeGroups: [\"system:masters\"]", KIND_POD, "a", "w", "developers", NULL, YES},
    {"excludeGroups: [\"system:masters\"]", KIND_POD, "a", "w", NULL, NULL, YES},
    {"excludeGroups: [\"system:masters\"]", KIND_NODE_POOL, "", "p", "system:masters", NULL, NO},
};

static struct match_subject subject_of(struct arena *arena, const struct match_case *given)
{
    struct object *object = ARENA_NEW(arena, struct object);
    object->kind = given->kind;
    object->namespace = text_of(given->namespace);
    struct match_subject subject = {.object = object, .root_name = text_of(given->root_name)};
    if (given->group != NULL) {
        struct text *groups = ARENA_ARRAY(arena, 2, struct text);
        groups[0] = TEXT("everybody");
        groups[1] = text_of(given->group);
        struct requester *requester = ARENA_NEW(arena, struct requester);
        *requester = (struct requester){TEXT("ann"), groups, 2};
        subject.requester = requester;
    }
    struct source *source = NULL;
    if (given->labels != NULL) {
        struct object *namespace = ARENA_NEW(arena, struct object);
        namespace->labels = read_node(arena, given->labels, &source);
        subject.namespace = namespace;
    }
    return subject;
}

static void objects_match_by_every_rule_given(void)
{
    for (size_t i = 0; i < sizeof match_cases / sizeof match_cases[0]; i++) {
        const struct match_case *given = &match_cases[i];
        struct arena *arena = arena_create(64 << 20);
        struct text spec =
            given->match[0] == '\0' ? TEXT("") : arena_printf(arena, "match: {%s}", given->match);
        struct policy policy = read_policy(arena, spec.data);
        struct match_subject subject = subject_of(arena, given);
        enum match_result actual = match_evaluate(&policy.match, &subject);
        if (actual != given->expected)
            fprintf(stderr, "match: {%s} in namespace \"%s\" is %d\n", given->match,
                    given->namespace, actual);
        ASSERT_INT(actual, given->expected);
        arena_destroy(arena);
    }
}

/* ---- who asks, for what, with which labels ---- */

#define ACCOUNT "system:serviceaccount:"

static const struct {
    const char *match, *user; /* user NULL: nobody asks */
    enum operation operation;
    const char *labels; /* of the object; NULL: none */
    enum match_result expected;
} request_cases[] = {
    {"labelSelector: {matchLabels: {app: web}}", NULL, OPERATION_CREATE, "{app: web, a: b}", YES},
    {"labelSelector: {matchLabels: {app: web}}", NULL, OPERATION_CREATE, "{app: db}", NO},
    {"labelSelector: {matchLabels: {app: web}}", NULL, OPERATION_CREATE, NULL, NO},
    {"labelSelector: {}", NULL, OPERATION_CREATE, NULL, YES},
    {"labelSelector: {matchExpressions: [{key: app, operator: DoesNotExist}]}", NULL,
     OPERATION_CREATE, NULL, YES},
    {"labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", NULL,
     OPERATION_UPDATE, "{app: web}", NO},
    /* the object is no namespace, and a namespace no object */
    {"labelSelector: {matchLabels: {app: web}}, " UNTIERED, NULL, OPERATION_CREATE, "{app: web}",
     UNKNOWN},
    {"labelSelector: {matchLabels: {app: web}}, " UNTIERED, NULL, OPERATION_CREATE, "{app: db}",
     NO},
    {"operations: [CREATE]", NULL, OPERATION_CREATE, NULL, YES},
    {"operations: [CREATE]", NULL, OPERATION_UPDATE, NULL, NO},
    {"operations: [UPDATE]", NULL, OPERATION_CREATE, NULL, NO},
    {"operations: [UPDATE, CREATE]", NULL, OPERATION_UPDATE, NULL, YES},
    {"serviceAccounts: [argocd/controller]", ACCOUNT "argocd:controller", 0, NULL, YES},
    {"serviceAccounts: [argocd/controller]", ACCOUNT "argocd:controller2", 0, NULL, NO},
    {"serviceAccounts: [argocd/controller]", ACCOUNT "team:controller", 0, NULL, NO},
    {"serviceAccounts: [argocd/controller]", "argocd/controller", 0, NULL, NO},
    {"serviceAccounts: [argocd/controller]", "argocd:controller", 0, NULL, NO},
    {"serviceAccounts: [argocd/controller]", "jane", 0, NULL, NO},
    {"serviceAccounts: [argocd/controller]", NULL, 0, NULL, NO},
    {"serviceAccounts: [\"*/*\"]", ACCOUNT "a:b", 0, NULL, YES},
    {"serviceAccounts: [\"*/*\"]", ACCOUNT "a", 0, NULL, NO},
    {"serviceAccounts: [\"ci-?/deploy*\", x/y]", ACCOUNT "ci-1:deployer", 0, NULL, YES},
    {"serviceAccounts: [\"ci-?/deploy*\", x/y]", ACCOUNT "ci-10:deployer", 0, NULL, NO},
    {"serviceAccounts: [\"ci-?/deploy*\", x/y]", ACCOUNT "x:y", 0, NULL, YES},
    {"excludeServiceAccounts: [argocd/*]", ACCOUNT "argocd:controller", 0, NULL, NO},
    {"excludeServiceAccounts: [argocd/*]", ACCOUNT "argo:controller", 0, NULL, YES},
    {"excludeServiceAccounts: [argocd/*]", "jane", 0, NULL, YES},
    {"excludeServiceAccounts: [argocd/*]", NULL, 0, NULL, YES},
    {"serviceAccounts: [a/*], excludeServiceAccounts: [a/b]", ACCOUNT "a:b", 0, NULL, NO},
    {"serviceAccounts: [a/*], excludeServiceAccounts: [a/b]", ACCOUNT "a:c", 0, NULL, YES},
};

static void requests_match_by_every_rule_given(void)
{
    for (size_t i = 0; i < sizeof request_cases / sizeof request_cases[0]; i++) {
        struct arena *arena = arena_create(64 << 20);
        struct text spec = arena_printf(arena, "match: {%s}", request_cases[i].match);
        struct policy policy = read_policy(arena, spec.data);
        struct source *source = NULL;
        struct object object = {.kind = KIND_POD, .namespace = TEXT("a")};
        if (request_cases[i].labels != NULL)
            object.labels = read_node(arena, request_cases[i].labels, &source);
        struct requester requester = {.name = TEXT("")};
        struct match_subject subject = {.object = &object, .operation = request_cases[i].operation};
        if (request_cases[i].user != NULL) {
            requester.name = text_of(request_cases[i].user);
            subject.requester = &requester;
        }
        enum match_result actual = match_evaluate(&policy.match, &subject);
        if (actual != request_cases[i].expected)
            fprintf(stderr, "match: {%s} for %s is %d\n", request_cases[i].match,
                    request_cases[i].user == NULL ? "nobody" : request_cases[i].user, actual);
        ASSERT_INT(actual, request_cases[i].expected);
        arena_destroy(arena);
    }
}

/* ---- exceptions ---- */

#define RAILS "rails: {topology-keys: {}, instance-types: {}}, exceptions: "
#define EXPIRED "expires: 2027-01-01}"
#define SHORT "expires: 2027-02-01}"
#define LONG "expires: 2027-03-01}"

static const struct {
    const char *exceptions;
    const char *labels; /* of the namespace */
    const char *id;     /* NULL: none */
    bool expired, unknown;
} exception_cases[] = {
    {"[]", NULL, NULL, false, false},
    {"[{id: a, rails: [topology-keys], " LONG "]", NULL, "a", false, false},
    {"[{id: a, rails: [topology-keys], " EXPIRED "]", NULL, "a", true, false},
    {"[{id: a, rails: [instance-types], " LONG "]", NULL, NULL, false, false},
    {"[{id: a, rails: [instance-types, topology-keys], " LONG "]", NULL, "a", false, false},
    {"[{id: a, rails: [topology-keys], match: {names: [web]}, " LONG "]", NULL, "a", false, false},
    {"[{id: a, rails: [topology-keys], match: {names: [db]}, " LONG "]", NULL, NULL, false, false},
    {"[{id: a, rails: [topology-keys], match: {names: [db]}, " EXPIRED "]", NULL, NULL, false,
     false},
    /* of several, the one that lasts longest */
    {"[{id: a, rails: [topology-keys], " EXPIRED ", {id: b, rails: [topology-keys], " SHORT "]",
     NULL, "b", false, false},
    {"[{id: a, rails: [topology-keys], " SHORT ", {id: b, rails: [topology-keys], " LONG
     ", {id: c, rails: [topology-keys], " EXPIRED "]",
     NULL, "b", false, false},
    {"[{id: a, rails: [topology-keys], " LONG ", {id: b, rails: [topology-keys], " LONG "]", NULL,
     "a", false, false},
    /* labels that are not visible */
    {"[{id: a, rails: [topology-keys], match: {" UNTIERED "}, " LONG "]", NULL, NULL, false, true},
    {"[{id: a, rails: [topology-keys], match: {" UNTIERED "}, " LONG "]", "{}", "a", false, false},
    {"[{id: a, rails: [topology-keys], match: {" UNTIERED "}, " EXPIRED "]", NULL, NULL, false,
     false},
    {"[{id: a, rails: [topology-keys], match: {" UNTIERED "}, " LONG
     ", {id: b, rails: [topology-keys], " SHORT "]",
     NULL, "b", false, false},
    {"[{id: a, rails: [topology-keys], match: {" UNTIERED "}, " SHORT
     ", {id: b, rails: [topology-keys], " EXPIRED "]",
     NULL, "b", true, true},
};

enum { FIRST_SECOND_OF_FEBRUARY_2ND = 1801526400 }; /* 2027, just after SHORT's last */

static void the_exception_that_lasts_longest_is_found(void)
{
    for (size_t i = 0; i < sizeof exception_cases / sizeof exception_cases[0]; i++) {
        struct arena *arena = arena_create(64 << 20);
        struct text spec = arena_printf(arena, RAILS "%s", exception_cases[i].exceptions);
        struct policy policy = read_policy(arena, spec.data);
        struct match_case given = {.kind = KIND_POD,
                                   .namespace = "a",
                                   .root_name = "web",
                                   .labels = exception_cases[i].labels};
        struct match_subject subject = subject_of(arena, &given);
        bool expired = false;
        bool unknown = false;
        const struct exception *found =
            exception_find(&policy, "topology-keys", &subject, FIRST_SECOND_OF_FEBRUARY_2ND - 1,
                           &expired, &unknown);
        const char *id = exception_cases[i].id;
        ASSERT_TEXT(found == NULL ? TEXT("none") : found->id, id == NULL ? "none" : id);
        ASSERT_INT(expired, exception_cases[i].expired);
        ASSERT_INT(unknown, exception_cases[i].unknown);
        if (CU_get_number_of_failure_records() > 0)
            fprintf(stderr, "  %s\n", exception_cases[i].exceptions);
        arena_destroy(arena);
    }
}

static void an_exception_holds_to_the_end_of_its_day(void)
{
    struct arena *arena = arena_create(64 << 20);
    struct policy policy = read_policy(arena, RAILS "[{id: a, rails: [topology-keys], " SHORT "]");
    struct match_case given = {.kind = KIND_POD, .namespace = "a", .root_name = "web"};
    struct match_subject subject = subject_of(arena, &given);
    static const struct {
        int64_t now_unix_s;
        bool expired;
    } cases[] = {
        {0, false},
        {FIRST_SECOND_OF_FEBRUARY_2ND - 1, false},
        {FIRST_SECOND_OF_FEBRUARY_2ND, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool expired = false;
        bool unknown = true;
        const struct exception *found = exception_find(&policy, "topology-keys", &subject,
                                                       cases[i].now_unix_s, &expired, &unknown);
        CU_ASSERT_PTR_NOT_NULL(found);
        ASSERT_INT(expired, cases[i].expired);
        CU_ASSERT_FALSE(unknown);
    }
    arena_destroy(arena);
}

static void docs_name_the_rail(void)
{
    static const struct {
        const char *docs, *expected;
    } cases[] = {
        {"https://wiki/{rail}", "https://wiki/zones"},
        {"https://wiki/{rail}#{rail}", "https://wiki/zones#zones"},
        {"https://wiki/", "https://wiki/"},
        {"https://wiki/{rail", "https://wiki/{rail"},
        {"", ""},
    };
    struct arena *arena = arena_create(64 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct policy policy = {.docs = text_of(cases[i].docs)};
        ASSERT_TEXT(docs_url(&policy, "zones", arena), cases[i].expected);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy match";
const struct unit_test unit_tests[] = {
    {"objects match by every rule given", objects_match_by_every_rule_given},
    {"requests match by every rule given", requests_match_by_every_rule_given},
    {"the exception that lasts longest is found", the_exception_that_lasts_longest_is_found},
    {"an exception holds to the end of its day", an_exception_holds_to_the_end_of_its_day},
    {"docs name the rail", docs_name_the_rail},
    {NULL, NULL},
};
