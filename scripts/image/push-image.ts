import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import type { ImageReference } from "#images/image-reference.ts";
import { basicHeader, bearerHeader, parseChallenge } from "#images/registry-access.ts";
import type { RegistryCredentials } from "#images/registry-settings.ts";
import type { Descriptor, OciLayout } from "./oci-layout.ts";

interface Registry {
  readonly origin: string;
  readonly reference: ImageReference;
  readonly credentials: RegistryCredentials;
}

/** Sends an image to a registry by the OCI distribution specification: the blobs that it lacks, then the manifest. */
export async function pushImage(
  layout: OciLayout,
  manifest: Descriptor,
  blobs: readonly Descriptor[],
  registry: Registry,
): Promise<void> {
  const { reference } = registry;
  const call = await authorizedFetch(registry);
  const repository = `/v2/${reference.repository}`;
  for (const blob of blobs) {
    const known = await call(`${repository}/blobs/${blob.digest}`, { method: "HEAD" });
    if (known.ok) continue;
    const begun = await expectOk(await call(`${repository}/blobs/uploads/`, { method: "POST" }));
    const at = new URL(begun.headers.get("location") ?? "", registry.origin);
    at.searchParams.set("digest", blob.digest);
    const body = Readable.toWeb(createReadStream(layout.pathOf(blob.digest)));
    await expectOk(
      await call(at.href, {
        method: "PUT",
        body: body as ReadableStream<Uint8Array>,
        duplex: "half",
        headers: {
          "content-type": "application/octet-stream",
          "content-length": String(blob.size),
        },
      }),
    );
  }
  await expectOk(
    await call(`${repository}/manifests/${reference.tag ?? manifest.digest}`, {
      method: "PUT",
      body: new Uint8Array(await readFile(layout.pathOf(manifest.digest))),
      headers: { "content-type": manifest.mediaType },
    }),
  );
}

/** Returns a `fetch` with the authorization that the registry demands for writing. Throws if it gives none. */
async function authorizedFetch({ origin, reference, credentials }: Registry) {
  const greeting = await fetch(`${origin}/v2/`);
  await greeting.body?.cancel();
  const own = credentials.get(reference.registry);
  const challenge = parseChallenge(greeting.headers.get("www-authenticate") ?? "");
  if (greeting.status === 401 && (challenge === undefined || own === undefined))
    throw new Error(
      `${reference.registry} demands a user and a password: name a file of \`docker login\` by --auth`,
    );
  const authorization = await (async () => {
    if (greeting.status !== 401 || challenge === undefined || own === undefined) return undefined;
    if (challenge.kind === "basic") return basicHeader(own);
    return (await bearerHeader(fetch, challenge, reference.repository, origin, own, "pull,push"))
      .header;
  })();
  return (address: string, init: RequestInit & { duplex?: "half" }) =>
    fetch(new URL(address, origin), {
      ...init,
      headers: {
        ...(init.headers as Record<string, string> | undefined),
        ...(authorization === undefined ? {} : { authorization }),
      },
    });
}

async function expectOk(answer: Response): Promise<Response> {
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.url}: HTTP ${answer.status} ${text.slice(0, 500)}`);
  return answer;
}
