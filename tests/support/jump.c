// Shifts the wall clock of one process by the seconds in the file JUMP_FILE, which may change.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *jump;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("JUMP_FILE");
    int file = path ? open(path, O_RDONLY) : -1;
    void *shared = mmap(0, sizeof *jump, PROT_READ, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED)
        abort();
    jump = shared;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && clock == CLOCK_REALTIME && jump)
        now->tv_sec += *jump;
    return failed;
}
