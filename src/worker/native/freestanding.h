/*
 * System calls for programs without a C library, on Linux for x64 and arm64.
 *
 * Such a program is one piece of machine code of some kilobytes without writable data: it starts in a tenth of the time
 * of a program with a library, and src/machine/elf-executable.ts needs only one segment for it. Variables are on the
 * stack or in pages from mmap(2).
 */
#include <asm/unistd.h>

typedef unsigned char byte;
typedef unsigned int u32;
typedef unsigned long u64;

#if defined(__x86_64__)
static inline long call6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}
/* The kernel starts a program with argc, argv, 0, envp, 0 on the stack. */
#define ENTRY                              \
  __asm__(".section .text.start\n"         \
          ".globl start\n"                 \
          "start: mov %rsp, %rdi\n"        \
          "and $-16, %rsp\n"               \
          "call run\n"                     \
          ".text\n")
#elif defined(__aarch64__)
static inline long call6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}
#define ENTRY                              \
  __asm__(".section .text.start\n"         \
          ".globl start\n"                 \
          "start: mov x0, sp\n"            \
          "bl run\n"                       \
          ".text\n")
#endif

#define call(number, ...) call_(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define call_(number, a, b, c, d, e, f, ...) \
  call6(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

enum { AT_FDCWD = -100 };
enum { O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_NONBLOCK = 04000, O_CLOEXEC = 02000000 };
enum { ENOENT = 2, EINTR = 4, E2BIG = 7, ENOEXEC = 8, EAGAIN = 11, EACCES = 13, ENODEV = 19, ENOTDIR = 20 };

__attribute__((noreturn)) static void leave(long code) {
  for (;;) call(__NR_exit_group, code);
}

static u64 length_of(const char *text) {
  u64 length = 0;
  while (text[length] != 0) length++;
  return length;
}

static void print(const char *text) { call(__NR_write, 2, text, length_of(text)); }

/* Anonymous memory; 0 without memory. */
static byte *pages(u64 size) {
  enum { PROT_READ = 1, PROT_WRITE = 2, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
  long at = call(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at < 0 && at > -4096 ? 0 : (byte *)at;
}

/* The same memory with another size, maybe at another address; 0 without memory. */
static byte *resized(byte *at, u64 size, u64 wanted) {
  enum { MREMAP_MAYMOVE = 1 };
  long moved = call(__NR_mremap, at, size, wanted, MREMAP_MAYMOVE);
  return moved < 0 && moved > -4096 ? 0 : (byte *)moved;
}

/* Strings of a message, one after the other, each with its 0. */
struct strings {
  char *at;
  char *end;
};

/* The next string; 0 when the message has no whole one. */
static char *next_string(struct strings *from) {
  char *found = from->at;
  char *end = found;
  while (end < from->end && *end != 0) end++;
  if (end == from->end) return 0;
  from->at = end + 1;
  return found;
}

/* Writes the addresses of the next strings and a final 0. Returns whether there were so many. */
static int next_strings(struct strings *from, u32 count, char **into) {
  for (u32 i = 0; i < count; i++)
    if ((into[i] = next_string(from)) == 0) return 0;
  into[count] = 0;
  return 1;
}
