/* Prints how doc_read_yaml reads each document of the files named, in the words of main.go: JSON
 * with sorted keys, or "error". With --stream the documents of a file are not cut apart first, and
 * empty ones are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* As Go's encoding/json writes a string. */
static void print_string(struct text t)
{
    putchar('"');
    for (size_t i = 0; i < t.size; i++) {
        unsigned char c = (unsigned char)t.data[i];
        const char *names = "\bb\ff\nn\rr\tt\"\"\\\\";
        const char *name = c == '\0' ? NULL : strchr(names, c);
        bool separator = i + 2 < t.size && (memcmp(t.data + i, "\xE2\x80\xA8", 3) == 0 ||
                                            memcmp(t.data + i, "\xE2\x80\xA9", 3) == 0);
        if (name != NULL && (name - names) % 2 == 0)
            printf("\\%c", name[1]);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&')
            printf("\\u%04x", c);
        else if (separator)
            printf("\\u20%02x", (unsigned char)t.data[i += 2] & 0x3F);
        else
            putchar(c);
    }
    putchar('"');
}

static int compare_members(const void *a, const void *b)
{
    const struct member *const *x = a, *const *y = b;
    return text_compare(member_key(*x), member_key(*y));
}

static void print_node(const struct node *node);

static void print_map(const struct node *map)
{
    const struct member **sorted = calloc(map->size + 1u, sizeof *sorted);
    if (sorted == NULL)
        abort();
    for (size_t i = 0; i < map->size; i++)
        sorted[i] = &map->members[i];
    qsort(sorted, map->size, sizeof *sorted, compare_members);
    putchar('{');
    for (size_t i = 0; i < map->size; i++) {
        if (i != 0)
            putchar(',');
        print_string(member_key(sorted[i]));
        putchar(':');
        print_node(&sorted[i]->value);
    }
    putchar('}');
    free(sorted);
}

static void print_node(const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_NULL:
        printf("null");
        break;
    case NODE_BOOL:
    case NODE_NUMBER:
        printf("%.*s", TEXT_ARGS(node_text(node)));
        break;
    case NODE_STRING:
        print_string(node_text(node));
        break;
    case NODE_LIST:
        putchar('[');
        for (size_t i = 0; i < node->size; i++) {
            if (i != 0)
                putchar(',');
            print_node(&node->items[i]);
        }
        putchar(']');
        break;
    case NODE_MAP:
        print_map(node);
        break;
    }
}

struct output {
    bool stream;
    size_t count;
};

static void print_document(void *context, const struct node *root)
{
    struct output *output = context;
    output->count++;
    if (output->stream && root->kind == NODE_NULL)
        return;
    print_node(root);
    putchar('\n');
}

static void print_documents(struct text text, bool stream, bool verbose, struct arena *arena)
{
    struct source source = {.text = text};
    struct output output = {.stream = stream};
    struct problems problems = {.arena = arena};
    doc_read_yaml(&source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, print_document,
                  &output);
    for (size_t i = 0; i < problems.count && verbose; i++)
        fprintf(stderr, "%u:%u: %s\n", problems.items[i].place.line, problems.items[i].place.column,
                problems.items[i].what);
    if (output.count == 0 && !stream)
        puts(problems.count == 0 ? "null" : "error");
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create((size_t)1 << 30);
    bool stream = argc > 1 && strcmp(argv[1], "--stream") == 0;
    bool verbose = getenv("VERBOSE") != NULL;
    for (int i = stream ? 2 : 1; i < argc; i++) {
        struct text text;
        struct error error;
        if (!file_read(argv[i], doc_limits_manifest.bytes, arena, &text, &error)) {
            fprintf(stderr, "%s: %s\n", argv[i], error.what);
            return 1;
        }
        const char *boundary;
        while (!stream && (boundary = memmem(text.data, text.size, "\n---\n", 5)) != NULL) {
            size_t size = (size_t)(boundary - text.data);
            print_documents((struct text){text.data, size}, stream, verbose, arena);
            text = (struct text){boundary + 5, text.size - size - 5};
        }
        print_documents(text, stream, verbose, arena);
        arena_reset(arena);
    }
    arena_destroy(arena);
    return 0;
}
