#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a program on a pseudo-terminal and replays what it writes into a model of the screen.

With TERM=linux it has no alternate screen.

    screen.py COLUMNSxLINES PROGRAM [ARGUMENT...] <script

Each line of the script is a command:

    wait TEXT        until the screen has the text, or fail after 20 seconds
    gone TEXT        ... until it has not
    key KEYS         types them; \\e, \\r and \\xHH as in C
    match PATTERN    until a line matches the pattern of Python, or fail after 20 seconds
    lacks PATTERN    ... until none does
    frames COUNT     until it has drawn COUNT more frames: each sample draws one, and so does a key
    handled          until all keys that were typed are handled: ? opens the help, which needs some
                     20 lines, and q closes it
    grows LINES FILE until another program has written so many more lines to the file
    until COMMAND    until a command of the shell succeeds
    sleep SECONDS    reads what it writes for so long: for soaks, as no test waits for a time
    run COMMAND      runs a command of the shell
    unread           waits until it has written more than the terminal holds; from then on nothing
                     that it writes is read
    size COLxLINES   resizes the terminal
    signal NAME      sends a signal to the program
    background       the program is no longer that of the terminal, as after `bg`
    foreground       ... and is again, as after `fg`
    stopped          waits until the program is stopped
    print            the screen, without blanks at the ends of lines
    line N           line N of it, from 0 on
    chosen           the lines that are reversed from the first column on
    touch FILE       makes a file, for a program that waits for it
    restored         "restored" if the terminal is as it was before the program began
    peak             how much memory the program has used at most, in KiB
    cursor           the line of the cursor, counted from the last one, and its column, from 0 on
    unknown          what it wrote that the model does not know
    end              waits for the program; its exit status, or "signal N"
    close            closes the terminal
