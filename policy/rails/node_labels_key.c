/* What node-labels says of keys. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

static bool asks_for_label(const struct expression *expression)
{
    return expression->op != SOLVER_NOT_IN && expression->op != SOLVER_DOES_NOT_EXIST;
}

/* ---- what a team may select ---- */

static const struct key_strings *granted_values(const struct node_labels *settings, struct text key,
                                                struct text canonical)
{
    FOR_EACH(allowed, &settings->allow)
        if (text_equal(allowed->name, key) || text_equal(allowed->name, canonical))
            return &allowed->values;
    return NULL;
}

static bool is_granted(const struct key_strings *granted, struct text value)
{
    return texts_match(granted->items, granted->count, value);
}

static void word_granted(struct label_inquiry *check, const struct label_note *note,
                         struct draft *draft)
{
    const struct key_strings *granted = granted_values(check->settings, note->expression->key,
                                                       expression_canonical_key(note->expression));
    label_allow(draft, granted->items, granted->count,
                "select an allowed value, or leave the label out");
}

static void judge_granted(struct label_inquiry *check, const struct expression *expression,
                          const struct key_strings *granted)
{
    for (size_t i = 0; expression->op == SOLVER_IN && i < expression->value_count; i++)
        if (!is_granted(granted, expression->values[i].text))
            label_note(check, SEVERITY_RAIL, expression, &expression->values[i], word_granted)
                ->forbidden = true;
}

/* ---- keys that were meant otherwise ---- */

/* Old names that Karpenter and the kubelet still understand. EKS Auto Mode's are no old ones. */
static bool still_works(struct text key)
{
    return canonical_key(key).data != key.data;
}

static void word_meant(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    struct arena *arena = check->call->arena;
    struct text key = note->expression->key;
    draft->statement =
        arena_printf(arena, "found \"%.*s\", %s", TEXT_ARGS(key),
                     still_works(key) ? "an old name of a label" : "a label that no node carries");
    draft->meant = label_key_meant(check->settings->catalog, key);
    draft->in_key = label_is_entry(note->expression);
}

static void note_meant(struct label_inquiry *check, const struct expression *expression)
{
    label_note(check, still_works(expression->key) ? SEVERITY_WARN : SEVERITY_RAIL, expression,
               NULL, word_meant);
}

/* ---- labels of the platform's own ---- */

/* Keys that another cloud's provider makes, and no catalogue of ours knows. */
static bool may_be_of_other_cloud(const struct label_inquiry *check, struct text key)
{
    return check->other_cloud && text_starts_with(key, TEXT("karpenter.")) &&
           !text_starts_with(key, TEXT("karpenter.sh/")) &&
           !text_starts_with(key, TEXT("karpenter.k8s.aws/"));
}

static void add_keys(struct text_list *names, struct text_map *seen,
                     const struct expressions *expressions, struct arena *arena)
{
    FOR_EACH(expression, expressions)
        if (expression->valid && expression->op != SOLVER_DOES_NOT_EXIST &&
            !solver_is_well_known(expression->key.data, expression->key.size) &&
            text_map_add(seen, arena, expression->key))
            *LIST_PUSH(arena, names) = expression->key;
}

/* The labels NodePools add of their own. */
static const struct text_list *keys_of_pools(struct label_inquiry *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct arena *arena = check->call->arena;
    struct text_map seen = {0};
    for (size_t i = 0; !check->pool_keys_are_read && i < snapshot_pool_count(snapshot); i++) {
        const struct pool *pool = snapshot_pool(snapshot, i);
        add_keys(&check->pool_keys, &seen, &pool->labels, arena);
        add_keys(&check->pool_keys, &seen, &pool->requirements, arena);
    }
    check->pool_keys_are_read = true;
    return &check->pool_keys;
}

static void word_unseen(struct label_inquiry *check, const struct label_note *note,
                        struct draft *draft)
{
    draft->statement = arena_printf(
        check->call->arena, "found \"%.*s\"; no NodePool or Node is visible that has this label",
        TEXT_ARGS(note->expression->key));
    draft->fix = TEXT("make the NodePools and Nodes visible (--state DIR), or name the label under "
                      "allow");
}

static void word_put_by_others(struct label_inquiry *check, const struct label_note *note,
                               struct draft *draft)
{
    draft->statement = arena_printf(
        check->call->arena,
        "found \"%.*s\", which no visible Node carries; others than NodePools put it on nodes",
        TEXT_ARGS(note->expression->key));
    draft->fix = TEXT("if nodes will carry it, name the label under allow");
}

