import { Fault, messageOf } from "#core/fault.ts";

/** The operating system's name for an error, such as ENOSPC; undefined when it has none. */
export function errnoOf(reason: unknown): string | undefined {
  if (!(reason instanceof Error) || !("code" in reason)) return undefined;
  return typeof reason.code === "string" ? reason.code : undefined;
}

/** Returns a fault that explains an error of the file system and what to do. Faults are returned unchanged. */
export function diskFault(reason: unknown, directory: string): Fault {
  if (reason instanceof Fault) return reason;
  const cause = { cause: reason };
  const errno = errnoOf(reason) ?? "";
  if (["ENOSPC", "EDQUOT"].includes(errno)) {
    return new Fault(
      "resource_exhausted",
      `no space is left in ${directory}; nothing was stored. Free disk space, or move the directory to a larger disk`,
      cause,
    );
  }
  if (["EACCES", "EPERM", "EROFS"].includes(errno)) {
    return new Fault(
      "failed_precondition",
      `${directory} is not writable (${messageOf(reason)}); check its owner and its mount`,
      cause,
    );
  }
  if (["EMFILE", "ENFILE"].includes(errno)) {
    return new Fault(
      "resource_exhausted",
      `too many files are open to work in ${directory}; raise the limit (ulimit -n)`,
      cause,
    );
  }
  return Fault.from(reason, `working in ${directory}`);
}
