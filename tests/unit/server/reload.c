/* labels: threads */
/* Reloading policies, state and certificates while requests are answered. The linker redirects what
 * may run out of memory to this file. */
#include "log_fixture.h"
#include "server_fixture.h"

#include "certs/inspect.h"
#include "server/reload.h"

#include <ftw.h>
#include <gnutls/x509.h>
#include <malloc.h>
#include <stdatomic.h>
#include <sys/stat.h>

enum { DEADLINE_MS = 45000 }; /* before files are looked at without a sign */

/* ---- files ---- */

static char root[64];

static const char *path_of(const char *name)
{
    static _Thread_local char paths[8][256];
    static _Thread_local unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", root, name);
    return path;
}

static void put_in_place(const char *name, const char *content)
{
    FILE *file = fopen(path_of(name), "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fputs(content, file) >= 0);
    CU_ASSERT(fclose(file) == 0);
}

static void move(const char *from, const char *to)
{
    CU_ASSERT(rename(path_of(from), path_of(to)) == 0);
}

/* At once: a look must not find a file that is empty, which is a failure of its own. */
static void put(const char *name, const char *content)
{
    put_in_place("put", content);
    move("put", name);
}

static void put_text(const char *name, struct text content)
{
    put(name, content.data); /* texts of an arena are terminated */
}

static void make_folder(const char *name)
{
    CU_ASSERT(mkdir(path_of(name), 0755) == 0);
}

static void point(const char *link, const char *target)
{
    /* In the same folder: others must not tell of it. */
    char draft[128];
    snprintf(draft, sizeof draft, "%s.draft", link);
    CU_ASSERT(symlink(target, path_of(draft)) == 0);
    move(draft, link);
}

static const char *policy_text(const char *policy_name)
{
    static char text[256];
    snprintf(text, sizeof text,
             "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata:\n  name: %s\n"
             "spec:\n  mode: enforce\n  rails:\n    topology-keys: {}\n",
             policy_name);
    return text;
}

static void policy(const char *name, const char *policy_name)
{
    put(name, policy_text(policy_name));
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static void remove_all(const char *path)
{
    CU_ASSERT(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* ---- memory that runs out, and files that cannot be read ---- */

enum hungry {
    HUNGRY_NONE,
    HUNGRY_LOAD,
    HUNGRY_FINGERPRINT,
    HUNGRY_CERTIFICATE,
    HUNGRY_READ /* of the certificate */
};
static atomic_int starved = HUNGRY_NONE; /* what gets no memory */
static atomic_uint tries;                /* of it */

static enum error_kind kind_of_want = ERROR_MEMORY;
static const char *wanting; /* the file; NULL: none */

static bool starve(enum hungry hungry, struct error *error)
{
    if (atomic_load(&starved) != (int)hungry)
        return false;
    unsigned number = atomic_fetch_add(&tries, 1) + 1;
    error_fill(error, kind_of_want, (struct place){wanting, 0, 0}, "no memory, try %u", number);
    return true;
}

bool __real_world_load(const struct world_options *options, uint64_t number, int64_t now_unix_s,
                       struct world **world, struct problems *errors, struct problems *warnings);
bool __wrap_world_load(const struct world_options *options, uint64_t number, int64_t now_unix_s,
                       struct world **world, struct problems *errors, struct problems *warnings);
bool __wrap_world_load(const struct world_options *options, uint64_t number, int64_t now_unix_s,
                       struct world **world, struct problems *errors, struct problems *warnings)
{
    struct error error;
    if (!starve(HUNGRY_LOAD, &error))
        return __real_world_load(options, number, now_unix_s, world, errors, warnings);
    problems_add_error(errors, &error);
    return false;
}

bool __real_fingerprint_content(struct path_set paths, struct fingerprint *content,
                                struct error *error);
bool __wrap_fingerprint_content(struct path_set paths, struct fingerprint *content,
                                struct error *error);
bool __wrap_fingerprint_content(struct path_set paths, struct fingerprint *content,
                                struct error *error)
{
    return !starve(HUNGRY_FINGERPRINT, error) && __real_fingerprint_content(paths, content, error);
}

bool __real_server_set_certificate(struct server *server, const struct cert_pair *pair,
                                   struct error *error);
bool __wrap_server_set_certificate(struct server *server, const struct cert_pair *pair,
                                   struct error *error);
bool __wrap_server_set_certificate(struct server *server, const struct cert_pair *pair,
                                   struct error *error)
{
    return !starve(HUNGRY_CERTIFICATE, error) && __real_server_set_certificate(server, pair, error);
}

bool __real_file_read(const char *path, size_t limit_bytes, struct arena *arena, struct text *bytes,
                      struct error *error);
bool __wrap_file_read(const char *path, size_t limit_bytes, struct arena *arena, struct text *bytes,
                      struct error *error);
bool __wrap_file_read(const char *path, size_t limit_bytes, struct arena *arena, struct text *bytes,
                      struct error *error)
{
    return !(text_ends_with(text_of(path), TEXT("tls.crt")) && starve(HUNGRY_READ, error)) &&
           __real_file_read(path, limit_bytes, arena, bytes, error);
}

/* ---- a server that reloads ---- */

struct reloading {
    struct fixture fixture;
    struct reload *reload;
    const char *policy, *state;
};

static void make_root(void)
{
    snprintf(root, sizeof root, "/tmp/taffrail-reload-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(root) != NULL);
}

/* As the first world is loaded; the fixture has published another one. */
static void publish_state(const struct world_options *options, const struct fixture *fixture)
{
    struct problems errors = {.arena = fixture->arena}, warnings = {.arena = fixture->arena};
    struct world *world = NULL;
    CU_ASSERT_FATAL(world_load(options, 7, time(NULL), &world, &errors, &warnings));
    CU_ASSERT_FATAL(publisher_set_policies(fixture->publisher, world));
}

/* Serves generation 7 of what is in the root's files; state NULL: none. */
static struct reloading start_reloading(const char *policy_name, const char *state)
{
    struct reloading reloading = {.fixture = start((struct server_options){0})};
    static const char *policies[1];
    static char policy_path[256], state_path[256], certificate_path[256], key_path[256];
    snprintf(policy_path, sizeof policy_path, "%s", path_of(policy_name));
    snprintf(certificate_path, sizeof certificate_path, "%s", path_of("tls.crt"));
    snprintf(key_path, sizeof key_path, "%s", path_of("tls.key"));
    policies[0] = policy_path;
    if (state != NULL)
        snprintf(state_path, sizeof state_path, "%s", path_of(state));
    put_text("tls.crt", reloading.fixture.options.certificate.certificate);
    put_text("tls.key", reloading.fixture.options.certificate.key);
    const struct reload_options options = {
        .world = {.policy_paths = policies,
                  .policy_path_count = 1,
                  .state_dir = state == NULL ? NULL : state_path},
        .certificate_file = certificate_path,
        .key_file = key_path,
    };
    const struct reload_target target = {
        .publisher = reloading.fixture.publisher,
        .server = reloading.fixture.server,
        .metrics = reloading.fixture.metrics,
        .generation = 7,
    };
    struct error error;
    if (state != NULL)
        publish_state(&options.world, &reloading.fixture);
    metrics_set_world(target.metrics, 7, 0);
    CU_ASSERT_FATAL(reload_create(&options, &reloading.reload, &error));
    CU_ASSERT_FATAL(reload_start(reloading.reload, &target, &error));
    return reloading;
}

static void stop_reloading(struct reloading *reloading)
{
    reload_destroy(reloading->reload);
    stop(&reloading->fixture);
    remove_all(root);
}

static bool await(const struct fixture *fixture, const char *series, double value)
{
    int64_t end = monotonic_ms() + DEADLINE_MS;
    while (monotonic_ms() < end) {
        if (metric(fixture, series) == value)
            return true;
        poll(NULL, 0, 5);
    }
    fprintf(stderr, "%s is %g, not %g\n", series, metric(fixture, series), value);
    return false;
}

static bool await_ready(const struct fixture *fixture, const char *text, bool wanted)
{
    int64_t end = monotonic_ms() + DEADLINE_MS;
    while (monotonic_ms() < end) {
        struct reply ready = get(fixture, "/readyz");
        if (ready.status == 200 && (strstr(ready.body, text) != NULL) == wanted)
            return true;
        poll(NULL, 0, 5);
    }
    return false;
}

static const char generation[] = "taffrail_policy_generation";
static const char failures[] = "taffrail_reload_failures_total{what=\"world\"}";
static const char certificate_failures[] = "taffrail_reload_failures_total{what=\"certificate\"}";

#define ASSERT_GENERATION(reloading, wanted) \
    CU_ASSERT(await(&(reloading).fixture, generation, (wanted)))

/* ---- the world ---- */

static void a_changed_file_is_the_next_world(void)
{
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    put_in_place("policy.yaml", policy_text("two"));
    ASSERT_GENERATION(reloading, 8);
    struct client client = open_client(&reloading.fixture);
    CU_ASSERT(strstr(post(&client, "/validate", TEXT("x")).body, "\"generation\":8}") != NULL);
    policy("policy.yaml", "three"); /* replaced by a rename */
    ASSERT_GENERATION(reloading, 9);
    CU_ASSERT(strstr(post(&client, "/validate", TEXT("x")).body, "\"generation\":9}") != NULL);
    client_hang_up(&client);
    stop_reloading(&reloading);
}

/* As kubelet's AtomicWriter does it: the files of a new folder, then one rename of the link. */
static void a_mounted_config_map_is_followed(void)
{
    static const char *const given[] = {"mount", "mount/policy.yaml"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        make_root();
        make_folder("mount");
        make_folder("mount/..1");
        policy("mount/..1/policy.yaml", "one");
        point("mount/..data", "..1");
        point("mount/policy.yaml", "..data/policy.yaml");
        struct reloading reloading = start_reloading(given[i], NULL);
        for (int version = 2; version < 5; version++) {
            char folder[32], name[64], old[32];
            snprintf(folder, sizeof folder, "mount/..%d", version);
            snprintf(name, sizeof name, "%s/policy.yaml", folder);
            snprintf(old, sizeof old, "mount/..%d", version - 1);
            make_folder(folder);
            policy(name, version % 2 == 0 ? "even" : "odd");
            point("mount/..data", folder + strlen("mount/"));
            remove_all(path_of(old));
            ASSERT_GENERATION(reloading, 6 + version);
        }
        ASSERT_INT(metric(&reloading.fixture, failures), 0);
        stop_reloading(&reloading);
    }
}

static void folders_and_links_are_exchanged(void)
{
    static const char *const releases[] = {"releases/1", "releases/2", "releases/3"};
    make_root();
    make_folder("links");
    make_folder("releases");
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        char folder[64], file[80];
        snprintf(folder, sizeof folder, "%s/policies", releases[i]);
        snprintf(file, sizeof file, "%s/a.yaml", folder);
        make_folder(releases[i]);
        make_folder(folder);
        policy(file, i == 0 ? "one" : i == 1 ? "two" : "three");
    }
    point("links/current", "../releases/1");
    struct reloading reloading = start_reloading("links/current/policies", NULL);
    point("links/current", "../releases/2");
    ASSERT_GENERATION(reloading, 8);
    move("releases/2/policies", "releases/gone");
    CU_ASSERT(await(&reloading.fixture, failures, 1));
    move("releases/3/policies", "releases/2/policies");
    ASSERT_GENERATION(reloading, 9);
    policy("releases/2/policies/b.yaml", "four");
    ASSERT_GENERATION(reloading, 10);
    CU_ASSERT(unlink(path_of("releases/2/policies/b.yaml")) == 0);
    ASSERT_GENERATION(reloading, 11);
    point("links/current", "../releases/1");
    ASSERT_GENERATION(reloading, 12);
    move("releases/1", "releases/gone-1"); /* a folder on the way */
    CU_ASSERT(await(&reloading.fixture, failures, 2));
    move("releases/gone-1", "releases/1");
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    ASSERT_INT(metric(&reloading.fixture, generation), 12);
    stop_reloading(&reloading);
}

/* The version's two files have the same two names as those of the version before, exchanged. */
static void mount_version(int version)
{
    static const char *const names[] = {"one", "two"};
    char folder[64], file[96];
    snprintf(folder, sizeof folder, "mount/..%d", version);
    make_folder(folder);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s/%d.yaml", folder, i);
        policy(file, names[(version + i) % 2]);
    }
    point("mount/..data", folder + strlen("mount/"));
    snprintf(folder, sizeof folder, "mount/..%d", version - 1);
    if (version > 0)
        remove_all(path_of(folder));
}

/* A world of two versions would have one name twice. */
static void no_world_is_of_two_versions(void)
{
    enum { VERSIONS = 401 }; /* odd: the last is not as the first */
    make_root();
    make_folder("mount");
    mount_version(0);
    point("mount/0.yaml", "..data/0.yaml");
    point("mount/1.yaml", "..data/1.yaml");
    struct reloading reloading = start_reloading("mount", NULL);
    unsigned mixed = 0;
    for (int version = 1; version <= VERSIONS; version++) {
        mount_version(version);
        reload_now(reloading.reload);
        mixed += strstr(get(&reloading.fixture, "/readyz").body, "already") != NULL;
    }
    ASSERT_INT(mixed, 0);
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    CU_ASSERT(await_ready(&reloading.fixture, "ok, world 7 ", false));
    stop_reloading(&reloading);
}

static void the_last_good_world_stays(void)
{
    static const struct {
        const char *content, *said;
    } broken[] = {
        {"kind: [", "policy.yaml:"},
        {"apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: x}\n"
         "spec: {rails: {topology-keyz: {}}}\n",
         "topology-keyz"},
        {"", "there is no policy in this file"},
        {NULL, "cannot be opened"},
    };
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct client client = open_client(&reloading.fixture);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        if (broken[i].content != NULL)
            put("policy.yaml", broken[i].content);
        else
            CU_ASSERT(unlink(path_of("policy.yaml")) == 0);
        CU_ASSERT(await(&reloading.fixture, failures, (double)i + 1));
        struct reply ready = get(&reloading.fixture, "/readyz");
        ASSERT_INT(ready.status, 200);
        CU_ASSERT(text_starts_with(text_of(ready.body), TEXT("ok, world 7 loaded ")));
        CU_ASSERT(strstr(ready.body, "; last reload failed 20") != NULL);
        CU_ASSERT(strstr(ready.body, broken[i].said) != NULL);
        CU_ASSERT(strchr(ready.body, '\n') == ready.body + ready.body_size - 1);
        ASSERT_INT(post(&client, "/validate", TEXT("x")).status, 200);
    }
    /* As it was: nothing is to be loaded, and nothing is wrong. */
    policy("policy.yaml", "one");
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    ASSERT_INT(metric(&reloading.fixture, generation), 7);
    put("policy.yaml", "kind: [");
    CU_ASSERT(await(&reloading.fixture, failures, 5));
    reload_now(reloading.reload); /* tried again because somebody asks */
    CU_ASSERT(await(&reloading.fixture, failures, 6));
    policy("policy.yaml", "mended");
    ASSERT_GENERATION(reloading, 8);
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    client_hang_up(&client);
    stop_reloading(&reloading);
}

static void the_state_is_watched_below(void)
{
    static const char claim[] = "apiVersion: v1\nkind: PersistentVolumeClaim\n"
                                "metadata: {name: a, namespace: b}\n";
    make_root();
    policy("policy.yaml", "one");
    make_folder("state");
    struct reloading reloading = start_reloading("policy.yaml", "state");
    make_folder("state/claims");
    make_folder("state/claims/team");
    put("state/claims/team/a.yaml", claim);
    ASSERT_GENERATION(reloading, 8);
    put("state/claims/team/b.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: c}\n");
    ASSERT_GENERATION(reloading, 9);
    /* A file that can no longer be read would take its objects away. */
    put("state/claims/team/a.yaml", "kind: [");
    CU_ASSERT(await(&reloading.fixture, failures, 1));
    CU_ASSERT(await_ready(&reloading.fixture, "state/claims/team/a.yaml:", true));
    put("state/claims/team/a.yaml", claim);
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    move("state", "gone");
    CU_ASSERT(await(&reloading.fixture, failures, 2));
    move("gone", "state");
    CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
    ASSERT_INT(metric(&reloading.fixture, generation), 9);
    remove_all(path_of("state/claims"));
    ASSERT_GENERATION(reloading, 10);
    stop_reloading(&reloading);
}

/* What could not be read before takes nothing away now. */
static void holes_of_before_stop_no_reload(void)
{
    static const char claim[] = "apiVersion: v1\nkind: PersistentVolumeClaim\n"
                                "metadata: {name: a, namespace: b}\n";
    make_root();
    policy("policy.yaml", "one");
    make_folder("state");
    put("state/a.yaml", "kind: [");
    put("state/b.yaml", claim);
    struct reloading reloading = start_reloading("policy.yaml", "state");
    policy("policy.yaml", "two");
    ASSERT_GENERATION(reloading, 8);
    put("state/b.yaml", "kind: [");
    CU_ASSERT(await(&reloading.fixture, failures, 1));
    CU_ASSERT(unlink(path_of("state/b.yaml")) == 0);
    ASSERT_GENERATION(reloading, 9);
    put("state/a.yaml", claim);
    ASSERT_GENERATION(reloading, 10);
    put("state/a.yaml", "kind: [ "); /* one is one too many from here on */
    CU_ASSERT(await(&reloading.fixture, failures, 2));
    ASSERT_INT(metric(&reloading.fixture, generation), 10);
    stop_reloading(&reloading);
}

/* Holes are compared, and not counted: what was read of a file may be in one of them. */
static void what_may_vanish_in_a_hole_stays(void)
{
#define NAMESPACE(name) "{apiVersion: v1, kind: Namespace, metadata: {name: " name "}}\n"
#define BROKEN "kind: [\n"
#define NOTE "note: this is no object\n"
#define NEXT "---\n"
    struct files {
        const char *a, *b; /* NULL: it is not there */
    };
    static const struct {
        struct files before, after;
        const char *said; /* NULL: the next world is in force */
    } cases[] = {
        {{NAMESPACE("x") NEXT NOTE, NULL}, {BROKEN, NULL}, "state/a.yaml:2:1: not YAML"},
        {{NAMESPACE("x") NEXT BROKEN, NULL}, {BROKEN, NULL}, "state/a.yaml:2:1: not YAML"},
        {{BROKEN, NAMESPACE("x")}, {NAMESPACE("z"), BROKEN}, "state/b.yaml:2:1: not YAML"},
        {{BROKEN, NULL}, {BROKEN, BROKEN}, "state/b.yaml:2:1: not YAML"},
        {{NAMESPACE("x") NEXT NAMESPACE("z") NEXT BROKEN, NULL},
         {NAMESPACE("z") NEXT BROKEN, NULL},
         "state/a.yaml:4:1: not YAML"},
        /* still there, here or in the other file */
        {{NAMESPACE("x") NEXT BROKEN, NULL}, {"# 1\n" NAMESPACE("x") NEXT BROKEN, NULL}, NULL},
        {{BROKEN NEXT NOTE, NULL}, {NOTE NEXT "a: [\n", NULL}, NULL},
        {{NAMESPACE("x") NEXT BROKEN, NULL}, {BROKEN, NAMESPACE("x")}, NULL},
        {{NAMESPACE("x") NEXT BROKEN, NULL}, {NAMESPACE("x"), NULL}, NULL},
        /* nobody wants it to be there */
        {{BROKEN, NAMESPACE("x")}, {BROKEN, NAMESPACE("z")}, NULL},
        {{BROKEN, NAMESPACE("x")}, {BROKEN, NULL}, NULL},
        {{NAMESPACE("x") NEXT BROKEN, NAMESPACE("z")}, {NULL, NAMESPACE("z")}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct files *const versions[] = {&cases[i].before, &cases[i].after};
        make_root();
        policy("policy.yaml", "one");
        for (size_t k = 0; k < COUNT_OF(versions); k++) {
            const char *folder = k == 0 ? "before" : "after";
            char name[32];
            make_folder(folder);
            snprintf(name, sizeof name, "%s/a.yaml", folder);
            if (versions[k]->a != NULL)
                put(name, versions[k]->a);
            snprintf(name, sizeof name, "%s/b.yaml", folder);
            if (versions[k]->b != NULL)
                put(name, versions[k]->b);
        }
        point("state", "before");
        struct reloading reloading = start_reloading("policy.yaml", "state");
        point("state", "after");
        if (cases[i].said == NULL) {
            ASSERT_GENERATION(reloading, 8);
        } else {
            CU_ASSERT(await(&reloading.fixture, failures, 1));
            CU_ASSERT(await_ready(&reloading.fixture, cases[i].said, true));
        }
        reload_stop(reloading.reload);
        ASSERT_INT(metric(&reloading.fixture, generation), cases[i].said == NULL ? 8 : 7);
        ASSERT_INT(metric(&reloading.fixture, failures), cases[i].said != NULL);
        stop_reloading(&reloading);
    }
}

/* What stands twice is still there. */
static void what_stands_twice_in_the_state_stops_no_reload(void)
{
    static const char pool[] =
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {weight: 1}\n";
    static const char *const twice[] = {
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {weight: 2}\n",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: b, name: c}\n",
    };
    make_root();
    policy("policy.yaml", "one");
    make_folder("state");
    put("state/a.yaml", pool);
    int loaded = 7;
    struct reloading reloading = start_reloading("policy.yaml", "state");
    for (size_t i = 0; i < COUNT_OF(twice); i++) {
        put("state/b.yaml", twice[i]);
        ASSERT_GENERATION(reloading, ++loaded);
        policy("policy.yaml", i % 2 == 0 ? "two" : "one");
        ASSERT_GENERATION(reloading, ++loaded);
    }
    ASSERT_INT(metric(&reloading.fixture, failures), 0);
    stop_reloading(&reloading);
}

/* A change of any file is a sign to look at all of them. */
static void make_look(const struct reloading *reloading)
{
    put_text("tls.crt", reloading->fixture.options.certificate.certificate);
}

static bool await_tries(const struct reloading *reloading, unsigned count)
{
    int64_t end = monotonic_ms() + DEADLINE_MS;
    while (atomic_load(&tries) < count && monotonic_ms() < end) {
        make_look(reloading);
        poll(NULL, 0, 300); /* longer than a look waits for quiet */
    }
    return atomic_load(&tries) >= count;
}

static void want(enum error_kind kind, const char *file)
{
    static char path[256];
    if (file != NULL)
        snprintf(path, sizeof path, "%s", path_of(file));
    kind_of_want = kind;
    wanting = file == NULL ? NULL : path;
}

/* It is said and counted once, and the world is taken when there is memory, though its files stay
 * as they are and nobody asks. So it is when the system does not read a file that is there. */
static void a_world_without_memory_is_tried_again(void)
{
    static const struct {
        enum hungry hungry;
        enum error_kind kind;
        const char *file;
        unsigned tries; /* of three looks */
    } cases[] = {
        {HUNGRY_LOAD, ERROR_MEMORY, NULL, 3},
        {HUNGRY_FINGERPRINT, ERROR_MEMORY, NULL, 3},
        {HUNGRY_LOAD, ERROR_IO, "policy.yaml", 3},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_root();
        policy("policy.yaml", "one");
        want(cases[i].kind, cases[i].file);
        struct reloading reloading = start_reloading("policy.yaml", NULL);
        struct listening listening = listen_to_log();
        atomic_store(&tries, 0);
        atomic_store(&starved, (int)cases[i].hungry);
        policy("policy.yaml", "two");
        CU_ASSERT(await_ready(&reloading.fixture, "no memory, try", true));
        CU_ASSERT(await_tries(&reloading, cases[i].tries));
        ASSERT_INT(metric(&reloading.fixture, failures), 1);
        atomic_store(&starved, HUNGRY_NONE);
        make_look(&reloading);
        ASSERT_GENERATION(reloading, 8);
        CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
        ASSERT_INT(metric(&reloading.fixture, failures), 1);
        struct text log = heard(&listening);
        ASSERT_HEARD(log, "the last good world stays in force", 1);
        stop_reloading(&reloading);
    }
    want(ERROR_MEMORY, NULL);
}

/* What is larger than it may be, or is not there, stays so until its files change. Files that
 * cannot be told apart are looked at again. */
static void a_world_over_its_budget_is_not_tried_again(void)
{
    enum { LOOKS = 3 };
    static const struct {
        enum hungry hungry;
        enum error_kind kind;
        const char *file;
    } cases[] = {
        {HUNGRY_LOAD, ERROR_LIMIT, NULL},
        {HUNGRY_FINGERPRINT, ERROR_LIMIT, NULL},
        {HUNGRY_LOAD, ERROR_LIMIT, "policy.yaml"},
        {HUNGRY_LOAD, ERROR_IO, "gone.yaml"},
        {HUNGRY_LOAD, ERROR_IO, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_root();
        policy("policy.yaml", "one");
        want(cases[i].kind, cases[i].file);
        struct reloading reloading = start_reloading("policy.yaml", NULL);
        struct listening listening = listen_to_log();
        atomic_store(&tries, 0);
        atomic_store(&starved, (int)cases[i].hungry);
        policy("policy.yaml", "two");
        CU_ASSERT(await_ready(&reloading.fixture, "no memory, try", true));
        unsigned tried = atomic_load(&tries);
        for (unsigned looks = 0; looks < LOOKS; looks++) {
            make_look(&reloading);
            poll(NULL, 0, 500); /* longer than a look waits for quiet */
        }
        if (cases[i].hungry == HUNGRY_LOAD)
            ASSERT_INT(atomic_load(&tries), tried);
        atomic_store(&starved, HUNGRY_NONE);
        ASSERT_INT(metric(&reloading.fixture, failures), 1);
        policy("policy.yaml", "three");
        ASSERT_GENERATION(reloading, 8);
        CU_ASSERT(await_ready(&reloading.fixture, "failed", false));
        struct text log = heard(&listening);
        ASSERT_HEARD(log, "the last good world stays in force", 1);
        stop_reloading(&reloading);
    }
    want(ERROR_MEMORY, NULL);
}

/* Of several errors /readyz has the first, and the log all of them; of a world that is in force the
 * log has each warning. */
static void what_is_wrong_is_said(void)
{
    static const char broken[] =
        "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: x}\n"
        "spec: {rails: {topology-keyz: {}, zonez: {}}}\n";
    static const char expired[] =
        "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: x}\n"
        "spec: {rails: {topology-keys: {}}, exceptions: [{id: EX-1, rails: [topology-keys], "
        "match: {names: [a]}, owner: o, reason: r, expires: 2020-01-01}, {id: EX-2, rails: "
        "[topology-keys], match: {names: [b]}, owner: o, reason: r, expires: 2020-01-01}]}\n";
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct listening listening = listen_to_log();
    put("policy.yaml", broken);
    CU_ASSERT(await(&reloading.fixture, failures, 1));
    CU_ASSERT(await_ready(&reloading.fixture, "failed", true));
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the last good world stays in force", 2);
    struct reply ready = get(&reloading.fixture, "/readyz");
    CU_ASSERT_PTR_NOT_NULL(strstr(ready.body, "topology-keyz"));
    CU_ASSERT_PTR_NULL(strstr(ready.body, "zonez"));

    listening = listen_to_log();
    put("policy.yaml", expired);
    ASSERT_GENERATION(reloading, 8);
    reload_stop(reloading.reload); /* it has said all that it says */
    log = heard(&listening);
    ASSERT_HEARD(log, "EX-1", 1);
    ASSERT_HEARD(log, "EX-2", 1);
    ASSERT_HEARD(log, "world 8 is in force", 1);
    stop_reloading(&reloading);
}

/* Of many problems the log has the first ones of the file, and says how many more there are. */
static void many_problems_are_counted(void)
{
    enum { MANY = 30, SAID = 18 };
    char broken[2048] = "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\n"
                        "metadata: {name: x}\nspec:\n  rails:\n";
    make_root();
    policy("policy.yaml", "one");
    make_folder("state");
    for (int i = 0; i < MANY; i++) {
        char name[32];
        snprintf(name, sizeof name, "state/hole-%02d.yaml", i);
        put(name, "kind: [");
        size_t end = strlen(broken);
        snprintf(broken + end, sizeof broken - end, "    bogus-%02d: {}\n", i);
    }
    struct reloading reloading = start_reloading("policy.yaml", "state");
    struct listening listening = listen_to_log();
    put("policy.yaml", broken);
    CU_ASSERT(await_ready(&reloading.fixture, "bogus-00", true));
    policy("policy.yaml", "two");
    ASSERT_GENERATION(reloading, 8);
    reload_stop(reloading.reload);
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the last good world stays in force", SAID + 1);
    ASSERT_HEARD(log, "\"error\":\"12 more problems\"", 1);
    ASSERT_HEARD(log, "\"msg\":\"12 more problems\"", 1);
    for (int i = 0; i < MANY; i++) {
        char rail[32], file[32];
        snprintf(rail, sizeof rail, "bogus-%02d", i);
        snprintf(file, sizeof file, "hole-%02d.yaml", i);
        CU_ASSERT_EQUAL(times_heard(log, rail, true) > 0, i < SAID);
        CU_ASSERT_EQUAL(times_heard(log, file, true) > 0, i < SAID);
    }
    stop_reloading(&reloading);
}

/* What refuses a world stands before what could not be read before. */
static void the_new_hole_is_named_among_many(void)
{
    enum { FILES = 19, NOTES = 20 };
    static const char claim[] = "apiVersion: v1\nkind: PersistentVolumeClaim\n"
                                "metadata: {name: a, namespace: b}\n";
    char notes[1024] = "";
    char name[32];
    make_root();
    policy("policy.yaml", "one");
    make_folder("state");
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "state/hole-%02d.yaml", i);
        put(name, "kind: [");
    }
    for (int i = 0; i < NOTES; i++)
        strcat(notes, "note: none\n---\n");
    strcat(notes, claim);
    put("state/notes.yaml", notes);
    struct reloading reloading = start_reloading("policy.yaml", "state");
    struct listening listening = listen_to_log();
    *strstr(notes, "apiVersion") = '['; /* in line 41 */
    put("state/notes.yaml", notes);
    CU_ASSERT(await_ready(&reloading.fixture, "state/notes.yaml:42:5: not YAML", true));
    reload_stop(reloading.reload);
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the last good world stays in force", 1);
    stop_reloading(&reloading);
}

/* ---- the certificate ---- */

static bool serves(const struct fixture *fixture, const struct cert_pair *pair)
{
    struct client client = open_client(fixture);
    unsigned count = 0, text_count = 1;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(client.session, &count);
    gnutls_datum_t pem = {(unsigned char *)pair->certificate.data,
                          (unsigned)pair->certificate.size};
    gnutls_x509_crt_t wanted;
    gnutls_datum_t der = {0};
    bool same =
        gnutls_x509_crt_list_import(&wanted, &text_count, &pem, GNUTLS_X509_FMT_PEM, 0) == 1;
    CU_ASSERT_FATAL(same && count >= 1);
    CU_ASSERT(gnutls_x509_crt_export2(wanted, GNUTLS_X509_FMT_DER, &der) == 0);
    same = der.size == chain[0].size && memcmp(der.data, chain[0].data, der.size) == 0;
    gnutls_free(der.data);
    gnutls_x509_crt_deinit(wanted);
    client_hang_up(&client);
    return same;
}

static struct cert_pair issue_at(struct fixture *fixture, int64_t now_unix_s)
{
    static const char *const addresses[] = {"127.0.0.1"};
    const struct cert_names names = {NULL, 0, addresses, 1};
    struct cert_pair leaf;
    struct error error;
    CU_ASSERT_FATAL(
        cert_issue_leaf(&fixture->ca, &names, now_unix_s, fixture->arena, &leaf, &error));
    return leaf;
}

static struct cert_pair issue(struct fixture *fixture)
{
    return issue_at(fixture, time(NULL));
}

static void a_certificate_is_replaced(void)
{
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct fixture *fixture = &reloading.fixture;
    const struct cert_pair first = fixture->options.certificate, second = issue(fixture);
    struct client before = open_client(fixture);
    CU_ASSERT(serves(fixture, &first));

    put_text("tls.crt", second.certificate); /* with the key of the first */
    CU_ASSERT(await(fixture, certificate_failures, 1));
    CU_ASSERT(await_ready(fixture, "; last certificate reload failed 20", true));
    CU_ASSERT(serves(fixture, &first));
    char half[2048];
    CU_ASSERT_FATAL(second.certificate.size < sizeof half);
    snprintf(half, second.certificate.size / 2, "%s", second.certificate.data);
    put("tls.crt", half);
    CU_ASSERT(await(fixture, certificate_failures, 2));
    CU_ASSERT(unlink(path_of("tls.crt")) == 0);
    CU_ASSERT(await(fixture, certificate_failures, 3));
    CU_ASSERT(await_ready(fixture, "tls.crt: cannot be opened", true));
    CU_ASSERT(serves(fixture, &first));

    put_text("tls.key", second.key);
    put_text("tls.crt", second.certificate);
    CU_ASSERT(await_ready(fixture, "failed", false));
    CU_ASSERT(serves(fixture, &second));
    ASSERT_INT(post(&before, "/validate", TEXT("x")).status, 200);
    client_hang_up(&before);
    ASSERT_INT(metric(fixture, generation), 7);
    stop_reloading(&reloading);
}

/* It is said and counted once, and taken when its time has come, though its files stay as they are
 * and nobody asks. Each look at the other files is a look at these. */
static void a_certificate_that_is_not_valid_yet_is_taken_when_it_is(void)
{
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct fixture *fixture = &reloading.fixture;
    const struct cert_pair first = fixture->options.certificate;
    const struct cert_pair second = issue_at(fixture, time(NULL) + CERT_BACKDATED_S + 5);
    struct listening listening = listen_to_log();
    put_text("tls.key", second.key);
    put_text("tls.crt", second.certificate);
    CU_ASSERT(await_ready(fixture, "the certificate is not valid before", true));
    double counted = metric(fixture, certificate_failures);
    CU_ASSERT(serves(fixture, &first));
    int64_t end = monotonic_ms() + DEADLINE_MS;
    for (unsigned looks = 0; !serves(fixture, &second) && monotonic_ms() < end; looks++) {
        policy("policy.yaml", looks % 2 == 0 ? "two" : "one");
        ASSERT_GENERATION(reloading, 8 + looks);
    }
    CU_ASSERT(await_ready(fixture, "failed", false));
    struct text log = heard(&listening);
    CU_ASSERT(serves(fixture, &second));
    ASSERT_INT(metric(fixture, certificate_failures), counted);
    ASSERT_HEARD(log, "the last good certificate stays in force", (unsigned)counted);
    stop_reloading(&reloading);
}

static void a_certificate_that_the_system_does_not_read_is_tried_again(void)
{
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct fixture *fixture = &reloading.fixture;
    const struct cert_pair second = issue(fixture);
    want(ERROR_IO, "tls.crt");
    atomic_store(&starved, HUNGRY_READ);
    put_text("tls.key", second.key);
    put_text("tls.crt", second.certificate);
    CU_ASSERT(await_ready(fixture, "tls.crt: no memory, try", true));
    double counted = metric(fixture, certificate_failures);
    atomic_store(&starved, HUNGRY_NONE);
    policy("policy.yaml", "two"); /* a sign to look at the certificate, too */
    CU_ASSERT(await_ready(fixture, "failed", false));
    CU_ASSERT(serves(fixture, &second));
    ASSERT_INT(metric(fixture, certificate_failures), counted);
    stop_reloading(&reloading);
    want(ERROR_MEMORY, NULL);
}

/* The files stay as they are meanwhile. */
static void another_reason_is_said_again(void)
{
    static const struct {
        enum hungry hungry;
        const char *said, *policy;
    } steps[] = {
        {HUNGRY_CERTIFICATE, "no memory", "two"},
        {HUNGRY_NONE, "the certificate is not valid before", "three"},
    };
    make_root();
    policy("policy.yaml", "one");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct fixture *fixture = &reloading.fixture;
    const struct cert_pair later = issue_at(fixture, time(NULL) + CERT_BACKDATED_S + 86400);
    struct listening listening = listen_to_log();
    put_text("tls.key", later.key);
    put_text("tls.crt", later.certificate);
    CU_ASSERT(await_ready(fixture, "the certificate is not valid before", true));
    double counted = metric(fixture, certificate_failures);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        atomic_store(&starved, (int)steps[i].hungry);
        policy("policy.yaml", steps[i].policy); /* a sign to look at the certificate, too */
        CU_ASSERT(await_ready(fixture, steps[i].said, true));
        CU_ASSERT(await(fixture, certificate_failures, ++counted));
    }
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "the last good certificate stays in force", (unsigned)counted);
    stop_reloading(&reloading);
}

