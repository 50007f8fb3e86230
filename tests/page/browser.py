"""Drives headless Chromium over its DevTools protocol, by pipes: no ports, no libraries."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def program():
    """The path of Chromium, or None."""
    return next((found for found in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if found), None)


class Browser:
    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="tally-page-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def pipes():  # Chromium reads commands from descriptor 3 and writes answers to 4
            a, b = os.dup(to_read), os.dup(back_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--font-render-hinting=none",
             "--remote-debugging-pipe", f"--user-data-dir={self.home.name}/profile", "about:blank"],
            preexec_fn=pipes, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.home.name, XDG_CACHE_HOME=self.home.name, XDG_CONFIG_HOME=self.home.name))
        os.close(to_read)
        os.close(back_write)
        self.number, self.rest, self.events = 0, b"", []

    def close(self):
        try:
            self.send("Browser.close")
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        for _ in range(20):
            try:
                self.home.cleanup()
                return
            except OSError:  # a last process of it still writes
                time.sleep(0.1)

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                return None
            got = os.read(self.back, 1 << 20)
            if not got:
                raise RuntimeError("Chromium ended")
            self.rest += got
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def send(self, method, session=None, seconds=60, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        text = json.dumps(command).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            message = self.message(seconds)
            if message is None:
                raise RuntimeError(f"{method}: no answer within {seconds} s")
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def tab(self, width=1280, height=720, dark=False, phone=False):
        return Tab(self, width, height, dark, phone)


KEYS = {"Enter": 13, "Escape": 27, "Backspace": 8, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35}


class Tab:
    def __init__(self, browser, width, height, dark, phone):
        self.browser, self.used = browser, False
        self.target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.send("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.do(f"{domain}.enable")
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        self.theme(dark)

    def do(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def theme(self, dark):
        self.do("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)

    def open(self, path, state=""):
        if self.used:  # another state of the same file would be no new load
            self.do("Page.navigate", url="about:blank")
        self.used = True
        self.do("Page.navigate", url=f"file://{path}{state}")
        self.wait("document.readyState === 'complete' && (typeof tally !== 'undefined') && (tally.page !== undefined || tally.failed !== undefined)")
        self.next_frame()

    def run(self, expression):
        result = self.do("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(f"{expression}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, expression, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.run(expression):
                    return
            except RuntimeError as error:
                if "context" not in str(error).lower() and "not defined" not in str(error):
                    raise
            time.sleep(0.02)
        raise RuntimeError(f"never true: {expression}")

    def next_frame(self):
        """Waits until two frames are drawn."""
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, key, shift=False):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        common = {"key": key, "modifiers": 8 if shift else 0, "windowsVirtualKeyCode": KEYS.get(key, ord(key[0].upper()))}
        self.do("Input.dispatchKeyEvent", type="keyDown", **common, **text)
        self.do("Input.dispatchKeyEvent", type="keyUp", **common)

    def key(self, key, shift=False):
        self.press(key, shift)
        self.next_frame()

    def type(self, text):
        self.do("Input.insertText", text=text)
        self.next_frame()

    def mouse(self, kind, x, y, button="left", buttons=0):
        self.do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1)

    def click(self, x, y, button="left"):
        self.mouse("mouseMoved", x, y, "none")
        self.mouse("mousePressed", x, y, button, 1)
        self.mouse("mouseReleased", x, y, button)
        self.next_frame()

    def drag(self, x, y, to_x, to_y, steps=5):
        self.mouse("mouseMoved", x, y, "none")
        self.mouse("mousePressed", x, y, "left", 1)
        for i in range(1, steps + 1):
            self.mouse("mouseMoved", x + (to_x - x) * i / steps, y + (to_y - y) * i / steps, "left", 1)
        self.mouse("mouseReleased", to_x, to_y)
        self.next_frame()

    def picture(self, path, whole=False):
        shot = self.do("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def complaints(self):
        """What the console and the log of the page say, and requests that were made."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            what = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(what["exceptionDetails"].get("exception", {}).get("description", what["exceptionDetails"]["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
                found.append(str([one.get("value") for one in what["args"]]))
            elif event["method"] == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
                found.append(what["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent" and not what["request"]["url"].startswith(("file:", "blob:", "about:", "data:")):
                found.append(f"request of {what['request']['url']}")
        return found
