import { fromBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "#cas/blob-store.ts";
import { fromDigestMessage } from "#cas/digest-message.ts";
import { assertFewParts } from "#cas/message-parts.ts";
import { type Digest, digestKey, functionOf, uniqueDigests } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { Platform, secretsProperty, tokenProperty } from "#core/platform.ts";
import {
  type Action,
  ActionSchema,
  type Command,
  CommandSchema,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { missingInputs } from "./missing-inputs.ts";

/** Apart from response files, no operating system starts a longer command. */
const mostBytes = 4 * 1_048_576;
const mostParts = 250_000;

/** The data of an action and its command that the queue needs. */
export interface KnownAction {
  readonly kind: "read";
  readonly action: Action;
  readonly command: Command;
  readonly commandDigest: Digest;
  readonly platform: Platform;
}

type ReadAction = { readonly kind: "missing"; readonly missing: readonly Digest[] } | KnownAction;

/**
 * Reads an action and its command, and checks that the root of its inputs is present.
 *
 * The worker, which has to read the tree anyway, finds blobs that are missing deeper in the tree. When a blob is
 * missing here already, all missing ones are reported. Throws `invalid_argument` for a blob that is no action.
 */
export async function readAction(digest: Digest, blobs: BlobStore): Promise<ReadAction> {
  const bytes = await smallBlob(blobs, digest, "action");
  if (bytes === undefined) return { kind: "missing", missing: [digest] };
  const { action, commandDigest, rootDigest } = decodeAction(digest, bytes);
  const missing = await blobs.findMissing([commandDigest, rootDigest]);
  const commandBytes =
    missing.length > 0 ? undefined : await smallBlob(blobs, commandDigest, "command");
  if (commandBytes === undefined) {
    return { kind: "missing", missing: await allMissing(blobs, commandDigest, rootDigest) };
  }
  assertFewParts(CommandSchema, commandBytes, mostParts);
  const command = decoded("command", () => fromBinary(CommandSchema, commandBytes));
  const platform = platformOf(action, command);
  return { kind: "read", action, command, commandDigest, platform };
}

/** Returns all blobs that an execution of the action lacks, including those that its worker `reported`. */
export async function allMissingOf(
  digest: Digest,
  blobs: BlobStore,
  reported: readonly Digest[],
): Promise<readonly Digest[]> {
  const bytes = await smallBlob(blobs, digest, "action");
  if (bytes === undefined) return union(reported, [digest]);
  try {
    const { commandDigest, rootDigest } = decodeAction(digest, bytes);
    return union(reported, await allMissing(blobs, commandDigest, rootDigest));
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return reported;
    throw reason;
  }
}

/**
 * Reads a blob that should contain a message. A digest may name any blob, even one of gigabytes: a blob that is too
 * large for a message is not read.
 */
async function smallBlob(
  blobs: BlobStore,
  digest: Digest,
  what: string,
): Promise<Uint8Array | undefined> {
  if (digest.sizeBytes <= mostBytes) return blobs.get(digest);
  throw new Fault(
    "invalid_argument",
    `the ${what} ${digestKey(digest)} is over ${mostBytes} bytes; put long values into an input file`,
  );
}

function decodeAction(digest: Digest, bytes: Uint8Array) {
  assertFewParts(ActionSchema, bytes, mostParts);
  const action = decoded("action", () => fromBinary(ActionSchema, bytes));
  const by = functionOf(digest);
  return {
    action,
    commandDigest: fromDigestMessage(action.commandDigest, "the action's command", by),
    rootDigest: fromDigestMessage(action.inputRootDigest, "the action's input root", by),
  };
}

async function allMissing(blobs: BlobStore, command: Digest, root: Digest): Promise<Digest[]> {
  const [commands, inputs] = await Promise.all([
    // Checked by reading, because a store that caches existence may be a minute out of date.
    smallBlob(blobs, command, "command").then((bytes) => (bytes === undefined ? [command] : [])),
    missingInputs(blobs, root),
  ]);
  return union(commands, inputs);
}

function union(some: readonly Digest[], others: readonly Digest[]): Digest[] {
  return uniqueDigests([...some, ...others]);
}

function decoded<T>(what: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new Fault("invalid_argument", `the ${what} is not a REv2 message`, { cause });
  }
}

/** The action's platform takes precedence; Buck2 and Pants set only the command's. */
function platformOf(action: Action, command: Command): Platform {
  const { properties } = action.platform ?? command.platform ?? { properties: [] };
  const found = new Map<string, string>();
  for (const { name, value } of properties) {
    const other = found.get(name);
    // By REv2 a worker would have to offer both values; no client that we know of requires that.
    if (other !== undefined && other !== value) {
      throw new Fault(
        "invalid_argument",
        `the platform property ${JSON.stringify(name.slice(0, 80))} has two values; give it one`,
      );
    }
    found.set(name, value);
  }
  if (found.has(secretsProperty)) {
    throw new Fault(
      "permission_denied",
      `only jobs of graphs get secrets: remove the platform property ${secretsProperty}`,
    );
  }
  if (found.has(tokenProperty)) {
    throw new Fault(
      "permission_denied",
      `only jobs of graphs get a token: remove the platform property ${tokenProperty}`,
    );
  }
  const platform = Platform.safeParse(Object.fromEntries(found));
  if (platform.success) return platform.data;
  throw new Fault(
    "invalid_argument",
    "a platform property has no name, or a name over 256 or a value over 1,024 characters",
  );
}

export function timeoutIn(action: Action): number | undefined {
  if (action.timeout === undefined) return undefined;
  const ms = Math.round(durationMs(action.timeout));
  return ms > 0 ? ms : undefined;
}
