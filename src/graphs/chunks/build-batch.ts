import { create } from "@bufbuild/protobuf";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { digestOf } from "#cas/digest-of.ts";
import { decodeDirectory, encodeDirectory } from "#cas/directory-message.ts";
import { compareByCodePoint } from "#cas/tree-entry.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { JobDefinition } from "#definitions/job-definition.ts";
import { FileNodeSchema } from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import { type BuiltAction, buildAction } from "../build-action.ts";

const itemsFile = ".grange-items.json";
/** An environment may have about 100 KiB, and the commands need some of it. */
const mostInEnvironment = 32 * 1024;

/**
 * Builds the action of a batch: the job's commands, with the batch's items. The same items with the same inputs are the
 * same action, in whichever batch.
 *
 * The items are a JSON list in the file that `$GRANGE_ITEMS_FILE` names; if they are few, `$GRANGE_ITEMS` has them as
 * lines, too. Stores all inputs of the action.
 */
export async function buildBatch(
  store: BlobStore,
  definition: JobDefinition,
  inputRoot: Digest,
  items: readonly string[],
): Promise<BuiltAction> {
  const sorted = items.toSorted(compareByCodePoint);
  const root = await withItems(store, inputRoot, sorted);
  const built = buildAction(forBatch(definition, sorted), root);
  await Promise.all(
    [built.command, built.action].map(({ digest, bytes }) => store.put(digest, bytes)),
  );
  return built;
}

function forBatch(definition: JobDefinition, items: readonly string[]): JobDefinition {
  const { chunks, "working-directory": directory } = definition;
  const lines = items.join("\n");
  const up = directory === undefined ? "" : "../".repeat(directory.split("/").length);
  const results = chunks?.results === undefined ? [] : [chunks.results];
  return {
    ...definition,
    environment: {
      ...definition.environment,
      GRANGE_ITEMS_FILE: `${up}${itemsFile}`,
      ...(Buffer.byteLength(lines) <= mostInEnvironment ? { GRANGE_ITEMS: lines } : {}),
    },
    outputs: [...(definition.outputs ?? []), ...results],
  };
}

/** Returns the root with the same files and the list of items. */
async function withItems(
  store: BlobStore,
  inputRoot: Digest,
  items: readonly string[],
): Promise<Digest> {
  const bytes = await store.get(inputRoot);
  if (bytes === undefined)
    throw new Fault(
      "failed_precondition",
      `inputs are missing: the store has lost the input root ${digestKey(inputRoot)}; run the job again`,
    );
  const root = decodeDirectory(bytes);
  const list = new TextEncoder().encode(`${JSON.stringify(items)}\n`);
  const digest = digestOf(list);
  await store.put(digest, list);
  const node = create(FileNodeSchema, { name: itemsFile, digest: toDigestMessage(digest) });
  const others = root.files.filter(({ name }) => name !== itemsFile);
  const files = [...others, node].toSorted((a, b) => compareByCodePoint(a.name, b.name));
  const encoded = encodeDirectory({ ...root, files });
  await store.put(encoded.digest, encoded.bytes);
  return encoded.digest;
}
