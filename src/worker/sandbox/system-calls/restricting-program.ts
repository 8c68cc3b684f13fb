import type { JobOwner } from "#machine/job-owner.ts";
import { jobUser } from "#machine/job-owner.ts";
import { nativeProgram } from "../../native/native-program.ts";

interface Restrictions {
  /** The filter of system calls for its processes: `struct sock_filter[]` in bytes; see `seccomp-filter.ts`. */
  readonly filter: Buffer;
  /** Whether abstract Unix sockets of other processes are unreachable. Needs Linux 6.12 with Landlock. */
  readonly closesAbstractSockets: boolean;
  /** The user that root becomes with the option `o`. */
  readonly owner: JobOwner | undefined;
}

/**
 * Returns the program `enter`, which runs a command with restrictions that neither the command nor its children can
 * remove; undefined for an architecture for which it was not compiled.
 *
 * Node cannot call prctl(2), and util-linux loads filters only since 2.40.
 */
export function restrictingProgram(
  architecture: string,
  restrictions: Restrictions,
): Buffer | undefined {
  return nativeProgram("enter", architecture, settingsOf(restrictions));
}

/** LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET. */
const scopeAbstractSockets = 1n;

/** `struct settings` of `enter.c`. */
function settingsOf({ filter, closesAbstractSockets, owner }: Restrictions): Buffer {
  const head = Buffer.alloc(48);
  if (closesAbstractSockets) head.writeBigUInt64LE(scopeAbstractSockets, 16);
  const numbers = [
    closesAbstractSockets ? 1 : 0,
    owner?.uid ?? 0,
    owner?.gid ?? 0,
    jobUser.uid,
    jobUser.gid,
    filter.length / 8,
  ];
  for (const [at, number] of numbers.entries()) head.writeUInt32LE(number, 24 + 4 * at);
  return Buffer.concat([head, filter]);
}
