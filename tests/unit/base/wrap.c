#include "base/wrap.h"

#include <stdlib.h>

#include "unit.h"

/* What is printed of the words, and by put_printf. */
static void check_printed(const char *words, const char *expected, bool formatted)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    if (formatted)
        put_printf(out, "%s", words);
    else
        put_printable(text_of(words), out);
    fclose(out);
    ASSERT_TEXT(((struct text){printed, size}), expected);
    free(printed);
}

static void what_is_obeyed_is_not_printed(void)
{
    static const struct {
        const char *words, *expected;
    } cases[] = {
        {"", ""},
        {"a \u00e4\u20ac\U0001f600", "a \u00e4\u20ac\U0001f600"},
        /* control characters: of ASCII, of C1; U+00A0 is none */
        {"a\tb\nc\rd\x1b[2Je\x7f", "a b c d [2Je "},
        {"a\xc2\x80z\xc2\x9b[2Jz\xc2\x9f\u00a0", "a z [2Jz \u00a0"},
        /* ends of lines of YAML */
        {"a\xc2\x85z\u2028c\u2029d\u202a\u202c", "a z c d\u202a\u202c"},
        {"a\xEF\xBF\xBDz\xEF\xBF\xBE#\xEF\xBF\xBF", "a\xEF\xBF\xBDz # "},
        /* commands of pipelines */
        {"::stop-commands::x", " :stop-commands::x"},
        {" \t\u00a0\u2003::x", "  \u00a0\u2003 :x"},
        {"::", " :"},
        {":::stop-commands::x", "  :stop-commands::x"},
        {":::::", "    :"},
        {":: ::x", " : ::x"},
        {"a::b", "a::b"},
        {":a::", ":a::"},
        {"a ##[stop-commands]x ##vso[task.complete]", "a # [stop-commands]x # vso[task.complete]"},
        {"##[##[###[", "# [# [## ["},
        {"## [ ##vs[ #[ #vso[", "## [ ##vs[ #[ #vso["},
        {"#", "#"},
        /* cut amid a character */
        {"a\xc2", "a\xc2"},
        {"a\xe2\x80", "a\xe2\x80"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_printed(cases[i].words, cases[i].expected, false);
        check_printed(cases[i].words, cases[i].expected, true);
    }
}

const char unit_suite[] = "wrap";
const struct unit_test unit_tests[] = {
    {"what is obeyed is not printed", what_is_obeyed_is_not_printed},
    {NULL, NULL},
};
