/* Strings that have a form: globs, service accounts, paths. */
#include <string.h>

#include "policy/schema.h"

/* text_matches_glob knows * and ? only: what other globs know would be taken by the letter and
 * match nothing. */
bool schema_check_glob(const struct schema *schema, const struct field *field)
{
    struct text value = node_string(field->node);
    for (size_t i = 0; i < value.size; i++)
        if (strchr("[]{}()!^\\, \t", value.data[i]) != NULL)
            return schema_problem(schema, field, field->node->offset,
                                  "found %.*s, which holds '%c'; a glob is one name in which only "
                                  "* (anything) and ? (one character) are special",
                                  TEXT_ARGS(schema_found(schema, field->node)), value.data[i]);
    return true;
}

bool schema_check_account(const struct schema *schema, const struct field *field)
{
    struct text namespace = TEXT("");
    struct text name = TEXT("");
    if (!text_split(node_string(field->node), '/', &namespace, &name) || namespace.size == 0 ||
        name.size == 0 || text_split(name, '/', NULL, NULL))
        return schema_refuse(schema, field, TEXT("NAMESPACE/NAME of a service account"),
                             TEXT(", such as argocd/argocd-application-controller or ci/*"));
    return schema_check_glob(schema, field);
}

/* A key, with [*] behind it where the items of a list are meant. */
static bool is_path_part(struct text part)
{
    const struct text each = TEXT("[*]");
    if (text_ends_with(part, each))
        part.size -= each.size;
    for (size_t i = 0; i < part.size; i++) {
        char c = part.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return false;
    }
    return part.size > 0;
}

bool schema_check_path(const struct schema *schema, const struct field *field)
{
    struct text rest = node_string(field->node);
    struct text part = TEXT("");
    bool good = true;
    while (good && text_split(rest, '.', &part, &rest))
        good = is_path_part(part);
    return (good && is_path_part(rest)) ||
           schema_refuse(schema, field,
                         TEXT("keys with dots between them, and [*] behind that of a list"),
                         TEXT(", such as spec.workerGroupSpecs[*].template"));
}
