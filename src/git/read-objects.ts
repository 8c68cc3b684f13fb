import { Fault } from "#core/fault.ts";
import { byteReader } from "./byte-reader.ts";
import type { GitId } from "./commit-tree.ts";
import { gitFault } from "./git-fault.ts";
import type { Git } from "./run-git.ts";

/** A Git blob that is being read from a mirror. Take or stream it once, before the next one. */
interface ReadObject {
  readonly gitId: GitId;
  readonly sizeBytes: number;
  take(): Promise<Buffer>;
  stream(): AsyncIterable<Buffer>;
}

const timeoutMs = 30 * 60_000;

/** Reads blobs with one process, in the order of their ids. Content that is not read is skipped. */
export async function* readObjects(
  git: Git,
  mirror: string,
  gitIds: readonly GitId[],
): AsyncGenerator<ReadObject, void, undefined> {
  if (gitIds.length === 0) return;
  const process = git.start(["cat-file", "--batch", "--buffer"], {
    directory: mirror,
    input: gitIds.map((id) => `${id}\n`).join(""),
    timeoutMs,
  });
  // It is awaited below, but may reject before.
  process.ended.catch(() => {});
  try {
    const reader = byteReader(process.stdout);
    for (const gitId of gitIds) {
      const header = await reader.line();
      if (header === undefined) throw gitFault(mirror, (await process.ended).stderr);
      const [, type, size] = header.split(" ");
      if (type !== "blob") {
        throw new Fault("data_loss", `the mirror ${mirror} has no file ${gitId} (git: ${header})`);
      }
      const sizeBytes = Number(size);
      let isTaken = false;
      yield {
        gitId,
        sizeBytes,
        take() {
          isTaken = true;
          return reader.take(sizeBytes);
        },
        stream() {
          isTaken = true;
          return reader.stream(sizeBytes);
        },
      };
      if (!isTaken) for await (const _ of reader.stream(sizeBytes));
      // A line feed follows each blob.
      await reader.take(1);
    }
  } finally {
    process.kill(new Fault("cancelled", "no more objects are needed"));
  }
}
