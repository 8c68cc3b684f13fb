import * as http from "node:http";
import * as https from "node:https";
import aws4 from "aws4";
import { digestOfMany } from "../digest-of.ts";
import { type BucketCredentials, type BucketLocation, readCredentials } from "./bucket-location.ts";

/** One request to a bucket. The body is complete in memory, so that the request can be repeated. */
export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** Of the object, with the prefix. */
  readonly key: string;
  /** Must be sorted by name: `partNumber`, `uploadId`. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** The size of the expected answer, which extends the time for it. In bytes. */
  readonly answerBytes?: number;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
}

const noBody = new Uint8Array();

export interface S3Times {
  /** A connection on which nothing moves for this time is closed. */
  readonly idleMs: number;
  /** The time for one request, in addition to that for its bytes. */
  readonly requestMs: number;
  /** No attempt begins this long after the first one. */
  readonly giveUpMs: number;
}

export const defaultS3Times: S3Times = { idleMs: 10_000, requestMs: 20_000, giveUpMs: 45_000 };

/** A slower connection counts as broken. */
const leastBytesPerMs = 256;

/** Requests that are sent at the same time; others wait for a connection. */
const mostConnections = 64;

/** The longest answer that is not the content of an object: an error, or an upload's id. */
const mostAnswerBytes = 1024 * 1024;

interface S3Connection {
  /** Sends a request once. Rejects when no complete answer arrives in time. */
  exchange(request: S3Request): Promise<S3Answer>;
  close(): void;
}

/** Opens a pool of connections to a bucket. Each request is signed, and the server checks the hash of its body. */
export function connectS3(location: BucketLocation, times: S3Times): S3Connection {
  const { bucket, region, endpoint } = location;
  const credentials = readCredentials(location.credentials);
  const base = endpoint ?? new URL(`https://${bucket}.s3.${region}.amazonaws.com`);
  // Other servers have one name for all buckets.
  const root = endpoint === undefined ? "" : `${endpoint.pathname.replace(/\/$/, "")}/${bucket}`;
  const transport = base.protocol === "https:" ? https : http;
  const agent = new transport.Agent({ keepAlive: true, maxSockets: mostConnections });

  function optionsOf(
    request: S3Request,
    { accessKeyId, secretAccessKey, sessionToken }: BucketCredentials,
    bodyHash: string,
  ) {
    const { method, key, query = {}, body } = request;
    const names = Object.entries(query)
      .map(([name, value]) => (value === "" ? name : `${name}=${encodeURIComponent(value)}`))
      .join("&");
    return aws4.sign(
      {
        method,
        service: "s3",
        region,
        hostname: base.hostname,
        port: base.port || undefined,
        path: `${root}/${key}${names === "" ? "" : `?${names}`}`,
        headers: {
          ...request.headers,
          Host: base.host,
          "X-Amz-Content-Sha256": bodyHash,
          ...(body === undefined ? {} : { "Content-Length": body.byteLength }),
        },
      },
      // An absent token must not be there as a key.
      { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    );
  }

  return {
    async exchange(request) {
      const { body = noBody, answerBytes = 0 } = request;
      const options = optionsOf(request, await credentials(), (await digestOfMany(body)).hash);
      const bytes = body.byteLength + answerBytes;
      const mostMs = times.requestMs + bytes / leastBytesPerMs;
      return new Promise<S3Answer>((resolve, reject) => {
        let isAnswered = false;
        const sent = transport.request({ ...options, agent }, (answer) => {
          isAnswered = true;
          const limit = Math.max(answerBytes, mostAnswerBytes);
          collect(answer, request.method === "HEAD", limit).then(resolve, reject);
        });
        const timer = setTimeout(
          () => sent.destroy(new Error(`no complete answer within ${Math.round(mostMs)} ms`)),
          mostMs,
        );
        sent.setTimeout(times.idleMs, () =>
          sent.destroy(new Error(`nothing was received for ${times.idleMs} ms`)),
        );
        sent.once("error", reject);
        sent.once("close", () => {
          clearTimeout(timer);
          // An answer that breaks off is noticed where it is read.
          if (!isAnswered) reject(new Error("the connection was closed"));
        });
        sent.end(request.body);
      });
    },
    close: () => agent.destroy(),
  };
}

/** Reads an answer to its end; rejects when it is shorter than it declared, or too long. */
async function collect(
  answer: http.IncomingMessage,
  isWithoutBody: boolean,
  mostBytes: number,
): Promise<S3Answer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > mostBytes) {
      answer.destroy();
      throw new Error(`the answer is longer than ${mostBytes} bytes`);
    }
    parts.push(part);
  }
  const declared = answer.headers["content-length"];
  if (!isWithoutBody && declared !== undefined && Number(declared) !== bytes)
    throw new Error(`the answer ended after ${bytes} of ${declared} bytes`);
  const { statusCode = 0, headers } = answer;
  return { status: statusCode, headers, body: Buffer.concat(parts, bytes) };
}
