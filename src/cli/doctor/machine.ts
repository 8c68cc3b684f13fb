import { readFile } from "node:fs/promises";
import { availableParallelism, freemem, hostname, totalmem } from "node:os";
import { type Check, fail, ok, warn } from "./check.ts";

const mebibyte = 2 ** 20;
/** Files, sockets and pipes of a server with 200 open pages and two workers. */
const wantedFiles = 4_096;
/** Grange did not exist before this day, so a clock with an earlier date is wrong. */
const oldestBelievable = Date.parse("2025-01-01T00:00:00Z");

/** Checks of the machine itself. */
export function machineChecks(): Check[] {
  return [
    {
      name: "processors",
      async run() {
        const cores = availableParallelism();
        return cores >= 2
          ? ok(`${cores} cores`)
          : warn("1 core", "With this number of cores there is only one worker, of size class 1");
      },
    },
    {
      name: "memory",
      async run() {
        const available = await availableMemory();
        const detail = `${Math.round(available / mebibyte)} MiB of ${Math.round(totalmem() / mebibyte)} MiB available`;
        const fix = "Grange itself needs about 400 MiB, and jobs need more. Stop other programs";
        if (available < 400 * mebibyte) return fail(detail, fix);
        return available < 1_024 * mebibyte ? warn(detail, fix) : ok(detail);
      },
    },
    {
      name: "open files",
      async run() {
        const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
        const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
        if (Number.isNaN(soft)) return ok("the limit is not known");
        return soft >= wantedFiles
          ? ok(`up to ${soft} open files`)
          : warn(`only ${soft} open files`, `Raise it: ulimit -n ${wantedFiles}`);
      },
    },
    {
      name: "clock",
      async run() {
        const now = Date.now();
        return now > oldestBelievable
          ? ok(new Date(now).toISOString())
          : fail(
              `it shows ${new Date(now).toISOString()}`,
              "Set the clock: leases and logs depend on it",
            );
      },
    },
    {
      name: "clock pace",
      async run() {
        const wall = Date.now();
        const steady = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 100));
        const apart = Math.abs(Date.now() - wall - (performance.now() - steady));
        return apart < 50
          ? ok("wall clock and monotonic clock agree")
          : warn(
              `they drifted ${apart.toFixed(0)} ms apart in 100 ms`,
              "Check whether a program is setting the clock",
            );
      },
    },
    {
      name: "host name",
      async run() {
        return hostname() === ""
          ? warn("there is none", "Workers use it as their name. Set another name with --name")
          : ok(hostname());
      },
    },
  ];
}

/** Returns the memory that is available without swapping; the kernel's value is more exact than `freemem`. */
async function availableMemory(): Promise<number> {
  const info = await readFile("/proc/meminfo", "utf8").catch(() => "");
  const kibibytes = Number(/^MemAvailable:\s+(\d+) kB/m.exec(info)?.[1] ?? Number.NaN);
  return Number.isNaN(kibibytes) ? freemem() : kibibytes * 1_024;
}
