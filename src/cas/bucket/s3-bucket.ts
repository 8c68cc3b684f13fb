import { setTimeout as delay } from "node:timers/promises";
import { backoffMs } from "#core/backoff.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { type BucketLocation, locationText } from "./bucket-location.ts";
import { judgeS3Answer, type S3Verdict, textOf } from "./judge-s3-answer.ts";
import {
  connectS3,
  defaultS3Times,
  type S3Answer,
  type S3Request,
  type S3Times,
} from "./s3-exchange.ts";

/** A part of an upload that the bucket has. */
export interface SentPart {
  readonly number: number;
  readonly etag: string;
}

/**
 * The objects of one bucket below a prefix. All keys are without the prefix.
 *
 * Every method repeats its request after failures that may pass. It throws `unavailable` when they do not pass in time,
 * and `failed_precondition` when the bucket refuses the request.
 */
export interface S3Bucket {
  /** For messages. */
  readonly place: string;
  /** Returns an object, or `length` bytes of it from `start` on; undefined when it is absent. */
  get(
    key: string,
    range?: { readonly start: number; readonly length: number },
  ): Promise<Buffer | undefined>;
  put(key: string, body: Uint8Array): Promise<void>;
  /** Succeeds also when the object is absent. */
  remove(key: string): Promise<void>;
  /** Returns the id of a new upload in parts. */
  beginParts(key: string): Promise<string>;
  sendPart(key: string, upload: string, number: number, body: Uint8Array): Promise<SentPart>;
  /** Makes the parts, in their order, one object of `sizeBytes`. */
  joinParts(
    key: string,
    upload: string,
    parts: readonly SentPart[],
    sizeBytes: number,
  ): Promise<void>;
  abandonParts(key: string, upload: string): Promise<void>;
  close(): void;
}

/** Opens a bucket. Nothing is sent before the first call. */
export function openS3Bucket(location: BucketLocation, times: S3Times = defaultS3Times): S3Bucket {
  const connection = connectS3(location, times);
  const place = locationText(location);
  const ending = new AbortController();

  /** Repeats a request until it has an answer that will not change. */
  async function send(request: S3Request): Promise<{ answer: S3Answer; isAbsent: boolean }> {
    const started = performance.now();
    const keyed = { ...request, key: location.prefix + request.key };
    for (let attempt = 1; ; attempt++) {
      const { answer, verdict } = await tryOnce(keyed);
      if (answer !== undefined && verdict.kind === "ok") return { answer, isAbsent: false };
      if (answer !== undefined && verdict.kind === "absent") return { answer, isAbsent: true };
      if (verdict.kind === "refused")
        throw new Fault(
          "failed_precondition",
          `${place} refuses ${request.method}: ${verdict.problem}. Check the bucket's name, its region, and what the credentials may do`,
        );
      const problem = verdict.kind === "retry" ? verdict.problem : "no answer";
      const waitMs = backoffMs(attempt, Math.random());
      const elapsedMs = performance.now() - started;
      if (ending.signal.aborted || elapsedMs + waitMs > times.giveUpMs)
        throw new Fault(
          "unavailable",
          `${place} does not answer: ${problem} (${attempt} attempts in ${Math.round(elapsedMs / 1_000)} s). Try again`,
        );
      await delay(waitMs, undefined, { signal: ending.signal }).catch(() => {});
    }
  }

  async function tryOnce(
    request: S3Request,
  ): Promise<{ answer: S3Answer | undefined; verdict: S3Verdict }> {
    try {
      const answer = await connection.exchange(request);
      return { answer, verdict: judgeS3Answer(request.method, answer) };
    } catch (reason) {
      if (reason instanceof Fault) throw reason;
      return { answer: undefined, verdict: { kind: "retry", problem: messageOf(reason) } };
    }
  }

  /** Like `send`, for requests whose object or upload must exist. */
  async function sendTo(request: S3Request): Promise<S3Answer> {
    const { answer, isAbsent } = await send(request);
    if (isAbsent) throw new Fault("unavailable", `${place} lost an upload; send the blob again`);
    return answer;
  }

  async function sizeOf(key: string): Promise<number | undefined> {
    const { answer, isAbsent } = await send({ method: "HEAD", key });
    return isAbsent ? undefined : Number(answer.headers["content-length"]);
  }

  return {
    place,

    async get(key, range) {
      const { answer, isAbsent } = await send({
        method: "GET",
        key,
        ...(range === undefined
          ? {}
          : {
              headers: { Range: `bytes=${range.start}-${range.start + range.length - 1}` },
              answerBytes: range.length,
            }),
      });
      if (isAbsent) return undefined;
      if (range !== undefined && answer.body.byteLength !== range.length)
        throw new Fault(
          "data_loss",
          `${place} has ${answer.body.byteLength} of ${range.length} bytes of an object at ${range.start}`,
        );
      return answer.body;
    },

    async put(key, body) {
      await sendTo({ method: "PUT", key, body, headers: octets });
    },

    async remove(key) {
      await send({ method: "DELETE", key });
    },

    async beginParts(key) {
      const { body } = await sendTo({
        method: "POST",
        key,
        query: { uploads: "" },
        headers: octets,
      });
      const upload = textOf(body.toString("utf8"), "UploadId");
      if (upload === undefined)
        throw new Fault("unavailable", `${place} began an upload without an id`);
      return upload;
    },

    async sendPart(key, upload, number, body) {
      const { headers } = await sendTo({
        method: "PUT",
        key,
        query: { partNumber: String(number), uploadId: upload },
        body,
      });
      const { etag } = headers;
      if (etag === undefined)
        throw new Fault("unavailable", `${place} confirmed a part without an ETag`);
      return { number, etag };
    },

    async joinParts(key, upload, parts, sizeBytes) {
      const { isAbsent } = await send({
        method: "POST",
        key,
        query: { uploadId: upload },
        body: Buffer.from(listOf(parts)),
        headers: { "Content-Type": "application/xml" },
      });
      // The answer to an earlier attempt may have been lost: then the upload is gone, and the object is there.
      if (isAbsent && (await sizeOf(key)) !== sizeBytes)
        throw new Fault("unavailable", `${place} lost an upload; send the blob again`);
    },

    async abandonParts(key, upload) {
      await send({ method: "DELETE", key, query: { uploadId: upload } });
    },

    close() {
      ending.abort();
      connection.close();
    },
  };
}

const octets = { "Content-Type": "application/octet-stream" };

function listOf(parts: readonly SentPart[]): string {
  const items = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${items.join("")}</CompleteMultipartUpload>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
