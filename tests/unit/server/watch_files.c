/* Which changes of files and folders are told, and which are not. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "log_fixture.h"
#include "server/reload.h"

const char unit_suite[] = "server/watch files";

static int open_file = -1; /* left open by a change */

static void grows(const char *name)
{
    int file = open(path_of(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    CU_ASSERT_FATAL(file >= 0 && write(file, "x", 1) == 1);
    close(file);
}

/* in/a.yaml and in/deep/b.yaml, in/.hidden/c.yaml, out/d.yaml; the links to-file and to-folder lead
 * to what is in out. */
static void make_files(void)
{
    make_folder();
    static const char *const folders[] = {"in", "in/deep", "in/.hidden", "out", "out/below"};
    static const char *const files[] = {"in/a.yaml", "in/deep/b.yaml", "in/.hidden/c.yaml",
                                        "out/d.yaml", "out/below/e.yaml"};
    for (size_t i = 0; i < COUNT_OF(folders); i++)
        write_folder(folders[i]);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        grows(files[i]);
    write_folder("links");
    CU_ASSERT_FATAL(symlink("../out/d.yaml", path_of("links/to-file")) == 0);
    CU_ASSERT_FATAL(symlink(path_of("out"), path_of("links/to-folder")) == 0);
    CU_ASSERT_FATAL(symlink("round", path_of("links/round")) == 0);
}

/* ---- changes ---- */

static void nothing(const char *name)
{
    (void)name;
}

static void is_read(const char *name)
{
    char byte;
    int file = open(path_of(name), O_RDONLY | O_CLOEXEC);
    CU_ASSERT(read(file, &byte, 1) == 1);
    close(file);
}

/* Its writer has more to write. */
static void is_begun(const char *name)
{
    open_file = open(path_of(name), O_WRONLY | O_CLOEXEC);
    CU_ASSERT(write(open_file, "y", 1) == 1);
}

static void goes(const char *name)
{
    CU_ASSERT(unlink(path_of(name)) == 0);
}

static void is_replaced(const char *name)
{
    grows("draft");
    CU_ASSERT(rename(path_of("draft"), path_of(name)) == 0);
}

static void moves_away(const char *name)
{
    CU_ASSERT(rename(path_of(name), path_of("gone")) == 0);
}

static void gets_another_mode(const char *name)
{
    CU_ASSERT(chmod(path_of(name), 0640) == 0);
}

static void changes_are_told(void)
{
    static const struct {
        const char *watched;
        void (*change)(const char *name);
        const char *changed;
        bool told;
    } cases[] = {
        {"in/a.yaml", nothing, "", false},
        {"in/a.yaml", is_read, "in/a.yaml", false},
        {"in/a.yaml", is_begun, "in/a.yaml", false},
        {"in/a.yaml", grows, "in/a.yaml", true},
        {"in/a.yaml", is_replaced, "in/a.yaml", true},
        {"in/a.yaml", moves_away, "in/a.yaml", true},
        {"in/a.yaml", goes, "in/a.yaml", true},
        {"in/a.yaml", gets_another_mode, "in/a.yaml", true},
        {"in/a.yaml", grows, "in/deep/b.yaml", false},
        {"in/a.yaml", grows, "out/d.yaml", false},
        {"in", grows, "in/a.yaml", true},
        {"in", grows, "in/new.yaml", true},
        {"in", write_folder, "in/new", true},
        {"in", grows, "in/deep/b.yaml", true},
        {"in", grows, "in/.hidden/c.yaml", false}, /* which is not read, either */
        {"in", moves_away, "in/deep", true},
        {"in", moves_away, "in", true},
        {"in", grows, "out/d.yaml", false},
        {"in/", grows, "in/deep/b.yaml", true},
        {"links/to-file", grows, "out/d.yaml", true},
        {"links/to-file", goes, "links/to-file", true},
        {"links/to-folder", grows, "out/d.yaml", true},
        {"links/to-folder", grows, "out/below/e.yaml", true},
        {"links/to-folder", goes, "links/to-folder", true},
        {"links/to-folder/below/e.yaml", grows, "out/below/e.yaml", true},
        {"links/to-folder/below/e.yaml", grows, "out/d.yaml", false},
        {"links/to-folder/below/e.yaml", goes, "links/to-folder", true},
        {"links/round", goes, "links/round", true}, /* a link to itself ends nowhere */
        /* What is not there yet is awaited where it will be. */
        {"in/later.yaml", grows, "in/later.yaml", true},
        {"later/a.yaml", write_folder, "later", true},
        {"in/later/a.yaml", write_folder, "in/later", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct watch watch;
        make_files();
        watch_open(&watch);
        const char *path = path_of(cases[i].watched);
        watch_arm(&watch, (struct path_set){&path, 1});
        CU_ASSERT(watch.complete);
        CU_ASSERT_FALSE(watch_drain(&watch));
        cases[i].change(cases[i].changed);
        bool told = watch_drain(&watch);
        if (told != cases[i].told)
            fprintf(stderr, "%s of %s\n", cases[i].changed, cases[i].watched);
        ASSERT_INT(told, cases[i].told);
        CU_ASSERT_FALSE(watch_drain(&watch)); /* it is told once */
        if (open_file >= 0)
            close(open_file);
        open_file = -1;
        watch_close(&watch);
        remove_folder();
    }
}

/* A folder that is watched no more says nothing, not even that its watch has ended. */
static void who_is_armed_again_forgets(void)
{
    struct watch watch;
    make_files();
    watch_open(&watch);
    const char *first[] = {path_of("in"), path_of("out/d.yaml")};
    const char *second[] = {path_of("out/d.yaml")};
    watch_arm(&watch, (struct path_set){first, 2});
    ASSERT_INT(watch.count, 4); /* root for `in` itself, in, in/deep, out */
    watch_arm(&watch, (struct path_set){first, 2});
    ASSERT_INT(watch.count, 4);
    watch_arm(&watch, (struct path_set){second, 1});
    ASSERT_INT(watch.count, 1);
    CU_ASSERT_FALSE(watch_drain(&watch));
    grows("in/a.yaml");
    CU_ASSERT_FALSE(watch_drain(&watch));
    grows("out/d.yaml");
    CU_ASSERT(watch_drain(&watch));
    watch_arm(&watch, (struct path_set){NULL, 0});
    ASSERT_INT(watch.count, 0);
    CU_ASSERT_FALSE(watch_drain(&watch));
    watch_close(&watch);
    ASSERT_INT(watch.fd, -1);
    remove_folder();
}

static void many_folders_are_watched(void)
{
    enum { FOLDERS = 40 };
    char name[32];
    struct watch watch;
    make_files();
    watch_open(&watch);
    for (int i = 0; i < FOLDERS; i++) {
        snprintf(name, sizeof name, "in/folder-%d", i);
        write_folder(name);
    }
    const char *path = path_of("in");
    watch_arm(&watch, (struct path_set){&path, 1});
    ASSERT_INT(watch.count, 3 + FOLDERS);
    for (int i = 0; i < FOLDERS; i++) {
        CU_ASSERT_FALSE(watch_drain(&watch));
        snprintf(name, sizeof name, "in/folder-%d/a.yaml", i);
        grows(name);
        CU_ASSERT(watch_drain(&watch));
    }
    watch_close(&watch);
    remove_folder();
}

/* As deep as folders are read. */
static void folders_are_watched_sixteen_deep(void)
{
    enum { DEEP = 18 };
    char name[128] = "in/deep", file[160];
    struct watch watch;
    make_files();
    for (int depth = 2; depth < DEEP; depth++) {
        strcat(name, "/d");
        write_folder(name);
    }
    watch_open(&watch);
    const char *path = path_of("in");
    watch_arm(&watch, (struct path_set){&path, 1});
    CU_ASSERT_FALSE(watch_drain(&watch));
    strcpy(name, "in/deep");
    for (int depth = 1; depth < DEEP; depth++) {
        snprintf(file, sizeof file, "%s/a.yaml", name);
        grows(file);
        ASSERT_INT(watch_drain(&watch), depth <= 16);
        strcat(name, "/d");
    }
    watch_close(&watch);
    remove_folder();
}

/* Without inotify changes are found by looking, and that is said once. */
static void who_cannot_watch_says_so_once(void)
{
    struct watch watch = {.fd = -1};
    make_files();
    const char *path = path_of("in");
    struct listening listening = listen_to_log();
    for (int i = 0; i < 3; i++)
        watch_arm(&watch, (struct path_set){&path, 1});
    ASSERT_HEARD(heard(&listening), "not every folder can be watched", 1);
    CU_ASSERT_FALSE(watch.complete);
    CU_ASSERT(watch.said);
    grows("in/a.yaml");
    CU_ASSERT_FALSE(watch_drain(&watch));
    watch_close(&watch);
    /* and again when it was well between */
    watch_open(&watch);
    watch.said = true;
    listening = listen_to_log();
    watch_arm(&watch, (struct path_set){&path, 1});
    ASSERT_INT(heard(&listening).size, 0);
    CU_ASSERT(watch.complete && !watch.said);
    watch_close(&watch);
    remove_folder();
}

static int next_descriptor(void)
{
    int descriptor = dup(STDIN_FILENO);
    CU_ASSERT_FATAL(descriptor >= 0 && close(descriptor) == 0);
    return descriptor;
}

/* A server looks at its files for months. */
static void nothing_is_left_open(void)
{
    struct watch watch;
    make_files();
    const char *path = path_of("in");
    int before = next_descriptor();
    watch_open(&watch);
    watch_arm(&watch, (struct path_set){&path, 1});
    int armed = next_descriptor();
    watch_arm(&watch, (struct path_set){&path, 1});
    ASSERT_INT(next_descriptor(), armed);
    watch_close(&watch);
    ASSERT_INT(next_descriptor(), before);
    watch_close(&watch);
    ASSERT_INT(next_descriptor(), before);
    remove_folder();
}

const struct unit_test unit_tests[] = {
    {"changes are told", changes_are_told},
    {"who is armed again forgets", who_is_armed_again_forgets},
    {"many folders are watched", many_folders_are_watched},
    {"folders are watched sixteen deep", folders_are_watched_sixteen_deep},
    {"who cannot watch says so once", who_cannot_watch_says_so_once},
    {"nothing is left open", nothing_is_left_open},
    {NULL, NULL},
};
