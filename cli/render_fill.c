/* Fills in the texts of manifests/. */
#include "cli/render.h"

/* A line with this prefix in one of the files is replaced, with its indentation. */
struct slot {
    const char *file; /* NULL: any */
    const char *prefix;
    struct text value;
    const char *suffix;
    bool replaces_block; /* the deeper lines after it are removed, too */
    const char
        *instead; /* of the prefix; NULL: the prefix. Empty like the rest: the line is removed */
};

enum { SLOTS_MAX = 24 };
struct slots {
    struct slot items[SLOTS_MAX];
    size_t count;
};

static void add_slot(struct slots *slots, struct slot slot)
{
    slots->items[slots->count++] = slot;
}

static size_t indentation_of(struct text line)
{
    size_t count = 0;
    while (count < line.size && line.data[count] == ' ')
        count++;
    return count;
}

static const struct slot *slot_of(const struct slots *slots, const char *file, struct text line)
{
    for (const struct slot *slot = slots->items; slot < slots->items + slots->count; slot++)
        if ((slot->file == NULL || text_is(text_of(file), slot->file)) &&
            text_starts_with(line, text_of(slot->prefix)))
            return slot;
    return NULL;
}

static void fill(const struct render_text *file, const struct slots *slots,
                 struct text_builder *filled)
{
    struct text rest = text_of(file->text);
    size_t block_indentation = SIZE_MAX; /* of a replaced block */
    while (rest.size > 0) {
        struct text line = rest;
        struct text after = TEXT("");
        text_split(rest, '\n', &line, &after);
        rest = after;
        size_t indentation = indentation_of(line);
        if (indentation > block_indentation)
            continue;
        block_indentation = SIZE_MAX;
        struct text words = {line.data + indentation, line.size - indentation};
        const struct slot *slot = slot_of(slots, file->name, words);
        if (slot == NULL) {
            text_builder_printf(filled, "%.*s\n", TEXT_ARGS(line));
            continue;
        }
        const char *begin = slot->instead == NULL ? slot->prefix : slot->instead;
        if (begin[0] != '\0' || slot->value.size > 0)
            text_builder_printf(filled, "%*s%s%.*s%s\n", (int)indentation, "", begin,
                                TEXT_ARGS(slot->value), slot->suffix);
        if (slot->replaces_block)
            block_indentation = indentation;
    }
}

/* Some files are only for one kind of certificates. */
static bool is_wanted(const char *name, enum render_certificates certificates)
{
    if (text_is(text_of(name), "rbac-manage.yaml"))
        return certificates == CERTIFICATES_SELF;
    if (text_is(text_of(name), "certificates.yaml"))
        return certificates == CERTIFICATES_CERT_MANAGER;
    return true;
}

/* Mounts the certificate, as manifests/overlays/own-certificates does. */
static void add_mount(struct slots *slots)
{
    add_slot(slots, (struct slot){.file = "deployment.yaml",
                                  .prefix = "- --manage-webhooks",
                                  .instead = "- --cert-dir=/etc/taffrail/tls",
                                  .suffix = ""});
    add_slot(
        slots,
        (struct slot){
            .file = "deployment.yaml", .prefix = "- --cert-secret=", .instead = "", .suffix = ""});
    add_slot(slots, (struct slot){.file = "deployment.yaml",
                                  .prefix = "volumeMounts:",
                                  .suffix = "\n            - name: tls"
                                            "\n              mountPath: /etc/taffrail/tls"
                                            "\n              readOnly: true"});
    add_slot(slots, (struct slot){.file = "deployment.yaml",
                                  .prefix = "volumes:",
                                  .suffix = "\n        - name: tls"
                                            "\n          secret:"
                                            "\n            secretName: taffrail-tls"
                                            "\n            defaultMode: 0440"});
}

/* cert-manager fills in the CA bundle, as in manifests/overlays/cert-manager. */
static void add_injection(struct slots *slots, struct text namespace, struct arena *arena)
{
    static const char *const files[] = {"validating.yaml", "mutating.yaml"};
    struct text annotations = arena_printf(arena,
                                           " taffrail\n  annotations:\n"
                                           "    cert-manager.io/inject-ca-from: %.*s/taffrail",
                                           TEXT_ARGS(namespace));
    for (size_t i = 0; i < COUNT_OF(files); i++)
        add_slot(slots, (struct slot){.file = files[i],
                                      .prefix = "app.kubernetes.io/name:",
                                      .value = annotations,
                                      .suffix = ""});
    add_slot(slots, (struct slot){.file = "certificates.yaml",
                                  .prefix = "- taffrail.",
                                  .value = namespace,
                                  .suffix = ".svc"});
}

