import type { ActionDifferences } from "#api/action-comparison.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey, parseDigestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { readAction } from "../pages/read-command.ts";
import { compareCommands } from "./compare-commands.ts";
import { compareSettings } from "./compare-settings.ts";
import { compareTrees } from "./compare-trees.ts";

/** More differences than this of one kind are not listed. */
const mostListed = 200;

/** Compares two actions whose blobs are in the same store: their commands and settings, and their input trees by path. */
export async function compareActions(
  blobs: BlobStore,
  before: Digest,
  after: Digest,
): Promise<ActionDifferences> {
  const nothing = { command: [], inputs: [], isCut: false, unreadable: null };
  if (digestKey(before) === digestKey(after)) return { isSameAction: true, ...nothing };
  const [old, now] = await Promise.all([readAction(blobs, before), readAction(blobs, after)]);
  const command = [
    ...(old.command === null || now.command === null
      ? []
      : compareCommands(old.command, now.command)),
    ...(old.settings === null || now.settings === null
      ? []
      : compareSettings(old.settings, now.settings)),
  ];
  const unreadable: string[] = [];
  if (old.command === null || now.command === null)
    unreadable.push("The commands cannot be compared: they are no longer in the store.");
  const trees =
    old.inputRoot === null || now.inputRoot === null
      ? undefined
      : await treesOf(blobs, parseDigestKey(old.inputRoot), parseDigestKey(now.inputRoot));
  if (trees === undefined || trees.missing)
    unreadable.push("Not all inputs can be compared: they are no longer in the store.");
  return {
    isSameAction: false,
    command: command.slice(0, mostListed),
    inputs: [...(trees?.differences ?? [])],
    isCut: command.length > mostListed || trees?.isCut === true,
    unreadable: unreadable.length === 0 ? null : unreadable.join(" "),
  };
}

async function treesOf(blobs: BlobStore, before: Digest, after: Digest) {
  try {
    return await compareTrees(blobs, before, after, mostListed);
  } catch (reason) {
    // A directory that cannot be decoded: clients may store any bytes.
    if (reason instanceof Fault && reason.code === "invalid_argument") return undefined;
    throw reason;
  }
}
