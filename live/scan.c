/* Finds where events, and the items of lists, begin and end in bytes that arrive in pieces. */
#include "live/watch.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static void step(struct value_scan *scan, char c)
{
    if (scan->in_string) {
        if (scan->escaped)
            scan->escaped = false;
        else if (c == '\\')
            scan->escaped = true;
        else if (c == '"')
            scan->in_string = false;
    } else if (c == '"') {
        scan->in_string = true;
    } else if (c == '{' || c == '[') {
        scan->depth++;
    } else if (c == '}' || c == ']') {
        scan->depth--;
    }
}

/* Most bytes of a large object are in strings. */
static size_t skip_string(const struct value_scan *scan, struct text bytes, size_t i)
{
    if (scan->in_string && !scan->escaped)
        while (i < bytes.size && bytes.data[i] != '"' && bytes.data[i] != '\\')
            i++;
    return i;
}

enum value_scan_result value_scan(struct value_scan *scan, struct text bytes, size_t *used)
{
    for (size_t i = skip_string(scan, bytes, 0); i < bytes.size;
         i = skip_string(scan, bytes, i + 1)) {
        char c = bytes.data[i];
        if (scan->depth == 0 && c != '{') {
            if (!is_space(c))
                return SCAN_BAD;
            continue;
        }
        step(scan, c);
        if (scan->depth == 0) {
            *used = i + 1;
            return SCAN_WHOLE;
        }
    }
    *used = bytes.size;
    return SCAN_MORE;
}

/* ---- a list ---- */

static const char items_key[] = "\"items\":";
enum { ITEMS_KEY_BYTES = sizeof items_key - 1 };

/* How much of the key of the items matches up to this byte. */
static unsigned match(const struct list_scan *scan, char c)
{
    bool opens = c == '"' && !scan->root.in_string;
    if (!scan->root.in_string && is_space(c))
        return scan->matched;
    if (opens)
        return 1;
    bool goes_on =
        scan->matched > 0 && scan->matched < ITEMS_KEY_BYTES && c == items_key[scan->matched];
    return goes_on ? scan->matched + 1 : 0;
}

static enum list_part scan_head(struct list_scan *scan, struct text bytes, size_t *used)
{
    for (size_t i = 0; i < bytes.size; i++) {
        char c = bytes.data[i];
        if (scan->root.depth == 0 && (c != '{' || scan->ended)) {
            if (!is_space(c))
                return LIST_BAD;
            continue;
        }
        scan->in_items = scan->root.depth == 1 && scan->matched == ITEMS_KEY_BYTES && c == '[';
        if (scan->root.depth == 1)
            scan->matched = match(scan, c);
        step(&scan->root, c);
        scan->ended = scan->root.depth == 0;
        if (scan->in_items) {
            *used = i + 1;
            return LIST_HEAD;
        }
    }
    *used = bytes.size;
    return LIST_HEAD;
}

static enum list_part scan_item(struct list_scan *scan, struct text bytes, size_t *used)
{
    enum value_scan_result result = value_scan(&scan->item, bytes, used);
    scan->in_item = result == SCAN_MORE;
    return result == SCAN_BAD ? LIST_BAD : result == SCAN_WHOLE ? LIST_ITEM_END : LIST_ITEM;
}

static enum list_part scan_between(struct list_scan *scan, struct text bytes, size_t *used)
{
    size_t i = 0;
    while (i < bytes.size && (is_space(bytes.data[i]) || bytes.data[i] == ','))
        i++;
    *used = i;
    if (i > 0 || bytes.size == 0)
        return LIST_BETWEEN;
    if (bytes.data[0] == ']') {
        scan->in_items = false;
        return scan_head(scan, bytes, used);
    }
    scan->item = (struct value_scan){0};
    return scan_item(scan, bytes, used);
}

enum list_part list_scan(struct list_scan *scan, struct text bytes, size_t *used)
{
    if (scan->in_item)
        return scan_item(scan, bytes, used);
    return scan->in_items ? scan_between(scan, bytes, used) : scan_head(scan, bytes, used);
}
