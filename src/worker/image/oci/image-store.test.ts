import { createHash, sign as cryptoSign, generateKeyPairSync, type KeyObject } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";
import { RegistryClient } from "#images/registry-client.ts";
import { readSignaturePolicy } from "#images/signature-policy.ts";
import { SigstoreForTests } from "#images/sigstore.fixture.ts";
import { ImageStore } from "./image-store.ts";

const blobs = new Map<string, Buffer>();
/** The blobs of which the next answer has other bytes. */
const spoiled = new Set<string>();
/** The passwords that the registry accepts; absent: all may pull. */
let passwords: readonly string[] | undefined;
const basic = (password: string) => `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
const server = createServer((request, response) => {
  const [kind, name = ""] = request.url?.split("/").slice(-2) ?? [];
  const bytes = blobs.get(kind === "referrers" ? `referrers ${name}` : name);
  if (passwords?.every((each) => request.headers.authorization !== basic(each)))
    response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
  else if (bytes === undefined) response.writeHead(404).end();
  else response.end(spoiled.delete(name) ? Buffer.alloc(bytes.length, "x") : bytes);
});
let host: string;
let directory: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => (passwords = undefined));
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "grange-image-store-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const layerBytes = 100_000;

async function openStore(storeBytes: number, keys = ""): Promise<ImageStore> {
  const client = new RegistryClient({
    registries: [{ host, origins: [`http://${host}`] }],
    credentials: new Map(),
    fetch,
    architecture: process.arch,
    pauseMs: () => 1,
  });
  const limits = { bytes: 10_000_000, entries: 1_000, storeBytes };
  return ImageStore.open(directory, client, limits, await readSignaturePolicy(keys));
}

/** An image of layers with one file each; layers of the same name are the same. */
function image(...layers: readonly string[]): string {
  const built = buildImage(
    layers.map((name) => tarOf([{ path: name, content: name.repeat(layerBytes / name.length) }])),
  );
  for (const [digest, bytes] of built.blobs) blobs.set(digest, bytes);
  blobs.set(built.digest, built.manifest);
  return `${host}/store/image@${built.digest}`;
}

/** Puts a signature beside an image, as `cosign sign --key` does; `of` is the digest that the signed text names. */
function sign(name: string, key: KeyObject, of = name.split("@")[1]): void {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { "docker-reference": name.split("@")[0] },
        image: { "docker-manifest-digest": of },
        type: "cosign container image signature",
      },
      optional: null,
    }),
  );
  const signature = cryptoSign("sha256", payload, key).toString("base64");
  putUnderTag(name, payload, { "dev.cosignproject.cosign/signature": signature });
}

function putUnderTag(
  name: string,
  payload: Uint8Array,
  annotations: Readonly<Record<string, string | undefined>>,
): void {
  const layer = put(Buffer.from(payload), "application/vnd.dev.cosign.simplesigning.v1+json");
  const manifest = { schemaVersion: 2, config: layer, layers: [{ ...layer, annotations }] };
  blobs.set(signatureTag(name), Buffer.from(JSON.stringify(manifest)));
}

const digestOf = (name: string) => name.split("@")[1] ?? "";
const signatureTag = (name: string) => `${digestOf(name).replace(":", "-")}.sig`;

/** Puts bytes into the registry. Returns their descriptor. */
function put(bytes: Buffer, mediaType: string) {
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  blobs.set(digest, bytes);
  return { mediaType, digest, size: bytes.length };
}

function keyPair(file: string) {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(join(directory, file), pair.publicKey.export({ type: "spki", format: "pem" }));
  return { privateKey: pair.privateKey, file: join(directory, file) };
}

const keyOf = (name: string) => name.split("@sha256:")[1]?.slice(0, 16);

test("the images that were not used for longest are removed, with layers that no other image has", async () => {
  const store = await openStore(3.5 * layerBytes);
  const [old, used, newest] = [image("base", "old"), image("base", "used"), image("new")];
  for (const name of [old, used, old, newest, used]) {
    (await store.use(name)).release();
    // The time of the last use is that of a file.
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await store.keys()).toEqual([keyOf(used), keyOf(newest), keyOf(old)]);

  await store.trim(Date.now());

  expect(await store.keys()).toEqual([keyOf(used), keyOf(newest)]);
  expect(readdirSync(join(directory, "layers"))).toHaveLength(3);
  expect(readdirSync(join(directory, "temp"))).toEqual([]);
  const again = await store.use(old);
  expect(existsSync(join(again.root, "old"))).toBe(true);
});

test("an image in use stays, however full the store is, and is removed when it is released", async () => {
  const store = await openStore(1);
  const held = await store.use(image("held"));
  (await store.use(image("idle"))).release();

  await store.trim(Date.now());
  expect(existsSync(join(held.root, "held"))).toBe(true);
  expect(readdirSync(join(directory, "roots"))).toHaveLength(1);

  held.release();
  await store.trim(Date.now());
  expect(readdirSync(join(directory, "roots"))).toEqual([]);
  expect(readdirSync(join(directory, "layers"))).toEqual([]);
});

test("a layer whose bytes are wrong is unpacked anew, one that is hostile fails the image, and nothing is left of both", async () => {
  const store = await openStore(1_000_000);
  const name = image("good", "spoiled");
  spoiled.add(layersOf(name)[1] ?? "");
  const hostile = buildImage([tarOf([{ path: "fine" }]), tarOf([{ path: "../outside" }])]);
  for (const [digest, bytes] of hostile.blobs) blobs.set(digest, bytes);
  blobs.set(hostile.digest, hostile.manifest);

  const used = await store.use(name);
  expect(readFileSync(join(used.root, "spoiled"), "utf8")).toMatch(/^spoiled/);
  used.release();
  await expect(store.use(`${host}/store/image@${hostile.digest}`)).rejects.toThrow("`..`");

  expect(spoiled.size).toBe(0);
  expect(readdirSync(join(directory, "temp"))).toEqual([]);
  // The layers that were right are kept.
  expect(readdirSync(join(directory, "layers"))).toHaveLength(3);
});

