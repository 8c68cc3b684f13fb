import { durationMs, timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { requireMayWriteBlobs } from "#access/blob-writes/may-write.ts";
import { requireMayReadBlobs } from "#access/may-read.ts";
import { requireMayKeep } from "#access/trust-domains/domain-of-client.ts";
import type { GrpcCallers } from "#caches/rev2/caller.ts";
import { projectOf } from "#caches/rev2/project-of.ts";
import { fromDigestMessage, toDigestMessage } from "#cas/digest-message.ts";
import type { Digest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import type { CallContext } from "#grpc/call-context.ts";
import { type Method, methodsOf } from "#grpc/method.ts";
import { statusOf } from "#grpc/status.ts";
import {
  Fetch,
  type FetchBlobRequest,
  type FetchDirectoryRequest,
  Push,
  type PushBlobRequest,
  type PushDirectoryRequest,
} from "#proto/build/bazel/remote/asset/v1/remote_asset_pb.ts";
import {
  DigestFunction_Value,
  type Digest as DigestMessage,
} from "#proto/build/bazel/remote/execution/v2/remote_execution_pb.ts";
import type { AssetFetcher } from "../assets/asset-fetcher.ts";
import {
  type AssetKind,
  type AssetQuery,
  assetQueryOf,
  requireFetchable,
} from "../assets/asset-query.ts";
import type { AssetStore } from "../assets/asset-store.ts";

interface AssetServicesParts {
  readonly callers: GrpcCallers;
  readonly store: AssetStore;
  readonly fetcher: AssetFetcher;
  readonly nowMs: () => number;
}

/** For requests that name none. */
const defaultTimeoutMs = 5 * 60_000;
const sha256 = DigestFunction_Value.SHA256;

/**
 * The Remote Asset API: content by URI and qualifiers. Whoever may read a project gets what is stored; a download needs
 * the right to put blobs into the project, and a push the right to store results.
 */
export function assetServices({ callers, store, fetcher, nowMs }: AssetServicesParts): Method[] {
  /** Returns stored or downloaded content, or the status of the origin. */
  const fetched = async (
    kind: AssetKind,
    request: FetchBlobRequest | FetchDirectoryRequest,
    context: CallContext,
  ) => {
    const project = projectOf(request.instanceName);
    const caller = await callers.of(context);
    requireMayReadBlobs(caller, project);
    requireSha256(request.digestFunction);
    const query = assetQueryOf(kind, request);
    const { oldestContentAccepted: oldest, timeout } = request;
    const by = { caller, project };
    const found = await store.find(query, by, oldest && timestampMs(oldest));
    if (found !== undefined) return answerOf(query, found.uri, found.digest, found.expiresAtMs);
    requireFetchable(query);
    if (kind === "directory") {
      return failed(
        query,
        new Fault("not_found", `${query.uris[0]}: no such directory was pushed`),
      );
    }
    requireMayWriteBlobs(caller, project);
    try {
      const timeoutMs = timeout === undefined ? defaultTimeoutMs : durationMs(timeout);
      const { uri, digest } = await fetcher.fetch(query, by, Math.max(0, timeoutMs));
      return answerOf(query, uri, digest, undefined);
    } catch (reason) {
      if (reason instanceof Fault) return failed(query, reason);
      throw reason;
    }
  };

  const push = async (
    kind: AssetKind,
    request: PushBlobRequest | PushDirectoryRequest,
    message: DigestMessage | undefined,
    context: CallContext,
  ) => {
    const project = projectOf(request.instanceName);
    const caller = await callers.of(context);
    requireMayKeep(caller, project);
    requireSha256(request.digestFunction);
    const query = assetQueryOf(kind, request);
    if (query.hasHeaders) {
      throw new Fault("invalid_argument", "pushed content has no headers for an origin");
    }
    const digest = fromDigestMessage(message, `the pushed ${kind}`, sha256);
    requireChecksum(query, digest);
    if (!(await store.isComplete(kind, project, digest))) {
      throw new Fault(
        "failed_precondition",
        `the pushed ${kind} ${digest.hash}/${digest.sizeBytes} is not complete in the project ${project}: upload it first`,
      );
    }
    const expiresAtMs = request.expireAt && timestampMs(request.expireAt);
    const record = { origin: "pushed", storedAtMs: nowMs(), expiresAtMs } as const;
    await store.keep(query, { caller, project }, digest, record);
    return {};
  };

  return [
    ...methodsOf(Fetch, {
      async fetchBlob(request, context) {
        const { digest, ...answer } = await fetched("blob", request, context);
        return { ...answer, ...(digest && { blobDigest: toDigestMessage(digest) }) };
      },
      async fetchDirectory(request, context) {
        const { digest, ...answer } = await fetched("directory", request, context);
        return { ...answer, ...(digest && { rootDirectoryDigest: toDigestMessage(digest) }) };
      },
    }),
    ...methodsOf(Push, {
      pushBlob: (request, context) => push("blob", request, request.blobDigest, context),
      pushDirectory: (request, context) =>
        push("directory", request, request.rootDirectoryDigest, context),
    }),
  ];
}

function answerOf(query: AssetQuery, uri: string, digest: Digest, expiresAtMs: number | undefined) {
  return {
    status: { code: 0 },
    uri,
    qualifiers: query.qualifiers.map(([name, value]) => ({ name, value })),
    ...(expiresAtMs === undefined ? {} : { expiresAt: timestampFromMs(expiresAtMs) }),
    digestFunction: sha256,
    digest,
  };
}

/** A failure of the origin is part of the answer: the call itself has succeeded. */
function failed(query: AssetQuery, reason: Fault) {
  return { status: statusOf(reason), uri: query.uris[0], digest: undefined };
}

function requireSha256(digestFunction: DigestFunction_Value): void {
  if (digestFunction === DigestFunction_Value.UNKNOWN || digestFunction === sha256) return;
  const name = Object.entries(DigestFunction_Value).find(([, value]) => value === digestFunction);
  throw new Fault(
    "invalid_argument",
    `assets have digests by SHA256, not by ${name?.[0] ?? digestFunction}`,
  );
}

/** A client that knows the SHA-256 gets content that has it, whoever pushed it. */
function requireChecksum({ kind, checksum }: AssetQuery, digest: Digest): void {
  if (checksum === undefined) return;
  if (kind === "blob" && checksum.algorithm === "sha256" && checksum.hashes.includes(digest.hash)) {
    return;
  }
  throw new Fault(
    "invalid_argument",
    kind === "directory"
      ? "a directory has no checksum.sri"
      : "checksum.sri must be the sha256 of the pushed blob",
  );
}
