import { createHash } from "node:crypto";
import { backoffMs } from "#core/backoff.ts";
import { Fault, messageOf } from "#core/fault.ts";
import { rest } from "#core/resting.ts";
import { BlobProgress, type BlobReceiver, corrupt } from "./blob-progress.ts";
import {
  chooseManifest,
  type Descriptor,
  type ImageConfig,
  type ImageManifest,
  parseImageConfig,
  parseManifest,
} from "./image-manifest.ts";
import { type ImageReference, imageName } from "./image-reference.ts";
import { basicHeader, bearerHeader, bytesWithin, parseChallenge } from "./registry-access.ts";
import { registryLoginName } from "./registry-login.ts";
import type { AllowedRegistry, RegistryCredentials } from "./registry-settings.ts";

const indexType = "application/vnd.oci.image.index.v1+json";

const manifestTypes = [
  indexType,
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

const mostManifestBytes = 4 * 1024 * 1024;
const mostConfigBytes = 8 * 1024 * 1024;
/** A registry that sends nothing for this long is tried again. */
const longestSilenceMs = 60_000;
const mostAttempts = 5;

interface RegistryClientSettings {
  readonly registries: readonly AllowedRegistry[];
  readonly credentials: RegistryCredentials;
  /** A `fetch` that connects to allowed addresses only. */
  readonly fetch: typeof fetch;
  /** The names of architectures as in `process.arch`. */
  readonly architecture: string;
  /** The pause before the second attempt; it grows with each failure. */
  readonly pauseMs?: (failures: number) => number;
}

/** An image as a registry describes it, for this architecture. */
export interface DescribedImage {
  /** The digest of its manifest: `sha256:…`. */
  readonly digest: string;
  readonly manifest: ImageManifest;
  readonly config: ImageConfig;
}

/** Reads images from registries, by the OCI distribution specification. All digests are verified. */
export class RegistryClient {
  readonly #settings: RegistryClientSettings;
  /** Headers for authorization, by origin and repository. */
  readonly #access = new Map<string, { readonly header: string; readonly untilMs: number }>();

  constructor(settings: RegistryClientSettings) {
    this.#settings = settings;
  }

  /** Returns a client of the same registries that has these credentials, too, and shares no access with this one. */
  withCredentials(credentials: RegistryCredentials): RegistryClient {
    const all = new Map([...this.#settings.credentials, ...credentials]);
    return new RegistryClient({ ...this.#settings, credentials: all });
  }

  /** Throws `invalid_argument` for a registry that the operator has not allowed. */
  assertAllowed({ registry }: ImageReference): void {
    this.#registryOf(registry);
  }

  /** Returns the digest that a tag has now; the digest of a reference as it is. Verified. */
  async resolve(reference: ImageReference, signal?: AbortSignal): Promise<string> {
    if (reference.digest !== undefined) return reference.digest;
    return (await this.#readManifest(reference, reference.tag ?? "latest", signal)).digest;
  }

  /** Reads the manifest and the configuration; of an index, those for Linux on this architecture. */
  async describe(reference: ImageReference, signal?: AbortSignal): Promise<DescribedImage> {
    const name = imageName(reference);
    const at = reference.digest ?? reference.tag ?? "latest";
    let { digest, bytes } = await this.#readManifest(reference, at, signal);
    let read = parseManifest(bytes, name);
    if (read.kind === "index") {
      const chosen = chooseManifest(read.manifests, this.#settings.architecture, name);
      ({ digest, bytes } = await this.#readManifest(reference, chosen.digest, signal));
      read = parseManifest(bytes, name);
      if (read.kind === "index")
        throw new Fault(
          "invalid_argument",
          `${name} is an index of indexes, which is not supported`,
        );
    }
    const { manifest } = read;
    if (manifest.config.size > mostConfigBytes)
      throw new Fault("invalid_argument", `the configuration of ${name} is too long`);
    const { config: descriptor } = manifest;
    const config = await this.smallBlob(reference, descriptor.digest, mostConfigBytes, signal);
    return {
      digest,
      manifest,
      config: parseImageConfig(config, manifest, name, this.#settings.architecture),
    };
  }

  /** Returns a manifest by its tag or digest, verified; undefined when the registry has none, or does not give it. */
  async manifestIfPresent(
    reference: ImageReference,
    at: string,
    signal?: AbortSignal,
  ): Promise<Buffer | undefined> {
    return unlessAbsent(this.#readManifest(reference, at, signal).then(({ bytes }) => bytes));
  }

  /**
   * Returns the index of what refers to a manifest, such as its signatures, in JSON; undefined when the registry has none.
   * Registries from before OCI 1.1 have it under a tag.
   */
  async referrers(
    reference: ImageReference,
    digest: string,
    signal?: AbortSignal,
  ): Promise<Buffer | undefined> {
    const path = `/v2/${reference.repository}/referrers/${digest}`;
    const found = await unlessAbsent(
      this.#retrying(
        reference,
        async (origin) => {
          const answer = await this.#get(origin, reference, path, { accept: indexType }, signal);
          return bytesWithin(answer, mostManifestBytes);
        },
        signal,
      ),
    );
    return found ?? this.manifestIfPresent(reference, digest.replace(":", "-"), signal);
  }

  /** Returns a blob of at most `mostBytes`, verified. Throws `resource_exhausted` for a longer one. */
  async smallBlob(
    reference: ImageReference,
    digest: string,
    mostBytes: number,
    signal?: AbortSignal,
  ): Promise<Buffer> {
    return this.#retrying(
      reference,
      async (origin) => {
        const path = `/v2/${reference.repository}/blobs/${digest}`;
        const answer = await this.#get(origin, reference, path, {}, signal);
        return verified(await bytesWithin(answer, mostBytes), digest, path);
      },
      signal,
    );
  }

  /**
   * Gives the bytes of a blob to a receiver as they arrive. After an interruption it continues where it stopped; after wrong
   * bytes it starts anew, with another receiver. Returns what the receiver returns at the end of the right bytes.
   *
   * A `Fault` of the receiver counts only when size and digest were right: wrong bytes can look like a damaged layer. Other
   * failures, such as a full disk, end the download.
   */
  async download<T>(
    reference: ImageReference,
    blob: Descriptor,
    open: () => Promise<BlobReceiver<T>>,
    signal?: AbortSignal,
  ): Promise<T> {
    const progress = new BlobProgress(blob, open);
    try {
      await this.#retrying(
        reference,
        (origin) => this.#downloadRest(origin, reference, progress, signal),
        signal,
      );
      return await progress.result();
    } catch (reason) {
      const ofReceiver = progress.failure;
      await progress.restart();
      throw ofReceiver === undefined ? reason : ofReceiver.reason;
    }
  }

  async #downloadRest<T>(
    origin: string,
    reference: ImageReference,
    progress: BlobProgress<T>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { received } = progress;
    const headers: Record<string, string> = received === 0 ? {} : { range: `bytes=${received}-` };
    const silence = new AbortController();
    const stop = signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]);
    const silent = () => silence.abort(new Error("it sends nothing"));
    let timer = setTimeout(silent, longestSilenceMs);
    try {
      const at = `/v2/${reference.repository}/blobs/${progress.digest}`;
      const answer = await this.#get(origin, reference, at, headers, stop);
      // A server that ignores the range sends what has arrived once more.
      let known = answer.status === 206 ? 0 : received;
      for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        clearTimeout(timer);
        const added = part.subarray(Math.min(known, part.byteLength));
        known -= part.byteLength - added.byteLength;
        if (added.byteLength > 0) await progress.add(added);
        timer = setTimeout(silent, longestSilenceMs);
      }
      await progress.finish();
    } finally {
      clearTimeout(timer);
    }
  }

  async #readManifest(
    reference: ImageReference,
    at: string,
    signal: AbortSignal | undefined,
  ): Promise<{ digest: string; bytes: Buffer }> {
    return this.#retrying(
      reference,
      async (origin) => {
        const path = `/v2/${reference.repository}/manifests/${at}`;
        const answer = await this.#get(origin, reference, path, { accept: manifestTypes }, signal);
        const bytes = await bytesWithin(answer, mostManifestBytes);
        const digest = digestText(bytes);
        if (at.includes(":") && at !== digest) throw corrupt(path, at, digest);
        return { digest, bytes };
      },
      signal,
    );
  }

  #registryOf(host: string): AllowedRegistry {
    const { registries } = this.#settings;
    const found = registries.find((registry) => registry.host === host);
    if (found !== undefined) return found;
    const allowed = registries.map((registry) => registry.host).join(", ") || "none";
    throw new Fault(
      "invalid_argument",
      `images of ${host} are not allowed here; allowed: ${allowed}. The operator of the worker lists registries in GRANGE_WORKER_REGISTRIES`,
    );
  }

  /** Asks the origins of a registry in turn, and again after failures that may pass. */
  async #retrying<T>(
    reference: ImageReference,
    ask: (origin: string) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const { origins } = this.#registryOf(reference.registry);
    const pause = this.#settings.pauseMs ?? ((failures) => backoffMs(failures, Math.random()));
    let last: unknown;
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      if (attempt > 0) await rest(pause(attempt), signal);
      for (const [index, origin] of origins.entries()) {
        if (signal?.aborted) throw signal.reason;
        try {
          return await ask(origin);
        } catch (reason) {
          last = reason;
          const isLast = index === origins.length - 1;
          // A mirror may lack what the registry has.
          if (isLast && reason instanceof Fault && isFinal(reason)) throw reason;
        }
      }
    }
    if (last instanceof Fault) throw last;
    throw new Fault("unavailable", `${reference.registry} cannot be reached: ${messageOf(last)}`, {
      cause: last,
    });
  }

  async #get(
    origin: string,
    reference: ImageReference,
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const key = `${origin} ${reference.repository}`;
    const known = this.#access.get(key);
    const granted = known !== undefined && known.untilMs > Date.now() ? known.header : undefined;
    const ask = (authorization: string | undefined) =>
      this.#settings.fetch(`${origin}${path}`, {
        headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) },
        ...(signal === undefined ? { signal: AbortSignal.timeout(longestSilenceMs) } : { signal }),
      });
    let answer = await ask(granted);
    if (answer.status === 401) {
      const challenge = answer.headers.get("www-authenticate") ?? "";
      await answer.body?.cancel();
      answer = await ask(await this.#grant(key, origin, reference, challenge));
    }
    if (answer.ok) return answer;
    await answer.body?.cancel();
    throw refused(answer.status, `${origin}${path}`, imageName(reference));
  }

  async #grant(
    key: string,
    origin: string,
    reference: ImageReference,
    header: string,
  ): Promise<string> {
    const { origins } = this.#registryOf(reference.registry);
    // A mirror must not get the password of the registry; it has credentials of its own.
    const host = origin === origins.at(-1) ? reference.registry : new URL(origin).host;
    const credentials = this.#settings.credentials.get(host);
    const challenge = parseChallenge(header);
    if (challenge === undefined)
      throw new Fault(
        "invalid_argument",
        `${origin} requires a kind of authorization that is not supported`,
      );
    if (challenge.kind === "basic") {
      if (credentials === undefined)
        throw new Fault(
          "invalid_argument",
          `${origin} requires a user and a password; give them in the file of GRANGE_WORKER_REGISTRY_AUTH, or to the project as the secret ${registryLoginName}`,
        );
      return basicHeader(credentials);
    }
    const { repository } = reference;
    const { fetch: fetchIt } = this.#settings;
    const granted = await bearerHeader(fetchIt, challenge, repository, origin, credentials);
    // Shorter, because the clocks differ and a download takes time to start.
    this.#access.set(key, { header: granted.header, untilMs: Date.now() + granted.validMs / 2 });
    return granted.header;
  }
}

/** Returns undefined for what a registry does not have, or does not give. */
async function unlessAbsent<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (reason) {
    if (reason instanceof Fault && reason.code === "invalid_argument") return undefined;
    throw reason;
  }
}

function digestText(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function verified(bytes: Buffer, digest: string, path: string): Buffer {
  const found = digestText(bytes);
  if (found !== digest) throw corrupt(path, digest, found);
  return bytes;
}

/** Returns whether another attempt would have the same result. */
function isFinal({ code }: Fault): boolean {
  return code === "invalid_argument" || code === "resource_exhausted";
}

function refused(status: number, url: string, name: string): Fault {
  if (status === 404)
    return new Fault("invalid_argument", `there is no image ${name} (${url}: HTTP 404)`);
  if (status === 401 || status === 403)
    return new Fault(
      "invalid_argument",
      `the registry refuses to give ${name} (${url}: HTTP ${status}); a registry answers so for an image that does not exist, too. A project's own login is the secret ${registryLoginName}`,
    );
  const isPassing = status >= 500 ? status !== 501 : [408, 425, 429].includes(status);
  return new Fault(isPassing ? "unavailable" : "invalid_argument", `${url} answers HTTP ${status}`);
}
