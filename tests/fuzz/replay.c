/* A fuzz target without a fuzzer: the files of a folder, then random bytes.
 *     replay_NAME FOLDER [COUNT [SEED]] */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

enum { LARGEST = 1024 };

static char current[512]; /* what is tried, for whoever has to try it again */

static void try(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void say_current(int number)
{
    (void)!write(STDERR_FILENO, current, strlen(current));
    signal(number, SIG_DFL);
    raise(number);
}

static size_t replay_folder(const char *path)
{
    size_t count = 0;
    DIR *folder = opendir(path);
    if (folder == NULL) {
        perror(path);
        exit(2);
    }
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        static uint8_t data[1 << 20];
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(name, "re");
        if (file == NULL)
            continue;
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        snprintf(current, sizeof current, "input: %.400s\n", name);
        try(data, size);
        count++;
    }
    closedir(folder);
    return count;
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void replay_random(uint64_t seed)
{
    static uint8_t data[LARGEST];
    uint64_t state = seed;
    size_t size = 64 + next(&state) % (LARGEST - 64);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(next(&state) >> 56);
    snprintf(current, sizeof current, "input: the random one of seed %llu\n",
             (unsigned long long)seed);
    try(data, size);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [COUNT [SEED]]\n", argv[0]);
        return 2;
    }
    unsigned long long count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    unsigned long long seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (unsigned)getpid();
    printf("random inputs of the seeds %llu to %llu\n", seed, seed + count);
    fflush(stdout);
    signal(SIGABRT, say_current);
    size_t files = replay_folder(argv[1]);
    for (unsigned long long i = 0; i < count; i++)
        replay_random(seed + i);
    printf("%zu files and %llu random inputs\n", files, count);
    return 0;
}
