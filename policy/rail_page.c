/* The pages that `taffrail explain` prints: of a rail, and of the two kinds of documents. */
#include <string.h>

#include "policy/document.h"

enum { PAGE_COLUMNS = 80, TYPE_COLUMN = 26, PATH_INDENT = 2, TEXT_INDENT = 6 };

/* ---- pages of at most 80 columns ---- */

static void add_spaces(struct text_builder *page, size_t count)
{
    for (size_t i = 0; i < count; i++)
        text_builder_add(page, TEXT(" "));
}

/* One paragraph from column on, further lines indented. */
static void add_words(struct text_builder *page, struct text words, size_t column, size_t indent)
{
    bool first = true;
    while (words.size > 0) {
        struct text word = words;
        struct text rest = {words.data + words.size, 0};
        text_split(words, ' ', &word, &rest);
        words = rest;
        if (!first && column + 1 + word.size > PAGE_COLUMNS) {
            text_builder_add(page, TEXT("\n"));
            add_spaces(page, indent);
            column = indent;
        } else if (!first) {
            text_builder_add(page, TEXT(" "));
            column++;
        }
        text_builder_add(page, word);
        column += word.size;
        first = false;
    }
    text_builder_add(page, TEXT("\n"));
}

static bool take_line(struct text *text, struct text *line)
{
    struct text rest = {text->data + text->size, 0};
    *line = *text;
    if (text->size == 0)
        return false;
    text_split(*text, '\n', line, &rest);
    *text = rest;
    return true;
}

static void add_paragraphs(struct text_builder *page, struct text text, size_t indent)
{
    struct text line;
    while (take_line(&text, &line)) {
        if (line.size > 0)
            add_spaces(page, indent);
        add_words(page, line, indent, indent);
    }
}

/* As it stands, each line indented. */
static void add_lines(struct text_builder *page, struct text text, size_t indent)
{
    struct text line;
    while (take_line(&text, &line)) {
        if (line.size > 0)
            add_spaces(page, indent);
        text_builder_add(page, line);
        text_builder_add(page, TEXT("\n"));
    }
}

/* ---- keys ---- */

/* What a key takes, in few words. */
static struct text type_words(struct arena *arena, const struct key *key)
{
    switch (key->type) {
    case KEY_QUANTITY:
        return TEXT("quantity, such as 64 or 256Gi");
    case KEY_STRINGS:
        if (key->choices != NULL) {
            size_t count = 0;
            const struct text *choices = schema_choices(arena, key->choices, &count);
            return arena_printf(arena, "list of: %.*s",
                                TEXT_ARGS(schema_join(arena, choices, count)));
        }
        break;
    case KEY_TIME:
    case KEY_TIME_END:
        return TEXT("day, or time (RFC 3339)");
    case KEY_SELECTOR:
        return TEXT("label selector");
    case KEY_NODE:
    case KEY_RAILS:
        return TEXT("map");
    default:
        break;
    }
    static const char *const beginnings[] = {"a ", "one of "};
    struct text words = schema_wanted(arena, key);
    for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
        struct text beginning = text_of(beginnings[i]);
        if (text_starts_with(words, beginning))
            return (struct text){words.data + beginning.size, words.size - beginning.size};
    }
    return words;
}

static void add_key(struct text_builder *page, const struct key *key, struct text path)
{
    struct arena *arena = page->arena;
    add_spaces(page, PATH_INDENT);
    text_builder_add(page, path);
    size_t column = PATH_INDENT + path.size;
    size_t gap = column + 2 <= TYPE_COLUMN ? TYPE_COLUMN - column : 2;
    add_spaces(page, gap);
    struct text type = type_words(arena, key);
    struct text end = key->required ? TEXT(" (required)") : TEXT("");
    add_words(page, arena_printf(arena, "%.*s%.*s", TEXT_ARGS(type), TEXT_ARGS(end)), column + gap,
              TYPE_COLUMN);
    add_paragraphs(page, text_of(key->summary), TEXT_INDENT);
    if (key->default_value != NULL)
        add_paragraphs(page, arena_printf(arena, "default: %s", key->default_value), TEXT_INDENT);
}

