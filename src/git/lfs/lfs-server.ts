import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { BlobStore } from "#cas/blob-store.ts";
import { digestKey } from "#core/digest.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { mapAtMost } from "#scheduling/map-at-most.ts";
import { parseRepositoryAddress, withoutPassword } from "../repository-address.ts";
import type { Git } from "../run-git.ts";
import { type HttpCall, httpCall } from "./http-call.ts";
import type { LfsObject } from "./pointer.ts";

/** The number of objects per request; servers accept at least a hundred. */
const perBatch = 100;
const downloadsAtOnce = 4;
const mostAnswerBytes = 16 * 1024 * 1024;
const mediaType = "application/vnd.git-lfs+json";

/** The answer of the batch API, as far as downloads need it. */
const BatchAnswer = z.object({
  transfer: z.string().optional(),
  hash_algo: z.string().optional(),
  objects: z.array(
    z.object({
      oid: z.string(),
      size: z.number().int().min(0),
      actions: z
        .object({
          download: z
            .object({ href: z.string(), header: z.record(z.string(), z.string()).optional() })
            .optional(),
        })
        .optional(),
      error: z.object({ code: z.number(), message: z.string() }).optional(),
    }),
  ),
});

/**
 * Fetches objects of Git LFS into the store; throws `Fault` with the first that cannot be fetched.
 *
 * `repository` is the address of the repository whose files refer to them. Its LFS server is queried for each object,
 * even when the store has it, because the store does not know whether this repository may use it. An object is stored
 * only with the SHA-256 and size of its pointer.
 */
export async function fetchLfsObjects(
  services: { readonly git: Git; readonly store: BlobStore },
  repository: string,
  objects: readonly LfsObject[],
): Promise<void> {
  const wanted = [...new Map(objects.map((object) => [digestKey(object), object])).values()];
  if (wanted.length === 0) return;
  const address = parseRepositoryAddress(repository, "/");
  if (address.kind === "local") return takeFromDirectory(services.store, address.path, wanted);
  if (!/^https?:/i.test(address.url)) {
    throw new Fault(
      "failed_precondition",
      `its repository ${withoutPassword(repository)} is not reached over HTTP, and the farm fetches objects of Git LFS over HTTP only`,
    );
  }
  const absent = new Set((await services.store.findMissing(wanted)).map(digestKey));
  for (let at = 0; at < wanted.length; at += perBatch) {
    const batch = wanted.slice(at, at + perBatch);
    const downloads = await askForBatch(services.git, address.url, batch);
    await mapAtMost(
      downloadsAtOnce,
      downloads.filter(({ object }) => absent.has(digestKey(object))),
      (download) => fetchOne(services, download),
    );
  }
}

interface Download {
  readonly object: LfsObject;
  readonly href: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function askForBatch(
  git: Git,
  url: string,
  objects: readonly LfsObject[],
): Promise<Download[]> {
  const bare = withoutPassword(url).replace(/\/+$/, "");
  const endpoint = `${bare.endsWith(".git") ? bare : `${bare}.git`}/info/lfs/objects/batch`;
  const request: HttpCall = {
    url: endpoint,
    method: "POST",
    headers: { accept: mediaType, "content-type": mediaType },
    body: JSON.stringify({
      operation: "download",
      transfers: ["basic"],
      hash_algo: "sha256",
      objects: objects.map(({ hash, sizeBytes }) => ({ oid: hash, size: sizeBytes })),
    }),
  };
  let response = await httpCall(git, request);
  if (response.status === 401) {
    response.body.resume();
    const authorization = await gitCredentials(git, url);
    if (authorization !== undefined)
      response = await httpCall(git, {
        ...request,
        headers: { ...request.headers, authorization },
      });
  }
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response.body as AsyncIterable<Buffer>) {
    bytes += part.byteLength;
    if (bytes > mostAnswerBytes)
      throw new Fault(
        "resource_exhausted",
        `${endpoint}: answers more than ${mostAnswerBytes} bytes`,
      );
    parts.push(part);
  }
  if (response.status !== 200) {
    const code = [401, 403].includes(response.status)
      ? "permission_denied"
      : response.status === 404
        ? "not_found"
        : response.status >= 500 || response.status === 429
          ? "unavailable"
          : "failed_precondition";
    throw new Fault(code, `its LFS server ${endpoint} answered ${response.status}`);
  }
  return downloadsOf(endpoint, Buffer.concat(parts).toString("utf8"), objects);
}

