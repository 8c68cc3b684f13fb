import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { connect as connectHttp2, type OutgoingHttpHeaders } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import {
  create,
  type DescMessage,
  type DescMethod,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { z } from "zod";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestOf } from "#cas/digest-of.ts";
import { type Digest, emptyDigest } from "#core/digest.ts";
import { Fault } from "#core/fault.ts";
import { openPostgres } from "#db/postgres.ts";
import { sql } from "#db/sql.ts";
import { GrpcChannel } from "#grpc/channel.ts";
import { framed } from "#grpc/frame.ts";
import { pathOf } from "#grpc/method.ts";
import { remoteBlobStore } from "#grpc/remote-blob-store.ts";
import { faultOf } from "#grpc/status.ts";
import { StatusSchema } from "#proto/google/rpc/status_pb.ts";
import type { Farm } from "../support/farm.ts";
import { farmDatabaseUrl } from "../support/farm-database-url.ts";

/** A farm under attack, and its state as seen from outside. */
export interface Target {
  readonly url: string;
  readonly channel: GrpcChannel;
  readonly blobs: BlobStore;
  /** Uploads a message; returns its digest. */
  put<S extends DescMessage>(schema: S, init: MessageInitShape<S>): Promise<Digest>;
  /** Sends bytes unchanged to a method; returns the call's final code. */
  readonly raw: (
    method: DescMethod,
    parts: readonly Uint8Array[],
    options?: RawOptions,
  ) => Promise<string>;
  /** Sends text over HTTP/1.1, and returns the first status. */
  readonly http1: (text: string | Uint8Array) => Promise<string>;
  /** The same, but returns the head and body of the response. */
  readonly http1Whole: (text: string | Uint8Array) => Promise<string>;
  /**
   * Returns all stored data: blobs, partial uploads, and the number of rows of each table. Invocations are not counted:
   * that a caller was seen is stored for refused calls too, a moment later.
   */
  kept(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

interface RawOptions {
  readonly headers?: OutgoingHttpHeaders;
  /** Whether the client ends the stream after the parts. */
  readonly end?: boolean;
}

const counts = sql`
  select (select count(*) from action_result) as results,
    (select count(*) from cache_entry) as entries, (select count(*) from execution) as executions,
    (select count(*) from operation) as operations,
    (select count(*) from build) as builds
`;
const isBlobOfBytes = new RegExp(`/blobs/[0-9a-f]{2}/(?!${emptyDigest.hash}$)`);

const Counts = z.record(z.string(), z.number());

export async function openTarget(farm: Pick<Farm, "url" | "dataDir">): Promise<Target> {
  const { url } = farm;
  const channel = new GrpcChannel({ url });
  const blobs = remoteBlobStore(channel, "");
  const db = openPostgres({ url: await farmDatabaseUrl(farm) });
  const store = join(farm.dataDir, "blobs");

  return {
    url,
    channel,
    blobs,
    async put(schema, init) {
      const bytes = toBinary(schema, create(schema, init));
      const digest = digestOf(bytes);
      await blobs.put(digest, bytes);
      return digest;
    },
    raw: (method, parts, options) => rawCall(url, method, parts, options),
    http1: async (text) => statusOf(await http1Whole(url, text)),
    http1Whole: (text) => http1Whole(url, text),
    async kept() {
      const [whole, elsewhere, halves] = await Promise.all([
        readdir(join(store, "blobs"), { recursive: true }),
        // Of named projects, of which there may be none yet. A project that was used has the blob of no bytes.
        readdir(join(store, "projects"), { recursive: true }).catch(() => []),
        readdir(join(store, "temp")),
      ]);
      const [rows] = await db.many(Counts, counts);
      return [
        ...whole.toSorted(),
        ...elsewhere.filter((name) => isBlobOfBytes.test(name)).toSorted(),
        ...halves.map((name) => `half: ${name}`),
        JSON.stringify(rows),
      ];
    },
    async stop() {
      await channel.stop();
      await db.close();
    },
  };
}

async function http1Whole(url: string, text: string | Uint8Array): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(text);
  const got: Buffer[] = [];
  socket.on("data", (part) => got.push(part));
  // A reset counts as an end.
  await new Promise((resolve) => socket.once("close", resolve));
  return Buffer.concat(got).toString("latin1");
}

export function statusOf(answer: string): string {
  return /^HTTP\/1.1 (\d+)/.exec(answer)?.[1] ?? "closed";
}

async function rawCall(
  url: string,
  method: DescMethod,
  parts: readonly Uint8Array[],
  { headers = {}, end = true }: RawOptions = {},
): Promise<string> {
  const session = connectHttp2(url);
  session.on("error", () => {});
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": pathOf(method),
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    stream.on("error", () => {});
    let status: string | undefined;
    const hear = (got: Readonly<Record<string, unknown>>) => {
      const said = got["grpc-status"];
      status ??= typeof said === "string" ? said : undefined;
    };
    stream.on("response", hear);
    stream.on("trailers", hear);
    stream.resume();
    for (const part of parts) stream.write(part);
    if (end) stream.end();
    await new Promise<void>((resolve) => {
      stream.once("close", resolve);
      session.once("close", resolve);
    });
    return status === undefined ? `reset ${stream.rstCode}` : codeIn({ code: Number(status) });
  } finally {
    session.destroy();
  }
}

/** Returns one gRPC message with its prefix. */
export function frameOf(bytes: Uint8Array): Buffer {
  return Buffer.concat(framed(bytes));
}

/** Returns `ok`, or the code of the failure. */
export async function codeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "ok";
  } catch (reason) {
    if (reason instanceof Fault) return reason.code;
    throw reason;
  }
}

/** Returns the code of a status inside a response. */
export function codeIn(status: MessageInitShape<typeof StatusSchema> | undefined): string {
  return faultOf(create(StatusSchema, status))?.code ?? "ok";
}
