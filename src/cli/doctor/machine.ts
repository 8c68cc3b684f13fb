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
      needs: "There are at least 2 cores",
      fix: "With 1 core there is only one worker, of size class 1",
      async run() {
        const cores = availableParallelism();
        return cores >= 2 ? ok(`${cores} cores`) : warn("1 core");
      },
    },
    {
      name: "memory",
      needs: "At least 1 GiB of memory is available",
      fix: "Grange itself needs about 400 MiB, and jobs need more. Stop other programs",
      async run() {
        const available = await availableMemory();
        const detail = `${Math.round(available / mebibyte)} MiB of ${Math.round(totalmem() / mebibyte)} MiB available`;
        if (available < 400 * mebibyte) return fail(detail);
        return available < 1_024 * mebibyte ? warn(detail) : ok(detail);
      },
    },
    {
      name: "open files",
      needs: `A process may open ${wantedFiles} files`,
      fix: `Raise the limit: ulimit -n ${wantedFiles}`,
      async run() {
        const limits = await readFile("/proc/self/limits", "utf8").catch(() => "");
        const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
        if (Number.isNaN(soft)) return ok("the limit is not known");
        return soft >= wantedFiles
          ? ok(`up to ${soft} open files`)
          : warn(`only ${soft} open files`);
      },
    },
    {
      name: "clock",
      needs: "The clock does not show a date before 2025",
      fix: "Set the clock: leases and logs depend on it",
      async run() {
        const now = Date.now();
        return now > oldestBelievable
          ? ok(new Date(now).toISOString())
          : fail(`it shows ${new Date(now).toISOString()}`);
      },
    },
    {
      name: "clock pace",
      needs: "The wall clock and the monotonic clock run at the same pace",
      fix: "Check whether a program is setting the clock",
      async run() {
        const wall = Date.now();
        const steady = performance.now();
        await new Promise((resolve) => setTimeout(resolve, 100));
        const apart = Math.abs(Date.now() - wall - (performance.now() - steady));
        return apart < 50
          ? ok("wall clock and monotonic clock agree")
          : warn(`they drifted ${apart.toFixed(0)} ms apart in 100 ms`);
      },
    },
    {
      name: "host name",
      needs: "The machine has a host name",
      fix: "Workers use it as their name. Set another name with --name",
      async run() {
        return hostname() === "" ? warn("there is none") : ok(hostname());
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
