/* What of a verdict an answer says: warnings, notes for the audit log, causes, and where it is cut.
 */
#include <stdio.h>
#include <string.h>

#include "server/review.h"
#include "unit.h"

const char unit_suite[] = "server/answer";

#define DAY_S ((int64_t)24 * 60 * 60)

enum { NOW_S = 1795230245, FINDINGS_MAX = 200, CHANGES_MAX = 20 };

static struct arena *arena;
static struct object object;
static struct review review;
static struct finding findings[FINDINGS_MAX];
static struct change changes[CHANGES_MAX];
static struct verdict verdict;

static void begin(void)
{
    arena = arena_create(64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    object = (struct object){.kind = KIND_POD,
                             .api_version = TEXT("v1"),
                             .kind_name = TEXT("Pod"),
                             .namespace = TEXT("shop"),
                             .name = TEXT("web")};
    review = (struct review){.uid = TEXT("u-1"),
                             .subject = {.object = &object, .requester = {.name = TEXT("jane")}}};
    verdict = (struct verdict){.findings = findings, .changes = changes};
}

static void end(void)
{
    arena_destroy(arena);
}

static struct finding *find(enum action action, const char *rail)
{
    struct finding *finding = &findings[verdict.finding_count++];
    *finding = (struct finding){.rail = rail,
                                .action = action,
                                .path = TEXT("spec.a"),
                                .found = TEXT("b"),
                                .problem = TEXT("It is wrong."),
                                .message = TEXT("It is wrong."),
                                .policy = TEXT("production")};
    verdict.action = action > verdict.action ? action : verdict.action;
    return finding;
}

static struct change *change(enum change_outcome outcome, const char *rail, const char *added)
{
    struct change *changed = &changes[verdict.change_count++];
    *changed = (struct change){
        .rail = rail, .outcome = outcome, .added = text_of(added), .policy = TEXT("production")};
    return changed;
}

static const struct node *response_in(enum review_phase phase)
{
    struct text answer;
    struct error error;
    const struct node *root = NULL;
    struct source *source = ARENA_NEW(arena, struct source);
    CU_ASSERT_FATAL(answer_print(phase, &review, &verdict, NOW_S, arena, &answer));
    CU_ASSERT(answer.size <= ANSWER_BYTES_MAX);
    source->text = answer;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error));
    return node_get(root, "response");
}

static struct text note(const struct node *response, const char *key)
{
    const struct node *notes = node_get(response, "auditAnnotations");
    return node_get(notes, key) == NULL ? TEXT("(absent)") : node_string(node_get(notes, key));
}

/* ---- warnings ---- */

