import { openSync, readdirSync, readFileSync } from "node:fs";

/** Set for files that a started program does not inherit; readable in /proc, on almost all machines. */
const closeOnExec = 0o2000000;
let inherited: readonly number[] | undefined;
let nothing: number | undefined;

/**
 * Returns a replacement, from file `first` on, for the open files that this process inherited, such as the pipes of a
 * terminal or a supervisor. A started program would inherit them, too, and could write to them.
 */
export function replacementsOfInheritedFiles(first: number): ("ignore" | number)[] {
  inherited ??= readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && isPassedOn(fd));
  const hidden = inherited.filter((fd) => fd >= first);
  if (hidden.length === 0) return [];
  nothing ??= openSync("/dev/null", "r+");
  const standIn = nothing;
  return Array.from({ length: Math.max(...hidden) + 1 - first }, (_, i) =>
    hidden.includes(first + i) ? standIn : "ignore",
  );
}

function isPassedOn(fd: number): boolean {
  try {
    const [, flags = "0"] =
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8")) ?? [];
    return (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // The descriptor of this check itself.
    return false;
  }
}
