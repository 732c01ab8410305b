/* certs_driver DIR [NAME ...]: certs_open_dir with the system's clock. A name of digits, dots and
 * colons only is an address. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "certs/certs.h"

enum { NAMES_MAX = 16 };

int main(int argc, char **argv)
{
    const char *dns[NAMES_MAX], *addresses[NAMES_MAX];
    struct cert_names names = {dns, 0, addresses, 0};
    for (int i = 2; i < argc && i < NAMES_MAX; i++) {
        if (strspn(argv[i], "0123456789.:") == strlen(argv[i]))
            addresses[names.address_count++] = argv[i];
        else
            dns[names.dns_count++] = argv[i];
    }
    struct arena *arena = arena_create(1 << 20);
    if (argc < 2 || arena == NULL)
        return 2;
    struct cert_pair leaf;
    struct error error;
    bool made;
    bool opened = certs_open_dir(argv[1], &names, time(NULL), arena, &leaf, &made, &error);
    if (opened)
        puts(made ? "made" : "read");
    else
        fprintf(stderr, "%s: %s\n", error.place.file == NULL ? "" : error.place.file, error.what);
    arena_destroy(arena);
    return opened ? 0 : 2;
}
