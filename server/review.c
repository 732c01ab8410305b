/* The way of a request, from bytes to bytes. */
#include "server/review.h"

#include "server/known_review.h"

/* Under a guard: everything that a review and its answer need, complete or not at all. */
struct task {
    const struct world *world;
    enum review_phase phase;
    struct text body;
    int64_t now_unix_s;
    struct arena *arena;
    struct review review;
    struct verdict *verdict;
    struct text answer;
    const struct review_variables *variables;
};

static void fill_record(const struct review *review, struct review_record *record)
{
    const struct subject *subject = &review->subject;
    const struct object *object = subject->object != NULL ? subject->object : subject->old_object;
    record->uid = review->uid;
    record->operation = text_of(operation_name(subject->operation));
    record->user = subject->requester.name;
    record->dry_run = subject->dry_run;
    if (object == NULL)
        return;
    record->kind = object->kind_name;
    record->namespace = object->namespace;
    record->name = object->name.size > 0 ? object->name : object->generate_name;
}

static void decide_limit(void *argument)
{
    struct task *task = argument;
    const struct shortfall shortfall =
        review_shortfall(task->world, &task->review, task->verdict->limit, task->body, task->arena);
    policy_decide_limit(task->world, &task->review.subject, task->now_unix_s, &shortfall,
                        task->arena, task->verdict);
}

static void find_variables(struct task *task)
{
    const struct verdict *verdict = task->verdict;
    if (verdict->limit != LIMIT_NONE || verdict->finding_count > 0 || verdict->change_count > 0 ||
        verdict->awaited.kind != KIND_UNKNOWN || !verdict->is_controlled)
        return;
    struct review_variables *variables = ARENA_NEW(task->arena, struct review_variables);
    review_variables_find(task->phase, &task->review, task->body, variables);
    if (variables->count > 0)
        task->variables = variables;
}

static void print_answer(void *argument)
{
    struct task *task = argument;
    if (answer_print(task->phase, &task->review, task->verdict, task->now_unix_s, task->arena,
                     &task->answer)) {
        find_variables(task);
        return;
    }
    *task->verdict = (struct verdict){.limit = LIMIT_SHAPE};
    (void)!answer_print(task->phase, &task->review, task->verdict, task->now_unix_s, task->arena,
                        &task->answer);
}

static void find_scaled(void *argument)
{
    struct task *task = argument;
    subject_of_scale(task->world, task->arena, &task->review.subject);
}

static void mutate(void *argument)
{
    struct task *task = argument;
    policy_mutate(task->world, &task->review.subject, task->now_unix_s, task->arena, task->verdict);
}

static bool refuse_cut_off(struct error *error)
{
    return error_set(error, ERROR_LIMIT, NOWHERE,
                     "the time of the caller was over before the review was judged");
}

/* After a limit, the answer is written into the reserve. */
static bool finish(struct task *task, void (*body)(void *), struct error *error)
{
    if (arena_guard(task->arena, body, task, error))
        return true;
    arena_open_reserve(task->arena);
    return arena_guard(task->arena, body, task, error);
}

static bool judge(struct task *task, struct error *error)
{
    struct verdict *verdict = task->verdict;
    if (verdict->limit == LIMIT_NONE)
        policy_evaluate_within(task->world, &task->review.subject, task->now_unix_s, task->arena,
                               verdict);
    if (verdict->limit == LIMIT_NONE)
        return true;
    arena_watch(task->arena, NULL);
    bool cut_off = verdict->limit == LIMIT_CLIENT_GONE || verdict->limit == LIMIT_TIMEOUT;
    bool denied = verdict->action == ACTION_DENY;
    if (verdict->limit == LIMIT_CLIENT_GONE || (cut_off && verdict->finding_count == 0))
        return refuse_cut_off(error);
    if (!finish(task, decide_limit, error))
        return false;
    /* If the caller's time ends first, nobody knows whether the rest would be denied. */
    return !cut_off || denied || verdict->action != ACTION_DENY || refuse_cut_off(error);
}

/* An unfinished change is left out: the validation that follows decides. */
static bool change(struct task *task, struct error *error)
{
    struct verdict *verdict = task->verdict;
    if (verdict->limit == LIMIT_NONE && !arena_guard(task->arena, mutate, task, error))
        *verdict = (struct verdict){.limit = limit_of_arena(task->arena)};
    if (verdict->limit == LIMIT_NONE)
        return true;
    arena_watch(task->arena, NULL);
    return verdict->limit != LIMIT_CLIENT_GONE || refuse_cut_off(error);
}

bool review_answer(const struct world *world, enum review_phase phase, struct text body,
                   int64_t now_unix_s, struct arena *arena, struct text *answer,
                   struct review_record *record, struct error *error)
{
    struct task task = {world, phase, body, now_unix_s, arena, .verdict = &record->verdict};
    *record = (struct review_record){0};
    if (!review_read(body, arena, &task.review, error)) {
        record->verdict.limit = task.review.limit;
        return false;
    }
    record->verdict.limit = task.review.limit;
    if (task.review.limit == LIMIT_NONE && !arena_guard(arena, find_scaled, &task, error))
        record->verdict.limit = limit_of_arena(arena);
    fill_record(&task.review, record);
    bool judged = task.review.subject.object == NULL ||
                  (phase == REVIEW_VALIDATE ? judge(&task, error) : change(&task, error));
    record->allowed = record->verdict.action != ACTION_DENY;
    arena_watch(arena, NULL); /* the decision is written in any case */
    if (!judged || !finish(&task, print_answer, error))
        return false;
    *answer = task.answer;
    record->variables = task.variables;
    return true;
}
