import { type Digest, parseDigestKey } from "#core/digest.ts";
import type { Tx } from "#db/db.ts";
import { takingTurns } from "#scheduling/take-turns.ts";
import { chunksOfBlob, storeChunks } from "./chunk-list.store.ts";

/** How the blobs of a project are split: shared by all servers, so that no blob is split twice. */
export interface ChunkLists {
  /** Returns the chunks of a blob in their order; undefined when none are stored. Some may be missing by now. */
  find(project: string, blob: Digest): Promise<readonly Digest[] | undefined>;
  /** Stores the chunks of a blob. The caller has checked that they are the blob. */
  keep(project: string, blob: Digest, chunks: readonly Digest[]): Promise<void>;
}

/** Digests of a long list are parsed in so many at a time: each takes 2 µs. */
const parsedAtOnce = 100;

export function chunkLists(db: Tx): ChunkLists {
  return {
    async find(project, blob) {
      const keys = await chunksOfBlob(db, project, blob);
      if (keys === undefined) return undefined;
      const turn = takingTurns();
      const chunks: Digest[] = [];
      for (const [at, key] of keys.entries()) {
        if (at % parsedAtOnce === 0) await turn();
        chunks.push(parseDigestKey(key));
      }
      return chunks;
    },
    keep: (project, blob, chunks) => storeChunks(db, project, blob, chunks),
  };
}
