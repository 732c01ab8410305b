/* Private to report/: pages for a browser. A page is one file: it loads nothing, and its only
 * script filters what is there and unfolds it for paper. Without the script everything can be read.
 */
#ifndef TAFFRAIL_REPORT_PAGE_H
#define TAFFRAIL_REPORT_PAGE_H

#include "report/format.h"

/* How bad what a page tells is; the class of its style. */
enum page_mood { PAGE_GOOD, PAGE_WARNED, PAGE_BAD };

void page_start(const char *title, FILE *out);
void page_end(FILE *out);

/* The answer, in large letters, before everything else. */
void page_verdict(enum page_mood mood, struct text verdict, FILE *out);
void page_paragraph(const char *class, struct text words, FILE *out);

/* What a page is about: label and value, those without a value left out. */
struct page_fact {
    const char *label;
    struct text value;
};
void page_facts(const struct page_fact *facts, size_t count, FILE *out);
/* What every page says of its run: cluster, time, policies, version. The result is the number. */
enum { PAGE_ABOUT_FACTS = 4 };
size_t page_about(const struct report_about *about, struct page_fact facts[PAGE_ABOUT_FACTS],
                  struct arena *arena);

/* Numbers that are read first. */
struct page_number {
    struct text value;
    const char *label;
    const char *class; /* of its style; "" or NULL: none */
};
void page_numbers(const struct page_number *numbers, size_t count, FILE *out);

/* Links to parts of the page. */
struct page_jump {
    struct text title, note;
    size_t number; /* of the part: "part-N" */
};
void page_jumps(const struct page_jump *jumps, size_t count, FILE *out);

/* A field that leaves only the items that hold its words, and that have a choice: the class
 * of such an item is "CHOICE-in". Only the script shows it. An item is `details class="item"`, a
 * group of them `details class="group" data-name="WORDS"`. words: what one may look for. */
void page_filter(const char *words, const char *const *choices, FILE *out);

/* ---- tables ---- */

/* On a narrow page each row becomes a block, and a cell other than prose has its title before it.
 */
enum page_column_kind {
    PAGE_PROSE, /* may break into lines, and needs no title */
    PAGE_NOTE,  /* may break into lines */
    PAGE_WORD,
    PAGE_NUMBER
};
struct page_column {
    const char *title;
    enum page_column_kind kind;
};
/* Columns end with a NULL title. Without a caption there is none. */
void page_table_start(const char *caption, const struct page_column *columns, FILE *out);
void page_table_row(const struct text *cells, const struct page_column *columns, FILE *out);
/* The start of a cell other than a row's first. */
void page_cell_start(const struct page_column *column, const char *class, FILE *out);
void page_table_end(FILE *out);

#endif