/* A rail's keys in one list, nested ones as allow.families. */
static void add_keys(struct text_builder *page, const struct key *keys, struct text prefix)
{
    struct arena *arena = page->arena;
    for (const struct key *key = keys; key != NULL && key->name != NULL; key++) {
        struct text path = arena_printf(arena, "%.*s%s", TEXT_ARGS(prefix), key->name);
        add_key(page, key, path);
        const char *step = key->type == KEY_MAPS ? "[]." : ".";
        add_keys(page, key->children, arena_printf(arena, "%.*s%s", TEXT_ARGS(path), step));
    }
}

/* The keys of a policy file, a section for each map. */
static void add_sections(struct text_builder *page, const struct key *keys, struct text path)
{
    struct arena *arena = page->arena;
    if (path.size == 0)
        text_builder_add(page, TEXT("\nKeys:\n"));
    else
        text_builder_printf(page, "\nKeys, under %.*s:\n", TEXT_ARGS(path));
    for (const struct key *key = keys; key->name != NULL; key++)
        add_key(page, key, text_of(key->name));
    for (const struct key *key = keys; key->name != NULL; key++) {
        if (key->children == NULL)
            continue;
        struct text child =
            arena_printf(arena, "%.*s%s%s%s", TEXT_ARGS(path), path.size == 0 ? "" : ".", key->name,
                         key->type == KEY_MAPS ? "[]" : "");
        add_sections(page, key->children, child);
    }
}

/* ---- pages ---- */

static void add_kind_names(struct text_builder *names, kind_set kinds)
{
    bool first = true;
    for (int kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        text_builder_printf(names, "%s%s", first ? "" : ", ", kind_table[kind].name);
        first = false;
    }
    if ((kinds & KIND_BIT(KIND_CUSTOM)) != 0)
        text_builder_printf(names, "%sthe pod templates of custom resources", first ? "" : ", ");
}

static struct text kinds_text(struct arena *arena, kind_set kinds)
{
    struct text_builder names = {.arena = arena};
    text_builder_add(&names, TEXT("On: "));
    if ((kinds & KINDS_WORKLOADS) == KINDS_WORKLOADS) {
        text_builder_add(&names, TEXT("workloads ("));
        add_kind_names(&names, KINDS_WORKLOADS);
        kinds &= ~KINDS_WORKLOADS;
        text_builder_add(&names, kinds == 0 ? TEXT(")") : TEXT("), "));
    }
    add_kind_names(&names, kinds);
    return text_builder_text(&names);
}

struct text rail_explain(const struct rail *rail, struct arena *arena)
{
    struct text_builder page = {.arena = arena};
    add_paragraphs(&page, arena_printf(arena, "%s: %s", rail->name, rail->summary), 0);
    text_builder_add(&page, TEXT("\n"));
    add_paragraphs(&page, kinds_text(arena, rail->kinds), 0);
    if (rail->changes_of != 0)
        add_paragraphs(&page, TEXT("Only when they are updated or deleted"), 0);
    if (rail->change != NULL)
        add_paragraphs(&page,
                       TEXT("Can change: Pods, when they are created and the mode is enforce; "
                            "warn and audit only tell of it"),
                       0);
    if (rail->only_warns)
        add_paragraphs(&page,
                       TEXT("Only warns, unless the policy gives the rail a mode of its own"), 0);
    text_builder_add(&page, TEXT("\n"));
    add_paragraphs(&page, text_of(rail->detail), 0);

    text_builder_printf(&page, "\nKeys, under spec.rails.%s:\n", rail->name);
    add_keys(&page, rail->keys, TEXT(""));
    add_keys(&page, rail_common_keys, TEXT(""));

    text_builder_add(&page, TEXT("\nExample:\n  spec:\n    rails:\n"));
    add_lines(&page, text_of(rail->example), 6);
    return text_builder_text(&page);
}

/* What a kind of document is for, and its keys. */
static void begin_document(struct text_builder *page, const char *title, const char *detail,
                           const struct key *keys)
{
    add_paragraphs(page, text_of(title), 0);
    text_builder_add(page, TEXT("\n"));
    add_paragraphs(page, text_of(detail), 0);
    add_sections(page, keys, TEXT(""));
}

static void add_example(struct text_builder *page, const char *example)
{
    text_builder_add(page, TEXT("\nExample:\n"));
    add_lines(page, text_of(example), 2);
}

