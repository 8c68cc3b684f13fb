import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { FarmPatience } from "./farm-patience.ts";
import { type Follower, followDownload } from "./follow-download.ts";

/** What became of a blob that was asked for at the farm. */
export type Download =
  | { readonly kind: "here"; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "absent" }
  /** The disk took it not: these are its bytes, or undefined when they are many. */
  | { readonly kind: "unkept"; readonly bytes: Uint8Array | undefined };

export interface Downloads extends Service {
  /** Brings a blob of a project's into the store, once for all that ask. Throws when the farm fails, or is silent. */
  bring(project: string, digest: Digest, patience: FarmPatience): Promise<Download>;
  /** The same, and of a large one the bytes while they come, for the first that asks. */
  follow(project: string, digest: Digest, patience: FarmPatience): Promise<Download | Coming>;
}

export interface Coming {
  readonly kind: "coming";
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Resolves when nothing more of it comes. */
  readonly over: Promise<void>;
}

interface UnderWay {
  readonly end: Promise<Download>;
  readonly waiting: Set<FarmPatience>;
}

/** Up to so much is held as one. */
const inOnePieceBytes = 1024 * 1024;

/**
 * Whole and right before the first byte is given on, unless who asks for a large blob wants it while it comes; and two
 * that ask for one blob cost one transfer.
 */
export function downloads(parts: {
  readonly farm: Pick<GranaryFarm, "blobs">;
  readonly blobs: BlobStore;
  readonly onKept: (digest: Digest) => void;
}): Downloads {
  const { farm, blobs, onKept } = parts;
  const underWay = new Map<string, UnderWay>();
  const giveUp = new Set<(reason: Fault) => void>();
  let isStopped = false;

  /** What the farm answers, unless this stops first: a farm that is silent may take for ever. */
  async function unlessStopped<T>(asking: Promise<T>): Promise<T> {
    asking.catch(() => {});
    let end: (reason: Fault) => void = () => {};
    const stopped = new Promise<never>((_, reject) => {
      end = reject;
    });
    giveUp.add(end);
    try {
      return await Promise.race([asking, stopped]);
    } finally {
      giveUp.delete(end);
    }
  }

  async function inOnePiece(project: string, digest: Digest, heard: () => void): Promise<Download> {
    const bytes = await unlessStopped(farm.blobs(project).get(digest));
    if (bytes === undefined) return { kind: "absent" };
    heard();
    try {
      await blobs.put(digest, bytes);
    } catch {
      return { kind: "unkept", bytes };
    }
    return { kind: "here", bytes };
  }

  async function asStream(
    project: string,
    digest: Digest,
    heard: (chunk: Uint8Array) => void,
  ): Promise<Download> {
    const chunks = await unlessStopped(farm.blobs(project).read(digest));
    if (chunks === undefined) return { kind: "absent" };
    let farmFailed: { readonly reason: unknown } | undefined;
    async function* heardOf(source: AsyncIterable<Uint8Array>) {
      const chunks = source[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await unlessStopped(chunks.next());
          if (next.done) return;
          heard(next.value);
          yield next.value;
        }
      } catch (reason) {
        farmFailed = { reason };
        throw reason;
      } finally {
        // Not waited for: a stream that is silent ends with its connection.
        void chunks.return?.().catch(() => {});
      }
    }
    try {
      await blobs.write(digest, heardOf(chunks));
    } catch {
      if (farmFailed !== undefined) throw farmFailed.reason;
      return { kind: "unkept", bytes: undefined };
    }
    return { kind: "here", bytes: undefined };
  }

  // What one project of the farm does not have, another may: each asks for itself.
  const nameOf = (project: string, digest: Digest) => `${project} ${digestKey(digest)}`;

  function begin(project: string, digest: Digest, follower?: Follower): UnderWay {
    const key = nameOf(project, digest);
    const waiting = new Set<FarmPatience>();
    const heard = (chunk?: Uint8Array) => {
      for (const patience of waiting) patience.heard();
      if (chunk !== undefined) follower?.push(chunk);
    };
    const bring = digest.sizeBytes <= inOnePieceBytes ? inOnePiece : asStream;
    const end = bring(project, digest, heard).then(
      (download) => {
        if (download.kind === "here") onKept(digest);
        return download;
      },
      (reason: unknown): Download => {
        // The farm says it has gone since, or its bytes are not what they should be.
        if (reason instanceof Fault && lost.has(reason.code)) return { kind: "absent" };
        throw reason;
      },
    );
    end.catch(() => {}).finally(() => underWay.delete(key));
    const begun = { end, waiting };
    underWay.set(key, begun);
    return begun;
  }

  async function bringWhole(
    project: string,
    digest: Digest,
    patience: FarmPatience,
  ): Promise<Download> {
    if (isStopped) return { kind: "absent" };
    const download = underWay.get(nameOf(project, digest)) ?? begin(project, digest);
    download.waiting.add(patience);
    try {
      return await patience.wait(download.end);
    } finally {
      download.waiting.delete(patience);
    }
  }

  return {
    bring: bringWhole,
    async follow(project, digest, patience) {
      const isFirst = !underWay.has(nameOf(project, digest));
      if (isStopped || !isFirst || digest.sizeBytes <= inOnePieceBytes) {
        return bringWhole(project, digest, patience);
      }
      const follower = followDownload(digest);
      const download = begin(project, digest, follower);
      download.waiting.add(patience);
      const over = download.end.then(
        () => {},
        () => {},
      );
      void over.then(() => download.waiting.delete(patience));
      const first = await patience.wait(Promise.race([download.end, follower.begun]));
      if (first !== undefined) return first;
      return { kind: "coming", over, chunks: follower.chunks(download.end, blobs, patience) };
    },
    async stop() {
      isStopped = true;
      for (const end of giveUp) end(new Fault("cancelled", "the granary stops"));
      await Promise.allSettled([...underWay.values()].map(({ end }) => end));
    },
  };
}

const lost: ReadonlySet<Fault["code"]> = new Set(["not_found", "data_loss", "invalid_argument"]);
