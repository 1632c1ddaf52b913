/* This file is part of the connector-host project.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every system call that has been considered, with its numbers on x86_64 and arm64. A call that is missing here does not exist for
 * a plugin: ENOSYS, as in an older kernel, so that the C library falls back. A call that is refused on purpose fails with EPERM.
 */
#ifdef __linux__
#include "rules.h"

#include <errno.h>
#include <stddef.h>

#define ALWAYS(name, x86_64, arm64) {#name, {x86_64, arm64}, SANDBOX_ALWAYS, 0, NULL, NULL, NULL}
#define CHECKED(name, x86_64, arm64, check) {#name, {x86_64, arm64}, SANDBOX_ALWAYS, EPERM, check, NULL, "has an argument that reaches further"}
#define WRITE_CHECKED(name, x86_64, arm64, check) {#name, {x86_64, arm64}, SANDBOX_ALWAYS, EACCES, check, NULL, "writes files"}
#define WHEN_WRITING(name, x86_64, arm64) {#name, {x86_64, arm64}, SANDBOX_WRITING, EACCES, NULL, NULL, "writes files"}
#define WHEN_NETWORK(name, x86_64, arm64) {#name, {x86_64, arm64}, SANDBOX_NETWORK, EPERM, NULL, NULL, "reaches others"}
#define WHEN_NAMING(name, x86_64, arm64) {#name, {x86_64, arm64}, SANDBOX_NAMING, EPERM, NULL, NULL, "watches files"}
#define NEVER(name, x86_64, arm64, reason) {#name, {x86_64, arm64}, SANDBOX_NEVER, EPERM, NULL, NULL, reason}
#define ABSENT(name, x86_64, arm64) {#name, {x86_64, arm64}, SANDBOX_NEVER, ENOSYS, NULL, NULL, "has arguments that are pointers"}

/* Conditions on one argument: its number, a mask (0 for all bits), and the values that are allowed or refused. */

/** MAP_PRIVATE, MAP_SHARED or MAP_ANONYMOUS of mmap's flags, but neither MAP_SHARED with MAP_ANONYMOUS nor MAP_GROWSDOWN. */
static const sandbox_check mapping = {.argument = 3, .mask = 0x121, .count = 3, .values = {0x00, 0x01, 0x20}};
/** MADV_REMOVE frees pages of memory shared with the host, whose next access could then raise SIGBUS. */
static const sandbox_check advice = {.argument = 2, .is_refused = 1, .count = 1, .values = {9}};
/** FALLOC_FL_PUNCH_HOLE does the same by descriptor. */
static const sandbox_check kept = {.argument = 1, .mask = 0x02, .count = 1, .values = {0}};
/** F_DUPFD to F_SETLKW, locks of open files, duplicates, pipe sizes, seals. Not F_SETOWN, which signals others. */
static const sandbox_check commands = {
    .argument = 1, .count = 16, .values = {0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1033, 1034},
};
/** TCGETS, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. */
static const sandbox_check requests = {.argument = 1, .count = 5, .values = {0x5401, 0x541B, 0x5421, 0x5450, 0x5451}};
/** None of O_WRONLY, O_RDWR, O_CREAT, O_TRUNC and O_TMPFILE. */
static const sandbox_check open_reads = {
    .argument = 1, .lifted_by = SANDBOX_WRITING, .mask = SANDBOX_WRITE_FLAGS, .count = 1, .values = {0},
};
static const sandbox_check openat_reads = {
    .argument = 2, .lifted_by = SANDBOX_WRITING, .mask = SANDBOX_WRITE_FLAGS, .count = 1, .values = {0},
};
/** CLONE_THREAD, and none of the flags for namespaces: TIME, NEWNS, NEWCGROUP to NEWNET. */
static const sandbox_check thread = {.argument = 0, .mask = 0x7E030080, .count = 1, .values = {0x00010000}};
/** Names of threads and of memory, timer slack, and options that only query. Neither PDEATHSIG nor DUMPABLE. */
static const sandbox_check options = {
    .argument = 0, .count = 11, .values = {2, 3, 15, 16, 21, 23, 29, 30, 38, 39, 0x53564D41},
};
static const sandbox_check own_thread = {.argument = 0, .count = 1, .values = {0}};
static const sandbox_check own_second = {.argument = 1, .or_process = 1, .count = 1, .values = {0}};
static const sandbox_check of_process = {.argument = 0, .count = 1, .values = {0}};
static const sandbox_check own_process = {.argument = 0, .or_process = 1, .count = 0};
static const sandbox_check own_limits = {.argument = 0, .or_process = 1, .count = 1, .values = {0}};
/** No destination address. */
static const sandbox_check unaddressed = {.argument = 4, .is_wide = 1, .count = 1, .values = {0}};
/** AF_UNIX. */
static const sandbox_check local = {.argument = 0, .count = 1, .values = {1}};
/** SOCK_STREAM and SOCK_SEQPACKET: such a pair stays connected for good. Other kinds may send to any socket that has a name. */
static const sandbox_check connected = {.argument = 1, .mask = 0xF, .count = 2, .values = {1, 5}};
/**
 * SO_LINGER: the host would wait in close(2) if it were sent such a socket. Options of other levels have this number, too:
 * TCP_CONGESTION and IP_RECVTOS, which programs can do without.
 */
