/* labels: threads */
/* Where the API server is: kubeconfig files, service accounts, rotated tokens. */
#include <unistd.h>

#include "client_fixture.h"
#include "live/endpoint.h"

const char unit_suite[] = "client config";

static struct arena *arena;
static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/taffrail-unit-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    arena = arena_create(16 << 20);
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ASSERT_INT(system(command), 0);
    arena_destroy(arena);
}

static const char *path_of(const char *name)
{
    return arena_printf(arena, "%s/%s", folder, name).data;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_FATAL(fputs(text, file) >= 0 && fclose(file) == 0);
}

#define NAMED(kind, name, body) #kind "s: [{name: " name ", " #kind ": {" body "}}]\n"
#define CONTEXT NAMED(context, "here", "cluster: c, user: u, namespace: shop")

static void a_kubeconfig_is_read(void)
{
    make_folder();
    /* "cGVt" is "pem", "cGVtMQ==" is "pem1". */
    write_file("config",
               "current-context: here\n" CONTEXT NAMED(cluster, "c",
                                                       "server: \"https://api:6443/\", "
                                                       "certificate-authority-data: cGVt, "
                                                       "certificate-authority: ca.crt, "
                                                       "tls-server-name: name, "
                                                       "proxy-url: \"http://proxy:1\"")
                   NAMED(user, "u",
                         "tokenFile: sub/token, token: fixed, client-certificate: "
                         "/etc/me.crt, client-key-data: cGVtMQ=="));
    struct client_config config;
    struct error error = {0};
    CU_ASSERT_FATAL(client_config_kubeconfig(path_of("config"), NULL, arena, &config, &error));
    ASSERT_TEXT(config.server, "https://api:6443");
    ASSERT_TEXT(config.namespace, "shop");
    ASSERT_TEXT(config.ca_pem, "pem");
    ASSERT_TEXT(config.ca_file, "");
    ASSERT_TEXT(config.tls_server_name, "name");
    ASSERT_TEXT(config.proxy_url, "http://proxy:1");
    ASSERT_TEXT(config.token_file, path_of("sub/token"));
    ASSERT_TEXT(config.token, "fixed");
    ASSERT_TEXT(config.certificate_file, "/etc/me.crt");
    ASSERT_TEXT(config.key_pem, "pem1");
    CU_ASSERT(!config.insecure);
    remove_folder();
}

static void of_several_files_the_first_word_stands(void)
{
    make_folder();
    write_file("one", "contexts: []\ncurrent-context: here\n" NAMED(cluster, "c",
                                                                    "server: \"https://one\""));
    write_file("two",
               "current-context: there\n" CONTEXT NAMED(cluster, "c", "server: \"https://two\"")
                   NAMED(user, "u", "username: me, password: secret"));
    struct client_config config;
    struct error error = {0};
    const char *paths =
        arena_printf(arena, "%s:%s::%s", path_of("none"), path_of("one"), path_of("two")).data;
    CU_ASSERT_FATAL(client_config_kubeconfig(paths, NULL, arena, &config, &error));
    ASSERT_TEXT(config.server, "https://one");
    ASSERT_TEXT(config.username, "me");
    CU_ASSERT(!client_config_kubeconfig(paths, "there", arena, &config, &error));
    ASSERT_TEXT(text_of(error.what), "kubeconfig has no context \"there\"; it has here");
    remove_folder();
}

static void what_cannot_be_used_is_refused(void)
{
    static const struct {
        const char *text, *what;
    } cases[] = {
        {"{}", "kubeconfig has no current-context: name one"},
        {"current-context: here\n", "kubeconfig has no context \"here\""},
        {"current-context: here\n" CONTEXT, "kubeconfig has no cluster \"c\""},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c", "server: \"https://a\""),
         "kubeconfig has no user \"u\""},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c", "server: \"ftp://a\""),
         "server of the cluster is \"ftp://a\", which is no https:// address"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c", "server: \"https://a\"")
             NAMED(user, "u", "exec: {command: login}"),
         "exec: apiVersion is \"\"; it wants client.authentication.k8s.io/v1 or "
         "client.authentication.k8s.io/v1beta1. What wrote the kubeconfig can write it anew: of "
         "EKS, aws eks update-kubeconfig"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c", "server: \"https://a\"")
             NAMED(user, "u", "auth-provider: {name: gcp}"),
         "the user has an auth-provider, which kubectl has not supported since 1.26: use an exec "
         "plugin, a token or a client certificate"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c", "server: \"https://a\"")
             NAMED(user, "u", "as-groups: [g]"),
         "a group, a uid or more is impersonated without a user: name one"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c",
                                                 "server: \"https://a\", "
                                                 "insecure-skip-tls-verify: true, "
                                                 "certificate-authority: ca.crt"),
         "the cluster has a certificate-authority and insecure-skip-tls-verify: take one of them "
         "out"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c",
                                                 "server: \"https://a\", "
                                                 "certificate-authority-data: \"c=Vt\""),
         "certificate-authority-data is no base64"},
        {"current-context: here\n" CONTEXT NAMED(cluster, "c",
                                                 "server: \"https://a\", "
                                                 "certificate-authority-data: cGV"),
         "certificate-authority-data is no base64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        make_folder();
        write_file("config", cases[i].text);
        struct client_config config;
        struct error error = {0};
        CU_ASSERT(!client_config_kubeconfig(path_of("config"), NULL, arena, &config, &error));
        ASSERT_TEXT(text_of(error.what), cases[i].what);
        ASSERT_INT(error.kind, ERROR_INPUT);
        remove_folder();
    }
}