function downloadsOf(endpoint: string, text: string, objects: readonly LfsObject[]): Download[] {
  const broken = (why: string, cause?: unknown) =>
    new Fault("failed_precondition", `its LFS server ${endpoint} answered ${why}`, { cause });
  let answer: z.output<typeof BatchAnswer>;
  try {
    answer = BatchAnswer.parse(JSON.parse(text));
  } catch (cause) {
    throw broken("an invalid response of the batch API", cause);
  }
  if ((answer.transfer ?? "basic") !== "basic")
    throw broken(`with the transfer ${answer.transfer}`);
  if ((answer.hash_algo ?? "sha256") !== "sha256") throw broken(`with ${answer.hash_algo} hashes`);
  const byId = new Map(answer.objects.map((object) => [object.oid, object]));
  return objects.map((object) => {
    const found = byId.get(object.hash);
    if (found === undefined) throw broken(`without the object ${object.hash}`);
    if (found.error !== undefined) {
      const code = [404, 410].includes(found.error.code) ? "not_found" : "failed_precondition";
      throw new Fault(
        code,
        `its LFS server reports for the object ${object.hash}: ${found.error.message} (${found.error.code})`,
      );
    }
    const download = found.actions?.download;
    if (download === undefined) throw broken(`no download of the object ${object.hash}`);
    if (found.size !== object.sizeBytes)
      throw broken(
        `the size ${found.size} for the object ${object.hash} of ${object.sizeBytes} bytes`,
      );
    return { object, href: download.href, headers: download.header ?? {} };
  });
}

async function fetchOne(
  { git, store }: { readonly git: Git; readonly store: BlobStore },
  { object, href, headers }: Download,
): Promise<void> {
  const { status, body } = await httpCall(git, { url: href, method: "GET", headers });
  if (status !== 200) {
    body.destroy();
    throw new Fault(
      status >= 500 || status === 429 ? "unavailable" : "failed_precondition",
      `the download of the LFS object ${object.hash} was answered with ${status}`,
    );
  }
  try {
    await store.write(object, body as AsyncIterable<Buffer>);
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument")
      throw new Fault(
        "failed_precondition",
        `the LFS object ${object.hash} has wrong content: ${reason.message}`,
        { cause: reason },
      );
    throw reason;
  } finally {
    body.destroy();
  }
}

/** Copies LFS objects of a repository on this machine, which are stored beside Git's own objects. */
async function takeFromDirectory(
  store: BlobStore,
  path: string,
  objects: readonly LfsObject[],
): Promise<void> {
  for (const object of objects) {
    const { hash, sizeBytes } = object;
    const below = join("lfs", "objects", hash.slice(0, 2), hash.slice(2, 4), hash);
    const files = [join(path, ".git", below), join(path, below)];
    const sizes = await Promise.all(
      files.map((file) =>
        stat(file).then(
          ({ size }) => size,
          () => undefined,
        ),
      ),
    );
    const file = files.find((_, n) => sizes[n] === sizeBytes);
    if (file === undefined)
      throw new Fault(
        "not_found",
        `${path} does not have the LFS object ${hash}; "git lfs fetch" there brings it`,
      );
    await store.write(object, createReadStream(file));
  }
}

/** Returns the credential that the farm's Git would send to the host of a repository; undefined without one. */
async function gitCredentials(git: Git, address: string): Promise<string | undefined> {
  const url = new URL(address);
  const { exitCode, stdout } = await git
    .run(["credential", "fill"], {
      access: await git.accessTo(address),
      input: `protocol=${url.protocol.slice(0, -1)}\nhost=${url.host}\npath=${url.pathname.slice(1)}\n\n`,
    })
    .catch((reason: unknown) => {
      throw new Fault("unavailable", `asking Git for credentials: ${messageOf(reason)}`);
    });
  if (exitCode !== 0) return undefined;
  const values = new Map(
    stdout
      .toString("utf8")
      .split("\n")
      .map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at), line.slice(at + 1)] as const;
      }),
  );
  const [username, password] = [values.get("username"), values.get("password")];
  if (username === undefined || password === undefined) return undefined;
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}
