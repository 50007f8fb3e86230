"""Runs the cases of a file in one browser and prints TAP; skips all of them where Chromium is missing."""

import os
import subprocess
import sys
import tempfile
import traceback

import browser
import made
from page_file import TOP, page

cases = []


def case(function):
    """Marks a case: its doc string is its name, and it gets a Bench."""
    cases.append(function)
    return function


class Skip(Exception):
    pass


def same(found, wanted, what=""):
    if found != wanted:
        raise AssertionError(f"{what}: found {found!r}, wanted {wanted!r}")


def true(found, what):
    if not found:
        raise AssertionError(what)


def tally(*arguments):
    """What the program prints."""
    done = subprocess.run([os.environ.get("TALLY", os.path.join(TOP, "build", "tally")), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"tally {' '.join(arguments)}: {done.returncode}: {done.stderr}")
    return done.stdout


class Bench:
    """What cases share: a browser, and pages that are made once."""

    def __init__(self, folder):
        self.folder, self.browser, self.pages, self.tabs = folder, browser.Browser(), {}, []

    def file(self, name, recording=None, **more):
        if name not in self.pages:
            path = os.path.join(self.folder, f"{name}.html")
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as file:
                file.write(page(recording or made.CASES[name](), **more))
            self.pages[name] = path
        return self.pages[name]

    def written(self, name, *arguments):
        """A page that the program writes; in `arguments` "PAGE" is its path."""
        self.pages[name] = os.path.join(self.folder, f"{name}.html")
        tally(*(one.replace("PAGE", self.pages[name]) for one in arguments))

    def recorded(self, name, lines):
        """A recording of these lines, with call chains (tests/cli/recording.py); its path."""
        path = os.path.join(self.folder, name)
        script = os.path.join(TOP, "tests", "cli", "recording.py")
        subprocess.run([sys.executable, script, path, "chains"], input=lines, text=True, check=True)
        return path

    def open(self, name, state="", **more):
        tab = self.browser.tab(**more)
        self.tabs.append(tab)
        tab.open(self.file(name), state)
        return tab

    def done(self):
        """Closes what a case opened; what these pages complained about."""
        complaints = [text for tab in self.tabs for text in tab.complaints()]
        for tab in self.tabs:
            tab.close()
        self.tabs, self.browser.events = [], []
        return complaints


def axe():
    """The script of axe-core."""
    path = os.path.join(os.environ.get("TALLY_NPM", os.path.join(TOP, "build", "npm")), "node_modules", "axe-core", "axe.min.js")
    if not os.path.exists(path):
        raise Skip("axe-core is not installed (tools/install-axe): contrast and keys are still checked, roles and names of elements are not")
    with open(path, encoding="utf-8") as file:
        return file.read() + "; 0"


def serious(tab, what):
    """Fails if axe-core, which the tab has run, finds something serious in what is shown."""
    found = tab.run("""axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations.filter((one) => one.impact === 'serious' || one.impact === 'critical')
        .map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ') + ' ' + (node.any[0] || {}).message).join('; ')).join('\\n'))""")
    true(not found, f"{found} in {what}")


def main():
    print(f"1..{len(cases)}")
    if not browser.program():
        for at, one in enumerate(cases, 1):
            print(f"ok {at} {one.__doc__} # SKIP Chromium is not installed: the page is not tried in a browser")
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="tally-pages-") as folder:
        bench = Bench(folder)
        try:
            for at, one in enumerate(cases, 1):
                try:
                    one(bench)
                    complaints = bench.done()
                    same(complaints, [], "the console")
                    print(f"ok {at} {one.__doc__}", flush=True)
                except Skip as why:
                    bench.done()
                    print(f"ok {at} {one.__doc__} # SKIP {why}", flush=True)
                except Exception:  # pylint: disable=broad-except
                    failed += 1
                    print(f"not ok {at} {one.__doc__}", flush=True)
                    for line in traceback.format_exc().splitlines():
                        print(f"# {line[:400]}", flush=True)
                    bench.done()
        finally:
            bench.browser.close()
    return 1 if failed else 0


def run():
    sys.exit(main())
