/* Looks at a change once, however many policies ask. */
#include "policy/rails/change_look.h"

#include <string.h>

#include "policy/evaluation.h"
#include "simulation/simulation.h"

/* ---- an owner that is added ---- */

static bool has_owner(const struct node *owners, struct text uid)
{
    for (size_t i = 0; i < node_count(owners); i++)
        if (text_equal(node_text(node_get(node_item(owners, i), "uid")), uid))
            return true;
    return false;
}

static const struct field *added_owner(const struct change_question *question, struct arena *arena)
{
    static const char path[] = "metadata.ownerReferences";
    const struct node *before = node_at(question->before->root->node, path);
    const struct field *after = field_at(arena, question->after->root, path);
    for (size_t i = 0; i < node_count(after->node); i++)
        if (!has_owner(before, node_text(node_get(node_item(after->node, i), "uid"))))
            return field_item(arena, after, i);
    return NULL;
}

static void tell_of_owner(struct change_look *look, struct arena *arena)
{
    const struct node *owner = look->owner->node;
    look->words.effect = arena_printf(
        arena,
        "This change adds the owner %.*s %.*s: when that is gone, the garbage collector deletes "
        "this %s and asks nobody. %.*s",
        TEXT_ARGS(node_text(node_get(owner, "kind"))),
        TEXT_ARGS(node_text(node_get(owner, "name"))), kind_table[look->question.before->kind].name,
        TEXT_ARGS(look->words.effect));
}

/* ---- in memory of its own: a cluster is larger than what a review may take ---- */

enum {
    LOOK_BYTES = 128 << 20,
    TEXT_BYTES = 1024, /* as long as what is told of a finding */
};
struct texts {
    char reasons[TEXT_BYTES], effect[TEXT_BYTES], blocks[TEXT_BYTES], unseen[TEXT_BYTES];
    char unschedulable[TEXT_BYTES], price[TEXT_BYTES];
};
struct looking {
    const struct rail_call *call;
    struct change_look *look;
    struct change_impact impact;
    struct arena *arena;
    struct texts *texts;
};

static struct text keep(struct text t, char *buffer)
{
    size_t size = t.size < TEXT_BYTES ? t.size : TEXT_BYTES;
    while (size < t.size && size > 0 && ((unsigned char)t.data[size] & 0xc0) == 0x80)
        size--; /* between code points */
    memcpy(buffer, t.data, size);
    return (struct text){buffer, size};
}

static struct change_impact without_lists(struct change_impact impact)
{
    impact.pools = impact.reasons = (struct text_list){0};
    impact.blocks = NULL;
    impact.users = NULL;
    impact.block_count = impact.user_count = 0;
    impact.drift = (struct drift){0};
    impact.forecast = (struct disruption){0};
    return impact;
}

static void look_at_impact(void *argument)
{
    struct looking *looking = argument;
    struct change_look *look = looking->look;
    const struct change_impact *impact = &looking->impact;
    if (!change_impact(&look->question, looking->arena, &looking->impact))
        return;
    const struct impact_words words =
        change_impact_words(&look->question, impact, NULL, looking->arena);
    struct texts *texts = looking->texts;
    look->reasons = keep(texts_join(impact->reasons.items, impact->reasons.count,
                                    impact->reasons.count, looking->arena),
                         texts->reasons);
    look->words.effect = keep(words.effect, texts->effect);
    look->words.blocks = keep(words.blocks, texts->blocks);
    look->words.unseen = keep(words.unseen, texts->unseen);
    look->impact = without_lists(*impact);
    look->is_known = true;
}

/* ---- the plan: a share of what the review may take ---- */

/* The watch of the call is asked, and for so many questions only. Counted, not timed: the same
 * change is told the same everywhere. */
struct plan_share {
    const struct arena *of;
    size_t questions_left;
};
enum { PLAN_QUESTIONS = 1000, SHARE_IS_OVER = -1 };

static int ask_share(void *context)
{
    struct plan_share *share = context;
    int reason = arena_asked(share->of);
    if (reason != 0)
        return reason;
    if (share->questions_left == 0)
        return SHARE_IS_OVER;
    share->questions_left--;
    return 0;
}

