import type { InvocationAction } from "#api/invocation.ts";
import type { TestAttempts } from "#api/invocation-targets.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { parseDigestKey } from "#core/digest.ts";
import type { Db } from "#db/db.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import type { InvocationName } from "../pages/invocation-row.store.ts";
import { listActions } from "../pages/list-actions.ts";
import { readAction } from "../pages/read-command.ts";
import { type TestAction, testAttempts, testMnemonic } from "./test-attempts.ts";

/** More actions of one test are not read. */
const mostActions = 500;
const readAtOnce = 8;

/** Returns the attempts of a test in a build, by the actions that it requested. */
export async function listTestAttempts(
  { db, blobs }: { readonly db: Db; readonly blobs: BlobStore },
  name: InvocationName,
  label: string,
): Promise<TestAttempts> {
  const { actions, next } = await db.transaction((tx) =>
    listActions(tx, {
      ...name,
      state: undefined,
      text: `${label} ${testMnemonic}`,
      after: undefined,
      limit: mostActions,
    }),
  );
  // The text is a part of label and mnemonic: another label may end with this one.
  const own = actions.filter(
    ({ target, mnemonic }) => target === label && mnemonic === testMnemonic,
  );
  const read = await commandsOf(blobs, own);
  const known = own.flatMap((action): TestAction[] => {
    const command = read.get(action.actionDigest);
    return command === undefined ? [] : [{ action, command }];
  });
  return {
    label,
    attempts: testAttempts(known),
    unreadable: own.length - known.length,
    isCut: next !== null,
  };
}

/** Reads each command once: attempts have the same. */
async function commandsOf(
  blobs: BlobStore,
  actions: readonly InvocationAction[],
): Promise<ReadonlyMap<string, TestAction["command"]>> {
  const digests = [...new Set(actions.map(({ actionDigest }) => actionDigest))];
  const commands = new Map<string, TestAction["command"]>();
  await mapAtMost(readAtOnce, digests, async (digest) => {
    const { command } = await readAction(blobs, parseDigestKey(digest));
    if (command !== null) commands.set(digest, command);
  });
  return commands;
}
