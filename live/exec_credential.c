/* What an exec plugin is told, and what its answer says. */
#include "live/exec_credential.h"

#include "kube/time.h"

static const char *const api_versions[] = {"client.authentication.k8s.io/v1",
                                           "client.authentication.k8s.io/v1beta1"};

/* ---- the kubeconfig ---- */

static struct place in_file(const char *file)
{
    return (struct place){file, 0, 0};
}

static bool read_api_version(const struct node *exec, const char *file, struct arena *arena,
                             struct exec_plugin *plugin, struct error *error)
{
    struct text version = node_string(node_get(exec, "apiVersion"));
    plugin->api_version = arena_text(arena, version).data;
    if (text_is_one_of(version, api_versions, COUNT_OF(api_versions)))
        return true;
    return error_set(error, ERROR_INPUT, in_file(file),
                     "exec: apiVersion is \"%.100s\"; it wants %s or %s. What wrote the kubeconfig "
                     "can write it anew: of EKS, aws eks update-kubeconfig",
                     plugin->api_version, api_versions[0], api_versions[1]);
}

static bool read_interactive_mode(const struct node *exec, const char *file,
                                  struct exec_plugin *plugin, struct error *error)
{
    static const char *const modes[] = {
        [INTERACTIVE_NEVER] = "Never",
        [INTERACTIVE_IF_AVAILABLE] = "IfAvailable",
        [INTERACTIVE_ALWAYS] = "Always",
    };
    struct text mode = node_string(node_get(exec, "interactiveMode"));
    bool may_be_left_out = strcmp(plugin->api_version, api_versions[0]) != 0;
    plugin->interactive = INTERACTIVE_IF_AVAILABLE;
    if (mode.size == 0 && may_be_left_out)
        return true;
    for (size_t i = 0; i < COUNT_OF(modes); i++)
        if (text_is(mode, modes[i])) {
            plugin->interactive = (enum interactive_mode)i;
            return true;
        }
    return error_set(error, ERROR_INPUT, in_file(file),
                     "exec: interactiveMode is \"%.*s\"; it wants Never, IfAvailable or Always",
                     (int)(mode.size < 100 ? mode.size : 100), mode.data);
}

/* A program is given terminated texts: one with a NUL in it would be another one. */
static const char *word_of(const struct node *node, struct arena *arena)
{
    struct text word = node_string(node);
    if (!node_is(node, NODE_STRING) || memchr(word.data, '\0', word.size) != NULL)
        return NULL;
    return arena_text(arena, word).data;
}

/* A command with a slash is relative to the kubeconfig, others are looked for in $PATH. */
static const char *command_of(const struct node *exec, const char *file, struct arena *arena)
{
    const char *command = word_of(node_get(exec, "command"), arena);
    struct text folder;
    if (command == NULL || *command == '\0' || *command == '/' || strchr(command, '/') == NULL ||
        !text_split_last(text_of(file), '/', &folder, NULL))
        return command;
    return arena_printf(arena, "%.*s/%s", TEXT_ARGS(folder), command).data;
}

static bool read_arguments(const struct node *exec, const char *file, struct arena *arena,
                           struct exec_plugin *plugin, struct error *error)
{
    const struct node *list = node_get(exec, "args");
    size_t count = node_is(list, NODE_LIST) ? node_count(list) : 0;
    const char **arguments = (const char **)ARENA_ARRAY(arena, count + 2, const char *);
    plugin->arguments = arguments;
    arguments[0] = command_of(exec, file, arena);
    if (arguments[0] == NULL || *arguments[0] == '\0')
        return error_set(error, ERROR_INPUT, in_file(file), "exec: command is missing");
    for (size_t i = 0; i < count; i++) {
        arguments[i + 1] = word_of(node_item(list, i), arena);
        if (arguments[i + 1] == NULL)
            return error_set(error, ERROR_INPUT, in_file(file), "exec: args[%zu] is no string", i);
    }
    return true;
}

static bool read_environment(const struct node *exec, const char *file, struct arena *arena,
                             struct exec_plugin *plugin, struct error *error)
{
    const struct node *list = node_get(exec, "env");
    size_t count = node_is(list, NODE_LIST) ? node_count(list) : 0;
    const char **environment = (const char **)ARENA_ARRAY(arena, count + 1, const char *);
    plugin->environment = environment;
    for (size_t i = 0; i < count; i++) {
        const struct node *item = node_item(list, i);
        const char *name = word_of(node_get(item, "name"), arena);
        const char *value = word_of(node_get(item, "value"), arena);
        if (name == NULL || *name == '\0' || strchr(name, '=') != NULL || value == NULL)
            return error_set(error, ERROR_INPUT, in_file(file),
                             "exec: env[%zu] wants a name and a value", i);
        environment[i] = arena_printf(arena, "%s=%s", name, value).data;
    }
    return true;
}

/* It goes to a terminal. */
static struct text hint_of(const struct node *exec, struct arena *arena)
{
    struct text hint = node_string(node_get(exec, "installHint"));
    char *clean = ARENA_ARRAY(arena, hint.size + 1, char);
    for (size_t i = 0; i < hint.size; i++) {
        char c = hint.data[i];
        clean[i] = ((unsigned char)c < ' ' && c != '\n' && c != '\t') || c == 0x7F ? ' ' : c;
    }
    return (struct text){clean, hint.size};
}

