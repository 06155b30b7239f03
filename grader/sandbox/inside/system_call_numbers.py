"""The system calls that a submission may make, with their numbers.

Whoever adds one asks: what memory can it make the kernel hold that no figure of a process shows,
what does it tell of the machine, and whom else does it reach? `system_calls` says which of the
kernel's other calls are left out for each of these reasons.
"""

from __future__ import annotations

#: By name, their numbers on x86-64 and on 64-bit ARM, which leaves out calls that newer ones
#: replace.
_TABLE = """
# files
access 21 -, chdir 80 49, chmod 90 -, chown 92 -, close 3 57, close_range 436 436,
copy_file_range 326 285, creat 85 -, dup 32 23, dup2 33 -, dup3 292 24, faccessat 269 48,
faccessat2 439 439, fadvise64 221 223, fallocate 285 47, fchdir 81 50, fchmod 91 52,
fchmodat 268 53, fchmodat2 452 452, fchown 93 55, fchownat 260 54, fdatasync 75 83,
fgetxattr 193 10, flistxattr 196 13, flock 73 32, fstat 5 80, fstatfs 138 44, fsync 74 82,
ftruncate 77 46, futimesat 261 -, getcwd 79 17, getdents 78 -, getdents64 217 61, getxattr 191 8,
lchown 94 -, lgetxattr 192 9, link 86 -, linkat 265 37, listxattr 194 11, llistxattr 195 12,
lseek 8 62, lstat 6 -, mkdir 83 -, mkdirat 258 34, mknod 133 -, mknodat 259 33,
newfstatat 262 79, open 2 -, openat 257 56, pipe 22 -, pipe2 293 59, poll 7 -, ppoll 271 73,
pread64 17 67, preadv 295 69, preadv2 327 286, pselect6 270 72, pwrite64 18 68, pwritev 296 70,
pwritev2 328 287, read 0 63, readlink 89 -, readlinkat 267 78, readv 19 65, rename 82 -,
renameat 264 38, renameat2 316 276, rmdir 84 -, select 23 -, stat 4 -, statfs 137 43,
statx 332 291, symlink 88 -, symlinkat 266 36, truncate 76 45, umask 95 166, unlink 87 -,
unlinkat 263 35, utime 132 -, utimensat 280 88, utimes 235 -, write 1 64, writev 20 66,
# memory
brk 12 214, madvise 28 233, mprotect 10 226, mremap 25 216, msync 26 227, munmap 11 215,
# processes
arch_prctl 158 -, capget 125 90, execve 59 221, execveat 322 281, exit 60 93, exit_group 231 94,
fork 57 -, getcpu 309 168, getegid 108 177, geteuid 107 175, getgid 104 176, getgroups 115 158,
getpgid 121 155, getpgrp 111 -, getpid 39 172, getppid 110 173, getpriority 140 141,
getrandom 318 278, getresgid 120 150, getresuid 118 148, getrlimit 97 163, getrusage 98 165,
getsid 124 156, gettid 186 178, getuid 102 174, kill 62 129, membarrier 324 283,
prlimit64 302 261, rseq 334 293, sched_get_priority_max 146 125, sched_get_priority_min 147 126,
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
sched_yield 24 124, set_robust_list 273 99, set_tid_address 218 96, setpgid 109 154,
setpriority 141 140, setrlimit 160 164, sysinfo 99 179, tgkill 234 131, times 100 153,
tkill 200 130, uname 63 160, vfork 58 -, wait4 61 260, waitid 247 95,
# signals, clocks and waiting
alarm 37 -, clock_getres 229 114, clock_gettime 228 113, clock_nanosleep 230 115, futex 202 98,
getitimer 36 102, gettimeofday 96 169, nanosleep 35 101, pause 34 -, pidfd_open 434 434,
pidfd_send_signal 424 424, restart_syscall 219 128, rt_sigaction 13 134, rt_sigpending 127 136,
rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigsuspend 130 133, rt_sigtimedwait 128 137,
setitimer 38 103, sigaltstack 131 132, time 201 -, timer_create 222 107, timer_delete 226 111,
timer_getoverrun 225 109, timer_gettime 224 108, timer_settime 223 110,
# the connection to the judge, and pairs of sockets
getpeername 52 205, getsockname 51 204, recvfrom 45 207, recvmsg 47 212, sendto 44 206,
shutdown 48 210
"""

#: Calls that are allowed with some arguments only.
_CHECKED = """
clone 56 220, clone3 435 435, fcntl 72 25, getsockopt 55 209, ioctl 16 29, mmap 9 222,
prctl 157 167, socket 41 198, socketpair 53 199
"""

#: The newest call known when this table was written.
NEWEST = 470


def _numbers(table: str) -> dict[str, tuple[int | None, int | None]]:
    text = " ".join(line for line in table.splitlines() if not line.startswith("#"))
    entries = (entry.split() for entry in text.split(","))
    return {name: (_number(x86), _number(arm)) for name, x86, arm in entries}


def _number(text: str) -> int | None:
    return None if text == "-" else int(text)


ALLOWED = _numbers(_TABLE)
CHECKED = _numbers(_CHECKED)
