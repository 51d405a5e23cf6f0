# SPDX-License-Identifier: ISC
"""Children that run into their parent's breakpoint, made in each way."""
import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import threading
import time


def work(n):
    return n * 2  # the stop


def put(queue, n):
    queue.put(work(n))


def by_process(how):
    context = multiprocessing.get_context(how)
    queue = context.Queue()
    child = context.Process(target=put, args=(queue, 4))
    child.start()
    got = queue.get(timeout=30)
    child.join(30)
    return got, child.exitcode


def by_fork(leave=os._exit):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        # a thread of the child's own as well
        t = threading.Thread(target=lambda: os.write(w, b"%d" % work(5)))
        t.start()
        t.join()
        leave(7)
    os.close(w)
    got = os.read(r, 10)
    os.close(r)
    return got, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def by_exit():
    return by_fork(sys.exit)


def by_pool():
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        return list(pool.map(work, [1, 2, 3]))


def by_threads():
    out = []
    threads = [threading.Thread(target=lambda: out.append(by_fork()))
               for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


def by_subprocess():
    return subprocess.run([sys.executable, "-c", "print(6 * 7)"],
                          stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: work(1)).stdout.strip()


def run(how):
    if how in ("fork", "spawn", "forkserver"):
        return by_process(how)
    return globals()["by_" + how]()


if __name__ == "__main__":
    print("begun", flush=True)
    # attached to, it begins when its file is gone
    while len(sys.argv) > 2 and os.path.exists(sys.argv[2]):
        time.sleep(0.05)
    print(run(sys.argv[1]), flush=True)
    print("parent", work(10), flush=True)
