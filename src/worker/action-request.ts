import { fromBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { digestFunctionFrom, fromDigestMessage } from "#cas/digest-message.ts";
import { problemOfPath, refuse } from "#cas/path-rules.ts";
import { type ActionService, servicesIn } from "#core/action-services.ts";
import type { Digest, DigestFunction } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { type JobRights, jobTokenName, rightsIn } from "#core/job-rights.ts";
import type { OutcomeRules } from "#core/outcome-rules.ts";
import { imageOf, type Platform, tokenProperty, usesNetwork } from "#core/platform.ts";
import { SecretName } from "#core/secret-reference.ts";
import { LoginScope, type RegistryLogin } from "#images/registry-login.ts";
import {
  ActionSchema,
  type Command,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { Secret, Work } from "#proto/grange/worker/v1/worker_pb.ts";
import { rulesOfAction } from "./judge/rules-of-action.ts";
import type { Limits } from "./limits/limits.ts";
import type { WorkerProtocol } from "./persistent/worker-protocol.ts";

/** What a client asks for with the properties that Bazel sets: a process that serves several actions. */
interface PersistentRequest {
  readonly key: string;
  readonly protocol: WorkerProtocol;
}

interface JobToken {
  readonly value: string;
  readonly rights: JobRights;
}

/** A checked request to run an action: its messages need not be checked again. */
export interface ActionRequest {
  readonly command: Command;
  readonly inputRoot: Digest;
  /**
   * The digest function of all blobs that the action produces: a client looks for no blob under
   * another function.
   */
  readonly digestFunction: DigestFunction;
  readonly timeoutMs: number;
  readonly network: boolean;
  /** The reference of a container image; absent for the programs of this machine. */
  readonly image: string | undefined;
  /** The programs that run beside the command. */
  readonly services: readonly ActionService[];
  readonly limits: Limits;
  readonly rules: OutcomeRules | undefined;
  /** The token of this execution and what it may do; absent for an action that requests no rights. */
  readonly token: JobToken | undefined;
  /** The secrets of this execution: files, and values that must not appear in its logs. */
  readonly secrets: readonly Secret[];
  /** Absent when the client does not ask for a persistent worker process. A request, and no promise. */
  readonly persistent: PersistentRequest | undefined;
  /** The logins for pulls of its images. */
  readonly registryLogins: readonly RegistryLogin[];
}

/** Protects against fork bombs. A build of Grange with 64 parallel jobs has about 400 processes. */
const mostProcesses = 4_096;

/** Throws `invalid_argument` for an action that no machine can run. */
export function parseWork(work: Work): ActionRequest {
  const digestFunction = digestFunctionFrom(work.digestFunction);
  const action = fromBinary(ActionSchema, work.action);
  const command = fromBinary(CommandSchema, work.command);
  if (command.arguments.length === 0) throw new Fault("invalid_argument", "the command is empty");
  for (const text of [
    ...command.arguments,
    ...command.environmentVariables.map(({ value }) => value),
  ]) {
    if (text.includes("\0"))
      throw new Fault("invalid_argument", "an argument or variable has a NUL");
  }
  for (const { name } of command.environmentVariables) {
    if (!/^[^=\0]+$/.test(name))
      throw new Fault(
        "invalid_argument",
        `${JSON.stringify(name)} cannot be the name of a variable`,
      );
  }
  // buildbox's trexe writes the root of the inputs like this.
  if (command.workingDirectory === ".") command.workingDirectory = "";
  if (command.workingDirectory !== "") {
    refuse(command.workingDirectory, problemOfPath(command.workingDirectory));
  }
  // The action's own platform is the newer place; servers before REv2 2.2 read the command's.
  const properties = action.platform ?? command.platform;
  const platform = Object.fromEntries(
    (properties?.properties ?? []).map(({ name, value }) => [name, value]),
  );
  return {
    command,
    inputRoot: fromDigestMessage(action.inputRootDigest, "the input root", digestFunction),
    digestFunction,
    timeoutMs: work.timeout ? durationMs(work.timeout) : 0,
    network: networkOf(platform),
    image: imageOf(platform),
    services: servicesIn(platform),
    limits: limitsOf(platform),
    rules: rulesOfAction(platform),
    token: tokenOf(work, platform),
    secrets: secretsOf(work),
    persistent: persistentOf(platform),
    registryLogins: work.registryLogins.map(({ host, user, password, scope }) => {
      // A part of directory names.
      if (!LoginScope.safeParse(scope).success)
        throw new Fault("invalid_argument", "the scope of a registry login has a wrong form");
      return { host, user, password, scope };
    }),
  };
}

/** The farm sends the token among the secrets, so that a worker of an earlier version hides it in logs, too. */
function tokenOf({ secrets }: Work, platform: Platform): JobToken | undefined {
  const sent = secrets.find(({ name }) => name === jobTokenName);
  const rights = rightsIn(platform[tokenProperty] ?? "");
  return sent && rights && { value: Buffer.from(sent.value).toString(), rights };
}

/** An unknown protocol is no error: without a persistent process, the action has the same result. */
function persistentOf(platform: Platform): PersistentRequest | undefined {
  const key = platform.persistentWorkerKey ?? "";
  const protocol = platform.persistentWorkerProtocol ?? "proto";
  if (key === "" || (protocol !== "proto" && protocol !== "json")) return undefined;
  return { key, protocol };
}

function secretsOf(work: Work): readonly Secret[] {
  const secrets = work.secrets.filter(({ name }) => name !== jobTokenName);
  for (const { name } of secrets) {
    if (!SecretName.safeParse(name).success)
      throw new Fault("invalid_argument", `${JSON.stringify(name)} cannot be the name of a secret`);
  }
  return secrets;
}

/**
 * Returns whether the action has network access. Throws for an unknown value, because the action would silently lack
 * it.
 */
function networkOf(platform: Platform): boolean {
  const { network = "off" } = platform;
  if (network === "on" || network === "off") return usesNetwork(platform);
  throw new Fault(
    "invalid_argument",
    `network is ${JSON.stringify(network)}; it must be "on" or "off"`,
  );
}

function limitsOf(platform: Platform): Limits {
  const memoryBytes = positive("memory", platform);
  const cpus = positive("cpus", platform);
  const outputBytes = positive("outputs", platform);
  return {
    processes: mostProcesses,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(outputBytes === undefined ? {} : { outputBytes }),
  };
}

function positive(name: string, platform: Platform): number | undefined {
  const text = platform[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  throw new Fault(
    "invalid_argument",
    `${name} is ${JSON.stringify(text)}; it must be a positive number`,
  );
}

/** The PATH of an image that states none. */
const defaultPathOfImages = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Returns the environment of a command: its own variables, those of its image, and those that every program expects.
 */
export function environmentOf(
  command: Command,
  defaults: { readonly path: string; readonly home: string; readonly temp: string },
  ofImage: readonly (readonly [name: string, value: string])[] = [],
): Map<string, string> {
  const { path, home, temp } = defaults;
  return new Map([
    ["PATH", ofImage.length === 0 ? path : defaultPathOfImages],
    ...ofImage,
    // Those of an image are not writable.
    ["HOME", home],
    ["TMPDIR", temp],
    ...command.environmentVariables.map(({ name, value }): [string, string] => [name, value]),
  ]);
}