static void a_pod_knows_its_server(void)
{
    make_folder();
    write_file("ca.crt", "pem");
    write_file("token", "t");
    write_file("namespace", "taffrail");
    struct client_config config;
    struct error error = {0};
    CU_ASSERT(client_config_in_cluster(folder, "fd00::1", "443", arena, &config, &error));
    ASSERT_TEXT(config.server, "https://[fd00::1]:443");
    CU_ASSERT(client_config_in_cluster(folder, "10.0.0.1", "443", arena, &config, &error));
    ASSERT_TEXT(config.server, "https://10.0.0.1:443");
    ASSERT_TEXT(config.namespace, "taffrail");
    ASSERT_TEXT(config.token_file, path_of("token"));
    CU_ASSERT(!client_config_in_cluster(folder, NULL, "443", arena, &config, &error));
    ASSERT_INT(error.kind, ERROR_USAGE);
    CU_ASSERT(remove(path_of("token")) == 0);
    CU_ASSERT(!client_config_in_cluster(folder, "10.0.0.1", "443", arena, &config, &error));
    CU_ASSERT_PTR_NOT_NULL(strstr(error.what, "automountServiceAccountToken"));
    remove_folder();
}

static void the_last_good_token_is_used(void)
{
    static const struct {
        const char *text; /* NULL: the file is gone */
        const char *token;
    } steps[] = {
        {NULL, NULL},         {"  first\n", "first"}, {"second", "second"},
        {NULL, "second"},     {"", "second"},         {"a b", "second"},
        {"a\r\nb", "second"}, {"\x80", "second"},     {"third\r\n", "third"},
    };
    make_folder();
    log_set_level(LOG_ERROR);
    struct token token;
    const char *path = path_of("token");
    token_init(&token, path, "");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        (void)remove(path);
        if (steps[i].text != NULL)
            write_file("token", steps[i].text);
        ASSERT_TEXT(text_of(token_now(&token)), steps[i].token == NULL ? "" : steps[i].token);
    }
    token_free(&token);
    token_init(&token, "", "fixed");
    ASSERT_TEXT(text_of(token_now(&token)), "fixed");
    token_free(&token);
    remove_folder();
}

#define CLUSTER(server) NAMED(cluster, "c", "server: \"" server "\"")
#define USER(known_by) NAMED(user, "u", known_by)
#define HERE "current-context: here\n" CONTEXT

static void it_is_read_again_when_it_changes(void)
{
    static const struct {
        const char *text; /* NULL: it is gone */
        bool renewed;
        const char *token;
    } steps[] = {
        {HERE CLUSTER("https://a") USER("token: second"), true, "second"},
        {HERE CLUSTER("https://a") USER("token: second") "# touched\n", false, "second"},
        {HERE CLUSTER("https://other") USER("token: third"), false, "second"},
        {HERE CLUSTER("https://a") USER("exec: {command: login}"), false, "second"},
        {"half: [", false, "second"},
        {NULL, false, "second"},
        {HERE CLUSTER("https://a") USER("token: fourth, client-key-data: cGVt"), true, "fourth"},
    };
    make_folder();
    log_set_level(LOG_ERROR + 1);
    write_file("config", HERE CLUSTER("https://a") USER("token: first"));
    struct client_config config;
    struct endpoint endpoint;
    struct error error = {0};
    const char *path = path_of("config");
    CU_ASSERT_FATAL(client_config_kubeconfig(path, NULL, arena, &config, &error));
    CU_ASSERT_FATAL(endpoint_open(&config, &endpoint, &error));
    CU_ASSERT(!endpoint_renew(&endpoint));
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        CU_ASSERT_FATAL(remove(path) == 0 || i > 0);
        if (steps[i].text != NULL)
            write_file("config", steps[i].text);
        CU_ASSERT_EQUAL(endpoint_renew(&endpoint), steps[i].renewed);
        ASSERT_TEXT(text_of(token_now(&endpoint.token)), steps[i].token);
        ASSERT_TEXT(text_of(endpoint.base), "https://a");
        CU_ASSERT(!endpoint_renew(&endpoint));
    }
    CU_ASSERT_PTR_NOT_NULL(endpoint.key_path);
    endpoint_close(&endpoint);
    remove_folder();
}

const struct unit_test unit_tests[] = {
    {"a kubeconfig is read", a_kubeconfig_is_read},
    {"of several files the first word stands", of_several_files_the_first_word_stands},
    {"what cannot be used is refused", what_cannot_be_used_is_refused},
    {"a pod knows its server", a_pod_knows_its_server},
    {"the last good token is used", the_last_good_token_is_used},
    {"it is read again when it changes", it_is_read_again_when_it_changes},
    {NULL, NULL},
};