static const char policy_detail[] =
    "YAML or JSON; any number of files, and of documents in a file. A file with an unknown key, a "
    "wrong type or an impossible value is refused as a whole. Every policy whose match selects an "
    "object applies to it, and the strictest action wins. Exceptions and overrides may stand in "
    "documents of their own: `taffrail explain exceptions`.\n\nA folder is read with the folders "
    "in "
    "it, and holds nothing but policies; passed over are files named cases.yaml and folders named "
    "tests, which are for `taffrail test`.";

static const char policy_example[] = "apiVersion: taffrail.dev/v1alpha1\n"
                                     "kind: GuardRails\n"
                                     "metadata:\n"
                                     "  name: production\n"
                                     "spec:\n"
                                     "  mode: audit\n"
                                     "  contact: \"#platform-compute\"\n"
                                     "  docs: https://wiki.example.com/compute/{rail}\n"
                                     "  match:\n"
                                     "    namespaces: [\"team-*\"]\n"
                                     "    excludeGroups: [\"system:masters\"]\n"
                                     "  rails:\n"
                                     "    topology-keys:\n"
                                     "      mode: enforce\n"
                                     "  exceptions:\n"
                                     "    - id: EX-12\n"
                                     "      rails: [topology-keys]\n"
                                     "      match: {namespaces: [team-ml], names: [\"train-*\"]}\n"
                                     "      owner: \"#ml-research\"\n"
                                     "      reason: quarterly retraining\n"
                                     "      expires: 2027-03-31\n";

struct text policy_explain(struct arena *arena)
{
    struct text_builder page = {.arena = arena};
    begin_document(&page, "policy: what a policy file holds", policy_detail, document_keys);
    text_builder_add(&page, TEXT("\nKeys, under spec.rails.NAME, of every rail beside its own:\n"));
    add_keys(&page, rail_common_keys, TEXT(""));
    text_builder_add(&page, TEXT("\nRails (taffrail explain NAME says more):\n"));
    for (size_t i = 0; i < rail_count(); i++) {
        struct text name = text_of(rail_name(rail_at(i)));
        text_builder_printf(&page, "  %-24s", name.data);
        add_words(&page, text_of(rail_summary(rail_at(i))), TYPE_COLUMN, TYPE_COLUMN);
    }
    add_example(&page, policy_example);
    return text_builder_text(&page);
}

static const char exceptions_detail[] =
    "Of several policies each judges by itself, and the strictest action wins: no policy changes "
    "another one. What adds to a policy from outside is a document of kind GuardRailExceptions, "
    "read with -p as policies are. It names the policies, and these say under spec.grants which "
    "owner may lift or move which rails, in which namespaces, for how long. What is not granted "
    "is refused when it is loaded.\n\nWhat holds of a rail for an object, in this order: the "
    "rail's mode, else the policy's spec.mode; one step of the overrides that match, a stricter "
    "one before a softer one, wherever they stand; `since`; and of the exceptions that match the "
    "one that lasts longest. The order of files and of -p changes nothing. `taffrail policy "
    "explain` shows it for an object, with file and line.\n\nThe owner is what the document "
    "says: who may change which file is for your repository to decide.";

static const char exceptions_example[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata:\n"
    "  name: base\n"
    "spec:\n"
    "  mode: enforce\n"
    "  rails:\n"
    "    topology-keys: {}\n"
    "  grants:\n"
    "    - owner: team-ml\n"
    "      rails: [topology-keys]\n"
    "      namespaces: [\"ml-*\"]\n"
    "      maxDuration: 2160h\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRailExceptions\n"
    "metadata:\n"
    "  name: ml\n"
    "spec:\n"
    "  policies: [base]\n"
    "  owner: team-ml\n"
    "  exceptions:\n"
    "    - id: EX-12\n"
    "      rails: [topology-keys]\n"
    "      match: {namespaces: [ml-research], names: [\"train-*\"]}\n"
    "      reason: quarterly retraining\n"
    "      expires: 2027-01-31\n";

struct text exceptions_explain(struct arena *arena)
{
    struct text_builder page = {.arena = arena};
    begin_document(&page, "exceptions: what a document of kind GuardRailExceptions holds",
                   exceptions_detail, exceptions_document_keys);
    add_example(&page, exceptions_example);
    return text_builder_text(&page);
}