/* A person is warned of what the server would not say otherwise. */
static void what_is_warned_of(void)
{
    static const struct {
        enum action action;
        bool quiet;
        int64_t left_s; /* of an exception */
        bool warns;
    } cases[] = {
        {ACTION_WARN, false, 0, true},
        {ACTION_WARN, true, 0, false},
        {ACTION_AUDIT, false, 0, false},
        {ACTION_DENY, false, 0, false}, /* the denial says it */
        {ACTION_EXCEPTED, false, 1, true},
        {ACTION_EXCEPTED, false, 14 * DAY_S - 1, true},
        {ACTION_EXCEPTED, false, 14 * DAY_S, false},
        {ACTION_EXCEPTED, false, 15 * DAY_S, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        struct finding *finding = find(cases[i].action, "zones");
        finding->quiet = cases[i].quiet;
        finding->exception = TEXT("EX-1");
        finding->exception_expires_unix_s = NOW_S + cases[i].left_s;
        const struct node *response = response_in(REVIEW_VALIDATE);
        ASSERT_INT(node_count(node_get(response, "warnings")), cases[i].warns);
        review.subject.requester.name = TEXT("system:kube-scheduler"); /* which reads none */
        CU_ASSERT_PTR_NULL(node_get(response_in(REVIEW_VALIDATE), "warnings"));
        end();
    }
}

static void twelve_warnings_are_shown(void)
{
    static const struct {
        size_t count, shown;
        const char *last; /* how it begins */
    } cases[] = {
        {1, 1, "[zones] spec.a: It"},          {11, 11, "[zones] spec.a: It"},
        {12, 12, "[zones] spec.a: It"},        {13, 13, "... and 1 more warnings"},
        {100, 13, "... and 88 more warnings"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        (void)find(ACTION_AUDIT, "zones"); /* which is none of them */
        for (size_t j = 0; j < cases[i].count; j++)
            (void)find(ACTION_WARN, "zones");
        const struct node *warnings = node_get(response_in(REVIEW_VALIDATE), "warnings");
        ASSERT_INT(node_count(warnings), cases[i].shown);
        CU_ASSERT(text_starts_with(node_string(node_item(warnings, cases[i].shown - 1)),
                                   text_of(cases[i].last)));
        end();
    }
}

static void changes_that_a_person_should_know_of_are_warned_of(void)
{
    static const struct {
        enum change_outcome outcome;
        const char *warning; /* NULL: none */
        const char *noted;
    } cases[] = {
        {OUTCOME_APPLIED, "[zone-spread] added a spread", "added a spread"},
        {OUTCOME_WARNED, "[zone-spread] would add a spread", "would add a spread"},
        {OUTCOME_AUDITED, NULL, "would add a spread"},
        {OUTCOME_FAILED, NULL, "could not add a spread"},
        {OUTCOME_EXCEPTED, NULL, "by exception not added: a spread"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        (void)change(cases[i].outcome, "zone-spread", "a spread");
        const struct node *response = response_in(REVIEW_MUTATE);
        const struct node *warnings = node_get(response, "warnings");
        ASSERT_INT(node_count(warnings), cases[i].warning != NULL);
        if (cases[i].warning != NULL)
            ASSERT_TEXT(node_string(node_item(warnings, 0)), cases[i].warning);
        ASSERT_TEXT(note(response, "zone-spread"), cases[i].noted);
        end();
    }
    begin();
    for (size_t i = 0; i < CHANGES_MAX; i++)
        (void)change(OUTCOME_APPLIED, "zone-spread", "a spread");
    ASSERT_INT(node_count(node_get(response_in(REVIEW_MUTATE), "warnings")), 12);
    end();
}

/* ---- the audit log ---- */

static void notes_name_each_once(void)
{
    begin();
    ASSERT_INT(node_count(response_in(REVIEW_VALIDATE)), 2); /* uid, allowed */
    verdict.limit = LIMIT_MEMORY;
    const struct node *response = response_in(REVIEW_VALIDATE);
    ASSERT_TEXT(note(response, "limit"), "memory");
    ASSERT_INT(node_count(node_get(response, "auditAnnotations")), 1);
    verdict.limit = LIMIT_NONE;

    find(ACTION_WARN, "zones")->exception = TEXT("EX-1");
    find(ACTION_WARN, "placeable")->policy = TEXT("team");
    find(ACTION_AUDIT, "zones")->pre_existing = true;
    find(ACTION_WARN, "zone")->exception = TEXT("EX-2"); /* a part of another name */
    find(ACTION_AUDIT, "placeable")->exception = TEXT("EX-1");
    find(ACTION_AUDIT, "zones")->pre_existing = true;
    response = response_in(REVIEW_VALIDATE);
    ASSERT_TEXT(note(response, "verdict"), "warn");
    ASSERT_TEXT(note(response, "rails"), "zones,placeable,zone");
    ASSERT_TEXT(note(response, "policy"), "production,team");
    ASSERT_TEXT(note(response, "exception"), "EX-1,EX-2");
    ASSERT_TEXT(note(response, "pre-existing"), "zones");
    ASSERT_TEXT(note(response, "limit"), "(absent)");
    end();

    begin();
    (void)find(ACTION_AUDIT, "zones");
    response = response_in(REVIEW_VALIDATE);
    ASSERT_TEXT(note(response, "exception"), "(absent)");
    ASSERT_TEXT(note(response, "pre-existing"), "(absent)");
    end();
}

/* A key that occurs twice would be lost in the audit log. */
static void a_rail_has_one_note_of_all_its_changes(void)
{
    begin();
    verdict.limit = LIMIT_CPU;
    (void)change(OUTCOME_APPLIED, "zone-spread", "a spread");
    (void)change(OUTCOME_APPLIED, "accelerators", "a toleration");
    change(OUTCOME_EXCEPTED, "zone-spread", "another")->exception = TEXT("EX-1");
    change(OUTCOME_AUDITED, "accelerators", "a limit")->policy = TEXT("team");
    change(OUTCOME_EXCEPTED, "zone-spread", "a third")->exception = TEXT("EX-1");
    const struct node *response = response_in(REVIEW_MUTATE);
    ASSERT_TEXT(note(response, "zone-spread"), "added a spread; by exception not added: another; "
                                               "by exception not added: a third");
    ASSERT_TEXT(note(response, "accelerators"), "added a toleration; would add a limit");
    ASSERT_TEXT(note(response, "policy"), "production,team");
    ASSERT_TEXT(note(response, "exception"), "EX-1");
    ASSERT_TEXT(note(response, "limit"), "cpu: nothing is changed");
    ASSERT_INT(node_count(node_get(response, "auditAnnotations")), 5);
    end();
}

static void notes_are_cut_to_a_kibibyte(void)
{
    begin();
    for (size_t i = 0; i < FINDINGS_MAX; i++)
        find(ACTION_AUDIT, "zones")->policy = arena_printf(arena, "policy-%03zu", i);
    struct text policies = note(response_in(REVIEW_VALIDATE), "policy");
    /* Whole ones: 92 of eleven bytes and the first of ten are 1022. */
    ASSERT_INT(policies.size, 1022);
    CU_ASSERT(text_starts_with(policies, TEXT("policy-000,policy-001,")));
    CU_ASSERT(text_ends_with(policies, TEXT(",policy-091,policy-092")));
    end();

    /* One that does not fit alone is better cut than not named. */
    static char filler[2000];
    memset(filler, 'p', sizeof filler);
    begin();
    find(ACTION_AUDIT, "zones")->policy = (struct text){filler, sizeof filler};
    (void)find(ACTION_AUDIT, "zones");
    ASSERT_INT(note(response_in(REVIEW_VALIDATE), "policy").size, 1024);
    end();
}

/* ---- denials ---- */

static void causes_are_the_denied_findings(void)
{
    begin();
    object.api_version = TEXT("apps/v1");
    object.kind_name = TEXT("Deployment");
    (void)find(ACTION_DENY, "zones");
    find(ACTION_DENY, "zones")->found = TEXT(""); /* something is missing there */
    find(ACTION_DENY, "zones")->allowed_total = 3;
    find(ACTION_DENY, "zones")->undecided = true;
    (void)find(ACTION_WARN, "zones");
    struct finding *rest = find(ACTION_DENY, "zones");
    rest->found = TEXT("");
    rest->more = 7; /* it is not one that is missing */
    struct finding *whole = find(ACTION_DENY, "zones");
    whole->path = whole->found = TEXT("");
    const struct node *response = response_in(REVIEW_VALIDATE);
    CU_ASSERT_FALSE(node_true(node_get(response, "allowed")));
    static const struct {
        const char *reason, *field;
    } causes[] = {
        {"FieldValueInvalid", "spec.a"},
        {"FieldValueRequired", "spec.a"},
        {"FieldValueNotSupported", "spec.a"},
        {"FieldValueInvalid", "spec.a"},
        {"FieldValueInvalid", ""},
    };
    const struct node *list = node_at(response, "status.details.causes");
    ASSERT_INT(node_count(list), COUNT_OF(causes));
    for (size_t i = 0; i < COUNT_OF(causes); i++) {
        ASSERT_TEXT(node_string(node_get(node_item(list, i), "reason")), causes[i].reason);
        ASSERT_TEXT(node_string(node_get(node_item(list, i), "field")), causes[i].field);
        ASSERT_TEXT(node_string(node_get(node_item(list, i), "message")), "It is wrong.");
    }
    ASSERT_TEXT(node_string(node_at(response, "status.details.group")), "apps");
    ASSERT_TEXT(node_string(node_at(response, "status.details.kind")), "Deployment");
    ASSERT_TEXT(node_string(node_at(response, "status.details.name")), "web");
    ASSERT_TEXT(node_string(node_at(response, "status.status")), "Failure");
    CU_ASSERT_PTR_NULL(node_get(response, "patch"));
    end();
}

/* However many and long they are: whole ones, and then the number of the rest, and all of it within
 * the limit of an answer. */
static void causes_that_do_not_fit_are_counted(void)
{
    static const struct {
        size_t count, message_bytes, more_of_last;
        bool all_fit;
    } cases[] = {
        {20, 100, 0, true},    {FINDINGS_MAX, 1000, 0, false}, {FINDINGS_MAX, 1000, 50, false},
        {50, 20000, 0, false}, {1, 100000, 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        char *filler = arena_alloc(arena, cases[i].message_bytes);
        memset(filler, 'm', cases[i].message_bytes);
        for (size_t j = 0; j < cases[i].count; j++)
            find(ACTION_DENY, "zones")->message = (struct text){filler, cases[i].message_bytes};
        findings[cases[i].count - 1].more = cases[i].more_of_last;
        const struct node *list = node_at(response_in(REVIEW_VALIDATE), "status.details.causes");
        size_t shown = node_count(list), rest = cases[i].count - shown + 1;
        if (cases[i].all_fit) {
            ASSERT_INT(shown, cases[i].count);
            end();
            continue;
        }
        CU_ASSERT_FATAL(shown >= 1 && shown < cases[i].count + 1);
        if (cases[i].more_of_last > 0)
            rest += cases[i].more_of_last - 1;
        const struct node *last = node_item(list, shown - 1);
        ASSERT_TEXT(node_string(node_get(last, "message")),
                    arena_printf(arena, "... and %zu more", rest).data);
        ASSERT_TEXT(node_string(node_get(last, "field")), "");
        for (size_t j = 0; j + 1 < shown; j++)
            ASSERT_INT(node_string(node_get(node_item(list, j), "message")).size,
                       cases[i].message_bytes);
        end();
    }
}

/* Most of the room is for causes that fit. */
static void there_is_room_for_many_causes(void)
{
    static char filler[900];
    struct text answer;
    begin();
    memset(filler, 'm', sizeof filler);
    for (size_t i = 0; i < FINDINGS_MAX; i++)
        find(ACTION_DENY, "zones")->message = (struct text){filler, sizeof filler};
    CU_ASSERT(answer_print(REVIEW_VALIDATE, &review, &verdict, NOW_S, arena, &answer));
    CU_ASSERT(answer.size <= ANSWER_BYTES_MAX);
    CU_ASSERT(answer.size > ANSWER_BYTES_MAX - 1200);
    end();
}

static void names_are_cut(void)
{
    static char filler[40000];
    begin();
    memset(filler, 'n', sizeof filler);
    object.name = object.kind_name = (struct text){filler, sizeof filler};
    object.api_version = arena_printf(arena, "%.*s/v1", (int)sizeof filler, filler);
    (void)find(ACTION_DENY, "zones");
    const struct node *details = node_at(response_in(REVIEW_VALIDATE), "status.details");
    static const char *const keys[] = {"name", "group", "kind"};
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        ASSERT_INT(node_string(node_get(details, keys[i])).size, 512);
    end();
}

/* ---- patches ---- */

/* A patch of such a size that its base64 is just as long as may be, or a little longer. */
static void a_patch_that_is_too_long_is_not_sent(void)
{
    enum { FRAME_BYTES = sizeof "[{\"op\":\"add\",\"path\":\"/a\",\"value\":\"\"}]" - 1 };
    static const struct {
        size_t bytes; /* of JSON: three become four */
        bool fits;
    } cases[] = {{100, true}, {30 << 10, true}, {(30 << 10) + 1, false}, {50 << 10, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        char *filler = arena_alloc(arena, cases[i].bytes);
        memset(filler, 'v', cases[i].bytes);
        const struct node value = node_of_text((struct text){filler, cases[i].bytes - FRAME_BYTES});
        struct patch_op operation = {PATCH_ADD, TEXT("/a"), &value};
        verdict.patch = (struct patch){.items = &operation, .count = 1};
        struct text answer;
        ASSERT_INT(answer_print(REVIEW_MUTATE, &review, &verdict, NOW_S, arena, &answer),
                   cases[i].fits);
        CU_ASSERT(!cases[i].fits || answer.size <= ANSWER_BYTES_MAX);
        end();
    }
}

static void a_patch_is_its_operations_in_order(void)
{
    begin();
    const struct node one = node_of_text(TEXT("\"1\""));
    struct patch_op operations[] = {{PATCH_TEST, TEXT("/a~1b"), &one},
                                    {PATCH_REMOVE, TEXT("/c"), NULL},
                                    {PATCH_REPLACE, TEXT("/d/-"), &one}};
    verdict.patch = (struct patch){.items = operations, .count = COUNT_OF(operations)};
    const struct node *response = response_in(REVIEW_MUTATE);
    struct text patch;
    CU_ASSERT_FATAL(text_from_base64(node_string(node_get(response, "patch")), arena, &patch));
    ASSERT_TEXT(patch, "[{\"op\":\"test\",\"path\":\"/a~1b\",\"value\":\"\\\"1\\\"\"},"
                       "{\"op\":\"remove\",\"path\":\"/c\"},"
                       "{\"op\":\"replace\",\"path\":\"/d/-\",\"value\":\"\\\"1\\\"\"}]");
    ASSERT_TEXT(node_string(node_get(response, "patchType")), "JSONPatch");
    CU_ASSERT(node_true(node_get(response, "allowed")));
    CU_ASSERT_PTR_NULL(node_get(response_in(REVIEW_VALIDATE), "patch"));
    end();
}

const struct unit_test unit_tests[] = {
    {"what is warned of", what_is_warned_of},
    {"twelve warnings are shown", twelve_warnings_are_shown},
    {"changes that a person should know of are warned of",
     changes_that_a_person_should_know_of_are_warned_of},
    {"notes name each once", notes_name_each_once},
    {"a rail has one note of all its changes", a_rail_has_one_note_of_all_its_changes},
    {"notes are cut to a kibibyte", notes_are_cut_to_a_kibibyte},
    {"causes are the denied findings", causes_are_the_denied_findings},
    {"causes that do not fit are counted", causes_that_do_not_fit_are_counted},
    {"there is room for many causes", there_is_room_for_many_causes},
    {"names are cut", names_are_cut},
    {"a patch that is too long is not sent", a_patch_that_is_too_long_is_not_sent},
    {"a patch is its operations in order", a_patch_is_its_operations_in_order},
    {NULL, NULL},
};