bool exec_plugin_read(const struct node *exec, const struct node *cluster, const char *file,
                      struct arena *arena, const struct exec_plugin **read, struct error *error)
{
    struct exec_plugin *plugin = ARENA_NEW(arena, struct exec_plugin);
    *read = plugin;
    plugin->provides_cluster = node_true(node_get(exec, "provideClusterInfo"));
    plugin->install_hint = hint_of(exec, arena);
    FOR_ITEMS(extension, node_get(cluster, "extensions"))
        if (text_is(node_string(node_get(extension, "name")), "client.authentication.k8s.io/exec"))
            plugin->cluster_config = node_get(extension, "extension");
    return read_api_version(exec, file, arena, plugin, error) &&
           read_interactive_mode(exec, file, plugin, error) &&
           read_arguments(exec, file, arena, plugin, error) &&
           read_environment(exec, file, arena, plugin, error);
}

/* ---- what it is told ---- */

static bool write_cluster(const struct exec_plugin *plugin, const struct client_config *config,
                          struct text_builder *out, struct error *error)
{
    enum { CA_BYTES = 4 << 20 };
    struct text ca = config->ca_pem;
    if (config->ca_file.size > 0 &&
        !file_read(config->ca_file.data, CA_BYTES, out->arena, &ca, error))
        return false;
    json_write_key(out, "cluster");
    text_builder_add(out, TEXT("{"));
    json_write_member(out, "server", config->server);
    if (config->tls_server_name.size > 0)
        json_write_member(out, "tls-server-name", config->tls_server_name);
    if (config->insecure) {
        json_write_key(out, "insecure-skip-tls-verify");
        text_builder_add(out, TEXT("true"));
    }
    if (ca.size > 0)
        json_write_member(out, "certificate-authority-data", text_base64(ca, out->arena));
    if (config->proxy_url.size > 0)
        json_write_member(out, "proxy-url", config->proxy_url);
    json_write_key(out, "config");
    if (plugin->cluster_config == NULL)
        text_builder_add(out, TEXT("null"));
    else
        json_write_node(out, plugin->cluster_config);
    text_builder_add(out, TEXT("}"));
    return true;
}

bool exec_info_write(const struct exec_plugin *plugin, const struct client_config *config,
                     bool interactive, struct arena *arena, struct text *info, struct error *error)
{
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "kind", TEXT("ExecCredential"));
    json_write_member(&out, "apiVersion", text_of(plugin->api_version));
    json_write_key(&out, "spec");
    text_builder_add(&out, TEXT("{"));
    if (plugin->provides_cluster && !write_cluster(plugin, config, &out, error))
        return false;
    json_write_key(&out, "interactive");
    text_builder_add(&out, interactive ? TEXT("true}}") : TEXT("false}}"));
    *info = text_builder_text(&out);
    return true;
}

/* ---- what it answers ---- */

/* Programs print a token with a line break behind it; one within it would be another header. */
static bool read_token(const struct node *status, struct text *token)
{
    static const char white[] = " \t\r\n";
    *token = node_string(node_get(status, "token"));
    while (token->size > 0 && strchr(white, token->data[0]) != NULL && token->data[0] != '\0')
        *token = (struct text){token->data + 1, token->size - 1};
    while (token->size > 0 && strchr(white, token->data[token->size - 1]) != NULL &&
           token->data[token->size - 1] != '\0')
        token->size--;
    for (size_t i = 0; i < token->size; i++)
        if (token->data[i] <= ' ' || token->data[i] >= 0x7F)
            return false;
    return true;
}

static bool read_status(const struct node *status, struct arena *arena,
                        struct exec_credential *credential, struct error *error)
{
    struct text token;
    if (!read_token(status, &token))
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         "its token has a space or another character that no header may have");
    credential->token = arena_text(arena, token);
    credential->certificate_pem =
        arena_text(arena, node_string(node_get(status, "clientCertificateData")));
    credential->key_pem = arena_text(arena, node_string(node_get(status, "clientKeyData")));
    bool certificate = credential->certificate_pem.size > 0, key = credential->key_pem.size > 0;
    if (certificate != key)
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         "its answer has a client %s without the client %s",
                         certificate ? "certificate" : "key", certificate ? "key" : "certificate");
    if (!certificate && token.size == 0)
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         "its answer has neither a token nor a client certificate");
    const struct node *expires = node_get(status, "expirationTimestamp");
    if (node_is_given(expires) && !time_parse(node_string(expires), &credential->expires_unix_s))
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         "the expirationTimestamp of its answer is no time");
    return true;
}

bool exec_credential_read(struct text output, const struct exec_plugin *plugin, struct arena *arena,
                          struct exec_credential *credential, struct error *error)
{
    struct source source = {.text = output};
    struct error unreadable = {0};
    const struct node *root = NULL;
    *credential = (struct exec_credential){0};
    if (!doc_read_json(&source, &doc_limits_policy, NULL, arena, &root, &unreadable) ||
        !node_is(root, NODE_MAP))
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         output.size == 0 ? "it printed nothing; it should print an ExecCredential"
                                          : "what it printed is no ExecCredential as JSON");
    struct text kind = node_string(node_get(root, "kind"));
    struct text version = node_string(node_get(root, "apiVersion"));
    if (!text_is(kind, "ExecCredential") ||
        !text_starts_with(version, TEXT("client.authentication.k8s.io/")))
        return error_set(error, ERROR_CLUSTER, NOWHERE, "what it printed is no ExecCredential");
    if (!text_is(version, plugin->api_version))
        return error_set(
            error, ERROR_CLUSTER, NOWHERE, "it answers in %.*s, and the kubeconfig wants %s",
            (int)(version.size < 100 ? version.size : 100), version.data, plugin->api_version);
    const struct node *status = node_get(root, "status");
    if (!node_is(status, NODE_MAP))
        return error_set(error, ERROR_CLUSTER, NOWHERE, "its answer has no status");
    return read_status(status, arena, credential, error);
}
