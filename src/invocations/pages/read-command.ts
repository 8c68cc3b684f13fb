import { fromBinary } from "@bufbuild/protobuf";
import type { ExecutionDetail } from "#api/execution.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, digestKey, functionOf } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { showableArguments, showableVariables } from "#core/hide-secrets.ts";
import { secretsProperty } from "#core/platform.ts";
import {
  type Action,
  ActionSchema,
  type Command,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";

/** Apart from response files, no operating system starts a longer command. */
const mostBytes = 4 * 1024 * 1024;

/** The command to execute; parts whose blobs are no longer in the store are missing. */
interface ReadAction {
  readonly inputRoot: string | null;
  readonly command: ExecutionDetail["command"];
  readonly settings: ActionSettings | null;
}

/** What belongs to the digest of an action, besides its inputs, its command line and its platform. */
export interface ActionSettings {
  /** Null: the action sets none. */
  readonly timeoutMs: number | null;
  readonly doNotCache: boolean;
  /** The hash of the salt, which separates results that must not be shared; null without one. */
  readonly saltHash: string | null;
  /** Null when the command is not in the store. */
  readonly outputs: readonly string[] | null;
}

export async function readAction(blobs: BlobStore, digest: Digest): Promise<ReadAction> {
  const by = functionOf(digest);
  try {
    const action = await messageOf(blobs, digest, (bytes) => fromBinary(ActionSchema, bytes));
    if (action === undefined) return { inputRoot: null, command: null, settings: null };
    const inputRoot = fromDigestMessage(action.inputRootDigest, "the input root", by);
    const command = await commandMessage(blobs, action, by);
    return {
      inputRoot: digestKey(inputRoot),
      command: command === undefined ? null : showableCommand(command, action),
      settings: settingsOf(action, command),
    };
  } catch (reason) {
    // An unreadable action cannot be shown; the other facts can.
    if (reason instanceof Fault && reason.code === "invalid_argument") {
      return { inputRoot: null, command: null, settings: null };
    }
    throw reason;
  }
}

function settingsOf(action: Action, command: Command | undefined): ActionSettings {
  const { doNotCache, salt, timeout } = action;
  return {
    timeoutMs:
      timeout === undefined ? null : Number(timeout.seconds) * 1_000 + timeout.nanos / 1_000_000,
    doNotCache,
    saltHash: salt.length === 0 ? null : digestOf(salt).hash,
    outputs: command === undefined ? null : outputsOf(command),
  };
}

function outputsOf({ outputPaths, outputFiles, outputDirectories }: Command): string[] {
  return [...outputPaths, ...outputFiles, ...outputDirectories].toSorted();
}

/** Returns a text that is equal for actions that make the same outputs; undefined when its blobs cannot be read. */
export async function outputsOfAction(
  blobs: BlobStore,
  digest: Digest,
): Promise<string | undefined> {
  try {
    const action = await messageOf(blobs, digest, (bytes) => fromBinary(ActionSchema, bytes));
    const command = action && (await commandMessage(blobs, action, functionOf(digest)));
    if (command === undefined) return undefined;
    return JSON.stringify(outputsOf(command));
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return undefined;
    throw reason;
  }
}

function commandMessage(
  blobs: BlobStore,
  action: Action,
  by: ReturnType<typeof functionOf>,
): Promise<Command | undefined> {
  const digest = fromDigestMessage(action.commandDigest, "the command", by);
  return messageOf(blobs, digest, (bytes) => fromBinary(CommandSchema, bytes));
}

function showableCommand(command: Command, action: Action): ExecutionDetail["command"] {
  return {
    arguments: showableArguments(command.arguments),
    environment: showableVariables(namesAndValues(command.environmentVariables)),
    workingDirectory: command.workingDirectory,
    // Older clients set it only in the command.
    platform: showablePlatform((action.platform ?? command.platform)?.properties ?? []),
  };
}

/** The names of an action's secrets are not secret. */
function showablePlatform(
  properties: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  const plain = namesAndValues(properties);
  const { [secretsProperty]: secrets } = plain;
  return {
    ...showableVariables(plain),
    ...(secrets === undefined ? {} : { [secretsProperty]: secrets }),
  };
}

function namesAndValues(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

async function messageOf<Message>(
  blobs: BlobStore,
  digest: Digest,
  read: (bytes: Uint8Array) => Message,
): Promise<Message | undefined> {
  if (digest.sizeBytes > mostBytes) return undefined;
  const bytes = await blobs.get(digest);
  if (bytes === undefined) return undefined;
  try {
    return read(bytes);
  } catch (cause) {
    throw new Fault("invalid_argument", `${digestKey(digest)} cannot be decoded`, { cause });
  }
}