/* With Fail, everything waits for the webhook, so it must not be evicted first from a full node. */
static void add_failing(struct slots *slots)
{
    add_slot(slots, (struct slot){.file = "validating.yaml",
                                  .prefix = "failurePolicy: ",
                                  .value = TEXT("Fail"),
                                  .suffix = ""});
    add_slot(slots, (struct slot){.file = "deployment.yaml",
                                  .prefix = "serviceAccountName: ",
                                  .value = TEXT("taffrail"),
                                  .suffix = "\n      priorityClassName: system-cluster-critical"});
}

static void add_timeout(struct slots *slots, int64_t timeout_s, struct arena *arena)
{
    static const char *const files[] = {"validating.yaml", "mutating.yaml"};
    struct text seconds = arena_printf(arena, "%lld", (long long)timeout_s);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        add_slot(
            slots,
            (struct slot){
                .file = files[i], .prefix = "timeoutSeconds: ", .value = seconds, .suffix = ""});
}

static struct text exclusions(const struct render_values *values, struct arena *arena)
{
    struct text_builder list = {.arena = arena};
    text_builder_add(&list, render_word(values->namespace, arena));
    for (size_t i = 0; i < values->excluded_count; i++) {
        struct text word = render_word(text_of(values->excluded_namespaces[i]), arena);
        text_builder_printf(&list, ", %.*s", TEXT_ARGS(word));
    }
    return text_builder_text(&list);
}

struct text render_fill(const struct render_text *file, const struct render_values *values,
                        struct arena *arena)
{
    struct text namespace = render_word(values->namespace, arena);
    struct text ca_bundle = TEXT("");
    if (!is_wanted(file->name, values->certificates))
        return TEXT("");
    if (values->ca_bundle.size > 0)
        ca_bundle = arena_printf(arena, "\n      caBundle: %.*s", TEXT_ARGS(values->ca_bundle));
    const struct slot usual[] = {
        {"namespace.yaml", "name: ", namespace, "", false, NULL},
        {"deployment.yaml", "replicas: ", values->replicas, "", false, NULL},
        {"deployment.yaml", "image: ", render_word(values->image, arena), "", false, NULL},
        {"validating.yaml", "rules: # of NodeClaims", values->claim_rules, "", true, "rules:"},
        {"validating.yaml", "failurePolicy: Ignore # always", TEXT(""), "", false, NULL},
        {"validating.yaml", "rules:", values->rules, "", true, NULL},
        {"mutating.yaml", "rules:", values->change_rules, "", true, NULL},
        {"rbac.yaml", "rules:", values->owner_rights, "", false, NULL},
        {NULL, "clientConfig:", ca_bundle, "", false, NULL},
        {NULL, "values: [kube-system, kube-node-lease, kube-public, ", exclusions(values, arena),
         "]", false, NULL},
        {NULL, "namespace: ", namespace, "", false, NULL},
    };
    struct slots slots = {.count = 0};
    for (size_t i = 0; i < COUNT_OF(usual); i++)
        add_slot(&slots, usual[i]);
    if (values->certificates != CERTIFICATES_SELF)
        add_mount(&slots);
    if (values->certificates == CERTIFICATES_CERT_MANAGER)
        add_injection(&slots, values->namespace, arena);
    if (values->fails)
        add_failing(&slots);
    if (values->on_karpenter_nodes)
        add_slot(&slots, (struct slot){.file = "deployment.yaml",
                                       .prefix = "affinity:",
                                       .suffix = "",
                                       .replaces_block = true,
                                       .instead = ""});
    if (values->timeout_s != 0)
        add_timeout(&slots, values->timeout_s, arena);
    struct text_builder filled = {.arena = arena};
    fill(file, &slots, &filled);
    return text_builder_text(&filled);
}

struct text render_text_of(const char *name)
{
    const struct render_text *file = render_texts;
    while (!text_is(text_of(name), file->name))
        file++;
    return text_of(file->text);
}

/* ---- scalars ---- */

/* Other words could be a number, a boolean or null. The names and images written here have no
 * character that ends a plain scalar. */
static bool stays_a_string(struct text word)
{
    static const char *const others[] = {"true", "false", "yes", "no", "on",
                                         "off",  "null",  "y",   "n",  NULL};
    for (const char *const *other = others; *other != NULL; other++)
        if (text_is(word, *other))
            return false;
    return word.size > 0 && word.data[0] >= 'a' && word.data[0] <= 'z';
}

struct text render_word(struct text word, struct arena *arena)
{
    return stays_a_string(word) ? word : arena_printf(arena, "\"%.*s\"", TEXT_ARGS(word));
}