static void word_unknown(struct label_inquiry *check, const struct label_note *note,
                         struct draft *draft)
{
    const struct text_list *names = keys_of_pools(check);
    draft->statement =
        arena_printf(check->call->arena, "found \"%.*s\", a label that no NodePool or Node carries",
                     TEXT_ARGS(note->expression->key));
    label_allow(draft, names->items, names->count,
                "remove it, or add the label to a NodePool under spec.template.metadata.labels");
    draft->in_key = label_is_entry(note->expression);
}

static void note_unknown(struct label_inquiry *check, const struct expression *expression)
{
    if (check->unseen)
        label_note(check, SEVERITY_UNDECIDED, expression, NULL, word_unseen);
    else if (label_is_put_by_others(expression->key))
        label_note(check, SEVERITY_UNDECIDED, expression, NULL, word_put_by_others);
    else
        label_note(check, SEVERITY_RAIL, expression, NULL, word_unknown);
}

/* What is offered of a key, read once where anything is. */
static const struct label_offers *offers_of(struct label_inquiry *check, struct text key)
{
    static const struct label_offers none;
    struct arena *arena = check->call->arena;
    size_t number = text_map_get(&check->offers_of, key, 0);
    if (number > 0)
        return &check->offers.items[number - 1];
    struct label_offers offers;
    label_offers_read(check->call->world->snapshot, key, arena, &offers);
    if (!offers.from_pool && !offers.from_node)
        return &none;
    *LIST_PUSH(arena, &check->offers) = offers;
    *text_map_at(&check->offers_of, arena, key) = check->offers.count;
    return &check->offers.items[check->offers.count - 1];
}

static bool is_offered(const struct label_offers *offers, struct text value)
{
    return offers->any_value || text_map_has(&offers->values, value);
}

static void word_value(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    const struct label_offers *offers = offers_of(check, note->expression->key);
    draft->statement = arena_printf(
        check->call->arena, "found \"%.*s\", a value of %.*s that no NodePool or Node carries",
        TEXT_ARGS(note->value->text), TEXT_ARGS(note->expression->key));
    label_allow(draft, offers->items, offers->count,
                "select an allowed value, or add it to a NodePool under "
                "spec.template.metadata.labels");
}

static void judge_values(struct label_inquiry *check, const struct expression *expression,
                         const struct label_offers *offers)
{
    bool some = false;
    for (size_t i = 0; i < expression->value_count; i++)
        some = some || is_offered(offers, expression->values[i].text);
    enum severity severity = some ? SEVERITY_WARN : SEVERITY_RAIL;
    if (check->unseen || (!offers->from_pool && label_is_put_by_others(expression->key)))
        severity = SEVERITY_UNDECIDED;
    for (size_t i = 0; i < expression->value_count; i++)
        if (!is_offered(offers, expression->values[i].text))
            label_note(check, severity, expression, &expression->values[i], word_value);
}

/* ---- the whole ---- */

static void judge_known(struct label_inquiry *check, const struct expression *expression)
{
    struct text key = expression->key;
    if (still_works(key) && !text_starts_with(key, TEXT("eks.amazonaws.com/")) &&
        !some_pool_produces(check->call->world->snapshot, key))
        note_meant(check, expression);
    if (expression->op == SOLVER_IN)
        label_judge_known_values(check, expression);
}

static void judge_other(struct label_inquiry *check, const struct expression *expression)
{
    const struct label_offers *offers = offers_of(check, expression->key);
    bool offered = offers->from_pool || offers->from_node;
    struct text meant = label_key_meant(check->settings->catalog, expression->key);
    if (meant.size > 0 && !offered)
        note_meant(check, expression);
    else if (!asks_for_label(expression) || may_be_of_other_cloud(check, expression->key))
        return;
    else if (!offered)
        note_unknown(check, expression);
    else if (expression->op == SOLVER_IN)
        judge_values(check, expression, offers);
}

void label_judge(struct label_inquiry *check, const struct expression *expression)
{
    const struct catalog *catalog = check->settings->catalog;
    struct text canonical = expression_canonical_key(expression);
    if (!expression->valid)
        return;
    const struct key_strings *granted = granted_values(check->settings, expression->key, canonical);
    bool is_well_known = solver_is_well_known(canonical.data, canonical.size) ||
                         text_is(canonical, LABEL_HOSTNAME) || catalog_has_key(catalog, canonical);
    if (granted != NULL)
        judge_granted(check, expression, granted);
    else if (is_well_known && !text_is(canonical, LABEL_NODE_POOL))
        judge_known(check, expression);
    else
        judge_other(check, expression);
}
