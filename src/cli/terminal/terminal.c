/* SPDX-License-Identifier: MIT */
/* If a signal ends the program, its handler first restores the terminal, and then lets the signal
 * end the program. Signals that only inform (SIGWINCH, SIGCONT, SIGTSTP) are blocked except in
 * terminal_wait(). */
#include "cli/terminal/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/key_decoder.h"
#include "fastnet/array.h"
#include "fastnet/clock.h"

/* Escape sequences. ENTER: the alternate screen, no cursor, no wrapping at the last column, and
 * reports of the mouse's buttons (1000) in the form of SGR (1006). LEAVE undoes this, also in the
 * middle of a frame. If the terminal has no alternate screen (the linux console, screen(1) by
 * default), later output is below the frame. */
#define ENTER "\033[?1049h\033[?25l\033[?7l\033[?1000h\033[?1006h"
#define LEAVE "\033[?2026l\033[0m\033[?1006l\033[?1000l\033[?7h\033[?25h\033[999H\n\033[?1049l"

/* At file scope, because a signal handler has no other way to reach them. */
static struct termios former, raw;
static volatile sig_atomic_t taken, changed;
static sigset_t waiting; /* the signals that are blocked in terminal_wait() */

static struct key_decoder input;
static uint64_t input_read; /* when the last bytes came; CLOCK_MONOTONIC */

/* A terminal sends the bytes of a key at once, but a network can delay some of them. An ESC that no
 * byte follows within this time is the key Esc. */
static const uint64_t KEY_APART = 50 * CLOCK_MILLISECOND;

/* In the background, tcsetattr() stops the program, and fails (EINTR) when it continues. */
static void terminal_set(const struct termios *to, int when)
{
    while (tcsetattr(STDIN_FILENO, when, to) < 0 && errno == EINTR)
        ;
}

static void terminal_write(const char *text, size_t length)
{
    (void)!write(STDOUT_FILENO, text, length);
}

static void terminal_take(void)
{
    taken = 1; /* first, because a signal that ends the program may come before the next line */
    terminal_set(&raw, TCSADRAIN);
    terminal_write(ENTER, sizeof ENTER - 1);
    changed = 1;
}

/* Blocks all signals, such as a second ctrl-C, until the terminal is restored, except SIGTTOU: it
 * must be able to stop a program in the background. */
void terminal_end(void)
{
    enum { WRITABLE_MS = 300 };
    struct pollfd terminal = {.fd = STDOUT_FILENO, .events = POLLOUT};
    sigset_t blocked, before;
    int reads;

    if (!taken)
        return;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    taken = 0;
    /* do not wait for a terminal that nobody reads */
    while ((reads = poll(&terminal, 1, WRITABLE_MS)) < 0 && errno == EINTR)
        ;
    if (reads > 0)
        terminal_write(LEAVE, sizeof LEAVE - 1);
    terminal_set(&former, reads > 0 ? TCSADRAIN : TCSANOW);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void terminal_finish(int number)
{
    terminal_end();
    signal(number, SIG_DFL);
    raise(number);
}

static void note_change(int number)
{
    (void)number;
    changed = 1;
}

static void suspend(int number);

static void set_suspend(void)
{
    const struct sigaction action = {.sa_handler = suspend, .sa_flags = (int)SA_NODEFER};

    sigaction(SIGTSTP, &action, NULL);
}

/* The program stops inside of raise(), and continues there. */
static void suspend(int number)
{
    const int error = errno;

    terminal_end();
    signal(number, SIG_DFL);
    raise(number);
    /* cppcheck-suppress unreachableCode ; the program continues here */
    set_suspend();
    terminal_take();
    errno = error;
}

/* Takes the terminal again: after SIGSTOP, which cannot be caught, a shell may have changed it. */
static void resume(int number)
{
    const int error = errno;

    (void)number;
    if (taken)
        terminal_take();
    errno = error;
}

/* Sets a handler, except for a signal that the parent process made this program ignore. */
static void handle(int number, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler};
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

static void handle_signals(void)
{
    /* these do nothing by default, or stop the program, or cannot be caught */
    static const int others[] = {SIGCHLD, SIGURG, SIGKILL, SIGSTOP, SIGTTIN, SIGTTOU};
    sigset_t blocked;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGWINCH);
    sigaddset(&blocked, SIGCONT);
    sigaddset(&blocked, SIGTSTP);
    sigprocmask(SIG_BLOCK, &blocked, &waiting);
    handle(SIGWINCH, note_change);
    handle(SIGCONT, resume);
    set_suspend();
    for (int number = 1; number <= SIGRTMAX; number++) {
        bool ends = !sigismember(&blocked, number);
        for (size_t i = 0; i < COUNT(others); i++)
            ends &= number != others[i];
        if (ends)
            handle(number, terminal_finish);
    }
}

