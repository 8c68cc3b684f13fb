import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { zstdWhole } from "#cas/zstd/zstd-streams.ts";
import { tarOf } from "#images/image-builder.fixture.ts";
import { mergeLayers } from "./merge-layers.ts";
import { prepareRoot } from "./prepare-root.ts";
import { readLayer } from "./read-layer.ts";
import { writeRoot } from "./write-root.ts";

type Entry = Parameters<typeof tarOf>[0][number];

const limits = { bytes: 4 * 1024 * 1024, entries: 2_000 };

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), "grange-hostile-"));
  mkdirSync(join(top, "outside"));
  writeFileSync(join(top, "outside", "secret"), "secret");
});
afterEach(() => {
  const changes = changesOutside();
  rmSync(top, { recursive: true, force: true });
  if (changes.length > 0)
    throw new Error(`an image changed what is outside: ${changes.join(", ")}`);
});

/** Returns what is different beside the layers and the root. */
function changesOutside(): string[] {
  const names = readdirSync(top).filter((name) => !/^(?:outside|root|layer\d+)$/.test(name));
  const added = readdirSync(join(top, "outside")).filter((name) => name !== "secret");
  const secret = readFileSync(join(top, "outside", "secret"), "utf8");
  return [...names, ...added, ...(secret === "secret" ? [] : ["secret"])];
}

