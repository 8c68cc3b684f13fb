import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../run-program.ts";
import { type Check, type Finding, ok, warn } from "./check.ts";

const asRootInside = ["--user", "--map-root-user"];

/** Checks the sandboxes that this kernel allows, by trying each. */
export function sandboxChecks(): Check[] {
  return [
    {
      name: "unshare",
      needs: "util-linux is installed",
      fix: "Install it: apt-get install util-linux",
      run: () => tried("unshare", ["--version"], "util-linux is installed"),
    },
    {
      name: "user namespaces",
      needs: "This user can create user namespaces",
      fix: "Allow them: sysctl kernel.unprivileged_userns_clone=1 (Debian), or kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu)",
      run: () => tried("unshare", [...asRootInside, "true"], "this user can create them"),
    },
    {
      name: "process namespaces",
      needs:
        "This user can create process namespaces, in which a worker stops a whole process tree at once",
      fix: "Allow user namespaces; without them, a worker searches for processes that a job leaves behind one by one",
      run: () =>
        tried(
          "unshare",
          [...asRootInside, "--pid", "--fork", "--mount", "--mount-proc", "true"],
          "a worker can stop the whole process tree of a job at once",
        ),
    },
    {
      name: "network namespaces",
      needs: "This user can create network namespaces, in which jobs cannot reach the network",
      fix: "Allow user namespaces; without them, every job can reach the network",
      run: () =>
        tried(
          "unshare",
          [...asRootInside, "--net", "true"],
          "jobs without network access cannot reach the network",
        ),
    },
    {
      name: "overlay file system",
      needs: "This user can mount overlay file systems",
      fix: "Without them, workers build input directories from links, which is slower for large trees. Linux 5.11 or later allows them",
      run: overlay,
    },
    {
      name: "bubblewrap",
      needs: "bubblewrap is installed and works",
      fix: "Install it: apt-get install bubblewrap. Without it, the worker creates namespaces directly",
      run: () => tried("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"], "works"),
    },
    {
      name: "cgroups",
      needs: "cgroups are mounted",
      fix: "Without them, CPU time and memory are read from /proc, which misses short processes. Mount them: mount -t cgroup2 none /sys/fs/cgroup",
      run: async () => cgroups(),
    },
    {
      name: "CPU sets",
      needs: "taskset works, so that jobs can get their own CPUs",
      fix: "Install util-linux: apt-get install util-linux. Without it, only the cpuset controller of cgroups can assign CPUs",
      run: () =>
        tried("taskset", ["-c", String(usableCpu()), "true"], "jobs can get their own CPUs"),
    },
    {
      name: "memory limits",
      needs: "The kernel can limit the memory of a whole process tree",
      fix: "The worker watches memory and stops jobs itself. For a hard limit, delegate the memory controller",
      run: async () => {
        const controllers = read("/sys/fs/cgroup/cgroup.controllers") ?? "";
        return controllers.includes("memory") || existsSync("/sys/fs/cgroup/memory")
          ? ok("the kernel can limit the memory of a whole process tree")
          : warn("no memory controller");
      },
    },
  ];
}

/** Returns a CPU on which this process may run. */
function usableCpu(): number {
  const status = read("/proc/self/status") ?? "";
  return Number(/^Cpus_allowed_list:\s*(\d+)/m.exec(status)?.[1] ?? 0);
}

async function tried(program: string, args: readonly string[], detail: string): Promise<Finding> {
  try {
    const { exitCode, stderr } = await runProgram(program, args, { timeoutMs: 10_000 });
    return exitCode === 0 ? ok(detail) : warn(`not available: ${lastLine(stderr)}`);
  } catch {
    return warn(`${program} is not installed`);
  }
}

async function overlay(): Promise<Finding> {
  const dir = await mkdtemp(join(tmpdir(), "grange-overlay-"));
  const script = `cd ${dir} && mkdir l u w m && mount -t overlay overlay -o lowerdir=l,upperdir=u,workdir=w m`;
  try {
    return await tried(
      "unshare",
      [...asRootInside, "--mount", "sh", "-c", script],
      "can be mounted",
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function cgroups(): Finding {
  const controllers = read("/sys/fs/cgroup/cgroup.controllers");
  if (controllers !== undefined) return ok(`version 2 (${controllers.trim() || "no controllers"})`);
  if (existsSync("/sys/fs/cgroup/memory") || existsSync("/sys/fs/cgroup/cpu"))
    return ok("version 1");
  return warn("none are mounted");
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}
