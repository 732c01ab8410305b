/* What node-labels says of keys. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

static bool asks_for_label(const struct expression *expression)
{
    return !solver_op_is_negative(expression->op);
}

/* ---- keys that were meant otherwise ---- */

/* Old names that Karpenter and the kubelet still understand. EKS Auto Mode's are no old ones. */
static bool still_works(struct text key)
{
    return canonical_key(key).data != key.data;
}

/* A value as YAML has it: what would be no text is quoted. */
static struct text in_yaml(struct text value, struct arena *arena)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on",
                                        "off",  "null",  "y",   "n"};
    bool plain = value.size > 0 && (value.data[0] < '0' || value.data[0] > '9') &&
                 !text_is_one_of(value, words, COUNT_OF(words));
    return plain ? value : arena_printf(arena, "\"%.*s\"", TEXT_ARGS(value));
}

/* The key, and in an entry its value as the key that is meant has it. */
static struct text entry_meant(const struct label_inquiry *check,
                               const struct expression *expression, struct text meant)
{
    const struct catalog *catalog = check->settings->catalog;
    if (!label_is_entry(expression))
        return meant;
    struct text value = expression->values[0].text;
    struct text better = label_value_meant(catalog, meant, value, check->call->arena);
    return arena_printf(check->call->arena, "%.*s: %.*s", TEXT_ARGS(meant),
                        TEXT_ARGS(in_yaml(better.size > 0 ? better : value, check->call->arena)));
}

static void advise_use(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    struct text meant = label_key_meant(check->settings->catalog, note->expression->key);
    draft->fix = arena_printf(check->call->arena, "Use %.*s.",
                              TEXT_ARGS(entry_meant(check, note->expression, meant)));
    if (!label_is_entry(note->expression))
        draft->replacement = meant;
}

static void word_old(struct label_inquiry *check, const struct label_note *note,
                     struct draft *draft)
{
    draft->statement = arena_printf(check->call->arena, "The label %.*s is deprecated.",
                                    TEXT_ARGS(note->expression->key));
    advise_use(check, note, draft);
}

static void word_meant(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    draft->statement =
        arena_printf(check->call->arena, "Nodes have no label \"%.*s\"%s",
                     TEXT_ARGS(note->expression->key), label_consequence(check, note));
    advise_use(check, note, draft);
}

static bool is_unseen(const struct label_inquiry *check)
{
    return check->pools_unseen || check->nodes_unseen;
}

/* "No visible NodePool has the label \"zone\", and no Node is visible.": why it is not known
 * whether some node has what is selected. */
static struct text not_known(const struct label_inquiry *check, struct text what)
{
    struct arena *arena = check->call->arena;
    if (check->pools_unseen && check->nodes_unseen)
        return arena_printf(arena, "No NodePool and no Node is visible that has the label %.*s.",
                            TEXT_ARGS(what));
    if (check->pools_unseen)
        return arena_printf(arena,
                            "No visible Node has the label %.*s, and NodePools are not seen.",
                            TEXT_ARGS(what));
    return arena_printf(arena, "No visible NodePool has the label %.*s, and Nodes are not seen.",
                        TEXT_ARGS(what));
}

static struct text advice_to_see(const struct label_inquiry *check, const char *otherwise)
{
    kind_set pools = check->pools_unseen ? KIND_BIT(KIND_NODE_POOL) : 0;
    kind_set nodes = check->nodes_unseen || pools == 0 ? KIND_BIT(KIND_NODE) : 0;
    return advice_to_show(check->call, pools | nodes, otherwise);
}

static void word_perhaps_meant(struct label_inquiry *check, const struct label_note *note,
                               struct draft *draft)
{
    struct arena *arena = check->call->arena;
    struct text meant = label_key_meant(check->settings->catalog, note->expression->key);
    draft->statement = not_known(check, note->expression->key);
    struct text advice = advice_to_see(check, "");
    draft->fix = arena_printf(arena, "Use %.*s if that is meant; else %c%.*s",
                              TEXT_ARGS(entry_meant(check, note->expression, meant)),
                              *advice.data | ' ', (int)advice.size - 1, advice.data + 1);
}

/* Anybody may give nodes a label of that name; under Karpenter's own domains Karpenter alone does.
 */
static void note_meant(struct label_inquiry *check, const struct expression *expression)
{
    struct text key = expression->key;
    bool of_pools = !check->pools_unseen && label_is_restricted(key);
    if (still_works(key))
        label_note(check, SEVERITY_WARN, expression, NULL, word_old);
    else if (is_unseen(check) && !of_pools)
        label_note(check, SEVERITY_UNDECIDED, expression, NULL, word_perhaps_meant);
    else
        label_note(check, SEVERITY_RAIL, expression, NULL, word_meant);
}

/* ---- labels of the platform's own ---- */

