// A plugin for qemu that counts, between two marks, how often each piece of straight code was executed and from where
// control came to it. Under qemu-user the guest sets marks by a system call that does not exist: 5555 with first argument 0 starts
// counting; with 1, what was counted is written to the file that the environment variable RIPC_COUNT_FILE names. A whole system has no
// such calls: the plugin's arguments are addresses. Counting starts when control comes to begin=ADDRESS (there may be several), and
// ends when control comes to code from end=ADDRESS up to, and without, until=ADDRESS. The lines of the file are
//
//   piece FIRST LAST INSTRUCTIONS TIMES   addresses of its first and last instruction
//   jump FROM TO TIMES                    from the last instruction of a piece to the first of another
//   job TAG                               ends what belongs to the mark
//
// in no particular order; a piece may have several lines, which are to be added up. The declarations are repeated here
// because distributions ship qemu without its header. Counts are exact if one guest thread runs.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif
#define PUBLIC __attribute__((visibility("default")))
enum { MARK = 5555, NO_REGS = 0 };

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*on_translate)(plugin_id, struct qemu_plugin_tb *);
typedef void (*on_execute)(unsigned cpu, void *user);
typedef void (*on_syscall)(plugin_id, unsigned cpu, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translate);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execute, int flags, void *user);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_syscall);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);

PUBLIC int qemu_plugin_version = PLUGIN_VERSION;

// A piece is one translation of qemu's: instructions that run from the first to the last whenever the first does.
struct jump {
  struct piece *from;
  uint64_t times;
  struct jump *next;
};
struct piece {
  uint64_t first, last, instructions, times;
  struct jump *jumps; // to the piece
  struct piece *next;
};
static struct piece *pieces, *previous;
static FILE *out;

static void *allocated(size_t bytes) {
  void *p = calloc(1, bytes);
  if (!p) abort();
  return p;
}

static void executed(unsigned cpu, void *user) {
  (void)cpu;
  struct piece *p = user;
  p->times++;
  struct jump **at = &p->jumps;
  while (*at && (*at)->from != previous) at = &(*at)->next;
  if (!*at) {
    *at = allocated(sizeof **at);
    (*at)->from = previous;
  }
  (*at)->times++;
  previous = p;
}

static void mark(uint64_t what, uint64_t tag);

// The marks of a whole system.
static struct { uint64_t begin[4], end, until, tag; int begins, counting; } marks;

static void begun(unsigned cpu, void *user) {
  if (!marks.counting) mark(0, 0);
  marks.counting = 1;
  executed(cpu, user);
}

static void ended(unsigned cpu, void *user) {
  (void)cpu, (void)user;
  if (marks.counting) mark(1, marks.tag++);
  marks.counting = 0;
}

// What is to be called when p is executed.
static on_execute meaning(const struct piece *p) {
  for (int i = 0; i < marks.begins; i++)
    if (p->first == marks.begin[i]) return begun;
  return p->first >= marks.end && p->first < marks.until ? ended : executed;
}

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  struct piece *p = allocated(sizeof *p);
  p->instructions = qemu_plugin_tb_n_insns(block);
  p->first = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
  p->last = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, p->instructions - 1));
  p->next = pieces;
  pieces = p;
  qemu_plugin_register_vcpu_tb_exec_cb(block, meaning(p), NO_REGS, p);
}

static unsigned long long wide(uint64_t v) { return v; }

// mark starts counting or, where what is 1, writes what was counted.
static void mark(uint64_t what, uint64_t tag) {
  for (struct piece *p = pieces; p; p = p->next) {
    if (what == 1 && p->times) fprintf(out, "piece %llu %llu %llu %llu\n", wide(p->first), wide(p->last), wide(p->instructions), wide(p->times));
    p->times = 0;
    for (struct jump *j = p->jumps; j; j = j->next) {
      if (what == 1 && j->times && j->from) fprintf(out, "jump %llu %llu %llu\n", wide(j->from->last), wide(p->first), wide(j->times));
      j->times = 0;
    }
  }
  previous = NULL;
  if (what == 1) {
    fprintf(out, "job %llu\n", wide(tag));
    fflush(out);
  }
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t what, uint64_t tag, uint64_t a3, uint64_t a4,
                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == MARK) mark(what, tag);
}

PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  for (int i = 0; i < argc; i++) {
    uint64_t at = strtoull(argv[i] + strcspn(argv[i], "0123456789"), NULL, 10);
    if (!strncmp(argv[i], "begin=", 6) && marks.begins < 4) marks.begin[marks.begins++] = at;
    if (!strncmp(argv[i], "end=", 4)) marks.end = at;
    if (!strncmp(argv[i], "until=", 6)) marks.until = at;
  }
  const char *path = getenv("RIPC_COUNT_FILE");
  out = path ? fopen(path, "w") : NULL;
  if (!out) {
    fprintf(stderr, "count: cannot write the file that RIPC_COUNT_FILE names\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_vcpu_syscall_cb(id, called);
  return 0;
}