/* ---- under load ---- */

#ifdef __SANITIZE_THREAD__
enum { STORM_RELOADS = 60 }; /* each takes ten times as long */
#else
enum { STORM_RELOADS = 200 };
#endif
enum { STORM_CLIENTS = 3, WARM_RELOADS = 20 };

struct storm {
    const struct fixture *fixture;
    atomic_bool over;
    atomic_uint answered, lost;
};

static void *post_in_storm(void *argument)
{
    struct storm *storm = argument;
    struct client kept = open_client(storm->fixture);
    while (!atomic_load(&storm->over)) {
        struct client brief = open_client(storm->fixture);
        for (int i = 0; i < 8; i++) {
            int status = post(i < 4 ? &kept : &brief, "/validate", TEXT("x")).status;
            atomic_fetch_add(status == 200 ? &storm->answered : &storm->lost, 1);
        }
        client_hang_up(&brief);
    }
    client_hang_up(&kept);
    return NULL;
}

/* Bytes in use by malloc; 0 where a sanitizer has replaced it, which then finds what leaks. */
static size_t used_bytes(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void a_storm_loses_nothing(void)
{
    make_root();
    policy("policy.yaml", "even");
    struct reloading reloading = start_reloading("policy.yaml", NULL);
    struct fixture *fixture = &reloading.fixture;
    const struct cert_pair pairs[] = {issue(fixture), fixture->options.certificate};
    struct storm storm = {.fixture = fixture};
    pthread_t clients[STORM_CLIENTS];
    size_t warm_bytes = 0;
    for (size_t i = 0; i < STORM_CLIENTS; i++)
        pthread_create(&clients[i], NULL, post_in_storm, &storm);
    for (int i = 0; i < STORM_RELOADS; i++) {
        if (i == WARM_RELOADS)
            warm_bytes = used_bytes();
        policy("draft", i % 2 == 0 ? "odd" : "even");
        put_text("draft.crt", pairs[i % 2].certificate);
        put_text("draft.key", pairs[i % 2].key);
        move("draft.crt", "tls.crt");
        move("draft.key", "tls.key");
        move("draft", "policy.yaml");
        reload_now(reloading.reload);
        CU_ASSERT_FATAL(await(fixture, generation, 8 + i));
    }
    size_t end_bytes = used_bytes();
    atomic_store(&storm.over, true);
    for (size_t i = 0; i < STORM_CLIENTS; i++)
        pthread_join(clients[i], NULL);
    ASSERT_INT(atomic_load(&storm.lost), 0);
    CU_ASSERT(atomic_load(&storm.answered) >= STORM_RELOADS);
    ASSERT_INT(metric(fixture, failures), 0);
    /* Of all those worlds, of some megabytes each, a few may be left. */
    if (end_bytes > warm_bytes + (32 << 20)) {
        fprintf(stderr, "bytes in use: %zu, then %zu\n", warm_bytes, end_bytes);
        CU_FAIL("worlds pile up");
    }
    stop_reloading(&reloading);
}

const char unit_suite[] = "server/reload";
const struct unit_test unit_tests[] = {
    {"a changed file is the next world", a_changed_file_is_the_next_world},
    {"a mounted ConfigMap is followed", a_mounted_config_map_is_followed},
    {"folders and links are exchanged", folders_and_links_are_exchanged},
    {"no world is of two versions", no_world_is_of_two_versions},
    {"the last good world stays", the_last_good_world_stays},
    {"the state is watched below", the_state_is_watched_below},
    {"holes of before stop no reload", holes_of_before_stop_no_reload},
    {"what may vanish in a hole stays", what_may_vanish_in_a_hole_stays},
    {"the new hole is named among many", the_new_hole_is_named_among_many},
    {"what stands twice in the state stops no reload",
     what_stands_twice_in_the_state_stops_no_reload},
    {"a world without memory is tried again", a_world_without_memory_is_tried_again},
    {"a world over its budget is not tried again", a_world_over_its_budget_is_not_tried_again},
    {"what is wrong is said", what_is_wrong_is_said},
    {"many problems are counted", many_problems_are_counted},
    {"a certificate is replaced", a_certificate_is_replaced},
    {"a certificate that is not valid yet is taken when it is",
     a_certificate_that_is_not_valid_yet_is_taken_when_it_is},
    {"a certificate that the system does not read is tried again",
     a_certificate_that_the_system_does_not_read_is_tried_again},
    {"another reason is said again", another_reason_is_said_again},
    {"a storm loses nothing", a_storm_loses_nothing},
    {NULL, NULL},
};
