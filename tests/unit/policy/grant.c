/* Exceptions in documents of their own: what a policy grants to whom, and what is refused where. */
#include "policy_files.h"

#define BASE                                                                                \
    "apiVersion: taffrail.dev/v1alpha1\n"                                                   \
    "kind: GuardRails\n"                                                                    \
    "metadata: {name: base}\n"                                                              \
    "spec:\n"                                                                               \
    "  mode: enforce\n"                                                                     \
    "  rails: {topology-keys: {}, zones: {mode: warn, allow: [a]}, scheduler-bypass: {}}\n" \
    "  exceptions: [{id: own, rails: [zones], expires: 2027-01-01}]\n"                      \
    "  grants:\n"                                                                           \
    "    - {owner: ml, rails: [zones], namespaces: [\"ml-*\"], maxDuration: 48h}\n"         \
    "    - {owner: ml, rails: [zones], namespaces: [lab], steps: []}\n"                     \
    "    - {owner: ml, rails: [zones], namespaces: [lab, \"ml-*\"], maxDuration: 24h}\n"    \
    "    - {owner: ml, rails: [topology-keys], maxDuration: 24h, steps: [softer]}\n"        \
    "    - {owner: all, rails: [topology-keys, zones, scheduler-bypass]}\n"                 \
    "---\n"                                                                                 \
    "apiVersion: taffrail.dev/v1alpha1\n"                                                   \
    "kind: GuardRails\n"                                                                    \
    "metadata: {name: later}\n"                                                             \
    "spec: {rails: {topology-keys: {}}}\n"
#define DOCUMENT(name, owner)             \
    "apiVersion: taffrail.dev/v1alpha1\n" \
    "kind: GuardRailExceptions\n"         \
    "metadata: {name: " name "}\n"        \
    "spec:\n"                             \
    "  policies: [base]\n"                \
    "  owner: " owner "\n"
#define EXCEPTION(rest) "  exceptions: [{id: e, expires: 2027-01-02, " rest "}]\n"
#define OVERRIDE(rest) "  overrides: [{id: o, " rest "}]\n"

/* base.yaml is read before or after; the place of the policy stands in what is said. */
static struct load load_with(const char *document)
{
    make_folder();
    write_file("base.yaml", BASE);
    write_file("team.yaml", document);
    struct load result = load((const char *const[]){"team.yaml", "base.yaml", NULL});
    remove_folder();
    return result;
}

static void what_is_granted_is_taken(void)
{
    static const struct {
        const char *owner, *spec;
    } good[] = {
        {"all", OVERRIDE("step: stricter, match: {namespaces: [a]}")},
        {"ml", EXCEPTION("rails: [zones], match: {namespaces: [ml-a, \"ml-b-*\", lab]}")},
        {"ml", EXCEPTION("rails: [zones, topology-keys], match: {namespaces: [\"ml-?\"]}")},
        {"ml", EXCEPTION("rails: [topology-keys]")},
        {"ml", EXCEPTION("rails: [zones], match: {namespaces: [lab], namespaceSelector: {}}")},
        {"ml", OVERRIDE("rails: [zones], step: stricter, match: {namespaces: [ml-a]}")},
        {"ml", OVERRIDE("rails: [topology-keys], step: softer, match: {namespaceSelector: {}}")},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct arena *arena = arena_create(1 << 20);
        struct text document =
            arena_printf(arena, DOCUMENT("t", "%s") "%s", good[i].owner, good[i].spec);
        struct load result = load_with(document.data);
        assert_problems(&result.errors, "", good[i].spec);
        const struct policy *policy = &result.set->items[0];
        bool exception = strstr(good[i].spec, "exceptions") != NULL;
        ASSERT_INT(policy->exception_count, exception ? 2 : 1);
        ASSERT_INT(policy->override_count, exception ? 0 : 1);
        ASSERT_TEXT(policy->exceptions[0].id, "own");
        if (exception)
            ASSERT_TEXT(policy->exceptions[1].id, "t/e");
        else
            ASSERT_TEXT(policy->overrides[0].id, "t/o");
        end(&result);
        arena_destroy(arena);
    }
}

