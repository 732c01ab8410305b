/* The frame of pages: style, script, and the parts that pages have in common. */
#include "report/page.h"

#include <time.h>

#include "base/version.h"

/* The only script, at the end of the page. tests/contract/pages.py holds script_hash against it. */
static const char script[] =
    "(function(){\n"
    "var d=document,bar=d.getElementById('filter');\n"
    "function all(q){return Array.prototype.slice.call(d.querySelectorAll(q))}\n"
    "function unfold(){var e=d.getElementById(location.hash.slice(1));"
    "while(e){if(e.tagName==='DETAILS')e.open=true;e=e.parentElement}}\n"
    "addEventListener('hashchange',unfold);unfold();\n"
    "var folded=[];\n"
    "addEventListener('beforeprint',function(){folded=all('details:not([open])');"
    "folded.forEach(function(e){e.open=true})});\n"
    "addEventListener('afterprint',function(){folded.forEach(function(e){e.open=false})});\n"
    "if(!bar)return;\n"
    "var words=bar.querySelector('input'),choice=bar.querySelector('select'),"
    "told=bar.querySelector('output'),items=all('details.item'),groups=all('details.group'),texts;"
    "\n"
    "function apply(){\n"
    "texts=texts||items.map(function(e){var g=e.closest('.group');return ((g?g.dataset.name+' "
    "':'')+"
    "e.textContent).toLowerCase()});\n"
    "var wanted=words.value.toLowerCase().split(/\\s+/).filter(Boolean),class_=choice.value,n=0;\n"
    "items.forEach(function(e,i){var on=(!class_||e.classList.contains(class_))&&"
    "wanted.every(function(w){return texts[i].indexOf(w)>=0});e.hidden=!on;n+=on});\n"
    "groups.forEach(function(g){var on=g.querySelector('details.item:not([hidden])');g.hidden=!on;"
    "if(on&&(wanted.length||class_))g.open=true});\n"
    "told.textContent=wanted.length||class_?n+' of '+items.length+' shown':''}\n"
    "words.addEventListener('input',apply);choice.addEventListener('change',apply);\n"
    "bar.addEventListener('submit',function(e){e.preventDefault()});\n"
    "bar.addEventListener('click',function(e){var to=e.target.dataset.open;if(to)"
    "all('details.item,details.group').forEach(function(x){"
    "if(!x.hidden)x.open=to==='1'||(to==='0'&&x.classList.contains('group'))})});\n"
    "bar.hidden=false;apply();\n"
    "})();\n";
static const char script_hash[] = "sha256-d0Ec0SxYPl7fM3/4VT0Z7F2MfoR0hcZTX4AT6ghl4ww=";

