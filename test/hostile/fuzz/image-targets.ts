import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { tarOf } from "#images/image-builder.fixture.ts";
import { chooseManifest, parseImageConfig, parseManifest } from "#images/image-manifest.ts";
import { imageName, parseImageReference } from "#images/image-reference.ts";
import { parseChallenge } from "#images/registry-access.ts";
import { parseRegistries } from "#images/registry-settings.ts";
import type { LayerEntry } from "#worker/image/oci/layer-index.ts";
import { type MergedDirectory, mergeLayers } from "#worker/image/oci/merge-layers.ts";
import { readLayer } from "#worker/image/oci/read-layer.ts";
import { BrokenLaw, type FuzzTarget } from "./fuzz.ts";
import { jsonWords } from "./importer-targets.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();
const sha = (letter: string) => `sha256:${letter.repeat(64)}`;
const manifest = JSON.stringify({
  schemaVersion: 2,
  config: { digest: sha("a"), size: 3 },
  layers: [{ digest: sha("b"), size: 4 }],
});
const config = JSON.stringify({
  config: { Env: ["PATH=/bin"], WorkingDir: "/a", User: "1" },
  rootfs: { diff_ids: [sha("c")] },
});
const index = JSON.stringify({
  schemaVersion: 2,
  manifests: [{ digest: sha("a"), size: 3, platform: { os: "linux", architecture: "amd64" } }],
});
const separator = "\n\n";

/** What registries answer, and what names images in a definition or an action. */
export function imageTargets(): FuzzTarget[] {
  return [
    {
      name: "names of images and registries",
      seeds: [
        "debian",
        "docker://ghcr.io/a/b.c_d:1.2",
        `localhost:5000/x@${sha("a")}`,
        "ghcr.io,docker.io=https://mirror.example,http://localhost:5000",
        'Bearer realm="https://auth.example/token",service="r",scope="x"',
      ],
      words: [
        "/",
        ":",
        "@",
        "..",
        "://",
        sha("b"),
        ",",
        "=",
        'realm="',
        "docker.io",
        "[::1]",
        "%2f",
      ],
      read(bytes) {
        const text = textOf(bytes);
        const challenge = parseChallenge(text);
        const registries = registriesIn(text);
        if (registries?.some(({ origins }) => origins.some((origin) => !URL.canParse(origin))))
          throw new BrokenLaw("an origin is no address");
        const reference = parseImageReference(text);
        const { registry, repository } = reference;
        if (!URL.canParse(`https://${registry}/v2/${repository}/`))
          throw new BrokenLaw(`${registry} cannot be asked`);
        if (new URL(`https://${registry}/v2/${repository}/x`).pathname !== `/v2/${repository}/x`)
          throw new BrokenLaw(`${repository} leaves its place`);
        if (JSON.stringify(parseImageReference(imageName(reference))) !== JSON.stringify(reference))
          throw new BrokenLaw("written and read again, it is another image");
        return [reference, challenge, registries];
      },
    },
    {
      name: "manifests and configurations of images",
      seeds: [manifest + separator + config, index + separator + config],
      words: [
        ...jsonWords,
        separator,
        sha("d"),
        '"layers":',
        '"Env":',
        '"diff_ids":',
        "=",
        "amd64",
      ],
      read(bytes) {
        const [first = "", second = ""] = textOf(bytes).split(separator);
        const found = parseManifest(Buffer.from(first), "x");
        if (found.kind === "index") return chooseManifest(found.manifests, "x64", "x");
        const parsed = parseImageConfig(Buffer.from(second), found.manifest, "x", "x64");
        if (parsed.environment.some(([name, value]) => name === "" || /\0/.test(name + value)))
          throw new BrokenLaw("a variable cannot be set");
        return parsed;
      },
    },
    layerTarget(),
  ];
}

function layerTarget(): FuzzTarget {
  const root = mkdtempSync(join(tmpdir(), "grange-fuzz-layers-"));
  const files = join(root, "files");
  return {
    name: "layers of images",
    isSlow: true,
    seeds: [
      tarOf([
        { path: "bin/", type: "5" },
        { path: "bin/sh", content: "x" },
        { path: "bin/link", type: "2", target: "/../sh" },
      ]),
      tarOf([
        { path: "a/.wh.b" },
        { path: "a", type: "2", target: "/etc" },
        { path: "a/c", type: "1", target: "bin/sh" },
      ]),
      tarOf([{ path: `${"d/".repeat(60)}e`, content: "y" }]),
    ],
    words: [
      "../",
      "/",
      ".wh.",
      ".wh..wh..opq",
      "ustar\u000000",
      "0",
      "1",
      "2",
      "5",
      "L",
      "x",
      "\0",
    ],
    async read(bytes) {
      rmSync(files, { recursive: true, force: true });
      mkdirSync(files);
      const layer = Readable.from([withCheckSums(bytes)]);
      const { entries } = await readLayer(layer, files, { bytes: 1_048_576, entries: 1_000 });
      if (readdirSync(files).some((name) => !/^\d+$/.test(name)))
        throw new BrokenLaw("a name of the layer is a path on the disk");
      const below: LayerEntry = { kind: "directory", path: ["etc"], mode: 0o755, mtime: 0 };
      const tree = mergeLayers([{ entries: [below] }, { entries }, { entries }]);
      checkNames(tree);
      return entries;
    },
    end: () => rmSync(root, { recursive: true, force: true }),
  };
}

function checkNames({ children }: MergedDirectory): void {
  for (const [name, node] of children) {
    if (name === "" || name === "." || name === ".." || /[/\0]/.test(name))
      throw new BrokenLaw(`the name ${JSON.stringify(name)} leaves its directory`);
    if (node.kind === "directory") checkNames(node);
  }
}

/** A list that is wrong is refused by a plain error, because an operator wrote it. */
function registriesIn(text: string) {
  try {
    return parseRegistries(text);
  } catch (reason) {
    if (reason instanceof Error && reason.message.includes("names no registry")) return undefined;
    throw reason;
  }
}

/** Corrects the sums of all headers: otherwise nearly no change would get past them. */
function withCheckSums(bytes: Uint8Array): Buffer {
  const tar = Buffer.from(bytes);
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    const header = tar.subarray(at, at + 512);
    if (header.toString("latin1", 257, 262) !== "ustar") continue;
    header.fill(" ", 148, 156);
    const sum = header.reduce((all, byte) => all + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  }
  return tar;
}
