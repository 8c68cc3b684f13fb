import { createHash } from "node:crypto";
import type { ActionRequest } from "../action-request.ts";
import type { Limits } from "../limits/limits.ts";
import { declaredOutputs } from "../outputs/declared-outputs.ts";
import { splitWorkerCommand } from "./split-command.ts";

/** What a machine must have: see `docs/decisions/0185-persistent-workers.md`. */
interface PersistentMachine {
  /** The processes that it keeps at most; 0: it keeps none. */
  readonly most: number;
  /** Whether a running sandbox sees input trees that are mounted later. */
  readonly seesLaterMounts: boolean;
  readonly limiter: "cgroup-v2" | "cgroup-v1" | "proc";
}

export type PersistentChoice =
  | ({ readonly kind: "persistent" } & NonNullable<ReturnType<typeof splitWorkerCommand>>)
  | { readonly kind: "ordinary"; readonly why: string };

/** Decides whether a process that serves several actions may serve this one. */
export function mayBePersistent(
  request: Omit<ActionRequest, "inputRoot" | "digestFunction">,
  machine: PersistentMachine,
): PersistentChoice {
  const { persistent, command } = request;
  const ordinary = (why: string): PersistentChoice => ({ kind: "ordinary", why });
  if (machine.most === 0) return ordinary("the worker keeps no processes");
  if (persistent === undefined) return ordinary("the client does not ask for it");
  if (!machine.seesLaterMounts)
    return ordinary("sandboxes of this machine do not see input trees that are mounted later");
  if (request.network) return ordinary("it has network access");
  if (request.services.length > 0) return ordinary("it has services");
  if (request.secrets.length > 0 || request.token !== undefined)
    return ordinary("it has secrets or a token of its own");
  if (request.rules !== undefined) return ordinary("it has rules for its output");
  if (request.limits.cpus !== undefined && machine.limiter === "proc")
    return ordinary("CPUs of a running process cannot be changed without control groups");
  if (command.workingDirectory !== "")
    return ordinary("its working directory is not the root of its inputs");
  // The root of the tree stays when the tree is replaced, and only the worker may write in it.
  if (declaredOutputs(command).some(({ path }) => !path.includes("/")))
    return ordinary("it has an output in the root of its inputs");
  const split = splitWorkerCommand(command.arguments);
  if (split === undefined)
    return ordinary("its last argument, and no other, must name a file of arguments");
  return { kind: "persistent", ...split };
}

/** What two actions must have in common to be served by one process. */
export interface KeyParts {
  readonly project: string;
  readonly domain: string;
  readonly clientKey: string;
  readonly protocol: string;
  readonly startup: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly limits: Limits;
  readonly sandbox: string;
  /** The directory of the root file system of its image, which has the digest of the image in its name; absent without an image. */
  readonly image: string | undefined;
  /** Mounts of another helper shell do not reach the process. */
  readonly shellGeneration: number;
  readonly tools: string;
}

export function keyOf({ environment, ...parts }: KeyParts): string {
  const variables = [...environment].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([parts, variables]))
    .digest("hex");
}