static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1f2328;--dim:#57606a;--line:#d0d7de;"
    "--head:#f3f5f7;--bad:#a40e26;--warned:#7d4e00;--audited:#0550ae;--good:#116329}\n"
    "@media (prefers-color-scheme: dark){:root{--page:#0d1117;--ink:#e6edf3;--dim:#9da7b3;"
    "--line:#30363d;--head:#171d25;--bad:#ff8f88;--warned:#e3b341;--audited:#79c0ff;"
    "--good:#7ee787}}\n"
    "*{box-sizing:border-box}[hidden]{display:none!important}\n"
    "body{margin:0 auto;padding:1.5rem;max-width:80rem;background:var(--page);color:var(--ink);"
    "font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",\"Liberation Sans\",Arial,sans-serif;"
    "overflow-wrap:anywhere}\n"
    "h1{font-size:1rem;font-weight:600;color:var(--dim);margin:0}"
    "h2{font-size:1.15rem;margin:2rem 0 .3rem}p{margin:.3rem 0}a{color:var(--audited)}\n"
    "code{font:.9em ui-monospace,\"Liberation Mono\",monospace}\n"
    ".verdict{font-size:1.6rem;line-height:1.25;font-weight:700;margin:.4rem 0 .6rem;"
    "padding:.2rem 0 .2rem .8rem;border-left:.35rem solid}\n"
    ".bad,.denied{color:var(--bad)}.warned{color:var(--warned)}.audited{color:var(--audited)}"
    ".good,.excepted{color:var(--good)}.dim,.undecided{color:var(--dim)}\n"
    ".numbers{display:flex;flex-wrap:wrap;gap:.6rem;padding:0;margin:1rem 0;list-style:none}"
    ".numbers li{border:1px solid var(--line);border-radius:.4rem;padding:.4rem .9rem;"
    "min-width:6.5rem}"
    ".numbers b{display:block;font-size:1.35rem;line-height:1.3;"
    "font-variant-numeric:tabular-nums}.numbers span{color:var(--dim);font-size:.9rem}\n"
    ".facts{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:1rem 0}"
    ".facts dt{color:var(--dim)}.facts dd{margin:0;min-width:0}\n"
    ".jumps ul{list-style:none;padding:0;margin:.3rem 0;columns:16rem;column-gap:1.5rem}"
    ".jumps li{break-inside:avoid;padding:.15rem 0}.jumps span{color:var(--dim);font-size:.9rem}\n"
    "#filter{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;position:sticky;top:0;"
    "background:var(--page);padding:.6rem 0;margin:1rem 0 0;border-bottom:1px solid var(--line);"
    "z-index:1}#filter input{flex:1 1 12rem;min-width:0}"
    "#filter input,#filter select,#filter button{font:inherit;color:inherit;padding:.25rem .6rem;"
    "background:var(--head);border:1px solid var(--line);border-radius:.3rem}"
    "#filter output{color:var(--dim)}\n"
    "table{border-collapse:collapse;width:100%;margin:0 0 1rem}"
    "caption{text-align:left;font-size:1.15rem;font-weight:600;padding:.4rem 0}"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;"
    "border-bottom:1px solid var(--line)}"
    "thead th{background:var(--head);color:var(--dim);font-weight:600;white-space:nowrap}"
    "tbody th{font-weight:600}.w{white-space:nowrap}.note{min-width:8rem}"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "details.group{margin:1.2rem 0 0;scroll-margin-top:4rem}"
    "summary{cursor:pointer;padding:.35rem 0}"
    "details.group>summary{font-size:1.15rem;font-weight:600;border-bottom:2px solid var(--line)}"
    "details.item{border-bottom:1px solid var(--line)}"
    "details.item[open]{padding-bottom:.6rem}details.item>*:not(summary){margin-left:1.1rem;"
    "width:calc(100% - 1.1rem)}"
    "summary small{font-size:.9rem;font-weight:400;color:var(--dim)}"
    "summary .count{font-size:.9rem;font-weight:600}.objects{margin:.2rem 0 .6rem;color:var(--dim);"
    "columns:20rem}figure{margin:1rem 0 2rem}svg{display:block;max-width:100%;height:auto}"
    ".narrow{display:none}\n"
    "details.pool>summary{border-bottom:1px solid var(--line)}"
    ".bar{display:inline-block;width:4rem;height:.6rem;border-radius:.15rem;"
    "background:linear-gradient(to right,var(--dim) var(--a),var(--audited) var(--a) var(--b),"
    "var(--line) var(--b));print-color-adjust:exact}\n"
    "@media (max-width:40rem){body{padding:1rem}.verdict{font-size:1.35rem}"
    ".narrow{display:block}.wide{display:none}"
    "table,tbody,tr,tbody th,td,caption{display:block;width:auto}thead{display:none}"
    "tr{padding:.4rem 0;border-bottom:1px solid var(--line)}"
    "tbody th,td{border:0;padding:.05rem 0;text-align:left}"
    ".w,.n{white-space:normal}.w,td[data-of]{display:inline-block;margin-right:.9rem}"
    "td.zero,td[data-of]:empty{display:none}"
    "td[data-of]::before{content:attr(data-of) \" \";color:var(--dim);font-weight:400}"
    "details.item>*:not(summary){margin-left:.4rem;width:calc(100% - .4rem)}"
    ".numbers li{flex:1 1 40%}#filter{position:static}}\n"
    "@media print{#filter,.jumps{display:none!important}body{padding:0;max-width:none}"
    "tr,.item>summary{break-inside:avoid}}\n";

void page_start(const char *title, FILE *out)
{
    fprintf(out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; script-src '%s'; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"referrer\" content=\"no-referrer\">\n"
            "<title>taffrail %s</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
            script_hash, title, style);
}

void page_end(FILE *out)
{
    fprintf(out, "</main>\n<script>%s</script>\n</body>\n</html>\n", script);
}

/* ---- the head of a page ---- */

void page_verdict(enum page_mood mood, struct text verdict, FILE *out)
{
    static const char *const classes[] = {
        [PAGE_GOOD] = "good", [PAGE_WARNED] = "warned", [PAGE_BAD] = "bad"};
    fprintf(out, "<p class=\"verdict %s\">", classes[mood]);
    put_xml(verdict, out);
    fputs("</p>\n", out);
}

void page_paragraph(const char *class, struct text words, FILE *out)
{
    if (words.size == 0)
        return;
    fprintf(out, "<p class=\"%s\">", class);
    put_xml(words, out);
    fputs("</p>\n", out);
}

void page_facts(const struct page_fact *facts, size_t count, FILE *out)
{
    fputs("<dl class=\"facts\">\n", out);
    for (size_t i = 0; i < count; i++) {
        if (facts[i].value.size == 0)
            continue;
        fprintf(out, "<dt>%s</dt><dd>", facts[i].label);
        put_xml(facts[i].value, out);
        fputs("</dd>\n", out);
    }
    fputs("</dl>\n", out);
}

