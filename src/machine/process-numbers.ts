import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * The numbers of processes, when /proc belongs to another pid namespace than this process.
 *
 * A sandbox whose kernel refuses a new /proc shows that of the namespace above. There, `/proc/14` is not the process
 * that kill(2) and fork(2) call 14. All code that reads /proc uses the numbers of /proc; signals need those of this
 * process's namespace.
 */
interface ProcessNumbers {
  /** Returns the number for kill(2) of a process of /proc; undefined when it has none or has ended. */
  ofSignals(inProc: number): number | undefined;
  /** Returns the number in /proc of a process that signals reach as `number`; undefined when it has ended. */
  inProc(number: number): number | undefined;
}

/**
 * Returns the process's numbers in the namespace of /proc and all namespaces below it, down to its own: see proc(5),
 * `NSpid`.
 */
export function parseNamespaceNumbers(status: string): number[] {
  const [, list = ""] = /^NSpid:[ \t]+(.*)$/m.exec(status) ?? [];
  return list.split(/\s+/).filter(Boolean).map(Number);
}

export function processNumbers(): ProcessNumbers {
  const here = numberOfThisProcess();
  if (here === undefined || here === process.pid) return sameNumbers;
  const own = numbersOf(here).length - 1;
  const ofSignals = (inProc: number) => numbersOf(inProc)[own];
  return {
    ofSignals,
    inProc(number) {
      const found = processesInProc().filter((inProc) => ofSignals(inProc) === number);
      // A sibling namespace may have the same number at the same depth; a child of this process is not in it.
      return found.find((inProc) => parentOf(inProc) === here) ?? found[0];
    },
  };
}

const sameNumbers: ProcessNumbers = { ofSignals: (pid) => pid, inProc: (pid) => pid };

/** Returns the number under which /proc shows this process; undefined without a /proc. */
export function numberOfThisProcess(): number | undefined {
  try {
    return Number(readlinkSync("/proc/self"));
  } catch {
    return undefined;
  }
}

function processesInProc(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

function numbersOf(inProc: number): number[] {
  return parseNamespaceNumbers(statusOf(inProc));
}

function parentOf(inProc: number): number {
  return Number(/^PPid:\s+(\d+)$/m.exec(statusOf(inProc))?.[1]);
}

function statusOf(inProc: number): string {
  try {
    return readFileSync(`/proc/${inProc}/status`, "utf8");
  } catch {
    return "";
  }
}