static const sandbox_check lingering = {.argument = 2, .is_refused = 1, .count = 1, .values = {13}};
/** No SECCOMP_FILTER_FLAG_NEW_LISTENER: by one, a plugin could allow what this filter asks the host about. */
static const sandbox_check no_listener = {.argument = 1, .mask = 0x08, .count = 1, .values = {0}};
/** AF_INET, AF_INET6, AF_NETLINK. */
static const sandbox_check internet = {.argument = 0, .count = 3, .values = {2, 10, 16}};

const sandbox_rule sandbox_rules[] = {
    /* Memory. What is shared without a descriptor, or grows downwards, would evade the bound. */
    CHECKED(mmap, 9, 222, &mapping),
    ALWAYS(munmap, 11, 215), ALWAYS(mprotect, 10, 226), ALWAYS(brk, 12, 214), CHECKED(madvise, 28, 233, &advice),
    ALWAYS(mremap, 25, 216), ALWAYS(mincore, 27, 232), ALWAYS(msync, 26, 227), ALWAYS(mlock, 149, 228),
    ALWAYS(mlock2, 325, 284), ALWAYS(munlock, 150, 229), ALWAYS(membarrier, 324, 283), ALWAYS(mseal, 462, 462),
    /* Input and output on descriptors that are already open. */
    ALWAYS(read, 0, 63), ALWAYS(write, 1, 64), ALWAYS(close, 3, 57), ALWAYS(readv, 19, 65), ALWAYS(writev, 20, 66),
    ALWAYS(pread64, 17, 67), ALWAYS(pwrite64, 18, 68), ALWAYS(preadv, 295, 69), ALWAYS(pwritev, 296, 70),
    ALWAYS(preadv2, 327, 286), ALWAYS(pwritev2, 328, 287), ALWAYS(lseek, 8, 62), ALWAYS(dup, 32, 23),
    ALWAYS(dup2, 33, -1), ALWAYS(dup3, 292, 24), ALWAYS(close_range, 436, 436), ALWAYS(pipe, 22, -1),
    ALWAYS(pipe2, 293, 59), ALWAYS(poll, 7, -1), ALWAYS(ppoll, 271, 73), ALWAYS(select, 23, -1),
    ALWAYS(pselect6, 270, 72), ALWAYS(epoll_create, 213, -1), ALWAYS(epoll_create1, 291, 20),
    ALWAYS(epoll_ctl, 233, 21), ALWAYS(epoll_wait, 232, -1), ALWAYS(epoll_pwait, 281, 22),
    ALWAYS(epoll_pwait2, 441, 441), ALWAYS(eventfd, 284, -1), ALWAYS(eventfd2, 290, 19),
    ALWAYS(timerfd_create, 283, 85), ALWAYS(timerfd_settime, 286, 86), ALWAYS(timerfd_gettime, 287, 87),
    ALWAYS(fsync, 74, 82), ALWAYS(fdatasync, 75, 83), ALWAYS(sync_file_range, 277, 84), ALWAYS(flock, 73, 32),
    ALWAYS(copy_file_range, 326, 285), ALWAYS(sendfile, 40, 71), ALWAYS(splice, 275, 76), ALWAYS(tee, 276, 77),
    ALWAYS(fadvise64, 221, 223), ALWAYS(readahead, 187, 213),
    CHECKED(fcntl, 72, 25, &commands), CHECKED(ioctl, 16, 29, &requests),
    /* Files by name. Landlock and the namespaces decide which ones; the filter decides whether they may be written. */
    WRITE_CHECKED(open, 2, -1, &open_reads), WRITE_CHECKED(openat, 257, 56, &openat_reads),
    ALWAYS(newfstatat, 262, 79), ALWAYS(fstat, 5, 80), ALWAYS(stat, 4, -1), ALWAYS(lstat, 6, -1),
    ALWAYS(statx, 332, 291), ALWAYS(statfs, 137, 43), ALWAYS(fstatfs, 138, 44), ALWAYS(access, 21, -1),
    ALWAYS(faccessat, 269, 48), ALWAYS(faccessat2, 439, 439), ALWAYS(readlink, 89, -1), ALWAYS(readlinkat, 267, 78),
    ALWAYS(getdents, 78, -1), ALWAYS(getdents64, 217, 61), ALWAYS(getcwd, 79, 17), ALWAYS(getxattr, 191, 8),
    ALWAYS(lgetxattr, 192, 9), ALWAYS(fgetxattr, 193, 10), ALWAYS(listxattr, 194, 11), ALWAYS(llistxattr, 195, 12),
    ALWAYS(flistxattr, 196, 13),
    /* Landlock does not restrict these: they tell which files others open and make. */
    WHEN_NAMING(inotify_init1, 294, 26), WHEN_NAMING(inotify_add_watch, 254, 27), WHEN_NAMING(inotify_rm_watch, 255, 28),
    WHEN_WRITING(creat, 85, -1), WHEN_WRITING(ftruncate, 77, 46), WHEN_WRITING(truncate, 76, 45),
    {"fallocate", {285, 47}, SANDBOX_WRITING, EACCES, &kept, NULL, "writes files"},
    WHEN_WRITING(rename, 82, -1), WHEN_WRITING(renameat, 264, 38),
    WHEN_WRITING(renameat2, 316, 276), WHEN_WRITING(mkdir, 83, -1), WHEN_WRITING(mkdirat, 258, 34),
    WHEN_WRITING(rmdir, 84, -1), WHEN_WRITING(unlink, 87, -1), WHEN_WRITING(unlinkat, 263, 35),
    WHEN_WRITING(link, 86, -1), WHEN_WRITING(linkat, 265, 37), WHEN_WRITING(symlink, 88, -1),
    WHEN_WRITING(symlinkat, 266, 36), WHEN_WRITING(chmod, 90, -1), WHEN_WRITING(fchmod, 91, 52),
    WHEN_WRITING(fchmodat, 268, 53), WHEN_WRITING(fchmodat2, 452, 452), WHEN_WRITING(utime, 132, -1),
    WHEN_WRITING(utimes, 235, -1), WHEN_WRITING(utimensat, 280, 88), WHEN_WRITING(futimesat, 261, -1),
    WHEN_WRITING(setxattr, 188, 5), WHEN_WRITING(lsetxattr, 189, 6), WHEN_WRITING(fsetxattr, 190, 7),
    WHEN_WRITING(removexattr, 197, 14), WHEN_WRITING(lremovexattr, 198, 15), WHEN_WRITING(fremovexattr, 199, 16),
    /* Threads. Without rseq and set_robust_list, a new thread aborts. */
    ALWAYS(futex, 202, 98), ALWAYS(futex_waitv, 449, 449), ALWAYS(futex_wake, 454, 454), ALWAYS(futex_wait, 455, 455),
    ALWAYS(futex_requeue, 456, 456), ALWAYS(set_robust_list, 273, 99), ALWAYS(get_robust_list, 274, 100),
    ALWAYS(rseq, 334, 293), ALWAYS(set_tid_address, 218, 96), ALWAYS(gettid, 186, 178), ALWAYS(sched_yield, 24, 124),
    ALWAYS(sched_getaffinity, 204, 123), ALWAYS(sched_getparam, 143, 121), ALWAYS(sched_getscheduler, 145, 120),
    ALWAYS(sched_get_priority_max, 146, 125), ALWAYS(sched_get_priority_min, 147, 126), ALWAYS(getpriority, 140, 141),
    ALWAYS(getcpu, 309, 168), ALWAYS(arch_prctl, 158, -1),
    CHECKED(clone, 56, 220, &thread), CHECKED(prctl, 157, 167, &options),
    CHECKED(sched_setaffinity, 203, 122, &own_thread), CHECKED(sched_setscheduler, 144, 119, &own_thread),
    {"setpriority", {141, 140}, SANDBOX_ALWAYS, EPERM, &of_process, &own_second, "makes others wait"},
    /* Signals, to this process alone. */
    ALWAYS(rt_sigaction, 13, 134), ALWAYS(rt_sigprocmask, 14, 135), ALWAYS(rt_sigreturn, 15, 139),
    ALWAYS(rt_sigpending, 127, 136), ALWAYS(rt_sigsuspend, 130, 133), ALWAYS(rt_sigtimedwait, 128, 137),
    ALWAYS(sigaltstack, 131, 132), ALWAYS(pause, 34, -1), ALWAYS(restart_syscall, 219, 128), ALWAYS(alarm, 37, -1),
    ALWAYS(getitimer, 36, 102), ALWAYS(setitimer, 38, 103), ALWAYS(timer_create, 222, 107),
    ALWAYS(timer_settime, 223, 110), ALWAYS(timer_gettime, 224, 108), ALWAYS(timer_getoverrun, 225, 109),
    ALWAYS(timer_delete, 226, 111),
    CHECKED(tgkill, 234, 131, &own_process), CHECKED(kill, 62, 129, &own_process),
    CHECKED(rt_tgsigqueueinfo, 297, 240, &own_process), CHECKED(rt_sigqueueinfo, 129, 138, &own_process),
    /* Time, identity, resources, randomness, and exit. */
    ALWAYS(clock_gettime, 228, 113), ALWAYS(clock_getres, 229, 114), ALWAYS(clock_nanosleep, 230, 115),
    ALWAYS(nanosleep, 35, 101), ALWAYS(gettimeofday, 96, 169), ALWAYS(time, 201, -1), ALWAYS(times, 100, 153),
    ALWAYS(getpid, 39, 172), ALWAYS(getppid, 110, 173), ALWAYS(getuid, 102, 174), ALWAYS(geteuid, 107, 175),
    ALWAYS(getgid, 104, 176), ALWAYS(getegid, 108, 177), ALWAYS(getgroups, 115, 158), ALWAYS(getresuid, 118, 148),
    ALWAYS(getresgid, 120, 150), ALWAYS(getpgrp, 111, -1), ALWAYS(getpgid, 121, 155), ALWAYS(getsid, 124, 156),
    ALWAYS(getrlimit, 97, 163), ALWAYS(getrusage, 98, 165), ALWAYS(sysinfo, 99, 179), ALWAYS(uname, 63, 160),
    ALWAYS(getrandom, 318, 278), ALWAYS(capget, 125, 90), ALWAYS(wait4, 61, 260), ALWAYS(waitid, 247, 95),
    ALWAYS(exit, 60, 93), ALWAYS(exit_group, 231, 94),
    CHECKED(prlimit64, 302, 261, &own_limits),
    /* Sockets that already exist: the one of the channel to the host, which is connected. */
    ALWAYS(recvmsg, 47, 212), ALWAYS(recvfrom, 45, 207), ALWAYS(recvmmsg, 299, 243), ALWAYS(shutdown, 48, 210),
    ALWAYS(getsockopt, 55, 209), ALWAYS(getsockname, 51, 204), ALWAYS(getpeername, 52, 205),
    CHECKED(sendto, 44, 206, &unaddressed),
    {"socketpair", {53, 199}, SANDBOX_ALWAYS, EPERM, &local, &connected, "reaches others"},
    /* Sockets to others, if the connector allows it: IPv4, IPv6, and netlink, which reports the machine's addresses. */
    {"socket", {41, 198}, SANDBOX_NETWORK, EPERM, &internet, NULL, "reaches others"},
    WHEN_NETWORK(connect, 42, 203), WHEN_NETWORK(bind, 49, 200), WHEN_NETWORK(listen, 50, 201),
    WHEN_NETWORK(accept, 43, 202), WHEN_NETWORK(accept4, 288, 242),
    /* The first check of a rule for the network would be about a family: see learn.c. */
    {"setsockopt", {54, 208}, SANDBOX_NETWORK, EPERM, NULL, &lingering, "reaches others"},
    /* They send descriptors, too, and while those are not received, the kernel lets the user's other processes send none. */
    WHEN_NETWORK(sendmsg, 46, 211), WHEN_NETWORK(sendmmsg, 307, 269),
    /* Until the plugin is open: the second filter is installed. */
    {"seccomp", {317, 277}, SANDBOX_LOADING, EPERM, &no_listener, NULL, "belongs to loading"},
    /* Never. Calls that every program must be able to do without are left out of the table: ENOSYS. */
    NEVER(memfd_create, 319, 279, "makes memory that is not bounded"),
    NEVER(fork, 57, -1, "starts a process"), NEVER(vfork, 58, -1, "starts a process"),
    NEVER(execve, 59, 221, "starts a process"), NEVER(execveat, 322, 281, "starts a process"),
    NEVER(tkill, 200, 130, "signals others"), NEVER(pidfd_open, 434, 434, "signals others"),
    NEVER(pidfd_send_signal, 424, 424, "signals others"),
    NEVER(ptrace, 101, 117, "reaches into others"), NEVER(process_vm_readv, 310, 270, "reaches into others"),
    NEVER(process_vm_writev, 311, 271, "reaches into others"),
    NEVER(process_madvise, 440, 440, "reaches into others"), NEVER(pidfd_getfd, 438, 438, "reaches into others"),
    NEVER(kcmp, 312, 272, "reaches into others"),
    NEVER(unshare, 272, 97, "leaves the sandbox"), NEVER(setns, 308, 268, "leaves the sandbox"),
    NEVER(chroot, 161, 51, "leaves the sandbox"), NEVER(pivot_root, 155, 41, "leaves the sandbox"),
    NEVER(mount, 165, 40, "leaves the sandbox"), NEVER(umount2, 166, 39, "leaves the sandbox"),
    NEVER(open_tree, 428, 428, "leaves the sandbox"), NEVER(move_mount, 429, 429, "leaves the sandbox"),
    NEVER(fsopen, 430, 430, "leaves the sandbox"), NEVER(fsconfig, 431, 431, "leaves the sandbox"),
    NEVER(fsmount, 432, 432, "leaves the sandbox"), NEVER(fspick, 433, 433, "leaves the sandbox"),
    NEVER(mount_setattr, 442, 442, "leaves the sandbox"), NEVER(open_by_handle_at, 304, 265, "leaves the sandbox"),
    NEVER(name_to_handle_at, 303, 264, "leaves the sandbox"),
    NEVER(bpf, 321, 280, "opens much of the kernel"), NEVER(perf_event_open, 298, 241, "opens much of the kernel"),
    NEVER(io_uring_setup, 425, 425, "opens much of the kernel"),
    NEVER(io_uring_enter, 426, 426, "opens much of the kernel"),
    NEVER(io_uring_register, 427, 427, "opens much of the kernel"),
    NEVER(userfaultfd, 323, 282, "opens much of the kernel"), NEVER(keyctl, 250, 219, "opens much of the kernel"),
    NEVER(add_key, 248, 217, "opens much of the kernel"), NEVER(request_key, 249, 218, "opens much of the kernel"),
    NEVER(modify_ldt, 154, -1, "opens much of the kernel"), NEVER(personality, 135, 92, "opens much of the kernel"),
    NEVER(memfd_secret, 447, 447, "opens much of the kernel"),
    NEVER(fanotify_init, 300, 262, "opens much of the kernel"),
    NEVER(fanotify_mark, 301, 263, "opens much of the kernel"),
    NEVER(lookup_dcookie, 212, 18, "opens much of the kernel"),
    NEVER(shmget, 29, 194, "shares memory or messages by number"),
    NEVER(shmat, 30, 196, "shares memory or messages by number"),
    NEVER(shmctl, 31, 195, "shares memory or messages by number"),
    NEVER(shmdt, 67, 197, "shares memory or messages by number"),
    NEVER(semget, 64, 190, "shares memory or messages by number"),
    NEVER(semop, 65, 193, "shares memory or messages by number"),
    NEVER(semtimedop, 220, 192, "shares memory or messages by number"),
    NEVER(semctl, 66, 191, "shares memory or messages by number"),
    NEVER(msgget, 68, 186, "shares memory or messages by number"),
    NEVER(msgsnd, 69, 189, "shares memory or messages by number"),
    NEVER(msgrcv, 70, 188, "shares memory or messages by number"),
    NEVER(msgctl, 71, 187, "shares memory or messages by number"),
    NEVER(mq_open, 240, 180, "shares memory or messages by number"),
    NEVER(mq_unlink, 241, 181, "shares memory or messages by number"),
    NEVER(setuid, 105, 146, "changes who this is"), NEVER(setgid, 106, 144, "changes who this is"),
    NEVER(setreuid, 113, 145, "changes who this is"), NEVER(setregid, 114, 143, "changes who this is"),
    NEVER(setresuid, 117, 147, "changes who this is"), NEVER(setresgid, 119, 149, "changes who this is"),
    NEVER(setgroups, 116, 159, "changes who this is"), NEVER(setfsuid, 122, 151, "changes who this is"),
    NEVER(setfsgid, 123, 152, "changes who this is"), NEVER(capset, 126, 91, "changes who this is"),
    NEVER(setpgid, 109, 154, "changes who this is"), NEVER(setsid, 112, 157, "changes who this is"),
    NEVER(setrlimit, 160, 164, "changes what the host set"), NEVER(chdir, 80, 49, "changes what the host set"),
    NEVER(fchdir, 81, 50, "changes what the host set"), NEVER(umask, 95, 166, "changes what the host set"),
    NEVER(chown, 92, -1, "changes what the host set"), NEVER(lchown, 94, -1, "changes what the host set"),
    NEVER(fchown, 93, 55, "changes what the host set"), NEVER(fchownat, 260, 54, "changes what the host set"),
    NEVER(mknod, 133, -1, "changes what the host set"), NEVER(mknodat, 259, 33, "changes what the host set"),
    NEVER(clock_settime, 227, 112, "changes the system"), NEVER(settimeofday, 164, 170, "changes the system"),
    NEVER(adjtimex, 159, 171, "changes the system"), NEVER(clock_adjtime, 305, 266, "changes the system"),
    NEVER(sethostname, 170, 161, "changes the system"), NEVER(setdomainname, 171, 162, "changes the system"),
    NEVER(iopl, 172, -1, "changes the system"), NEVER(ioperm, 173, -1, "changes the system"),
    NEVER(init_module, 175, 105, "changes the system"), NEVER(finit_module, 313, 273, "changes the system"),
    NEVER(delete_module, 176, 106, "changes the system"), NEVER(kexec_load, 246, 104, "changes the system"),
    NEVER(kexec_file_load, 320, 294, "changes the system"), NEVER(reboot, 169, 142, "changes the system"),
    NEVER(swapon, 167, 224, "changes the system"), NEVER(swapoff, 168, 225, "changes the system"),
    NEVER(acct, 163, 89, "changes the system"), NEVER(syslog, 103, 116, "changes the system"),
    NEVER(quotactl, 179, 60, "changes the system"), NEVER(vhangup, 153, 58, "changes the system"),
    /* Their arguments are pointers, which no filter can check. The C library falls back to clone and openat. */
    ABSENT(clone3, 435, 435), ABSENT(openat2, 437, 437),
};

const int32_t sandbox_rule_count = sizeof sandbox_rules / sizeof *sandbox_rules;
#endif
