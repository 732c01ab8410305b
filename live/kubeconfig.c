/* Reads and merges kubeconfig files as kubectl does. */
#include <errno.h>
#include <unistd.h>

#include "live/exec_credential.h"
#include "live/impersonation.h"

enum { FILE_BYTES = 4 << 20 };

struct document {
    const char *file;
    const struct node *root;
};
struct documents {
    struct document *items;
    size_t count, capacity;
};

struct collecting {
    struct arena *arena;
    struct documents *documents;
    const char *file;
};

static void collect(void *context, const struct node *root)
{
    struct collecting *collecting = context;
    if (node_is(root, NODE_MAP))
        *LIST_PUSH(collecting->arena, collecting->documents) =
            (struct document){collecting->file, root};
}

static bool read_document(const char *file, struct arena *arena, struct documents *documents,
                          struct error *error)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = file;
    if (!file_read(file, FILE_BYTES, arena, &source->text, error))
        return false;
    struct problems problems = {.arena = arena};
    struct collecting collecting = {arena, documents, file};
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_policy, arena, &problems, collect,
                  &collecting);
    if (problems.count == 0)
        return true;
    *error = problems.items[0];
    return false;
}

/* Ignores missing files of the list, as kubectl does. */
static bool read_documents(const char *paths, struct arena *arena, struct documents *documents,
                           struct error *error)
{
    struct text rest = text_of(paths);
    for (bool more = true; more;) {
        struct text path = rest;
        more = text_split(rest, ':', &path, &rest);
        if (path.size == 0)
            continue;
        const char *file = arena_text(arena, path).data;
        if (access(file, F_OK) != 0 && errno == ENOENT)
            continue;
        if (!read_document(file, arena, documents, error))
            return false;
    }
    if (documents->count == 0)
        return error_set(error, ERROR_IO, NOWHERE, "there is no kubeconfig: %.300s", paths);
    return true;
}

/* The member called inner in the entry with this name of a list (clusters, users, contexts). */
static const struct node *entry(const struct documents *documents, const char *list,
                                const char *inner, struct text name, const char **file)
{
    for (size_t i = 0; i < documents->count; i++) {
        const struct node *entries = node_get(documents->items[i].root, list);
        for (size_t j = 0; node_is(entries, NODE_LIST) && j < node_count(entries); j++) {
            const struct node *item = node_item(entries, j);
            if (text_equal(node_string(node_get(item, "name")), name)) {
                *file = documents->items[i].file;
                return node_get(item, inner);
            }
        }
    }
    return NULL;
}

/* Relative to the kubeconfig file. */
static struct text file_at(const struct node *map, const char *key, const char *file,
                           struct arena *arena)
{
    struct text path = node_string(node_get(map, key));
    struct text folder;
    if (path.size == 0 || path.data[0] == '/' ||
        !text_split_last(text_of(file), '/', &folder, NULL))
        return path.size == 0 ? path : arena_text(arena, path);
    return arena_printf(arena, "%.*s/%.*s", TEXT_ARGS(folder), TEXT_ARGS(path));
}

static bool data_at(const struct node *map, const char *key, const char *file, struct arena *arena,
                    struct text *data, struct error *error)
{
    return text_from_base64(node_string(node_get(map, key)), arena, data) ||
           error_set(error, ERROR_INPUT, (struct place){file, 0, 0}, "%s is no base64", key);
}

static bool read_cluster(const struct node *cluster, const char *file, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    struct text server = node_string(node_get(cluster, "server"));
    while (text_ends_with(server, TEXT("/")))
        server.size--;
    if (!text_starts_with(server, TEXT("https://")) && !text_starts_with(server, TEXT("http://")))
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0},
                         "server of the cluster is \"%.200s\", which is no https:// address",
                         arena_text(arena, server).data);
    config->server = arena_text(arena, server);
    config->ca_file = file_at(cluster, "certificate-authority", file, arena);
    config->tls_server_name = node_string(node_get(cluster, "tls-server-name"));
    config->proxy_url = node_string(node_get(cluster, "proxy-url"));
    config->insecure = node_true(node_get(cluster, "insecure-skip-tls-verify"));
    if (!data_at(cluster, "certificate-authority-data", file, arena, &config->ca_pem, error))
        return false;
    if (config->insecure && (config->ca_file.size > 0 || config->ca_pem.size > 0))
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0},
                         "the cluster has a certificate-authority and insecure-skip-tls-verify: "
                         "take one of them out");
    return true;
}

static bool read_impersonation(const struct node *user, const char *file, struct arena *arena,
                               struct client_config *config, struct error *error)
{
    struct text_list groups = {0};
    FOR_ITEMS(group, node_get(user, "as-groups"))
        *LIST_PUSH(arena, &groups) = node_string(group);
    const struct impersonation who = {
        .user = node_string(node_get(user, "as")),
        .uid = node_string(node_get(user, "as-uid")),
        .groups = groups.items,
        .group_count = groups.count,
        .extra = node_get(user, "as-user-extra"),
    };
    if (impersonation_headers(&who, arena, &config->impersonation, error))
        return true;
    error->place.file = file;
    return false;
}