"""
import codecs, fcntl, os, pty, re, select, signal, struct, subprocess, sys, termios, time, unicodedata

PATIENCE = 20  # seconds that anything may take that is waited for


class Screen:
    """What a terminal shows: as much of ECMA-48 as programs here use."""

    def __init__(self, columns, lines):
        self.alternate = False
        self.hidden = self.unwrapped = self.updating = False
        self.mouse = set()  # modes: reports of buttons, their form
        self.unknown = []
        self.frames = 0
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.rest = ""
        self.saved = None
        self.resize(columns, lines)

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.cells = [[" "] * columns for _ in range(lines)]
        self.reversed = set()  # lines whose first column is
        self.reverse = False
        self.at = [0, 0]

    def put(self, character):
        line, column = self.at
        if unicodedata.combining(character) and column:
            self.cells[line][column - 1] += character
            return
        width = 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if column + width > self.columns:
            self.unknown.append("past the last column")
            return
        self.cells[line][column] = character
        if column == 0:
            (self.reversed.add if self.reverse else self.reversed.discard)(line)
        if width == 2:
            self.cells[line][column + 1] = ""
        self.at[1] = min(column + width, self.columns)

    def mode(self, number, on):
        if number == "1049":
            if os.environ["TERM"] != "linux":
                self.alternate = on
                self.resize(self.columns, self.lines)
        elif number == "25":
            self.hidden = not on
        elif number == "7":
            self.unwrapped = not on
        elif number in ("1000", "1006"):
            (self.mouse.add if on else self.mouse.discard)(number)
        elif number == "2026":
            self.frames += self.updating and not on
            self.updating = on
        else:
            self.unknown.append(number)

    def feed(self, data):
        text = self.rest + self.decoder.decode(data)
        self.rest = ""
        i = 0
        while i < len(text):
            if text[i] != "\033":
                if text[i] == "\r":
                    self.at[1] = 0
                elif text[i] == "\n":
                    self.at[0] = min(self.at[0] + 1, self.lines - 1)
                elif ord(text[i]) < 32 or 127 <= ord(text[i]) < 160:
                    self.unknown.append(repr(text[i]))
                else:
                    self.put(text[i])
                i += 1
                continue
            match = re.match(r"\033\[(\??)([0-9;]*)([A-Za-z])", text[i:])
            if not match:
                if re.fullmatch(r"\033(\[\??[0-9;]*)?", text[i:]):
                    self.rest = text[i:]
                    return
                self.unknown.append(repr(text[i:i + 8]))
                i += 1
                continue
            private, numbers, letter = match.groups()
            i += match.end()
            if private:
                self.mode(numbers, letter == "h")
            elif letter == "H":
                line, column = (numbers.split(";") + ["1", "1"])[:2] if numbers else ("1", "1")
                self.at = [min(int(line), self.lines) - 1, min(int(column), self.columns) - 1]
            elif letter == "J" and numbers == "2":
                self.cells = [[" "] * self.columns for _ in range(self.lines)]
                self.reversed.clear()
            elif letter == "m":
                self.reverse = numbers == "7" or (self.reverse and numbers not in ("", "0"))
            else:
                self.unknown.append(match.group())

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]


def keys(text):
    """The bytes of a text with \\e, \\r and \\xHH."""
    escapes = {"e": "1b", "r": "0d"}
    parts = re.split(r"\\(e|r|x[0-9a-f]{2})", text)
    data = b""
    for i, part in enumerate(parts):
        data += bytes.fromhex(escapes.get(part, part[1:])) if i % 2 else part.encode()
    return data


def lines_of(path):
    with open(path, "rb") as file:
        return file.read().count(b"\n")


def shell(slave, tells, words):
    """What stands between a terminal and a program: only then can it be suspended."""
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(slave, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        for fd in (0, 1, 2):
            os.dup2(slave, fd)
        os.closerange(3, 64)
        os.execvp(words[0], words)
    signal.signal(signal.SIGUSR1, lambda *_: os.tcsetpgrp(slave, os.getpid()))
    signal.signal(signal.SIGUSR2, lambda *_: os.tcsetpgrp(slave, pid))
    os.write(tells, f"{pid}\n".encode())
    status = os.waitpid(pid, 0)[1]
    os.write(tells, f"{status}\n".encode())
    os._exit(0)


class Session:
    def __init__(self, size, words):
        self.columns, self.lines = (int(number) for number in size.split("x"))
        self.screen = Screen(self.columns, self.lines)
        self.bad = self.total = 0
        self.status = None
        self.deaf = False
        self.master, slave = pty.openpty()
        self.set_size(self.columns, self.lines)
        self.before = termios.tcgetattr(slave)
        told, tells = os.pipe()
        self.shell = os.fork()
        if self.shell == 0:
            os.close(self.master)
            shell(slave, tells, words)
        self.slave = slave
        self.told = os.fdopen(told)
        os.close(tells)
        self.pid = int(self.told.readline())

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def set_size(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        if self.deaf:
            time.sleep(seconds)
            return False
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 20)
        except OSError:
            return False
        self.screen.feed(data)
        return bool(data)

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while self.screen.updating and not self.deaf or not condition():  # half a frame is none
            if time.monotonic() > end:
                print(f"not {what}:")
                print("\n".join(self.screen.text()))
                self.kill()
                sys.exit(1)
            self.read(0.05)

    def has(self, text):
        return any(text in line for line in self.screen.text())

    def matches(self, pattern):
        return any(re.search(pattern, line) for line in self.screen.text())

    def ended(self):
        if self.status is None and select.select([self.told], [], [], 0)[0]:
            self.status = int(self.told.readline())
        return self.status is not None

    def is_restored(self):
        same = termios.tcgetattr(self.slave)[:6] == self.before[:6]
        screen = self.screen
        return same and not (screen.alternate or screen.hidden or screen.unwrapped or screen.mouse)

    def is_stuck(self):
        """Whether the terminal takes nothing more: the program waits in write(2)."""
        return not select.select([], [self.slave], [], 0)[1]

    def is_stopped(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] in "T"

    def do(self, word, rest):
        if word == "wait":
            self.until(lambda: self.has(rest), f"shown: {rest}")
        elif word == "gone":
            self.until(lambda: not self.has(rest), f"gone: {rest}")
        elif word == "key":
            os.write(self.master, keys(rest))
        elif word == "handled":
            for key, other in ("?", "wait"), ("q", "gone"):
                os.write(self.master, key.encode())
                self.do(other, "this help")
        elif word == "match":
            self.until(lambda: self.matches(rest), f"shown: {rest}")
        elif word == "lacks":
            self.until(lambda: not self.matches(rest), f"gone: {rest}")
        elif word == "frames":
            wanted = self.screen.frames + int(rest)
            self.until(lambda: self.screen.frames >= wanted, f"drawn: {rest} more frames")
        elif word == "grows":
            count, path = rest.split(" ", 1)
            wanted = lines_of(path) + int(count)
            self.until(lambda: lines_of(path) >= wanted, f"grown: {path} by {count} lines")
        elif word == "until":
            self.until(lambda: subprocess.run(rest, shell=True).returncode == 0, f"so: {rest}")
        elif word == "sleep":
            end = time.monotonic() + float(rest)
            while time.monotonic() < end:
                self.read(0.05)
        elif word == "run":
            subprocess.run(rest, shell=True)
        elif word == "size":
            columns, lines = (int(number) for number in rest.split("x"))
            self.screen.resize(columns, lines)
            self.set_size(columns, lines)
        elif word == "signal":
            os.kill(self.pid, getattr(signal, "SIG" + rest))
        elif word in ("background", "foreground"):
            os.kill(self.shell, signal.SIGUSR1 if word == "background" else signal.SIGUSR2)
            group = self.shell if word == "background" else self.pid
            self.until(lambda: os.tcgetpgrp(self.master) == group, f"in the {word}")
        elif word == "stopped":
            self.until(self.is_stopped, "stopped")
        elif word == "print":
            print("\n".join(self.screen.text()))
        elif word == "line":
            print(self.screen.text()[int(rest)])
        elif word == "chosen":
            print("\n".join(self.screen.text()[line] for line in sorted(self.screen.reversed)))
        elif word == "touch":
            open(rest, "w").close()
        elif word == "restored":
            self.until(self.is_restored, "restored")
            print("restored")
        elif word == "peak":
            with open(f"/proc/{self.pid}/status") as status:
                print(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
        elif word == "cursor":
            print(self.screen.lines - 1 - self.screen.at[0], self.screen.at[1])
        elif word == "unknown":
            print(" ".join(self.screen.unknown))
        elif word == "close":
            os.close(self.slave)
            os.close(self.master)
        elif word == "unread":
            self.deaf = True
            self.until(self.is_stuck, "waiting for a reader")
        elif word == "end":
            end = time.monotonic() + PATIENCE
            while not self.ended() and time.monotonic() < end:
                try:
                    self.read(0.05)
                except OSError:
                    time.sleep(0.05)
            while self.read(0.05):  # what it wrote before its end
                pass
            if not self.ended():
                print("it goes on")
                self.kill()
            elif os.WIFSIGNALED(self.status):
                print(f"signal {os.WTERMSIG(self.status)}")
            else:
                print(os.WEXITSTATUS(self.status))
        else:
            sys.exit(f"what is {word}?")


def main():
    session = Session(sys.argv[1], sys.argv[2:])
    try:
        for line in sys.stdin:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word:
                session.do(word, rest)
    finally:
        if not session.ended():
            session.kill()


main()