static void what_is_not_granted_is_refused(void)
{
    static const struct {
        const char *owner, *spec, *expected;
    } cases[] = {
        {"mm", "", "6:10 grants nothing to \"mm\", did you mean `ml`? under spec.grants ("},
        {"ml", EXCEPTION("rails: [scheduler-bypass]"),
         "7:53 does not grant \"scheduler-bypass\" to \"ml\", only: zones ("},
        {"ml", EXCEPTION("rails: [scheduler-bypass, topology-keys]"),
         "7:53 does not grant \"scheduler-bypass\" to \"ml\""},
        {"zzzzzzzz", "", "6:10 grants nothing to \"zzzzzzzz\"; under spec.grants ("},
        {"ml", EXCEPTION("rails: [zone]"), "7:53 found \"zone\", which is no rail of the policy"},
        {"ml", EXCEPTION("rails: [zones]"), "7:16 names no namespaces, and the policy \"base\" ("},
        {"ml", EXCEPTION("rails: [zones], match: {namespaceSelector: {}}"), "7:68 names no names"},
        {"ml", EXCEPTION("rails: [zones], match: {namespaces: [ml-a, \"*\"]}"),
         "7:88 found \"*\", and the policy \"base\" ("},
        {"ml", EXCEPTION("rails: [zones], match: {namespaces: [\"ml?\"]}"), "7:82 found \"ml?\""},
        {"ml", EXCEPTION("rails: [zones], match: {kinds: [A.b.c], namespaces: [lab]}"),
         "7:77 found \"A.b.c\""},
        {"ml", OVERRIDE("rails: [topology-keys, zones], step: softer, match: {namespaces: [lab]}"),
         "7:60 of the overrides of \"zones\" the policy"},
        {"ml", OVERRIDE("step: softer, match: {namespaces: [ml-a]}"),
         "7:15 names no rails, which means all, and the policy"},
        {"all", OVERRIDE("rails: [zones], step: softer, match: {namespaces: [lab]}"),
         "7:45 grants to \"all\": stricter ("},
        {"all", OVERRIDE("rails: [scheduler-bypass], step: stricter, match: {namespaces: [lab]}"),
         "7:31 which is enforced already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_create(1 << 20);
        struct text document =
            arena_printf(arena, DOCUMENT("t", "%s") "%s", cases[i].owner, cases[i].spec);
        struct load result = load_with(document.data);
        assert_problems(&result.errors, cases[i].expected, document.data);
        end(&result);
        arena_destroy(arena);
    }
}

static void documents_are_refused_by_themselves(void)
{
    static const struct {
        const char *document, *expected;
    } cases[] = {
        {"kind: GuardRailExceptions\n",
         "1:1 `apiVersion` is missing\n1:1 `metadata` is missing\n1:1 `spec` is missing"},
        {DOCUMENT("t", "ml") "  rails: {}\n", "7:3 `rails`"},
        {DOCUMENT("t", "ml") "  exceptions: [{id: e, rails: [zones]}]\n", "7:16 `expires` is mis"},
        {DOCUMENT("t", "ml") "  exceptions:\n"
                             "    - {id: e, rails: [topology-keys], expires: 2027-01-02}\n"
                             "    - {id: e, rails: [topology-keys], expires: 2027-01-03}\n",
         "9:12 found \"e\", which another exception of this document has already"},
        {DOCUMENT("t", "ml") "  overrides: [{id: e, match: {}, step: softer}]\n",
         "7:30 says no namespaces"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct load result = load_with(cases[i].document);
        assert_problems(&result.errors, cases[i].expected, cases[i].document);
        end(&result);
    }
}

static void names_are_held_against_each_other(void)
{
    make_folder();
    write_file("base.yaml", BASE);
    write_file("a.yaml", "apiVersion: taffrail.dev/v1alpha1\n"
                         "kind: GuardRailExceptions\n"
                         "metadata: {name: t}\n"
                         "spec: {owner: all, policies: [bas, base, base]}\n");
    write_file("b.yaml", "apiVersion: taffrail.dev/v1alpha1\n"
                         "kind: GuardRailExceptions\n"
                         "metadata: {name: u}\n"
                         "spec: {owner: all, policies: [bas]}\n");
    write_file("c.yaml", DOCUMENT("u", "all"));
    struct load result =
        load((const char *const[]){"a.yaml", "b.yaml", "c.yaml", "base.yaml", NULL});
    assert_problems(&result.errors,
                    "4:42 found \"base\", which is named already\n"
                    "3:18 a document \"u\" of kind GuardRailExceptions is at \n"
                    "4:31 found \"bas\", and no policy of that name is read with it, did you mean "
                    "`base`? there are: base (",
                    "names");
    end(&result);
    remove_folder();
}

static void a_document_wants_policies_that_grant(void)
{
    static const struct {
        const char *policy, *expected; /* policy NULL: none is read */
    } cases[] = {
        {NULL, "5:14 found \"base\", and no policy of that name is read with it; there are: none"},
        {"apiVersion: taffrail.dev/v1alpha1\n"
         "kind: GuardRails\n"
         "metadata: {name: something}\n"
         "spec: {rails: {zones: {}}}\n",
         "5:14 found \"base\", and no policy of that name is read with it; there are: something ("},
        {"apiVersion: taffrail.dev/v1alpha1\n"
         "kind: GuardRails\n"
         "metadata: {name: base}\n"
         "spec: {rails: {zones: {}}}\n",
         "6:10 grants nothing to anybody"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_folder();
        write_file("team.yaml", DOCUMENT("t", "ml") EXCEPTION("rails: [zones]"));
        if (cases[i].policy != NULL)
            write_file("base.yaml", cases[i].policy);
        struct load result = load((const char *const[]){"", NULL});
        assert_problems(&result.errors, cases[i].expected, cases[i].expected);
        end(&result);
        remove_folder();
    }
}

static void an_exception_has_its_own_owner_or_the_document_s(void)
{
    struct load result =
        load_with(DOCUMENT("t", "all") "  exceptions:\n"
                                       "    - {id: a, rails: [zones], expires: 2027-01-02}\n"
                                       "    - {id: b, rails: [zones], expires: 2027-01-02, owner: "
                                       "ann}\n");
    assert_problems(&result.errors, "", "owners");
    const struct policy *policy = &result.set->items[0];
    CU_ASSERT_EQUAL_FATAL(policy->exception_count, 3);
    ASSERT_TEXT(policy->exceptions[1].owner, "all");
    ASSERT_TEXT(policy->exceptions[2].owner, "ann");
    end(&result);
}

static void an_empty_document_is_warned_of(void)
{
    struct load result = load_with(DOCUMENT("t", "ml"));
    assert_problems(&result.errors, "", "empty");
    assert_problems(&result.warnings, "3:18 holds neither exceptions nor overrides", "empty");
    end(&result);
}

static void a_policy_that_is_refused_is_not_held_against_documents(void)
{
    make_folder();
    write_file("base.yaml", "apiVersion: taffrail.dev/v1alpha1\n"
                            "kind: GuardRails\n"
                            "metadata: {name: base}\n"
                            "spec: {rails: {zons: {}}}\n");
    write_file("team.yaml", DOCUMENT("t", "ml") EXCEPTION("rails: [zones]"));
    struct load result = load((const char *const[]){"base.yaml", "team.yaml", NULL});
    assert_problems(&result.errors, "4:16 zons", "refused");
    end(&result);
    remove_folder();
}

/* Policies, exceptions and overrides stand in the same order whichever file is read first. */
static void the_order_of_files_changes_nothing(void)
{
    static const char *const orders[][4] = {{"base.yaml", "a.yaml", "b.yaml", NULL},
                                            {"b.yaml", "a.yaml", "base.yaml", NULL}};
    make_folder();
    write_file("base.yaml", BASE);
    write_file("b.yaml", DOCUMENT("a", "all") EXCEPTION("rails: [zones]"));
    write_file("a.yaml", DOCUMENT("b", "all")
                             EXCEPTION("rails: [zones]") "---\n"
                                                         "apiVersion: taffrail.dev/v1alpha1\n"
                                                         "kind: GuardRails\n"
                                                         "metadata: {name: another}\n"
                                                         "spec: {rails: {zones: {}}}\n");
    for (size_t i = 0; i < 2; i++) {
        struct load result = load(orders[i]);
        assert_problems(&result.errors, "", "order");
        ASSERT_TEXT(result.set->items[0].name, "another");
        const struct policy *base = &result.set->items[1];
        ASSERT_TEXT(base->exceptions[0].id, "own");
        ASSERT_TEXT(base->exceptions[1].id, "a/e");
        ASSERT_TEXT(base->exceptions[2].id, "b/e");
        end(&result);
    }
    remove_folder();
}

/* Of several grants the longest counts, and of several namespaces the shortest of these. */
static void the_end_lies_within_what_is_granted(void)
{
    enum { DAY_S = 24 * 3600, ENDS = 1798934399 }; /* 2027-01-02, its last second */
    static const struct {
        const char *spec;
        int64_t longest_s; /* 0: any */
    } cases[] = {
        {EXCEPTION("rails: [topology-keys]"), DAY_S},
        {EXCEPTION("rails: [zones], match: {namespaces: [ml-a]}"), 2LL * DAY_S},
        {EXCEPTION("rails: [zones], match: {namespaces: [lab]}"), 0},
        {EXCEPTION("rails: [zones], match: {namespaces: [lab, ml-a]}"), 2LL * DAY_S},
        {EXCEPTION("rails: [zones, topology-keys], match: {namespaces: [ml-a]}"), DAY_S},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_create(1 << 20);
        struct text document = arena_printf(arena, DOCUMENT("t", "ml") "%s", cases[i].spec);
        struct load result = load_with(document.data);
        assert_problems(&result.errors, "", document.data);
        int64_t first = ENDS - cases[i].longest_s;
        CU_ASSERT_TRUE(policy_refuse_long(result.set, first, result.arena, &result.errors));
        bool good = policy_refuse_long(result.set, first - 1, result.arena, &result.errors);
        CU_ASSERT_EQUAL(good, cases[i].longest_s == 0);
        if (!good)
            assert_problems(&result.errors, "7:33 the exception t/e ends later than the policy",
                            document.data);
        end(&result);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "policy grant";
const struct unit_test unit_tests[] = {
    {"what is granted is taken", what_is_granted_is_taken},
    {"what is not granted is refused", what_is_not_granted_is_refused},
    {"documents are refused by themselves", documents_are_refused_by_themselves},
    {"names are held against each other", names_are_held_against_each_other},
    {"a document wants policies that grant", a_document_wants_policies_that_grant},
    {"an exception has its own owner or the document's",
     an_exception_has_its_own_owner_or_the_document_s},
    {"an empty document is warned of", an_empty_document_is_warned_of},
    {"a policy that is refused is not held against documents",
     a_policy_that_is_refused_is_not_held_against_documents},
    {"the order of files changes nothing", the_order_of_files_changes_nothing},
    {"the end lies within what is granted", the_end_lies_within_what_is_granted},
    {NULL, NULL},
};