/* Keys that another cloud's provider makes, and no catalogue of ours knows. */
static bool may_be_of_other_cloud(struct label_inquiry *check, struct text key)
{
    return text_starts_with(key, TEXT("karpenter.")) &&
           !text_starts_with(key, TEXT("karpenter.sh/")) &&
           !text_starts_with(key, TEXT("karpenter.k8s.aws/")) && label_sees_other_cloud(check);
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
    struct arena *arena = check->call->arena;
    struct text key = note->expression->key;
    draft->statement =
        not_known(check, note->value == NULL ? key
                                             : arena_printf(arena, "%.*s=%.*s", TEXT_ARGS(key),
                                                            TEXT_ARGS(note->value->text)));
    draft->fix = advice_to_see(check, ", or name the label under node-labels.allow");
}

static void word_put_by_others(struct label_inquiry *check, const struct label_note *note,
                               struct draft *draft)
{
    draft->statement = arena_printf(
        check->call->arena,
        "No visible Node has the label %.*s, which others than NodePools put on nodes.",
        TEXT_ARGS(note->expression->key));
    draft->fix = TEXT("Name the label under node-labels.allow if nodes will have it.");
}

/* "team: web", as a NodePool is to have it. */
static struct text entry_of(const struct expression *expression, struct arena *arena)
{
    struct text value = expression->value_count > 0 ? expression->values[0].text : TEXT("true");
    return arena_printf(arena, "%.*s: %.*s", TEXT_ARGS(expression->key),
                        TEXT_ARGS(in_yaml(value, arena)));
}

static void word_unknown(struct label_inquiry *check, const struct label_note *note,
                         struct draft *draft)
{
    const struct text_list *names = keys_of_pools(check);
    struct arena *arena = check->call->arena;
    struct text key = note->expression->key;
    draft->statement = arena_printf(arena, "No NodePool and no Node has the label %.*s%s",
                                    TEXT_ARGS(key), label_consequence(check, note));
    draft->fix = label_is_restricted(key)
                     ? TEXT("Remove it: no NodePool may have such a label.")
                     : arena_printf(arena,
                                    "Remove it, or give it to the nodes of a NodePool, as %.*s "
                                    "under spec.template.metadata.labels.",
                                    TEXT_ARGS(entry_of(note->expression, arena)));
    label_allow(draft, names->items, names->count);
    draft->in_key = label_is_entry(note->expression);
}

static void note_unknown(struct label_inquiry *check, const struct expression *expression)
{
    bool by_name = text_is(expression->key, LABEL_NODE_POOL);
    if (by_name ? check->pools_unseen : is_unseen(check))
        label_note(check, SEVERITY_UNDECIDED, expression, NULL, word_unseen);
    else if (label_is_put_by_others(expression->key))
        label_note(check, SEVERITY_UNDECIDED, expression, NULL, word_put_by_others);
    else
        label_note(check, SEVERITY_RAIL, expression, NULL, word_unknown);
}

/* What is offered of a key, read once where anything is. */
const struct label_offers *label_offers_of(struct label_inquiry *check, struct text key)
{
    static const struct label_offers none;
    struct arena *arena = check->call->arena;
    size_t number = text_map_get(&check->offers_of, key, 0);
    if (number > 0)
        return &check->offers.items[number - 1];
    struct label_offers offers;
    label_offers_read(check->call->world->snapshot, key, arena, &offers);
    if (!label_offers_some(&offers))
        return &none;
    *LIST_PUSH(arena, &check->offers) = offers;
    *text_map_at(&check->offers_of, arena, key) = check->offers.count;
    return &check->offers.items[check->offers.count - 1];
}

/* Many values may be wrong of one key. */
static const struct text_list *offered_values(struct label_inquiry *check, struct text key)
{
    const struct label_offers *offers = label_offers_of(check, key);
    if (check->listed.of != offers)
        check->listed.list = label_offers_list(offers, check->call->arena);
    check->listed.of = offers;
    return &check->listed.list;
}

static void word_value(struct label_inquiry *check, const struct label_note *note,
                       struct draft *draft)
{
    const struct text_list *values = offered_values(check, note->expression->key);
    struct arena *arena = check->call->arena;
    struct text key = note->expression->key, value = note->value->text;
    draft->statement =
        arena_printf(arena, "No NodePool and no Node has %.*s=%.*s%s", TEXT_ARGS(key),
                     TEXT_ARGS(value), label_consequence(check, note));
    struct text choices = label_choices(values->items, values->count, "values", arena);
    draft->fix =
        label_is_restricted(key)
            ? arena_printf(arena, "Select %.*s.", TEXT_ARGS(choices))
            : arena_printf(arena,
                           "Select %.*s, or write %.*s: %.*s under "
                           "spec.template.metadata.labels of a NodePool.",
                           TEXT_ARGS(choices), TEXT_ARGS(key), TEXT_ARGS(in_yaml(value, arena)));
    label_allow(draft, values->items, values->count);
}

