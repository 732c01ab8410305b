/* Which objects and requesters a policy reaches. */
#include "kube/selector.h"
#include "policy/policy_set.h"

static bool matches_some(struct text t, const struct key_strings *globs)
{
    return texts_match(globs->items, globs->count, t);
}

static bool is_in_excluded_group(const struct match_rules *rules, const struct requester *requester)
{
    for (size_t i = 0; requester != NULL && i < requester->group_count; i++)
        if (matches_some(requester->groups[i], &rules->exclude_groups))
            return true;
    return false;
}

/* "NAMESPACE/NAME" of a service account. */
static bool is_account(struct text namespace, struct text name, struct text glob)
{
    struct text namespaces = TEXT("");
    struct text names = TEXT("");
    text_split(glob, '/', &namespaces, &names); /* the schema lets no other one through */
    return text_matches_glob(namespace, namespaces) && text_matches_glob(name, names);
}

bool requester_is_account_of(const struct requester *requester, struct text glob)
{
    const struct text prefix = TEXT("system:serviceaccount:");
    struct text namespace = TEXT("");
    struct text name = TEXT("");
    if (requester == NULL || !text_starts_with(requester->name, prefix))
        return false;
    struct text rest = {requester->name.data + prefix.size, requester->name.size - prefix.size};
    return text_split(rest, ':', &namespace, &name) && is_account(namespace, name, glob);
}

bool requester_is_account(const struct requester *requester, const struct key_strings *accounts)
{
    for (size_t i = 0; i < accounts->count; i++)
        if (requester_is_account_of(requester, accounts->items[i]))
            return true;
    return false;
}

static bool is_custom_kind(const struct object *object, const struct key_strings *names)
{
    struct text group = TEXT("");
    text_split(object->api_version, '/', &group, NULL);
    for (size_t i = 0; i < names->count; i++) {
        struct text kind = TEXT("");
        struct text of_group = TEXT("");
        text_split(names->items[i], '.', &kind, &of_group);
        if (text_equal(kind, object->kind_name) && text_equal(of_group, group))
            return true;
    }
    return false;
}

static bool kind_matches(const struct match_rules *rules, const struct match_subject *subject)
{
    const struct object *object = subject->object;
    return !rules->kinds_given || (rules->kinds.known & KIND_BIT(object->kind)) != 0 ||
           is_custom_kind(object, &rules->kinds.custom);
}

/* ---- the keys of match, one after the other ---- */

static bool is_namespaced(const struct object *object)
{
    return object->kind == KIND_UNKNOWN ? object->namespace.size > 0
                                        : kind_table[object->kind].namespaced;
}

/* Cluster-scoped objects are out of reach of what asks for namespaces. */
static bool namespace_matches(const struct match_rules *rules, const struct match_subject *subject)
{
    return !rules->namespaces.given ||
           (is_namespaced(subject->object) &&
            matches_some(subject->object->namespace, &rules->namespaces));
}

static bool namespace_is_not_excluded(const struct match_rules *rules,
                                      const struct match_subject *subject)
{
    return !is_namespaced(subject->object) ||
           !matches_some(subject->object->namespace, &rules->exclude_namespaces);
}

static bool name_matches(const struct match_rules *rules, const struct match_subject *subject)
{
    return !rules->names.given || matches_some(subject->root_name, &rules->names);
}

static bool labels_match(const struct match_rules *rules, const struct match_subject *subject)
{
    return rules->label_selector == NULL ||
           selector_matches(rules->label_selector, subject->object->labels);
}

static bool operation_matches(const struct match_rules *rules, const struct match_subject *subject)
{
    static const char *const names[] = {[OPERATION_CREATE] = "CREATE",
                                        [OPERATION_UPDATE] = "UPDATE",
                                        [OPERATION_DELETE] = "DELETE",
                                        [OPERATION_CONNECT] = "CONNECT"};
    return !rules->operations.given ||
           matches_some(text_of(names[subject->operation]), &rules->operations);
}

static bool account_matches(const struct match_rules *rules, const struct match_subject *subject)
{
    return !rules->service_accounts.given ||
           requester_is_account(subject->requester, &rules->service_accounts);
}

static bool account_is_not_excluded(const struct match_rules *rules,
                                    const struct match_subject *subject)
{
    return !requester_is_account(subject->requester, &rules->exclude_service_accounts);
}

static bool group_is_not_excluded(const struct match_rules *rules,
                                  const struct match_subject *subject)
{
    return !is_in_excluded_group(rules, subject->requester);
}

static bool has_namespace_to_select(const struct match_rules *rules,
                                    const struct match_subject *subject)
{
    return rules->namespace_selector == NULL || is_namespaced(subject->object);
}

static const char namespace_selector_key[] = "namespaceSelector";
static const struct {
    const char *key;
    bool (*holds)(const struct match_rules *rules, const struct match_subject *subject);
} parts[] = {
    {"kinds", kind_matches},
    {"namespaces", namespace_matches},
    {"excludeNamespaces", namespace_is_not_excluded},
    {namespace_selector_key, has_namespace_to_select},
    {"names", name_matches},
    {"labelSelector", labels_match},
    {"operations", operation_matches},
    {"serviceAccounts", account_matches},
    {"excludeServiceAccounts", account_is_not_excluded},
    {"excludeGroups", group_is_not_excluded},
};

enum match_result match_decide(const struct match_rules *rules, const struct match_subject *subject,
                               const char **key)
{
    static const enum match_result results[] = {
        [NOT_SELECTED] = MATCH_NO, [MAY_BE_SELECTED] = MATCH_UNKNOWN, [SELECTED] = MATCH_YES};
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        *key = parts[i].key;
        if (!parts[i].holds(rules, subject))
            return MATCH_NO;
    }
    *key = rules->namespace_selector == NULL ? NULL : namespace_selector_key;
    if (rules->namespace_selector == NULL)
        return MATCH_YES;
    return results[namespace_selected(rules->namespace_selector, subject->object->namespace,
                                      subject->namespace)];
}

enum match_result match_evaluate(const struct match_rules *rules,
                                 const struct match_subject *subject)
{
    const char *key = NULL;
    return match_decide(rules, subject, &key);
}

struct text docs_url(const struct policy *policy, const char *rail, struct arena *arena)
{
    const struct text placeholder = TEXT("{rail}");
    struct text rest = policy->docs;
    struct text_builder url = {.arena = arena};
    while (rest.size > 0) {
        bool here = text_starts_with(rest, placeholder);
        size_t size = here ? placeholder.size : 1;
        text_builder_add(&url, here ? text_of(rail) : (struct text){rest.data, 1});
        rest = (struct text){rest.data + size, rest.size - size};
    }
    return text_builder_text(&url);
}