test("the standing of the store counts images and their layers once", async () => {
  const store = await openStore(10 * layerBytes);
  for (const name of [image("base", "one"), image("base", "two")])
    (await store.use(name)).release();

  const { images, bytes } = await store.standing();

  expect(images).toBe(2);
  expect(bytes).toBeGreaterThan(3 * layerBytes);
  expect(bytes).toBeLessThan(4 * layerBytes);
});

test("with keys of the operator, only images run that one of them has signed", async () => {
  const [own, foreign] = [keyPair("own.pub"), keyPair("foreign.pub")];
  const names = ["good", "unsigned", "by another", "of another"].map((layer) => image(layer));
  const [good = "", unsigned = "", byAnother = "", ofAnother = ""] = names;
  sign(good, own.privateKey);
  sign(byAnother, foreign.privateKey);
  sign(ofAnother, own.privateKey, good.split("@")[1]);
  const store = await openStore(1_000_000, own.file);

  (await store.use(good)).release();
  await expect(store.use(unsigned)).rejects.toThrow("it has no signature");
  for (const name of [byAnother, ofAnother])
    await expect(store.use(name)).rejects.toThrow("none of its 1 signatures");

  expect(await store.keys()).toEqual([keyOf(good)]);
  expect(readdirSync(join(directory, "layers"))).toHaveLength(1);
});

test("an image that was pulled before needs its signature, too; the pattern says which images do", async () => {
  const own = keyPair("own.pub");
  const name = image("before");
  (await (await openStore(1_000_000)).use(name)).release();

  const strict = await openStore(1_000_000, `${host}/store/*=${own.file}`);
  await expect(strict.use(name)).rejects.toThrow("it has no signature");
  const other = await openStore(1_000_000, `${host}/other/*=${own.file}`);
  (await other.use(name)).release();
  sign(name, own.privateKey);
  (await strict.use(name)).release();
  blobs.delete(signatureTag(name));
  (await strict.use(name)).release();

  await expect(async () => openStore(1, join(directory, "absent.pub"))).rejects.toThrow(
    "cannot be read",
  );
});

test("keyless signatures are found where cosign 2 and 3 store them, also in registries without lists of referrers", async () => {
  const sigstore = new SigstoreForTests();
  const by = { identity: "https://example.com/workflow", issuer: "https://issuer.example" };
  writeFileSync(join(directory, "root.json"), JSON.stringify(sigstore.trustedRoot()));
  const signers = join(directory, "signers.json");
  writeFileSync(signers, JSON.stringify({ trustedRoot: "root.json", signers: [by] }));
  const store = await openStore(1_000_000, signers);
  const [old = "", referred = "", tagged = "", foreign = ""] = ["a", "b", "c", "d"].map((layer) =>
    image(layer),
  );

  const signature = sigstore.simpleSigning(digestOf(old), by);
  putUnderTag(old, signature.payload, {
    "dev.cosignproject.cosign/signature": signature.signature,
    "dev.sigstore.cosign/certificate": signature.certificate,
    "dev.sigstore.cosign/bundle": signature.logEntry,
  });
  const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json";
  const indexOf = (name: string, who: typeof by, artifactType: string) => {
    const bundle = Buffer.from(JSON.stringify(sigstore.bundle(digestOf(name), who)));
    const manifest = { schemaVersion: 2, layers: [put(bundle, bundleType)] };
    const referrer = put(Buffer.from(JSON.stringify(manifest)), "manifest");
    const report = put(Buffer.from("a report"), "report");
    return Buffer.from(JSON.stringify({ manifests: [report, { ...referrer, artifactType }] }));
  };
  blobs.set(`referrers ${digestOf(referred)}`, indexOf(referred, by, bundleType));
  const emptyType = "application/vnd.oci.empty.v1+json";
  blobs.set(digestOf(tagged).replace(":", "-"), indexOf(tagged, by, emptyType));
  const elsewhere = { ...by, issuer: "https://else.example" };
  blobs.set(`referrers ${digestOf(foreign)}`, indexOf(foreign, elsewhere, bundleType));

  for (const name of [old, referred, tagged]) (await store.use(name)).release();
  await expect(store.use(foreign)).rejects.toThrow('of the issuer "https://else.example"');
});

test("an image that was pulled with a login is for its scope only, and so are its layers", async () => {
  passwords = ["first", "second"];
  const login = (scope: string, password: string) => [
    { scope: scope.repeat(32), host, user: "me", password },
  ];
  const name = image("secret");
  const store = await openStore(1_000_000);
  (await store.use(name, login("a", "first"))).release();

  await expect(store.use(name)).rejects.toThrow("requires a user and a password");
  await expect(store.use(name, login("b", "wrong"))).rejects.toThrow("refuses to give");
  // The image of another project that names the layer, which it may not read.
  blobs.delete(layersOf(name)[0] ?? "");
  await expect(store.use(name, login("b", "second"))).rejects.toThrow("there is no image");
  passwords = [];
  const again = await store.use(name, login("a", "changed"));
  expect(again.pulledMs).toBe(0);
  again.release();
  expect(await store.keys()).toEqual([name.split("sha256:")[1]?.slice(0, 16)]);
});

function layersOf(name: string): string[] {
  const manifest = JSON.parse(blobs.get(name.split("@")[1] ?? "")?.toString() ?? "{}");
  return (manifest.layers as { digest: string }[]).map(({ digest }) => digest);
}