static void word_pool(struct label_inquiry *check, const struct label_note *note,
                      struct draft *draft)
{
    const struct text_list *values = offered_values(check, note->expression->key);
    struct arena *arena = check->call->arena;
    struct text value = note->value->text;
    draft->statement = arena_printf(arena, "There is no NodePool %.*s%s", TEXT_ARGS(value),
                                    label_consequence(check, note));
    draft->fix =
        arena_printf(arena, "Select %.*s, or create NodePool %.*s first.",
                     TEXT_ARGS(label_choices(values->items, values->count, "NodePools", arena)),
                     TEXT_ARGS(value));
    label_allow(draft, values->items, values->count);
}

static void judge_values(struct label_inquiry *check, const struct expression *expression,
                         const struct label_offers *offers)
{
    bool some = false;
    bool by_name = text_is(expression->key, LABEL_NODE_POOL);
    label_wording *word = by_name ? word_pool : word_value;
    for (size_t i = 0; i < expression->value_count; i++)
        some = some || label_offers_have(offers, expression->values[i].text);
    enum severity severity = some ? SEVERITY_WARN : SEVERITY_RAIL;
    if (!offers->from_pool && label_is_put_by_others(expression->key))
        severity = SEVERITY_UNDECIDED;
    if (by_name ? check->pools_unseen : is_unseen(check)) {
        severity = SEVERITY_UNDECIDED;
        word = word_unseen;
    }
    for (size_t i = 0; i < expression->value_count; i++)
        if (!label_offers_have(offers, expression->values[i].text))
            label_note(check, severity, expression, &expression->values[i], word)->some = some;
}

/* ---- the whole ---- */

static void word_host_named(struct label_inquiry *check, const struct label_note *note,
                            struct draft *draft)
{
    (void)check;
    draft->statement =
        TEXT("Karpenter buys no node for pods that require anything of " LABEL_HOSTNAME
             ", so they wait where no node has room.");
    draft->fix = note->expression->op == SOLVER_NOT_IN
                     ? TEXT("Remove it, and keep pods off a node with a taint.")
                     : TEXT("Remove it.");
}

/* A value of it is looked for, and scheduler-bypass warns of one. */
static bool is_host_named(const struct label_inquiry *check, const struct expression *expression)
{
    return text_is(expression_canonical_key(expression), LABEL_HOSTNAME) &&
           expression->op != SOLVER_IN && check->place == LABEL_IN_POD;
}

static void judge_known(struct label_inquiry *check, const struct expression *expression)
{
    struct text key = expression->key;
    if (is_host_named(check, expression))
        label_note(check, SEVERITY_WARN, expression, NULL, word_host_named);
    if (still_works(key) && !text_starts_with(key, TEXT("eks.amazonaws.com/")) &&
        !some_pool_produces(check->call->world->snapshot, key))
        note_meant(check, expression);
    if (expression->op == SOLVER_IN)
        label_judge_known_values(check, expression);
}

static void judge_other(struct label_inquiry *check, const struct expression *expression)
{
    const struct label_offers *offers = label_offers_of(check, expression->key);
    bool offered = label_offers_some(offers);
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

/* Whether a value looks like one of a template, which selects no node as it stands. */
static bool looks_like_template(const struct label_inquiry *check,
                                const struct expression *expression,
                                const struct expression_value *value)
{
    return label_value_is_template(check->settings->catalog, expression_canonical_key(expression),
                                   value->text);
}

bool label_is_template(const struct label_inquiry *check, const struct expression *expression,
                       const struct expression_value *value)
{
    return object_is_of_file(check->call->object) && looks_like_template(check, expression, value);
}

bool label_has_template(const struct label_inquiry *check, const struct expression *expression)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (label_is_template(check, expression, &expression->values[i]))
            return true;
    return false;
}

static bool some_looks_like_template(const struct label_inquiry *check,
                                     const struct expression *expression)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (looks_like_template(check, expression, &expression->values[i]))
            return true;
    return false;
}

void label_judge(struct label_inquiry *check, const struct expression *expression)
{
    const struct catalog *catalog = check->settings->catalog;
    struct text canonical = expression_canonical_key(expression);
    if (!expression->valid)
        return;
    bool is_open = some_looks_like_template(check, expression);
    check->by_node |= is_open;
    const struct key_strings *granted =
        label_granted_values(check->settings, expression->key, canonical);
    bool is_well_known = solver_is_well_known(canonical.data, canonical.size) ||
                         text_is(canonical, LABEL_HOSTNAME) || catalog_has_key(catalog, canonical);
    if (granted != NULL)
        label_judge_granted(check, expression, granted);
    else if (is_open)
        return;
    else if (is_well_known && !text_is(canonical, LABEL_NODE_POOL))
        judge_known(check, expression);
    else
        judge_other(check, expression);
}
