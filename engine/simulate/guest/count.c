// A plugin for qemu-user that counts executed guest instructions between two marks. The guest sets marks by a system
// call that does not exist: 5555 with first argument 0 starts counting; with 1, it writes a line "tag count" to the
// file that the environment variable RIPC_COUNT_FILE names. The declarations are repeated here because distributions
// ship qemu without its header. Counts are exact if one guest thread runs.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef PLUGIN_VERSION
#define PLUGIN_VERSION 1
#endif
#define PUBLIC __attribute__((visibility("default")))
enum { MARK = 5555, NO_REGS = 0 };

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
typedef void (*on_translate)(plugin_id, struct qemu_plugin_tb *);
typedef void (*on_execute)(unsigned cpu, void *user);
typedef void (*on_syscall)(plugin_id, unsigned cpu, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                           uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, on_translate);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execute, int flags, void *user);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_syscall);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

PUBLIC int qemu_plugin_version = PLUGIN_VERSION;

static uint64_t total;
static FILE *out;

// A block of instructions without jumps is counted when it is entered; it always runs to its end.
static void executed(unsigned cpu, void *user) {
  (void)cpu;
  __atomic_fetch_add(&total, (uint64_t)(uintptr_t)user, __ATOMIC_RELAXED);
}

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  uintptr_t n = qemu_plugin_tb_n_insns(block);
  qemu_plugin_register_vcpu_tb_exec_cb(block, executed, NO_REGS, (void *)n);
}

static void called(plugin_id id, unsigned cpu, int64_t number, uint64_t what, uint64_t tag, uint64_t a3, uint64_t a4,
                   uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number != MARK) return;
  if (what == 1 && out) {
    fprintf(out, "%llu %llu\n", (unsigned long long)tag, (unsigned long long)total);
    fflush(out);
  }
  total = 0;
}

PUBLIC int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info, (void)argc, (void)argv;
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