/* What is given in the kubeconfig itself comes before the plugin, as for kubectl. */
static bool has_credentials(const struct client_config *config)
{
    return config->token.size > 0 || config->token_file.size > 0 || config->username.size > 0 ||
           config->certificate_file.size > 0 || config->certificate_pem.size > 0;
}

static bool read_user(const struct node *user, const struct node *cluster, const char *file,
                      struct arena *arena, struct client_config *config, struct error *error)
{
    const struct node *exec = node_get(user, "exec");
    if (node_is(node_get(user, "auth-provider"), NODE_MAP))
        return error_set(error, ERROR_INPUT, (struct place){file, 0, 0},
                         "the user has an auth-provider, which kubectl has not supported since "
                         "1.26: use an exec plugin, a token or a client certificate");
    config->certificate_file = file_at(user, "client-certificate", file, arena);
    config->key_file = file_at(user, "client-key", file, arena);
    config->token_file = file_at(user, "tokenFile", file, arena);
    config->token = node_string(node_get(user, "token"));
    config->username = node_string(node_get(user, "username"));
    config->password = node_string(node_get(user, "password"));
    return data_at(user, "client-certificate-data", file, arena, &config->certificate_pem, error) &&
           data_at(user, "client-key-data", file, arena, &config->key_pem, error) &&
           read_impersonation(user, file, arena, config, error) &&
           (!node_is(exec, NODE_MAP) || has_credentials(config) ||
            exec_plugin_read(exec, cluster, file, arena, &config->exec, error));
}

/* In a kubeconfig, data wins over the file. */
static void prefer_data(struct client_config *config)
{
    if (config->ca_pem.size > 0)
        config->ca_file = TEXT("");
    if (config->certificate_pem.size > 0)
        config->certificate_file = TEXT("");
    if (config->key_pem.size > 0)
        config->key_file = TEXT("");
}

static bool say_no_context(const struct documents *documents, struct text name, struct arena *arena,
                           struct error *error)
{
    enum { NAMED_MAX = 5 };
    struct text_list names = {0};
    for (size_t i = 0; i < documents->count; i++)
        FOR_ITEMS(context, node_get(documents->items[i].root, "contexts"))
            *LIST_PUSH(arena, &names) = node_string(node_get(context, "name"));
    return error_set(error, ERROR_INPUT, NOWHERE, "kubeconfig has no context \"%.200s\"%s%s",
                     arena_text(arena, name).data, names.count == 0 ? "" : "; it has ",
                     texts_and(names.items, names.count, NAMED_MAX, arena).data);
}

static bool read_context(const struct documents *documents, struct text name, struct arena *arena,
                         struct client_config *config, struct error *error)
{
    const char *file = NULL;
    const struct node *context = entry(documents, "contexts", "context", name, &file);
    if (context == NULL)
        return say_no_context(documents, name, arena, error);
    config->namespace = node_string(node_get(context, "namespace"));
    config->origin = arena_printf(arena, "the context %.*s of %s", TEXT_ARGS(name), file);
    struct text cluster_name = node_string(node_get(context, "cluster"));
    const struct node *cluster = entry(documents, "clusters", "cluster", cluster_name, &file);
    if (cluster == NULL)
        return error_set(error, ERROR_INPUT, NOWHERE, "kubeconfig has no cluster \"%.200s\"",
                         arena_text(arena, cluster_name).data);
    if (!read_cluster(cluster, file, arena, config, error))
        return false;
    struct text user_name = node_string(node_get(context, "user"));
    const struct node *user = entry(documents, "users", "user", user_name, &file);
    if (user_name.size > 0 && user == NULL)
        return error_set(error, ERROR_INPUT, NOWHERE, "kubeconfig has no user \"%.200s\"",
                         arena_text(arena, user_name).data);
    return user == NULL || read_user(user, cluster, file, arena, config, error);
}

bool client_config_kubeconfig(const char *paths, const char *context, struct arena *arena,
                              struct client_config *config, struct error *error)
{
    struct documents documents = {0};
    *config = (struct client_config){0};
    if (!read_documents(paths, arena, &documents, error))
        return false;
    struct text name = text_of(context);
    for (size_t i = 0; name.size == 0 && i < documents.count; i++)
        name = node_string(node_get(documents.items[i].root, "current-context"));
    if (name.size == 0)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "kubeconfig has no current-context: name one");
    if (!read_context(&documents, name, arena, config, error))
        return false;
    prefer_data(config);
    config->kubeconfig = arena_text(arena, text_of(paths));
    config->context = arena_text(arena, text_of(context));
    return true;
}
