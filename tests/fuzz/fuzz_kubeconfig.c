/* A kubeconfig, and behind a NUL what its exec plugin prints: no crash, no leak; what is refused
 * has a reason, and what is taken can be put into headers and given to a plugin. */
/* reads: live/kubeconfig.c live/exec_credential.c live/impersonation.c */
#include <string.h>

#include "fuzz.h"
#include "live/exec_credential.h"

enum { ARENA_BYTES = 64 << 20 };

static struct arena *arena;
static const char *path, *paths; /* paths: behind a file that is not there, and nothing */

/* Each line is one header, and no value ends it. */
static void look_at_headers(struct text lines)
{
    struct text line;
    for (bool more = lines.size > 0; more;) {
        line = lines;
        more = text_split(lines, '\n', &line, &lines);
        REQUIRE(text_starts_with(line, TEXT("Impersonate-")));
        for (size_t i = 0; i < line.size; i++)
            REQUIRE((unsigned char)line.data[i] >= ' ' && line.data[i] != 0x7F);
    }
}

static void look_at_plugin(const struct client_config *config, struct text output)
{
    const struct exec_plugin *plugin = config->exec;
    struct exec_credential credential;
    struct error error = {0};
    struct text info;
    const struct node *root = NULL;
    REQUIRE(plugin->arguments[0] != NULL && plugin->arguments[0][0] != '\0');
    for (int interactive = 0; interactive < 2; interactive++) {
        if (!exec_info_write(plugin, config, interactive != 0, arena, &info, &error)) {
            REQUIRE(config->ca_file.size > 0 && error.what[0] != '\0');
            return;
        }
        struct source source = {.text = info};
        struct problems twice = {.arena = arena}; /* the kubeconfig's own, in the plugin's part */
        REQUIRE(doc_read_json(&source, &doc_limits_manifest, &twice, arena, &root, &error));
    }
    if (!exec_credential_read(output, plugin, arena, &credential, &error)) {
        REQUIRE(error.kind == ERROR_CLUSTER && error.what[0] != '\0');
        return;
    }
    REQUIRE(credential.token.size > 0 || credential.certificate_pem.size > 0);
    for (size_t i = 0; i < credential.token.size; i++)
        REQUIRE(credential.token.data[i] > ' ' && credential.token.data[i] < 0x7F);
}

static void read_all(void *argument)
{
    const struct text *output = argument;
    struct client_config config;
    struct error error = {0};
    if (!client_config_kubeconfig(paths, NULL, arena, &config, &error)) {
        REQUIRE(error.what[0] != '\0');
        return;
    }
    REQUIRE(text_starts_with(config.server, TEXT("http")));
    look_at_headers(config.impersonation);
    if (config.exec != NULL)
        look_at_plugin(&config, *output);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (arena == NULL) {
        static char list[200];
        path = fuzz_path("config");
        snprintf(list, sizeof list, "%s/none::%s", fuzz_folder(), path);
        paths = list;
        fuzz_write(fuzz_path("ca.crt"), "pem", strlen("pem"));
        arena = arena_create(ARENA_BYTES);
    }
    struct text text = {(const char *)data, size}, kubeconfig = text, output = TEXT("");
    text_split(text, '\0', &kubeconfig, &output);
    fuzz_write(path, kubeconfig.data, kubeconfig.size);
    fuzz_guarded(arena, read_all, &output);
    return 0;
}
