/*
 * Simulates a faulty disk without root permissions. LD_PRELOAD loads this library into a process. It delays the fsyncs
 * of files below one directory, or makes calls for these files fail with the error that the system would return. All
 * other calls are passed on unchanged.
 *
 *   CARAVAN_DISK        the directory
 *   CARAVAN_DISK_STATE  a file with two 32-bit numbers in the byte order of the machine, which may change at any time:
 *                       the fault, and the delay of each fsync in milliseconds
 *
 * Reads never fail, because the page cache contains data that was read or written recently.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* In the order of GroupDisks.Ailment. */
enum { WELL, FAILS, FAILS_FSYNCS, FULL };

struct state {
  volatile int32_t ails;
  volatile int32_t fsync_millis;
};

static const struct state well;
static const struct state *state = &well;
static const char *disk = "";

__attribute__((constructor)) static void begin(void) {
  const char *directory = getenv("CARAVAN_DISK"), *file = getenv("CARAVAN_DISK_STATE");
  int fd = directory && file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof *state, PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) return;
  disk = directory;
  state = mapped;
}

static int is_sick(void) { return state->ails != WELL || state->fsync_millis > 0; }

static int is_below(const char *path) {
  size_t length = strlen(disk);
  return length > 0 && strncmp(path, disk, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int is_on_disk(int fd) {
  char link[40], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* Whether space on the disk is allocated for bytes at this position: they are in the file, and not in a hole. */
static int has_place(int fd, off_t position, size_t bytes) {
  struct stat file;
  if (fstat(fd, &file) != 0 || position + (off_t) bytes > file.st_size) return 0;
  off_t kept = lseek(fd, 0, SEEK_CUR);
  off_t hole = lseek(fd, position, SEEK_HOLE);
  lseek(fd, kept, SEEK_SET);
  return hole >= position + (off_t) bytes;
}

/* Returns the error for a write, or 0. */
static int write_error(int fd, off_t position, size_t bytes) {
  if (!is_sick() || bytes == 0 || !is_on_disk(fd)) return 0;
  if (state->ails == FAILS) return EIO;
  if (state->ails == FULL && !has_place(fd, position < 0 ? lseek(fd, 0, SEEK_CUR) : position, bytes)) return ENOSPC;
  return 0;
}

/* Returns the error for a change of the directory, or 0. */
static int change_error(const char *path) {
  return state->ails == FAILS && is_below(path) ? EIO : 0;
}

#define REAL(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))
#define FAIL_IF(error) do { int why = (error); if (why) { errno = why; return -1; } } while (0)

ssize_t write(int fd, const void *bytes, size_t count) {
  FAIL_IF(write_error(fd, -1, count));
  return REAL(write)(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; i++) bytes += parts[i].iov_len;
  FAIL_IF(write_error(fd, -1, bytes));
  return REAL(writev)(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t position) {
  FAIL_IF(write_error(fd, position, count));
  return REAL(pwrite64)(fd, bytes, count, position);
}

static int fsync_error(int fd) {
  if (!is_sick() || !is_on_disk(fd)) return 0;
  int32_t millis = state->fsync_millis;
  struct timespec time = {millis / 1000, millis % 1000 * 1000000L};
  while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
  return state->ails == FAILS || state->ails == FAILS_FSYNCS ? EIO : 0;
}

int fdatasync(int fd) {
  FAIL_IF(fsync_error(fd));
  return REAL(fdatasync)(fd);
}

int fsync(int fd) {
  FAIL_IF(fsync_error(fd));
  return REAL(fsync)(fd);
}

static int open_error(const char *path, int flags) {
  struct stat file;
  if (!(flags & O_CREAT) || !is_sick() || !is_below(path) || stat(path, &file) == 0) return 0;
  return state->ails == FAILS ? EIO : state->ails == FULL ? ENOSPC : 0;
}

static mode_t mode_of(int flags, va_list arguments) { return flags & O_CREAT ? va_arg(arguments, mode_t) : 0; }

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  FAIL_IF(open_error(path, flags));
  return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  FAIL_IF(open_error(path, flags));
  return REAL(open64)(path, flags, mode);
}

int ftruncate64(int fd, off64_t size) {
  FAIL_IF(state->ails == FAILS && is_on_disk(fd) ? EIO : 0);
  return REAL(ftruncate64)(fd, size);
}

int rename(const char *from, const char *to) {
  FAIL_IF(change_error(to));
  return REAL(rename)(from, to);
}

int unlink(const char *path) {
  FAIL_IF(change_error(path));
  return REAL(unlink)(path);
}

/* Reports no free space if the disk is full. */
int statvfs64(const char *path, struct statvfs64 *space) {
  int result = REAL(statvfs64)(path, space);
  if (result == 0 && state->ails == FULL && is_below(path)) space->f_bfree = space->f_bavail = 0;
  return result;
}
