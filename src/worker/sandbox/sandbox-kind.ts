import type { ViewStep } from "../image/image-provider.ts";
import type { ProcKind, Sandbox } from "./sandbox.ts";
import type { Restriction } from "./system-calls/choose-restriction.ts";

/** A kind of sandbox, as registered in `sandbox-kinds.ts`. */
export interface SandboxKind {
  /** Its name in the configuration of a worker. */
  readonly kind: string;
  /** Returns the sandboxes of this kind, the strictest first. The worker uses the first in which a command runs. */
  open(parts: SandboxParts): Promise<readonly NamedSandbox[]>;
  /** Returns why none of them works here, if a trial would not detect it. */
  unusable?(): string | undefined;
  /** Returns a clearer message for a failed trial; undefined to use the printed one. */
  complaint?(printed: string): string | undefined;
}

interface SandboxParts {
  /** The root file system of jobs. */
  readonly view: readonly ViewStep[];
  readonly restriction: Restriction;
  /** The directory of this process, for files that sandboxes need. */
  readonly runDir: string;
}

interface NamedSandbox {
  /** Its kind, and the source of its /proc if that is not its own; for people. */
  readonly name: string;
  readonly sandbox: Sandbox;
}

/** Returns a sandbox with its own /proc, and one with the worker's /proc, for a kernel that permits no other. */
export function withEitherProc(
  kind: string,
  sandboxWith: (proc: ProcKind) => Sandbox,
): readonly NamedSandbox[] {
  return [
    { name: kind, sandbox: sandboxWith("own") },
    { name: `${kind} with the worker's /proc`, sandbox: sandboxWith("shared") },
  ];
}
