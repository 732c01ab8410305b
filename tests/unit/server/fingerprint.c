/* Fingerprints of files: what differs in which. */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/reload.h"
#include "unit.h"

enum { SEVERAL_READS = 40 << 10 };

static char root[64];
static char paths[4][128]; /* a.yaml, b.yaml and the folder; the last: never there */

static void put(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_FATAL(file != NULL);
    CU_ASSERT(fputs(content, file) >= 0);
    CU_ASSERT(fclose(file) == 0);
}

static const char *inside(const char *name)
{
    static char path[192];
    snprintf(path, sizeof path, "%s/%s", paths[2], name);
    return path;
}

static void make_files(void)
{
    snprintf(root, sizeof root, "/tmp/taffrail-fingerprint-XXXXXX");
    CU_ASSERT_FATAL(mkdtemp(root) != NULL);
    snprintf(paths[0], sizeof paths[0], "%s/a.yaml", root);
    snprintf(paths[1], sizeof paths[1], "%s/b.yaml", root);
    snprintf(paths[2], sizeof paths[2], "%s/folder", root);
    snprintf(paths[3], sizeof paths[3], "%s/missing.yaml", root);
    put(paths[0], "one two");
    put(paths[1], "three");
    CU_ASSERT_FATAL(mkdir(paths[2], 0755) == 0);
    put(inside("c.yaml"), "four");
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

static struct fingerprint take(bool of_content, size_t count)
{
    const char *const items[] = {paths[0], paths[1], paths[2], paths[3]};
    const struct path_set set = {items, count};
    struct fingerprint print;
    struct error error;
    CU_ASSERT_FATAL(of_content ? fingerprint_content(set, &print, &error)
                               : fingerprint_stamps(set, &print, &error));
    return print;
}

/* ---- changes ---- */

static void no_change(void)
{
}
static void the_same_is_written_again(void)
{
    put(paths[3], "one two");
    CU_ASSERT(rename(paths[3], paths[0]) == 0);
}
static void a_byte_is_another(void)
{
    put(paths[1], "threE and");
}
static void bytes_move_to_the_next_file(void)
{
    put(paths[0], "one");
    put(paths[1], " twothree");
}
static void a_file_goes(void)
{
    CU_ASSERT(unlink(paths[1]) == 0);
}
static void a_file_comes(void)
{
    put(paths[3], "");
}
static void a_document_comes_into_the_folder(void)
{
    put(inside("d.yaml"), "");
}
static void a_document_of_the_folder_grows(void)
{
    put(inside("c.yaml"), "four five");
}
static void a_document_of_the_folder_is_renamed(void)
{
    char from[192];
    snprintf(from, sizeof from, "%s", inside("c.yaml"));
    CU_ASSERT(rename(from, inside("d.yaml")) == 0);
}
static void a_file_becomes_a_folder(void)
{
    CU_ASSERT(unlink(paths[1]) == 0);
    CU_ASSERT(mkdir(paths[1], 0755) == 0);
}
static void its_time_is_another(void)
{
    const struct timespec times[] = {{1000000000, 0}, {1000000000, 0}};
    CU_ASSERT(utimensat(AT_FDCWD, paths[0], times, 0) == 0);
}
static void its_mode_is_another(void)
{
    CU_ASSERT(chmod(paths[0], 0600) == 0);
}

static void changes_are_seen(void)
{
    static const struct {
        const char *name;
        void (*change)(void);
        bool content, stamps; /* whether they differ then */
    } rows[] = {
        {"no change", no_change, false, false},
        {"the same is written again", the_same_is_written_again, false, true},
        {"its time is another", its_time_is_another, false, true},
        {"its mode is another", its_mode_is_another, false, true},
        {"a byte is another", a_byte_is_another, true, true},
        {"bytes move to the next file", bytes_move_to_the_next_file, true, true},
        {"a file goes", a_file_goes, true, true},
        {"a file comes", a_file_comes, true, true},
        {"a document comes", a_document_comes_into_the_folder, true, true},
        {"a document grows", a_document_of_the_folder_grows, true, true},
        {"a document is renamed", a_document_of_the_folder_is_renamed, true, true},
        {"a file becomes a folder", a_file_becomes_a_folder, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        make_files();
        struct fingerprint content = take(true, COUNT_OF(paths));
        struct fingerprint stamps = take(false, COUNT_OF(paths));
        rows[i].change();
        struct fingerprint content_after = take(true, COUNT_OF(paths));
        struct fingerprint stamps_after = take(false, COUNT_OF(paths));
        if (fingerprint_equal(&content, &content_after) == rows[i].content ||
            fingerprint_equal(&stamps, &stamps_after) == rows[i].stamps)
            fprintf(stderr, "%s\n", rows[i].name);
        CU_ASSERT_EQUAL(fingerprint_equal(&content, &content_after), !rows[i].content);
        CU_ASSERT_EQUAL(fingerprint_equal(&stamps, &stamps_after), !rows[i].stamps);
        CU_ASSERT(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
    }
}

/* A file is read to its end, however many reads that takes. */
static void the_end_of_a_large_file_counts(void)
{
    static char content[SEVERAL_READS + 1];
    memset(content, 'a', SEVERAL_READS);
    make_files();
    put(paths[0], content);
    struct fingerprint before = take(true, 1);
    content[SEVERAL_READS - 1] = 'b';
    put(paths[0], content);
    struct fingerprint after = take(true, 1);
    CU_ASSERT_FALSE(fingerprint_equal(&before, &after));
    content[SEVERAL_READS - 1] = 'a';
    put(paths[0], content);
    after = take(true, 1);
    CU_ASSERT_TRUE(fingerprint_equal(&before, &after));
    CU_ASSERT(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

/* They are taken again and again, so none may keep a descriptor; and nobody writes into the pipe.
 */
static void nothing_is_left_open(void)
{
    make_files();
    CU_ASSERT_FATAL(mkfifo(paths[3], 0600) == 0);
    int before = dup(STDIN_FILENO);
    CU_ASSERT_FATAL(before >= 0 && close(before) == 0);
    (void)take(true, COUNT_OF(paths));
    (void)take(false, COUNT_OF(paths));
    int after = dup(STDIN_FILENO);
    CU_ASSERT(close(after) == 0);
    ASSERT_INT(after, before);
    CU_ASSERT(nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0);
}

const char unit_suite[] = "server fingerprints";
const struct unit_test unit_tests[] = {
    {"changes are seen", changes_are_seen},
    {"the end of a large file counts", the_end_of_a_large_file_counts},
    {"nothing is left open", nothing_is_left_open},
    {NULL, NULL},
};