static struct text time_text(int64_t unix_s, struct arena *arena)
{
    time_t seconds = (time_t)unix_s;
    struct tm utc = {0};
    char written[40] = "";
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(written, sizeof written, "%Y-%m-%d %H:%M UTC", &utc);
    return arena_printf(arena, "%s", written);
}

size_t page_about(const struct report_about *about, struct page_fact facts[PAGE_ABOUT_FACTS],
                  struct arena *arena)
{
    size_t count = 0;
    if (about != NULL) {
        facts[count++] = (struct page_fact){"Cluster", text_as_utf8(about->cluster, arena)};
        facts[count++] = (struct page_fact){"When", time_text(about->at_unix_s, arena)};
        facts[count++] = (struct page_fact){"Policies", text_as_utf8(about->policies, arena)};
    }
    facts[count++] = (struct page_fact){"Taffrail", text_of(taffrail_version)};
    return count;
}

void page_numbers(const struct page_number *numbers, size_t count, FILE *out)
{
    fputs("<ul class=\"numbers\">\n", out);
    for (size_t i = 0; i < count; i++) {
        if (numbers[i].value.size == 0)
            continue;
        fprintf(out, "<li><b class=\"%s\">", numbers[i].class == NULL ? "" : numbers[i].class);
        put_xml(numbers[i].value, out);
        fprintf(out, "</b><span>%s</span></li>\n", numbers[i].label);
    }
    fputs("</ul>\n", out);
}

/* ---- finding one's way ---- */

void page_jumps(const struct page_jump *jumps, size_t count, FILE *out)
{
    enum { SHOWN_OPEN = 24 };
    if (count < 2)
        return;
    fprintf(out,
            "<nav class=\"jumps\">\n<details%s>\n<summary>On this page: %zu parts</summary>\n"
            "<ul>\n",
            count <= SHOWN_OPEN ? " open" : "", count);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "<li><a href=\"#part-%zu\">", jumps[i].number);
        put_xml(jumps[i].title, out);
        fputs("</a> <span>", out);
        put_xml(jumps[i].note, out);
        fputs("</span></li>\n", out);
    }
    fputs("</ul>\n</details>\n</nav>\n", out);
}

void page_filter(const char *words, const char *const *choices, FILE *out)
{
    fprintf(out,
            "<form id=\"filter\" role=\"search\" hidden>\n"
            "<input type=\"search\" placeholder=\"Filter: %s\" aria-label=\"Filter\">\n"
            "<select aria-label=\"Which\"><option value=\"\">all</option>",
            words);
    for (size_t i = 0; choices[i] != NULL; i++)
        fprintf(out, "<option value=\"%s-in\">%s</option>", choices[i], choices[i]);
    fputs("</select>\n<button type=\"button\" data-open=\"1\">Unfold all</button>\n"
          "<button type=\"button\" data-open=\"0\">Fold all</button>\n"
          "<output></output>\n</form>\n",
          out);
}

/* ---- tables ---- */

static const char *const column_classes[] = {
    [PAGE_PROSE] = "", [PAGE_NOTE] = "note", [PAGE_WORD] = "w", [PAGE_NUMBER] = "n"};

void page_table_start(const char *caption, const struct page_column *columns, FILE *out)
{
    fputs("<table>\n", out);
    if (caption != NULL)
        fprintf(out, "<caption>%s</caption>\n", caption);
    fputs("<thead><tr>", out);
    for (size_t i = 0; columns[i].title != NULL; i++)
        fprintf(out, "<th scope=\"col\" class=\"%s\">%s</th>", column_classes[columns[i].kind],
                columns[i].title);
    fputs("</tr></thead>\n<tbody>\n", out);
}

void page_cell_start(const struct page_column *column, const char *class, FILE *out)
{
    fprintf(out, "<td class=\"%s %s\"", column_classes[column->kind], class);
    if (column->kind != PAGE_PROSE)
        put_xml_attribute("data-of", text_of(column->title), out);
    fputc('>', out);
}

void page_table_row(const struct text *cells, const struct page_column *columns, FILE *out)
{
    fprintf(out, "<tr><th scope=\"row\" class=\"%s\">", column_classes[columns[0].kind]);
    put_xml(cells[0], out);
    fputs("</th>", out);
    for (size_t i = 1; columns[i].title != NULL; i++) {
        page_cell_start(&columns[i], "", out);
        put_xml(cells[i], out);
        fputs("</td>", out);
    }
    fputs("</tr>\n", out);
}

void page_table_end(FILE *out)
{
    fputs("</tbody>\n</table>\n", out);
}
