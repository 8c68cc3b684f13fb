import type { BlobStore } from "#cas/blob-store.ts";
import { type Digest, digestKey } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { Service } from "#core/service.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import { type Follower, followDownload } from "./follow-download.ts";
import type { SilenceBudget } from "./silence-budget.ts";

/** The outcome of fetching a blob from the farm. */
export type Download =
  | { readonly kind: "here"; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "absent" }
  /** The local disk could not store it. `bytes` is undefined for a large blob. */
  | { readonly kind: "unkept"; readonly bytes: Uint8Array | undefined };

export interface Downloads extends Service {
  /** Fetches a blob of a project into the store; concurrent requests share one transfer. Throws if the farm fails or is silent. */
  bring(project: string, digest: Digest, budget: SilenceBudget): Promise<Download>;
  /** Like `bring`, but the first requester of a large blob gets the bytes while they arrive. */
  follow(project: string, digest: Digest, budget: SilenceBudget): Promise<Download | Coming>;
}

export interface Coming {
  readonly kind: "coming";
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Resolves when the transfer has ended. */
  readonly over: Promise<void>;
}

interface UnderWay {
  readonly end: Promise<Download>;
  readonly waiting: Set<SilenceBudget>;
}

/** Blobs up to this size are held in memory as one piece. */
const inOnePieceBytes = 1024 * 1024;

/**
 * Returns the transfers of blobs from the farm. A blob is complete and verified before its first byte is given on, except to a
 * requester that follows a large blob.
 */
export function downloads(parts: {
  readonly farm: Pick<GranaryFarm, "blobs">;
  readonly blobs: BlobStore;
  readonly onKept: (digest: Digest) => void;
}): Downloads {
  const { farm, blobs, onKept } = parts;
  const underWay = new Map<string, UnderWay>();
  const endWaits = new Set<(reason: Fault) => void>();
  let isStopped = false;

  /** Returns the farm's answer, or throws `cancelled` when the granary stops first; a silent farm might never answer. */
  async function unlessStopped<T>(call: Promise<T>): Promise<T> {
    call.catch(() => {});
    let end: (reason: Fault) => void = () => {};
    const stopped = new Promise<never>((_, reject) => {
      end = reject;
    });
    endWaits.add(end);
    try {
      return await Promise.race([call, stopped]);
    } finally {
      endWaits.delete(end);
    }
  }

  async function inOnePiece(
    project: string,
    digest: Digest,
    onBytes: () => void,
  ): Promise<Download> {
    const bytes = await unlessStopped(farm.blobs(project).get(digest));
    if (bytes === undefined) return { kind: "absent" };
    onBytes();
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
    onBytes: (chunk: Uint8Array) => void,
  ): Promise<Download> {
    const chunks = await unlessStopped(farm.blobs(project).read(digest));
    if (chunks === undefined) return { kind: "absent" };
    let farmFailed: { readonly reason: unknown } | undefined;
    async function* withArrivals(source: AsyncIterable<Uint8Array>) {
      const chunks = source[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await unlessStopped(chunks.next());
          if (next.done) return;
          onBytes(next.value);
          yield next.value;
        }
      } catch (reason) {
        farmFailed = { reason };
        throw reason;
      } finally {
        // Not awaited: a silent stream ends with its connection.
        void chunks.return?.().catch(() => {});
      }
    }
    try {
      await blobs.write(digest, withArrivals(chunks));
    } catch {
      if (farmFailed !== undefined) throw farmFailed.reason;
      return { kind: "unkept", bytes: undefined };
    }
    return { kind: "here", bytes: undefined };
  }

  // Transfers are by project, as one project may lack a blob that another has.
  const nameOf = (project: string, digest: Digest) => `${project} ${digestKey(digest)}`;

  function begin(project: string, digest: Digest, follower?: Follower): UnderWay {
    const key = nameOf(project, digest);
    const waiting = new Set<SilenceBudget>();
    const onBytes = (chunk?: Uint8Array) => {
      for (const budget of waiting) budget.endSilence();
      if (chunk !== undefined) follower?.push(chunk);
    };
    const bring = digest.sizeBytes <= inOnePieceBytes ? inOnePiece : asStream;
    const end = bring(project, digest, onBytes).then(
      (download) => {
        if (download.kind === "here") onKept(digest);
        return download;
      },
      (reason: unknown): Download => {
        // The farm has lost the blob, or its bytes do not match the digest.
        if (reason instanceof Fault && lost.has(reason.code)) return { kind: "absent" };
        throw reason;
      },
    );
    end.catch(() => {}).finally(() => underWay.delete(key));
    const begun = { end, waiting };
    underWay.set(key, begun);
    return begun;
  }

  async function downloadWhole(
    project: string,
    digest: Digest,
    budget: SilenceBudget,
  ): Promise<Download> {
    if (isStopped) return { kind: "absent" };
    const download = underWay.get(nameOf(project, digest)) ?? begin(project, digest);
    download.waiting.add(budget);
    try {
      return await budget.wait(download.end);
    } finally {
      download.waiting.delete(budget);
    }
  }

  return {
    bring: downloadWhole,
    async follow(project, digest, budget) {
      const isFirst = !underWay.has(nameOf(project, digest));
      if (isStopped || !isFirst || digest.sizeBytes <= inOnePieceBytes) {
        return downloadWhole(project, digest, budget);
      }
      const follower = followDownload(digest);
      const download = begin(project, digest, follower);
      download.waiting.add(budget);
      const over = download.end.then(
        () => {},
        () => {},
      );
      void over.then(() => download.waiting.delete(budget));
      const first = await budget.wait(Promise.race([download.end, follower.begun]));
      if (first !== undefined) return first;
      return { kind: "coming", over, chunks: follower.chunks(download.end, blobs, budget) };
    },
    async stop() {
      isStopped = true;
      for (const end of endWaits) end(new Fault("cancelled", "the granary stops"));
      await Promise.allSettled([...underWay.values()].map(({ end }) => end));
    },
  };
}

const lost: ReadonlySet<Fault["code"]> = new Set(["not_found", "data_loss", "invalid_argument"]);