/** The first part has no whole header, neither of a packing nor of a tar file. */
async function* inParts(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 3);
  for (let at = 3; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

/** Does what a worker does with the layers of an image. Returns the path of the root. */
async function unpack(layers: readonly Buffer[]): Promise<string> {
  const indexes = [];
  for (const [number, bytes] of layers.entries()) {
    mkdirSync(join(top, `layer${number}`));
    indexes.push(await readLayer(inParts(bytes), join(top, `layer${number}`), limits));
  }
  const tree = mergeLayers(indexes);
  const fileOf = (layer: number, file: number) => join(top, `layer${layer}`, `${file}`);
  await prepareRoot(tree, fileOf);
  await writeRoot(tree, join(top, "root"), fileOf);
  return join(top, "root");
}

const file = (path: string, content = "x"): Entry => ({ path, content });
const link = (path: string, target: string): Entry => ({ path, type: "2", target });
const hard = (path: string, target: string): Entry => ({ path, type: "1", target });
const directory = (path: string): Entry => ({ path, type: "5" });

const refused: readonly [name: string, why: string | RegExp, layer: () => Buffer][] = [
  ["a file above the root", "`..`", () => tarOf([file("../outside/secret")])],
  ["a file above the root by a detour", "`..`", () => tarOf([file("a/../../outside/secret")])],
  ["a file that ends with ..", "`..`", () => tarOf([file("a/..")])],
  ["an absolute path with ..", "`..`", () => tarOf([file("/../outside/secret")])],
  ["a directory above the root", "`..`", () => tarOf([directory("../outside/made")])],
  ["a symbolic link above the root", "`..`", () => tarOf([link("../outside/link", "/etc")])],
  ["a device above the root", "`..`", () => tarOf([{ path: "../null", type: "3" }])],
  ["a whiteout above the root", "`..`", () => tarOf([file("../outside/.wh.secret", "")])],
  ["a whiteout of ..", "`..`", () => tarOf([file("a/.wh...", "")])],
  ["a whiteout of .", "without a name", () => tarOf([file("a/.wh..", "")])],
  ["a whiteout of nothing", "without a name", () => tarOf([file("a/.wh.", "")])],
  [
    "an opaque directory above the root",
    "`..`",
    () => tarOf([file("../outside/.wh..wh..opq", "")]),
  ],
  ["a hard link to a path above the root", "`..`", () => tarOf([hard("a", "../outside/secret")])],
  ["a hard link to nothing", "no file", () => tarOf([hard("a", "absent")])],
  [
    "a hard link to an absolute path of the machine",
    "no file",
    () => tarOf([hard("a", "/etc/shadow")]),
  ],
  ["a hard link to a directory", "no file", () => tarOf([directory("d"), hard("a", "d")])],
  ["a hard link to the root", "no file", () => tarOf([hard("a", "/")])],
  [
    "a hard link through a link out of the root",
    "no file",
    () => tarOf([link("l", "../../outside"), hard("a", "l/secret")]),
  ],
  ["a hard link to itself", "no file", () => tarOf([hard("a", "a")])],
  ["a hard link without a target", "linkpath", () => tarOf([hard("a", "")])],
  ["a file below a file", "file is above", () => tarOf([file("a"), file("a/b")])],
  ["a directory below a file", "file is above", () => tarOf([file("a"), directory("a/b")])],
  [
    "a file below a hard link",
    "file is above",
    () => tarOf([file("a"), hard("b", "a"), file("b/c")]),
  ],
  [
    "a file below links that have no end",
    "no end",
    () => tarOf([link("a", "b"), link("b", "a"), file("a/c")]),
  ],
  ["a file below a link to itself", "no end", () => tarOf([link("a", "a"), file("a/c")])],
  [
    "a file below a chain of 50 links",
    "no end",
    () =>
      tarOf([...Array.from({ length: 50 }, (_, n) => link(`l${n}`, `l${n + 1}`)), file("l0/c")]),
  ],
  [
    "links that double their length",
    /no end|too long|entries/,
    () =>
      tarOf([
        ...Array.from({ length: 30 }, (_, n) =>
          link(`l${n}`, `/l${n + 1}/../l${n + 1}/../l${n + 1}`),
        ),
        file("l0/c"),
      ]),
  ],
  ["a file as the root, with content", /root|cannot be read/, () => tarOf([file("/")])],
  ["a file as the root, written .", "root", () => tarOf([file(".")])],
  ["a symbolic link as the root", "root", () => tarOf([link("./", "/etc")])],
  ["a hard link as the root", "root", () => tarOf([file("a"), hard("/", "a")])],
  ["a name of 256 bytes", "255 bytes", () => tarOf([file("n".repeat(256))])],
  ["a name of 256 bytes in UTF-8", "255 bytes", () => tarOf([file("ü".repeat(128))])],
  ["a path of 5,000 bytes", "too long", () => tarOf([file("a/".repeat(2_500))])],
  ["a path of 300 directories", "deeper", () => tarOf([file(`${"a/".repeat(300)}b`)])],
  ["a header with a name of 100 kB", "header of more", () => tarOf([file("a".repeat(100_000))])],
  [
    "a link with a target of 100 kB",
    "header of more",
    () => tarOf([link("a", "t".repeat(100_000))]),
  ],
  ["a link with a target of 5,000 bytes", "target", () => tarOf([link("a", "t".repeat(5_000))])],
  ["a link without a target", "linkpath", () => tarOf([link("a", "")])],
  [
    "a name that is not UTF-8",
    "UTF-8",
    () => {
      const layer = tarOf([file("abc")]);
      // Also in the checksum: one byte more by the same as the other one less.
      layer[1] = 0xff;
      layer.write("        ", 148);
      const sum = layer.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      layer.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
      return layer;
    },
  ],
  [
    "more entries than allowed",
    "too large",
    () => tarOf(Array.from({ length: 2_001 }, (_, n) => file(`f${n}`, ""))),
  ],
  [
    "the same entry too often",
    "too large",
    () => tarOf(Array.from({ length: 2_001 }, () => directory("d"))),
  ],
  ["more bytes than allowed", "too large", () => tarOf([file("a", "x".repeat(5 * 1024 * 1024))])],
  [
    "more bytes than allowed, in many files",
    "too large",
    () => tarOf(Array.from({ length: 50 }, (_, n) => file(`f${n}`, "x".repeat(100_000)))),
  ],
  [
    "a size that is not there, of 8 GB",
    "too large",
    () => tarOf([{ path: "a", size: 0o77777777777 }]),
  ],
  ["a packed bomb of zeros", "too large", () => gzipSync(Buffer.alloc(64 * 1024 * 1024))],
  [
    "a file shorter than its size",
    /cannot be read|damaged/,
    () => tarOf([{ path: "a", content: "x", size: 3_000 }], false).subarray(0, 700),
  ],
  [
    "a file whose last block breaks off",
    /cannot be read|damaged/,
    () => tarOf([file("a", "x".repeat(700))], false).subarray(0, 512 + 600),
  ],
  [
    "a wrong checksum",
    /cannot be read|damaged/,
    () => {
      const layer = tarOf([file("a")]);
      layer[0] = 0x62;
      return layer;
    },
  ],
  [
    "no tar file",
    /cannot be read|damaged/,
    () => Buffer.from("not a tar file at all, but a text".repeat(50)),
  ],
  [
    "a packed layer that breaks off",
    "cannot be read",
    () => gzipSync(tarOf([file("a", "x".repeat(9_999))])).subarray(0, 40),
  ],
  [
    "a packed layer with a wrong checksum",
    "cannot be read",
    () => {
      const packed = gzipSync(tarOf([file("a")]));
      packed[packed.length - 5] = (packed[packed.length - 5] ?? 0) ^ 0xff;
      return packed;
    },
  ],
  ["a sparse file", "not supported", () => tarOf([{ path: "a", type: "S" }])],
  [
    "a sparse file as GNU tar writes it in the format of POSIX",
    "sparse file",
    () => tarOf([file("var/log/GNUSparseFile.1234/lastlog", "1\n0\n512\n")]),
  ],
];

describe("a layer is refused", () => {
  test.each(refused)("with %s", async (_, why, layer) => {
    await expect(unpack([layer()])).rejects.toThrow(why);
  });

  test("packed by zstd, with a file above the root", async () => {
    const layer = await zstdWhole(tarOf([file("../outside/secret")]));

    await expect(unpack([Buffer.from(layer)])).rejects.toThrow("`..`");
  });

  test("packed by zstd, a bomb of zeros", async () => {
    const layer = await zstdWhole(Buffer.alloc(64 * 1024 * 1024));

    await expect(unpack([Buffer.from(layer)])).rejects.toThrow(/more than the/);
  });
});

/** What must be at paths of the root: the text of a file, the target of a link after `->`, or nothing. */
const contained: readonly [
  name: string,
  layers: readonly (readonly Entry[])[],
  found: Readonly<Record<string, string | undefined>>,
][] = [
  ["an absolute path, in the root", [[file("/a/b", "in")]], { "a/b": "in" }],
  ["many slashes and dots", [[file(".//a///./b", "in")]], { "a/b": "in" }],
  [
    "a file through a link to an absolute path",
    [[link("l", "/t"), file("l/a", "in")]],
    { "t/a": "in", l: "-> /t" },
  ],
  [
    "a file through a link out of the root",
    [[link("l", "../../../outside"), file("l/secret", "in")]],
    { "outside/secret": "in" },
  ],
  [
    "a file through a link of a lower layer",
    [[link("l", `/../../outside`)], [file("l/secret", "in")]],
    { "outside/secret": "in" },
  ],
  [
    "a parent that is replaced by a link in the same layer",
    [[directory("d"), link("d", "/t"), file("d/a", "in")]],
    { d: "-> /t", "t/a": "in" },
  ],
  [
    "a parent that is replaced by a link in a higher layer",
    [[file("d/a", "low")], [link("d", "../../outside")]],
    { d: "-> ../../outside" },
  ],
  [
    "a link that a directory replaces",
    [[link("d", "/t")], [directory("d"), file("d/a", "in")]],
    { "d/a": "in", t: undefined },
  ],
  ["a link that a file replaces", [[link("l", "../outside/secret"), file("l", "in")]], { l: "in" }],
  ["a directory that a file replaces", [[file("d/a"), file("d", "in")]], { d: "in" }],
  ["the last of entries with one name", [[file("a", "one"), file("a", "two")]], { a: "two" }],
  [
    "no device",
    [
      [
        { path: "sda", type: "4" },
        { path: "d/null", type: "3" },
      ],
    ],
    { sda: undefined, "d/null": undefined },
  ],
  ["no pipe", [[{ path: "p", type: "6" }]], { p: undefined }],
  [
    "a whiteout only of lower layers",
    [[file("a", "low")], [file("a", "high"), file(".wh.a", "")]],
    { a: "high" },
  ],
  [
    "a whiteout through a link",
    [[file("t/a"), link("l", "/t")], [file("l/.wh.a", "")]],
    { "t/a": undefined },
  ],
  [
    "a whiteout of the root's own content",
    [[file("a")], [file(".wh..wh..opq", ""), file("b", "in")]],
    { a: undefined, b: "in" },
  ],
  [
    "no files of AUFS",
    [[file(".wh..wh.plnk/1", "x"), file(".wh..wh.aufs", "")]],
    { ".wh..wh.aufs": undefined },
  ],
  ["a hard link to a lower layer", [[file("a", "low")], [hard("b", "a")]], { b: "low" }],
  [
    "a hard link to a symbolic link, as a link",
    [[link("l", "/etc/shadow"), hard("b", "l")]],
    { b: "-> /etc/shadow" },
  ],
  [
    "a directory where the sandbox mounts, for a link",
    [[link("proc", "/etc"), link("grange", "../../outside"), link("tmp", "/root")]],
    { "grange/work": "", tmp: "", proc: "" },
  ],
  [
    "a file where the sandbox mounts, for a link",
    [[link("etc/resolv.conf", "../../../outside/secret")]],
    { "etc/resolv.conf": "" },
  ],
  [
    "users, whatever the list of users is",
    [[link("etc/passwd", "/../../outside/secret")]],
    { "etc/passwd": "grange:x:1000:1000:grange:/grange/home:/bin/sh\n" },
  ],
  [
    "users, for a directory of this name",
    [[directory("etc/passwd/d")]],
    { "etc/passwd": "grange:x:1000:1000:grange:/grange/home:/bin/sh\n" },
  ],
  [
    "a directory for a link named etc",
    [[link("etc", "../outside")]],
    { "etc/hosts": "127.0.0.1 localhost grange\n::1 localhost\n" },
  ],
];

test.each(contained)("an image has %s", async (_, layers, found) => {
  const root = await unpack(layers.map((entries) => tarOf(entries)));

  const there = Object.fromEntries(
    Object.keys(found).map((path) => [path, contentAt(join(root, path))]),
  );
  expect(there).toEqual(found);
});

test("a layer without the end of its last block is read, as umoci writes it", async () => {
  const root = await unpack([
    tarOf([file("a", "first"), file("b", "x".repeat(600))], false).subarray(0, -424),
  ]);

  expect([contentAt(join(root, "a")), contentAt(join(root, "b"))]).toEqual([
    "first",
    "x".repeat(600),
  ]);
});

test("files and directories lose setuid, setgid and sticky bits", async () => {
  const root = await unpack([
    tarOf([
      { path: "file", content: "x", mode: 0o7755 },
      { path: "closed", content: "x", mode: 0 },
      { path: "d", type: "5", mode: 0o7000 },
    ]),
  ]);

  const modes = ["file", "closed", "d"].map((name) => lstatSync(join(root, name)).mode & 0o7777);
  expect(modes).toEqual([0o755, 0o400, 0o700]);
});

/** A header of POSIX with attributes of the next entry; values may be binary. */
function attributes(records: Readonly<Record<string, string | Buffer>>): Entry {
  const lines = Object.entries(records).map(([name, value]) => {
    const rest = Buffer.concat([Buffer.from(` ${name}=`), Buffer.from(value), Buffer.from("\n")]);
    const digits = `${rest.length + 2}`.length;
    return Buffer.concat([Buffer.from(`${rest.length + digits}`), rest]);
  });
  return { path: "PaxHeaders.0/a", type: "x", content: Buffer.concat(lines) };
}

test("extended attributes are left out, also a capability whose bytes have line ends, and long names stay", async () => {
  const capability = Buffer.from("0100000200200a0000000000000a000000000000", "hex");
  const long = `${"directory/".repeat(20)}file`;

  const root = await unpack([
    tarOf([
      { path: "pax_global_header", type: "g", content: attributes({ comment: "x" }).content ?? "" },
      attributes({ "SCHILY.xattr.security.capability": capability, mtime: "1600000000.5" }),
      file("bin/ping", "ping"),
      attributes({ "SCHILY.xattr.user.note": "n\n", path: long }),
      file("short", "long"),
    ]),
  ]);

  expect(contentAt(join(root, "bin/ping"))).toBe("ping");
  expect(lstatSync(join(root, "bin/ping")).mtimeMs).toBe(1_600_000_000_000);
  expect(contentAt(join(root, long))).toBe("long");
});

test("layers in all packings and of empty tar files are read: 130 of them, of which each changes one file", async () => {
  const layers = Array.from({ length: 130 }, (_, n) =>
    tarOf([file("count", `${n}`), file(`layer${n}`), hard(`link${n}`, "layer0")]),
  );
  const [first = Buffer.alloc(0), second = Buffer.alloc(0), ...others] = layers;

  const root = await unpack([
    // Several members, as eStargz and parallel gzip write them.
    Buffer.concat([gzipSync(first.subarray(0, 700)), gzipSync(first.subarray(700))]),
    Buffer.from(await zstdWhole(second)),
    // A frame that is skipped, as zstd:chunked has them.
    Buffer.concat([
      await zstdWhole(tarOf([file("chunked")])),
      Buffer.from("502a4d1804000000", "hex"),
      Buffer.from("toc!"),
    ]),
    tarOf([]),
    gzipSync(Buffer.alloc(1_024)),
    ...others,
  ]);

  expect(contentAt(join(root, "count"))).toBe("129");
  expect(contentAt(join(root, "chunked"))).toBe("x");
  expect(lstatSync(join(root, "layer0")).ino).toBe(lstatSync(join(root, "link129")).ino);
});

function contentAt(path: string): string | undefined {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) return undefined;
  if (entry.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  return entry.isDirectory() ? readdirSync(path).join() : readFileSync(path, "utf8");
}
