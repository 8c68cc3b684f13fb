import { describe, expect, test } from "vitest";
import { chooseManifest, parseImageConfig, parseManifest } from "./image-manifest.ts";

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const bytes = (json: unknown) => Buffer.from(JSON.stringify(json));

const config = {
  mediaType: "application/vnd.oci.image.config.v1+json",
  digest: digest("c"),
  size: 2,
};
const layer = (letter: string, mediaType = "application/vnd.oci.image.layer.v1.tar+gzip") => ({
  mediaType,
  digest: digest(letter),
  size: 1,
});

/** An image as a registry has it: a manifest, and a configuration without history. */
const image = (manifest: object, settings: object = {}) => {
  const read = parseManifest(bytes({ schemaVersion: 2, config, ...manifest }), "the image");
  if (read.kind === "index") throw new Error("it is an index");
  const text = bytes({ os: "linux", architecture: "amd64", ...settings });
  return parseImageConfig(text, read.manifest, "the image", "x64");
};

describe("an image is read", () => {
  test.each<[string, object, object]>([
    ["that nothing is in, as Go writes it", { layers: null }, { rootfs: { diff_ids: null } }],
    ["without a list of layers", {}, { rootfs: {} }],
    ["with settings that are null", { layers: [] }, { rootfs: {}, config: null }],
    [
      "with lists of settings that are null",
      { layers: [] },
      { rootfs: {}, config: { Env: null, Cmd: null, Entrypoint: null, Volumes: null } },
    ],
    ["without a platform, as old tools write it", {}, { rootfs: {}, os: "", architecture: "" }],
    [
      "with a configuration of Docker",
      { config: { ...config, mediaType: "application/vnd.docker.container.image.v1+json" } },
      { rootfs: {} },
    ],
    [
      "with two empty layers, which are the same one",
      { layers: [layer("e"), layer("e")] },
      { rootfs: { diff_ids: [digest("d"), digest("d")] } },
    ],
  ])("%s", (_, manifest, settings) => {
    expect(image(manifest, settings).environment).toEqual([]);
  });
});

describe("an image is refused", () => {
  test.each<[string, string, object, object]>([
    ["for another system", "is for windows/amd64, and this", {}, { os: "windows", rootfs: {} }],
    [
      "for another architecture",
      "is for linux/arm64, and this machine runs linux/amd64",
      {},
      { architecture: "arm64", rootfs: {} },
    ],
    [
      "that is a chart of Helm",
      'is no container image: its configuration has the type "application/vnd.cncf.helm.config.v1+json"',
      { config: { ...config, mediaType: "application/vnd.cncf.helm.config.v1+json" } },
      {},
    ],
    [
      "with encrypted layers",
      "has encrypted layers",
      { layers: [layer("e", "application/vnd.oci.image.layer.v1.tar+gzip+encrypted")] },
      {},
    ],
    [
      "with fewer digests than layers",
      "has 0 layers, and its manifest has 1",
      { layers: [layer("e")] },
      { rootfs: {} },
    ],
    [
      "with more than 200 layers",
      "an image has at most 200 layers",
      { layers: Array.from({ length: 201 }, () => layer("e")) },
      {},
    ],
    ["of schema 1", "has schema 1 of Docker", { schemaVersion: 1, fsLayers: [] }, {}],
  ])("%s", (_, why, manifest, settings) => {
    expect(() => image(manifest, settings)).toThrow(why);
  });
});

/** An index as BuildKit writes it: of each image, there is an attestation. */
const index = (...platforms: readonly object[]) => {
  const read = parseManifest(
    bytes({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.index.v1+json",
      manifests: platforms.flatMap((platform, n) => [
        { digest: digest(`${n}`), size: 1, platform },
        {
          digest: digest("a"),
          size: 1,
          platform: { os: "unknown", architecture: "unknown" },
          annotations: { "vnd.docker.reference.type": "attestation-manifest" },
        },
      ]),
    }),
    "the image",
  );
  if (read.kind === "manifest") throw new Error("it is no index");
  return (architecture: string) =>
    chooseManifest(read.manifests, architecture, "the image").digest[7];
};

test("of an index, the image for this machine is chosen, and none for newer processors unless it is the only one", () => {
  const of = (architecture: string, variant?: string) => ({ os: "linux", architecture, variant });

  const all = index(of("arm64", "v8"), of("amd64", "v3"), of("amd64"), of("arm", "v7"));
  expect([all("x64"), all("arm64")]).toEqual(["2", "0"]);
  expect(index(of("amd64", "v2"))("x64")).toBe("0");
  expect(() => all("s390x")).toThrow("has no image for linux/s390x, only for linux/arm64");
});
