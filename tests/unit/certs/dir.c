/* The folder of certificates where it goes wrong: the disk is full, files cannot be read. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "certs/certs.h"
#include "folder.h"

const char unit_suite[] = "certs folder";

static const int64_t NOW = 1794000000; /* 2026-11-06 */
static const char *const service_names[] = {"taffrail.taffrail-system.svc"};
static const struct cert_names names = {service_names, 1, NULL, 0};

/* ---- in place of the C library's ---- */

static unsigned renames, rename_fails; /* this one, counted from 1; 0: none */
static const char *comes_before;       /* a file that somebody else makes before it */

/* The header's names are the C library's own. NOLINTNEXTLINE(readability-inconsistent-*) */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (++renames == rename_fails && comes_before == NULL) {
        errno = EIO;
        return -1;
    }
    if (renames == rename_fails)
        write_file(comes_before, "of somebody else");
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

/* ---- opening ---- */

struct opened {
    bool done, made;
    struct error error;
};

static struct opened open_folder(const struct cert_names *wanted)
{
    struct arena *arena = arena_create(1 << 20);
    struct opened opened = {0};
    struct cert_pair leaf;
    opened.done =
        certs_open_dir(path_of(""), wanted, NOW, arena, &leaf, &opened.made, &opened.error);
    arena_destroy(arena);
    return opened;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *files = opendir(path_of(""));
    CU_ASSERT_FATAL(files != NULL);
    for (struct dirent *entry; (entry = readdir(files)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(files);
    return count;
}

/* No file gets longer than so many bytes. */
static struct opened open_with_room(rlim_t bytes)
{
    struct rlimit before, limit;
    CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = (struct rlimit){bytes, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    struct opened opened = open_folder(&names);
    CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &before) == 0);
    signal(SIGXFSZ, handler);
    return opened;
}

static void a_full_disk_leaves_no_half_of_a_file(void)
{
    make_folder();
    struct opened opened = open_with_room(16);
    CU_ASSERT(!opened.done && !opened.made);
    ASSERT_INT(opened.error.kind, ERROR_IO);
    CU_ASSERT(strstr(opened.error.what, "ca.crt cannot be written: ") == opened.error.what);
    ASSERT_INT(count_files(), 0);
    opened = open_folder(&names); /* with room it is filled all the same */
    CU_ASSERT(opened.done && opened.made);
    ASSERT_INT(count_files(), 3);
    remove_folder();
}

/* A P-256 key takes fewer bytes than a certificate, and comes before the leaf. */
static void a_disk_that_is_full_in_between_leaves_nothing(void)
{
    struct stat status;
    make_folder();
    CU_ASSERT_FATAL(open_folder(&names).done);
    CU_ASSERT_FATAL(stat(path_of("ca.crt"), &status) == 0);
    off_t ca_bytes = status.st_size;
    CU_ASSERT_FATAL(stat(path_of("tls.crt"), &status) == 0 && status.st_size > ca_bytes + 16);
    remove_folder();

    make_folder();
    struct opened opened = open_with_room((rlim_t)ca_bytes + 16);
    CU_ASSERT(!opened.done && !opened.made);
    CU_ASSERT(strstr(opened.error.what, "tls.crt cannot be written: ") == opened.error.what);
    ASSERT_INT(count_files(), 0);
    opened = open_folder(&names);
    CU_ASSERT(opened.done && opened.made);
    remove_folder();
}

static void what_is_left_is_that_of_others(void)
{
    static const struct {
        unsigned rename_fails;
        const char *comes_before, *what;
    } cases[] = {
        {1, NULL, "ca.crt cannot be written: Input/output error"},
        {2, NULL, "tls.key cannot be written: Input/output error"},
        {3, NULL, "tls.crt cannot be written: Input/output error"},
        {1, "ca.crt", "ca.crt cannot be written: File exists"},
        {2, "tls.key", "tls.key cannot be written: File exists"},
        {3, "tls.crt", "tls.crt cannot be written: File exists"},
        {1, "tls.crt", "tls.crt cannot be written: File exists"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_folder();
        renames = 0;
        rename_fails = cases[i].rename_fails;
        comes_before = cases[i].comes_before;
        struct opened opened = open_folder(&names);
        rename_fails = 0;
        CU_ASSERT(!opened.done && !opened.made);
        ASSERT_INT(opened.error.kind, ERROR_IO);
        ASSERT_TEXT(text_of(opened.error.what), cases[i].what);
        if (comes_before == NULL) {
            ASSERT_INT(count_files(), 0);
            opened = open_folder(&names);
            CU_ASSERT(opened.done && opened.made);
        } else {
            char bytes[32] = "";
            FILE *file = fopen(path_of(comes_before), "r");
            CU_ASSERT_FATAL(file != NULL && fgets(bytes, sizeof bytes, file) != NULL);
            fclose(file);
            ASSERT_TEXT(text_of(bytes), "of somebody else");
            ASSERT_INT(count_files(), 1);
        }
        remove_folder();
    }
}

/* A process was killed while it wrote them. */
static void drafts_are_passed_over(void)
{
    static const struct {
        const char *file;
        bool made;
    } cases[] = {
        {".ca.crt.0123abcd", true},   {".tls.key.00000001", true},   {".tls.crt.ffffffff", true},
        {".tls.key.0000001", false},  {".tls.key.000000001", false}, {".tls.key.0000000x", false},
        {".tls.key.0000000A", false}, {".tls.key", false},           {".other.00000001", false},
        {"tls.key.00000001", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        make_folder();
        write_file(cases[i].file, "half of a");
        struct opened opened = open_folder(&names);
        CU_ASSERT_EQUAL(opened.done, cases[i].made);
        CU_ASSERT_EQUAL(opened.made, cases[i].made);
        ASSERT_INT(count_files(), cases[i].made ? 4 : 1);
        opened = open_folder(&names);
        CU_ASSERT_EQUAL(opened.done, cases[i].made);
        CU_ASSERT(!opened.made);
        ASSERT_INT(access(path_of(cases[i].file), R_OK), 0);
        remove_folder();
    }
}

static void files_that_cannot_be_read_are_named(void)
{
    static const char *const files[] = {"tls.crt", "tls.key"};
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        make_folder();
        write_file(files[1 - i], "");
        write_folder(files[i]);
        struct opened opened = open_folder(&names);
        CU_ASSERT(!opened.done && !opened.made);
        ASSERT_INT(opened.error.kind, ERROR_IO);
        remove_folder();
    }
}

/* Before anything is written. */
static void names_that_never_match_make_no_files(void)
{
    static const char *const wrong[] = {"two words"};
    make_folder();
    struct opened opened = open_folder(&(struct cert_names){wrong, 1, NULL, 0});
    CU_ASSERT(!opened.done && !opened.made);
    ASSERT_INT(count_files(), 0);
    remove_folder();
}

const struct unit_test unit_tests[] = {
    {"a full disk leaves no half of a file", a_full_disk_leaves_no_half_of_a_file},
    {"a disk that is full in between leaves nothing",
     a_disk_that_is_full_in_between_leaves_nothing},
    {"what is left is that of others", what_is_left_is_that_of_others},
    {"drafts are passed over", drafts_are_passed_over},
    {"files that cannot be read are named", files_that_cannot_be_read_are_named},
    {"names that never match make no files", names_that_never_match_make_no_files},
    {NULL, NULL},
};
