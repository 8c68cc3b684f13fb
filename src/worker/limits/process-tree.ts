import { readdir, readFile } from "node:fs/promises";
import { processNumbers } from "#machine/process-numbers.ts";

/** A process as /proc shows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  /** In clock ticks since boot; together with the pid it identifies a process. */
  readonly startTime: string;
  readonly residentBytes: number;
  readonly userTicks: number;
  readonly systemTicks: number;
}

/** The value on every known Linux. Only this value and the page size would need sysconf. */
export const ticksPerSecond = 100;
const pageBytes = 4_096;

async function listProcesses(): Promise<ProcessInfo[]> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const all = await Promise.all(
    names.map((name) =>
      readFile(`/proc/${name}/stat`, "utf8").then(
        (text) => parseStat(text),
        () => undefined,
      ),
    ),
  );
  return all.filter((info) => info !== undefined);
}

/** Parses /proc/PID/stat, see proc(5). */
export function parseStat(text: string): ProcessInfo | undefined {
  // The name, in parentheses, may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const number = (index: number) => Number(fields[index] ?? 0);
  const startTime = fields[19];
  if (startTime === undefined) return undefined;
  return {
    pid: Number.parseInt(text, 10),
    parent: number(1),
    startTime,
    userTicks: number(11),
    systemTicks: number(12),
    residentBytes: number(21) * pageBytes,
  };
}

/** Returns a process and all its descendants. */
export function descendantsOf(root: number, processes: readonly ProcessInfo[]): ProcessInfo[] {
  const children = groupByParent(processes);
  const found = processes.filter(({ pid }) => pid === root);
  for (let at = 0; at < found.length; at++) {
    const pid = found[at]?.pid;
    if (pid !== undefined) found.push(...(children.get(pid) ?? []));
  }
  return found;
}

/**
 * Returns whether a process, by its number for signals, is in a pid namespace below the worker's; false when it has
 * ended.
 */
export async function isInOwnPidNamespace(pid: number): Promise<boolean> {
  const inProc = processNumbers().inProc(pid);
  if (inProc === undefined) return false;
  const [its, ours] = await Promise.all([depthOf(`${inProc}`), depthOf("self")]);
  return its > ours;
}

/** Its ids, one for each namespace from the worker's to its own. */
async function depthOf(name: string): Promise<number> {
  const status = await readFile(`/proc/${name}/status`, "utf8").catch(() => "");
  return (/^NSpid:\s+(.*)$/m.exec(status)?.[1] ?? "").split(/\s+/).filter(Boolean).length;
}

/** Returns the processes whose environment contains a text: the name of a job's own directory. */
export async function processesMarked(text: string): Promise<number[]> {
  const processes = await listProcesses();
  const marked = await Promise.all(
    processes.map(async ({ pid }) => {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      return environment.includes(text) ? pid : undefined;
    }),
  );
  return marked.filter((pid) => pid !== undefined);
}

function groupByParent(processes: readonly ProcessInfo[]): Map<number, ProcessInfo[]> {
  const groups = new Map<number, ProcessInfo[]>();
  for (const info of processes) {
    const group = groups.get(info.parent);
    if (group) group.push(info);
    else groups.set(info.parent, [info]);
  }
  return groups;
}
