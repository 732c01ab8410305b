#!/usr/bin/python3
"""The command line as a person meets it: help as wide as the terminal, near names, colours only where
they are wanted, excerpts that fit, completions in bash, zsh and fish, and manual pages. A shell or a
reader of manual pages that is not installed is passed over, and said so.

usage: command_line.py TAFFRAIL"""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
from serving import WAIT_S, check, run_tests

TAFFRAIL = os.path.abspath(sys.argv[1])
PLAIN = {key: value for key, value in os.environ.items()
         if key not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")}
POLICY = """apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: p}
spec: {mode: enforce, rails: {topology-keys: {}, scheduler-bypass: {}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  schedulerName: %s
  containers: [{name: c, image: i}]
"""


def run(*arguments, folder=None, **env):
    done = subprocess.run([TAFFRAIL, *arguments], capture_output=True, encoding="utf-8",
                          cwd=folder, timeout=WAIT_S, env={**PLAIN, **env}, check=False)
    return done.returncode, done.stdout, done.stderr


def on_terminal(columns, *arguments, folder=None, **env):
    """What the program writes to a terminal that is so wide."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([TAFFRAIL, *arguments], stdin=subprocess.DEVNULL, stdout=writer,
                               stderr=subprocess.DEVNULL, cwd=folder,
                               env={**PLAIN, "TERM": "xterm", **env})
    os.close(writer)
    told = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:
            part = b""
        if not part:
            break
        told += part
    os.close(reader)
    process.wait(WAIT_S)
    return told.decode().replace("\r\n", "\n")


def commands():
    _, out, _ = run("--help")
    return re.findall(r"^  ([a-z]+) +\S", out, re.M)


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


# ---- help


def each_command_has_help_with_an_example(_):
    names = commands()
    check(len(names) > 12, names)
    for name in names:
        code, out, said = run(name, "--help")
        check((code, said) == (0, ""), f"{name} --help: {code} {said}")
        check(out.startswith(f"usage: taffrail {name}"), out[:80])
        examples = out.partition("\nexamples:\n")[2]
        check(f"taffrail {name}" in examples, f"{name} --help has no example:\n{out}")
        check(run("help", name)[1] == out, f"help {name} says something else")
        own = set(re.findall(r"--[a-z-]+", out.partition("\noptions:\n")[2].partition("\n\n")[0]))
        for line in examples.splitlines():
            if f"taffrail {name}" in line:
                used = set(re.findall(r" (--[a-z-]+)", line.partition("taffrail")[2].split("|")[0]))
                check(used <= own, f"the example of {name} has an option it has not: {used - own}")
    check(run("help")[1] == run("--help")[1], "help is not --help")


def help_is_as_wide_as_the_terminal(_):
    for columns in (44, 60, 80, 100, 200):
        for name in commands():
            for line in on_terminal(columns, name, "--help").splitlines():
                # Examples and tables stay as they are, and so does a word that is longer.
                prose = not line.startswith((" ", "#", "usage:")) or line.startswith("      --")
                if prose and " " in line.strip():
                    check(len(line) <= max(columns, 44), f"{name} at {columns}: {line!r}")
    wide = on_terminal(200, "check", "--help", COLUMNS="50")
    check(wide == on_terminal(50, "check", "--help"), "$COLUMNS does not count")
    piped = run("check", "--help")[1]
    check(piped == on_terminal(80, "check", "--help"), "80 columns are not what a pipe gets")


def near_names_are_suggested_and_others_not(_):
    for arguments, wanted in (
            (("check", "--polcy", "x"), "there is no option --polcy; did you mean --policy?"),
            (("check", "-kubeconfig", "x"), "there is no option -kubeconfig; did you mean --kubeconfig?"),
            (("check", "-N", "x"), "there is no option -N; did you mean -n, --namespace?"),
            (("check", "-Z"), "there is no option -Z\n"),
            (("plan", "-Zf", "x"), "there is no option -Z\n"),
            (("certs", "-R", "x"), "there is no option -R\n"),
            (("check", "--R"), "there is no option --R\n"),
            (("check", "--c", "x"), "--c may be --context or --catalog: write more of it"),
            (("check", "--in-cluster=x"), "--in-cluster takes no value"),
            (("check", "--help=x"), "--help takes no value"),
            (("check", "-f"), "option -f wants a value"),
            (("chek",), 'there is no command "chek"; did you mean check?'),
            (("wyh",), 'there is no command "wyh"; did you mean why?'),
            (("help", "chek"), 'there is no command "chek"; did you mean check?'),
            (("x",), 'there is no command "x"\n')):
        code, out, said = run(*arguments)
        check((code, out) == (2, "") and wanted in said, f"{arguments}: {code}, {said!r}")


# ---- colours, widths, quiet


def colours_are_where_they_are_wanted(folder):
    write(folder, "p.yaml", POLICY)
    write(folder, "a.yaml", POD % "mine")
    call = ("check", "-p", "p.yaml", "-f", "a.yaml")
    for wanted, env in ((True, {}), (False, {"NO_COLOR": "1"}), (True, {"NO_COLOR": ""}),
                        (False, {"TERM": "dumb"}), (False, {"TERM": ""}),
                        (False, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}),
                        (True, {"TERM": "dumb", "CLICOLOR_FORCE": "1"})):
        told = on_terminal(80, *call, folder=folder, **env)
        check(("\x1b[" in told) == wanted, f"{env}: {told!r}")
    for wanted, env in ((False, {}), (True, {"CLICOLOR_FORCE": "1"}),
                        (False, {"CLICOLOR_FORCE": "0"}), (False, {"TERM": "xterm"})):
        told = run(*call, folder=folder, **env)[1]
        check(("\x1b[" in told) == wanted, f"in a pipe, {env}: {told!r}")


def excerpts_fit_and_say_that_they_are_cut(folder):
    write(folder, "p.yaml", POLICY)
    call = ("check", "-p", "p.yaml", "-f", "a.json")
    pad = "é" * 300
    write(folder, "a.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":'
          f'{{"x":"{pad}"}}}},"spec":{{"schedulerName":"mine","nodeSelector":{{"y":"{pad}"}},'
          '\t"containers":[{"name":"c","image":"i"}]}}')
    for columns in (40, 80, 120, 300):
        lines = on_terminal(columns, *call, folder=folder, NO_COLOR="1").splitlines()
        at = next(i for i, line in enumerate(lines) if line.startswith("     1 | "))
        shown, marks = lines[at][9:], lines[at + 1][9:]
        check(len(lines[at]) <= columns, f"{columns}: {len(lines[at])} wide")
        check(shown.startswith("…") and shown.endswith("…"), shown)
        caret = marks.index("^")
        check(shown[caret:caret + 6] == '"mine"' and marks.strip() == "^~~~~~", (shown, marks))
        check(all(len(line) <= columns or " " not in line.strip() for line in lines[at + 2:]),
              "\n".join(lines))
    piped = run(*call, folder=folder)[1].splitlines()
    check(any(line.startswith("     1 | …") for line in piped), piped)
    write(folder, "a.json", '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},\n'
          '"spec":{"schedulerName":"mine","containers":[{"name":"c","image":"i"}]}}')
    check("…" not in run(*call, folder=folder)[1], "a short line is cut")


def quiet_leaves_only_errors(folder):
    write(folder, "p.yaml", POLICY.replace("topology-keys: {}", "zones: {allow: [a, a]}") +
          "---\n" + POLICY.replace("name: p", "name: q").replace(
              "topology-keys: {}", "instance-types: {allow: {families: [nosuch]}}"))
    write(folder, "a.yaml", (POD % "mine") + "---\napiVersion: apps/v1\nkind: Deployment\n"
          "metadata: {name: b}\nspec: {replicas: 3}\n")
    call = ("check", "-p", "p.yaml", "-f", "a.yaml")
    code, out, said = run(*call, folder=folder)
    check("warning:" in said and "note:" in said, said)
    check(run(*call, "-q", folder=folder) == (code, out, ""), run(*call, "-q", folder=folder))
    write(folder, "a.yaml", "a: [b\n")
    code, out, said = run(*call, "--quiet", folder=folder)
    check(code == 2 and "a.yaml" in said + out and "warning:" not in said, (code, out, said))


# ---- completion


COMPLETED = ((("ch",), ["check"]), (("check", "--fail"), ["--fail-on"]),
             (("check", "-o", ""), ["text", "json", "junit", "sarif", "github"]),
             (("check", "--fail-on", "n"), ["never"]), (("explain", "zone-s"), ["zone-spread"]),
             (("explain", "met"), ["metrics"]), (("catalog", "f"), ["filter"]), (("completion", "z"), ["zsh"]),
             (("help", "au"), ["audit"]))


def candidates_come_from_the_tables(_):
    for words, wanted in COMPLETED:
        code, out, said = run("__complete", *words)
        lines = out.splitlines()
        check((code, said) == (0, "") and lines[-1] == ":4", (words, lines, said))
        check([line.split("\t")[0] for line in lines[:-1]] == wanted, (words, lines))
    for words, rule in ((("check", "-p", ""), ":0"), (("plan", "--state", "x"), ":16"),
                        (("check", "--policy=x"), ":0"), (("check", "-n", ""), ":4")):
        check(run("__complete", *words)[1] == rule + "\n", words)
    check(run("__complete", "check", "--output=j")[1] == "json\t\njunit\t\n:4\n", "--output=j")
    for name in commands():
        offered = {line.split("\t")[0] for line in run("__complete", name, "--")[1].splitlines()}
        shown = set(re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", run(name, "--help")[1], re.M))
        check(offered - {":4"} == shown, f"{name}: {offered ^ shown}")


def bash_completes(folder):
    script = f"""
PATH={os.path.dirname(TAFFRAIL)}:$PATH
source <(taffrail completion bash)
try() {{ COMP_WORDS=(taffrail "$@"); COMP_CWORD=$(($# )); COMPREPLY=(); compopt() {{ :; }}
         _taffrail; echo "${{COMPREPLY[*]}}" | tr ' ' '\\n' | sort | paste -sd ' '; }}
"""
    write(folder, "one.yaml", "")
    os.mkdir(os.path.join(folder, "two"))
    wanted = [" ".join(sorted(words)) for _, words in COMPLETED] + ["one.yaml two", "two", "json junit"]
    script += "\n".join("try " + " ".join(f"'{word}'" for word in words) for words, _ in COMPLETED)
    script += "\ntry check -p ''\ntry plan --state ''\ntry check --output = j\n"
    done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True,
                          encoding="utf-8", timeout=WAIT_S, check=False)
    check(done.stdout.splitlines() == wanted, f"{done.stdout}\n{done.stderr}\nnot {wanted}")


def fish_completes(folder):
    if shutil.which("fish") is None:
        print("    fish is not installed (apt-get install fish): its completion is not tried")
        return
    write(folder, "one.yaml", "")
    script = "taffrail completion fish | source\n" + "".join(
        f'complete -C "taffrail {" ".join(words)}"; echo .\n' for words, _ in COMPLETED)
    script += 'complete -C "taffrail check -p on"; echo .\ncomplete -C "taffrail check --output=ju"\n'
    path = f"{os.path.dirname(TAFFRAIL)}:{os.environ['PATH']}"
    done = subprocess.run(["fish", "--no-config", "-c", script], cwd=folder, capture_output=True,
                          encoding="utf-8", timeout=WAIT_S, check=False,
                          env={**PLAIN, "PATH": path, "HOME": folder})
    told = [[line.split("\t")[0] for line in part.splitlines()]
            for part in done.stdout.split(".\n")]
    told = [part if part != ["one"] else ["one.yaml"] for part in told]
    wanted = [sorted(words) for _, words in COMPLETED]
    check([sorted(part) for part in told[:len(wanted)]] == wanted, f"{told}\n{done.stderr}")
    check("one.yaml" in done.stdout and "--output=junit" in done.stdout, done.stdout)


def zsh_completes(folder):
    """In a real line editor, since zsh completes nowhere else."""
    if shutil.which("zsh") is None:
        print("    zsh is not installed (apt-get install zsh): its completion is not tried")
        return
    write(folder, "one.yaml", "")
    path = f"{os.path.dirname(TAFFRAIL)}:{os.environ['PATH']}"
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(["zsh", "-f", "-i"], stdin=writer, stdout=writer, stderr=writer,
                               cwd=folder, start_new_session=True,
                               env={**PLAIN, "PATH": path, "TERM": "dumb", "PS1": "> ",
                                    "HOME": folder})
    os.close(writer)

    def until(mark, seconds=WAIT_S):
        told, end = "", time.monotonic() + seconds
        while mark not in told and time.monotonic() < end:
            if select.select([reader], [], [], 0.2)[0]:
                told += os.read(reader, 65536).decode(errors="replace")
        check(mark in told, f"zsh does not say {mark!r}: {told!r}")
        return told

    def send(text):
        os.write(reader, text.encode())

    try:
        send("autoload -U compinit; compinit -u -D; source <(taffrail completion zsh); "
             "echo rea''dy\n")
        until("ready")
        for typed, wanted in (("ch", "check "), ("check --fail", "check --fail-on "),
                              ("check --fail-on n", "check --fail-on never "),
                              ("check -p on", "check -p one.yaml "),
                              ("explain zone-s", "explain zone-spread ")):
            send(f"taffrail {typed}\t")
            time.sleep(0.3)
            # What stands in the line is told by a function of the same name.
            send('\x01function taffrail() { print -r -- "<$*>" }; \n')
            until(f"<{wanted.strip()}>")
            send("unfunction taffrail\n")
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def manual_pages_are_right(folder):
    code, out, said = run("__manual", folder)
    check((code, out, said) == (0, "", ""), (code, out, said))
    pages = sorted(os.listdir(folder))
    check(pages == sorted(["taffrail.1"] + [f"taffrail-{name}.1" for name in commands()]), pages)
    for name in commands():
        with open(os.path.join(folder, f"taffrail-{name}.1"), encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        for part in ("NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
            check(f".SH {part}\n" in page, f"{name} has no {part}")
        for option in re.findall(r"^  (?:-\w, |    )(--[a-z-]+)", run(name, "--help")[1], re.M):
            check(option in page, f"{name}: {option} is not in its page")
    check(run("__manual", folder + "/missing")[0] == 2, "nobody says that there is no folder")
    for tool, call in (("mandoc", ["mandoc", "-T", "lint", "-W", "warning"]),
                       ("groff", ["groff", "-man", "-ww", "-z", "-Tutf8", "-Kutf8"])):
        if shutil.which(tool) is None:
            print(f"    {tool} is not installed (apt-get install {tool}): it reads no page")
            continue
        for page in pages:
            done = subprocess.run([*call, os.path.join(folder, page)], capture_output=True,
                                  encoding="utf-8", timeout=WAIT_S, check=False)
            # Without a date, so that the same sources make the same page.
            told = [line for line in (done.stdout + done.stderr).splitlines()
                    if "missing date" not in line]
            check(told == [], f"{tool}: {told}")


run_tests(each_command_has_help_with_an_example, help_is_as_wide_as_the_terminal,
          near_names_are_suggested_and_others_not, colours_are_where_they_are_wanted,
          excerpts_fit_and_say_that_they_are_cut, quiet_leaves_only_errors,
          candidates_come_from_the_tables, bash_completes, fish_completes, zsh_completes,
          manual_pages_are_right)
