/* Policies as ConfigMaps. */
#include <string.h>

#include "cli/render.h"

/* etcd's limit for one object, less room for the rest of the ConfigMap. */
enum { CONFIG_MAP_BYTES_MAX = 1000000 };

/* The mounted folder follows the rules of any folder of policies. */
static bool name_is_readable(struct text name)
{
    for (size_t i = 0; i < name.size; i++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
                   name.data[i]) == NULL)
            return false;
    return policy_key_is_read(name) && name.size <= 253;
}

static bool check(const struct render_policy *policies, size_t count, struct error *error)
{
    size_t size_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct place place = {policies[i].path, 0, 0};
        struct text name = policies[i].name;
        if (!name_is_readable(name))
            return error_set(error, ERROR_USAGE, place,
                             "\"%.*s\" cannot be a key of the ConfigMap; a policy file there has a "
                             "name of letters, digits, -, _ and . that ends with .yaml, .yml or "
                             ".json, and is not cases.yaml, which a folder of policies leaves out",
                             TEXT_ARGS(name));
        for (size_t j = 0; j < i; j++)
            if (text_equal(policies[j].name, name))
                return error_set(error, ERROR_USAGE, place,
                                 "%s has the same name, and the ConfigMap holds one %.*s; rename "
                                 "one of them",
                                 policies[j].path, TEXT_ARGS(name));
        size_bytes += name.size + policies[i].bytes.size;
        if (size_bytes > CONFIG_MAP_BYTES_MAX)
            return error_set(error, ERROR_LIMIT, place,
                             "with this file the policies have %zu bytes; a ConfigMap holds %d",
                             size_bytes, CONFIG_MAP_BYTES_MAX);
    }
    return true;
}

/* The first line is not indented, there is one line end at the end, and no character that YAML
 * takes for a line end or does not print. */
bool render_is_literal(struct text bytes)
{
    static const char *const marks[] = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf"};
    if (bytes.size < 2 || strchr(" \t\n", bytes.data[0]) != NULL ||
        bytes.data[bytes.size - 1] != '\n' || bytes.data[bytes.size - 2] == '\n')
        return false;
    for (size_t i = 0; i < bytes.size; i++) {
        unsigned char byte = (unsigned char)bytes.data[i];
        if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f)
            return false;
    }
    for (size_t i = 0; i < COUNT_OF(marks); i++)
        if (memmem(bytes.data, bytes.size, marks[i], strlen(marks[i])) != NULL)
            return false;
    return true;
}

static void add_literal(struct text_builder *yaml, struct text bytes)
{
    text_builder_printf(yaml, "|\n");
    while (bytes.size > 0) {
        struct text line;
        struct text after;
        text_split(bytes, '\n', &line, &after);
        text_builder_printf(yaml, "%s%.*s\n", line.size == 0 ? "" : "    ", TEXT_ARGS(line));
        bytes = after;
    }
}

/* One member of the ConfigMap, with the policies that belong there. */
static void add_member(struct text_builder *yaml, const char *member, bool literal,
                       const struct render_policy *policies, size_t count)
{
    bool begun = false;
    for (size_t i = 0; i < count; i++) {
        if (render_is_literal(policies[i].bytes) != literal)
            continue;
        if (!begun)
            text_builder_printf(yaml, "%s:\n", member);
        begun = true;
        text_builder_printf(yaml,
                            "  %.*s: ", TEXT_ARGS(render_word(policies[i].name, yaml->arena)));
        if (literal)
            add_literal(yaml, policies[i].bytes);
        else
            text_builder_printf(yaml, "%.*s\n",
                                TEXT_ARGS(text_base64(policies[i].bytes, yaml->arena)));
    }
}

bool render_policies(const struct render_policy *policies, size_t count, struct text namespace,
                     struct arena *arena, struct text *manifest, struct error *error)
{
    if (!check(policies, count, error))
        return false;
    struct text_builder yaml = {.arena = arena};
    text_builder_printf(&yaml,
                        "apiVersion: v1\n"
                        "kind: ConfigMap\n"
                        "metadata:\n"
                        "  name: taffrail-policies\n"
                        "  namespace: %.*s\n"
                        "  labels:\n"
                        "    app.kubernetes.io/name: taffrail\n",
                        TEXT_ARGS(render_word(namespace, arena)));
    add_member(&yaml, "data", true, policies, count);
    add_member(&yaml, "binaryData", false, policies, count);
    *manifest = text_builder_text(&yaml);
    return true;
}