static bool has_screen(void)
{
    const char *term = getenv("TERM");

    return term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_is_there(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && has_screen();
}

bool terminal_is_plain(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !has_screen();
}

void terminal_disown(void)
{
    taken = 0;
}

int terminal_begin(void)
{
    if (tcgetattr(STDIN_FILENO, &former) < 0)
        return -errno;
    raw = former;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_lflag |= NOFLSH; /* ctrl-Z must not discard typed keys or unwritten output */
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    handle_signals();
    terminal_take();
    return 0;
}

/* Whether the rest of a key may still come. */
static bool terminal_key_is_due(void)
{
    return key_decoder_waits(&input) && clock_nanoseconds(CLOCK_MONOTONIC) - input_read < KEY_APART;
}

static bool terminal_read(bool is_closed)
{
    unsigned char *room;
    const size_t size = key_decoder_room(&input, &room);
    const ssize_t length = read(STDIN_FILENO, room, size);

    if (length < 0)
        return errno == EAGAIN || errno == EINTR;
    input.count += (size_t)length;
    input_read = clock_nanoseconds(CLOCK_MONOTONIC);
    /* 0 bytes do not mean the end: a signal key discarded input in former modes (NOFLSH,
     * termios(3)) */
    return length > 0 || !is_closed;
}

bool terminal_wait(uint64_t nanoseconds, const int *descriptors, size_t count)
{
    enum { MOST = 256 };
    struct pollfd pollfds[MOST] = {{.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec time;

    if (changed)
        return true;
    if (key_decoder_waits(&input) && nanoseconds > KEY_APART)
        nanoseconds = KEY_APART;
    time =
        (struct timespec){(time_t)(nanoseconds / CLOCK_SECOND), (long)(nanoseconds % CLOCK_SECOND)};
    for (size_t i = 0; i < count && i + 1 < MOST; i++)
        pollfds[i + 1] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    if (ppoll(pollfds, (count < MOST ? count : MOST - 1) + 1, &time, &waiting) < 0)
        return errno == EINTR;
    return !pollfds[0].revents || terminal_read(pollfds[0].revents & POLLHUP);
}

int terminal_key(void)
{
    return key_decoder_next(&input, !terminal_key_is_due());
}

void terminal_click(size_t *column, size_t *line)
{
    *column = input.column;
    *line = input.line;
}

/* Whether a signal says that the screen must be drawn again. ppoll(2) returns a key before it
 * delivers a pending signal, so this function lets the signal in before the key is answered. */
bool terminal_changed(void)
{
    bool is_changed;
    sigset_t blocked;

    sigprocmask(SIG_SETMASK, &waiting, &blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    is_changed = changed;
    changed = 0;
    return is_changed;
}

void terminal_size(size_t *width, size_t *height)
{
    struct winsize size = {.ws_col = 0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col || !size.ws_row)
        size = (struct winsize){.ws_col = 80, .ws_row = 24};
    *width = size.ws_col;
    *height = size.ws_row;
}
