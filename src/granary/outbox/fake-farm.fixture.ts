import { create } from "@bufbuild/protobuf";
import type { Divergence, GranaryBuildReport } from "#api/granary.ts";
import type { BlobStore } from "#cas/blob-store.ts";
import { toDigestMessage } from "#cas/digest-message.ts";
import { memoryBlobStore } from "#cas/memory-blob-store.ts";
import { keyText } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import {
  type PublishResultsResponse_End,
  PublishResultsResponse_End_Kind,
  PublishResultsResponse_EndSchema,
} from "#proto/grange/granary/v1/granary_pb.ts";
import type { GranaryFarm } from "../farm/granary-farm.ts";
import type { GranaryResult } from "../granary-result.ts";
import type { IndexToPublish } from "./outbox.ts";

type Step = "findMissing" | "put" | "write" | "publishResults" | "publishIndex" | "reportBuild";

/** A farm in memory, which records its calls, and fails as the test defines. */
export interface FakeFarm extends GranaryFarm {
  readonly kept: Map<string, GranaryResult>;
  readonly indexes: { readonly index: IndexToPublish; readonly entries: Digest }[];
  readonly reports: GranaryBuildReport[];
  readonly divergences: Divergence[];
  readonly store: BlobStore;
  /** The calls in order, each with its number of items. */
  readonly calls: { readonly step: Step; readonly count: number }[];
  /**
   * Called before each call, and again after its work is done; throws to make the call fail at that
   * point.
   */
  before: (step: Step) => void | Promise<void>;
  after: (step: Step) => void | Promise<void>;
  away: boolean;
  /** Returns changes to the farm's normal answer for a result; undefined for none. */
  endOf: (result: GranaryResult) => Partial<PublishResultsResponse_End> | undefined;
}

export function fakeFarm(): FakeFarm {
  const store = memoryBlobStore();

  async function step<T>(name: Step, count: number, work: () => Promise<T>): Promise<T> {
    farm.calls.push({ step: name, count });
    await farm.before(name);
    const answer = await work();
    await farm.after(name);
    return answer;
  }

  async function publish(result: GranaryResult): Promise<PublishResultsResponse_End> {
    const told = farm.endOf(result);
    if (told) return create(PublishResultsResponse_EndSchema, { ...told } as never);
    const missing = await store.findMissing([result.value, ...result.blobs]);
    const { INCOMPLETE, KEPT, KNOWN } = PublishResultsResponse_End_Kind;
    if (missing.length > 0) {
      return create(PublishResultsResponse_EndSchema, {
        kind: INCOMPLETE,
        missing: missing.map(toDigestMessage),
      });
    }
    const name = `${result.project} ${keyText(result)}`;
    const kind = farm.kept.has(name) ? KNOWN : KEPT;
    if (kind === KEPT) farm.kept.set(name, result);
    return create(PublishResultsResponse_EndSchema, { kind });
  }

  const unused = async (): Promise<never> => {
    throw new Fault("unimplemented", "the fake farm does not do that");
  };
  const farm: FakeFarm = {
    kept: new Map(),
    indexes: [],
    reports: [],
    divergences: [],
    store,
    calls: [],
    away: false,
    before: () => {},
    after: () => {},
    endOf: () => undefined,
    isAway: () => farm.away,
    line: () => undefined,
    resolve: unused,
    lookUp: unused,
    lookUpWithBlobs: unused,
    fetch: () => {
      throw new Fault("unimplemented", "the fake farm does not do that");
    },
    blobs: () => ({
      get: (digest) => store.get(digest),
      read: (digest, range) => store.read(digest, range),
      put: (digest, bytes) => step("put", 1, () => store.put(digest, bytes)),
      write: (digest, chunks) => step("write", 1, () => store.write(digest, chunks)),
      findMissing: (digests) =>
        step("findMissing", digests.length, () => store.findMissing(digests)),
    }),
    publishResults: (_project, results) =>
      step("publishResults", results.length, async () => {
        const ends: PublishResultsResponse_End[] = [];
        for (const result of results) ends.push(await publish(result));
        return ends;
      }),
    publishIndex: (index, entries) =>
      step("publishIndex", 1, async () => {
        farm.indexes.push({ index, entries });
      }),
    reportBuild: (report) =>
      step("reportBuild", 1, async () => {
        farm.reports.push(report);
      }),
    reportDivergence: async (_, divergence) => void farm.divergences.push(divergence),
    stop: async () => {},
  };
  return farm;
}
