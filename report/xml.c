/* Text in XML and HTML. */
#include "report/format.h"

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* The replacement for a byte; NULL: none. XML has no control characters, not even escaped; a parser
 * turns white space in attributes into blanks unless it is escaped. */
static const char *escape_of(char c, bool attribute)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#13;";
    case '\n':
        return attribute ? "&#10;" : NULL;
    case '\t':
        return attribute ? "&#9;" : NULL;
    default:
        return (unsigned char)c < 0x20 ? replacement : NULL;
    }
}

static void put(struct text t, bool attribute, FILE *out)
{
    for (size_t i = 0; i < t.size; i++) {
        const char *escape = escape_of(t.data[i], attribute);
        struct text rest = {t.data + i, t.size - i};
        /* XML has no U+FFFE and U+FFFF either. */
        if (text_starts_with(rest, TEXT("\xEF\xBF\xBE")) ||
            text_starts_with(rest, TEXT("\xEF\xBF\xBF"))) {
            escape = replacement;
            i += 2;
        }
        if (escape != NULL)
            fputs(escape, out);
        else
            fputc(t.data[i], out);
    }
}

void put_xml(struct text t, FILE *out)
{
    put(t, false, out);
}

void put_xml_attribute(const char *name, struct text value, FILE *out)
{
    fprintf(out, " %s=\"", name);
    put(value, true, out);
    fputc('"', out);
}