static void plan_afterwards(void *argument)
{
    struct looking *looking = argument;
    const struct rail_call *call = looking->call;
    struct simulation_settings settings =
        simulation_settings_of(policy_set_karpenter(call->world->policies));
    struct problems problems = {.arena = looking->arena};
    struct impact_plan plan;
    struct error error;
    settings.no_extended_resource_toleration = !call->policy->extended_resource_toleration;
    if (!change_impact_plan(&looking->look->question, &looking->impact, call->world->catalog,
                            &settings, looking->arena, &plan, &problems, &error))
        return;
    const struct impact_plan_words words =
        change_plan_words(&looking->impact, &plan, looking->arena);
    const struct text effect =
        change_impact_words(&looking->look->question, &looking->impact, &plan, looking->arena)
            .effect;
    looking->look->words.effect = keep(effect, looking->texts->effect);
    bool is_priced = plan.usd_micro_per_hour_before >= 0 && plan.usd_micro_per_hour_after >= 0;
    looking->look->afterwards = (struct impact_plan_words){
        .unschedulable = keep(words.unschedulable, looking->texts->unschedulable),
        .price = is_priced ? keep(words.price, looking->texts->price) : TEXT(""),
    };
}

static bool is_planned(const struct looking *looking)
{
    const struct world *world = looking->call->world;
    return looking->look->is_known && change_impact_nodes(&looking->impact) > 0 &&
           looking->impact.unseen == 0 && world_sees(world, KIND_BIT(KIND_NODE)) &&
           simulation_is_quick(world->snapshot);
}

/* Where the share is not enough, the plan is left out and the rest is told. */
static void plan_within_share(struct looking *looking)
{
    struct plan_share share = {looking->call->arena, PLAN_QUESTIONS};
    struct error error;
    arena_watch(looking->arena, &(struct arena_watch){ask_share, &share});
    (void)!arena_guard(looking->arena, plan_afterwards, looking, &error);
}

/* ---- once ---- */

/* It takes no memory of the call while it holds its own: the call may be stopped where it takes
 * some. */
static void look_in_memory_of_its_own(struct looking *looking)
{
    struct arena *of_call = looking->call->arena;
    struct error error;
    looking->arena = arena_create(LOOK_BYTES);
    looking->look->is_too_much = looking->arena == NULL;
    if (looking->arena == NULL)
        return;
    arena_watch_as(looking->arena, of_call);
    looking->look->is_too_much = !arena_guard(looking->arena, look_at_impact, looking, &error);
    if (is_planned(looking))
        plan_within_share(looking);
    arena_destroy(looking->arena);
    arena_tick(of_call, SIZE_MAX); /* what stopped it may stop the call */
}

static struct change_question question_of(const struct rail_call *call)
{
    enum { MOST_NODES = 5000 };
    const struct subject *subject = call->subject;
    bool is_deletion = subject->operation == OPERATION_DELETE;
    return (struct change_question){
        .snapshot = call->world->snapshot,
        .seen = call->world->blind ? 0 : ~call->world->unseen,
        .now_unix_s = call->now_unix_s,
        .before = is_deletion ? subject->object : subject->old_object,
        .after = is_deletion ? NULL : subject->object,
        .orphans = subject->orphans,
        .most_nodes = MOST_NODES,
    };
}

static struct change_look *look_at_change(const struct rail_call *call)
{
    struct change_look *look = ARENA_NEW(call->arena, struct change_look);
    struct looking looking = {
        .call = call, .look = look, .texts = ARENA_NEW(call->arena, struct texts)};
    look->question = question_of(call);
    if (look->question.after != NULL)
        look->owner = added_owner(&look->question, call->arena);
    /* The garbage collector deletes what has lost its owners, and the webhook is not asked then. */
    if (look->owner != NULL)
        look->question.after = NULL;
    look_in_memory_of_its_own(&looking);
    if (look->owner != NULL && look->is_known)
        tell_of_owner(look, call->arena);
    return look;
}

const struct change_look *call_change_look(const struct rail_call *call)
{
    const struct change_look **known =
        &call->evaluation->change_looks[call->policy->extended_resource_toleration];
    if (*known == NULL)
        *known = look_at_change(call);
    return *known;
}
