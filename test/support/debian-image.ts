import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { buildImage, tarOf } from "#images/image-builder.fixture.ts";

type Entry = Parameters<typeof tarOf>[0][number];

const merged = ["bin", "sbin", "lib", "lib64"];

/**
 * Builds an image of Debian packages that this machine has, with all packages that they depend on, of further files of
 * this machine, and of entries. Throws when one of the packages is not installed.
 */
export function debianImage(
  packages: readonly string[],
  files: readonly string[] = [],
  own: readonly Entry[] = [],
) {
  const format = "${db:Status-Status} ${Package}\\n";
  const here = new Set(output("dpkg-query", ["-W", "-f", format]).split("\n"));
  // An alternative of a dependency may be absent.
  const dependencies = packages
    .flatMap(dependenciesOf)
    .filter((name) => here.has(`installed ${name}`));
  const all = new Set([...packages, ...dependencies]);
  const paths = new Set<string>(files);
  for (const name of all) for (const path of filesOf(name)) paths.add(path);
  // Links such as /usr/bin/cc are made when a package is configured.
  const alternatives = [
    ...output("find", ["/etc/alternatives", "-type", "l"]).split("\n"),
    ...output("find", ["/usr/bin", "-lname", "/etc/alternatives/*"]).split("\n"),
  ];
  for (const path of alternatives) paths.add(path);
  const entries = new Map<string, Entry>();
  for (const path of [...paths].toSorted()) {
    const entry = entryOf(path);
    if (entry !== undefined) entries.set(entry.path, entry);
  }
  const links = merged.map((name): Entry => ({ path: name, type: "2", target: `usr/${name}` }));
  return buildImage([tarOf([...links, ...entries.values(), ...own])], {
    Env: ["PATH=/usr/local/bin:/usr/bin:/bin"],
  });
}

function dependenciesOf(name: string): string[] {
  const less = ["recommends", "suggests", "conflicts", "breaks", "replaces", "enhances"];
  const options = ["--recurse", "--installed", ...less.map((kind) => `--no-${kind}`)];
  const printed = output("apt-cache", ["depends", ...options, name]);
  return printed.split("\n").filter((line) => /^[a-z0-9]/.test(line));
}

function filesOf(name: string): string[] {
  const isKept = (path: string) =>
    path.startsWith("/") && !/^\/usr\/share\/(doc|man|help|icons|info|locale)/.test(path);
  return output("dpkg", ["-L", name]).split("\n").filter(isKept);
}

/** Undefined for a directory, and for what is not there. */
function entryOf(path: string): Entry | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const [, top = ""] = path.split("/");
  // Debian's directories at the top are links into /usr.
  const inImage = merged.includes(top) ? join("usr", path) : path.slice(1);
  if (found === undefined || found.isDirectory() || merged.includes(path.slice(1)))
    return undefined;
  if (found.isSymbolicLink()) return { path: inImage, type: "2", target: readlinkSync(path) };
  return { path: inImage, content: readFileSync(path), mode: found.mode & 0o755 };
}

function output(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 26, stdio: "pipe" });
}

/** Returns a program of this machine with its libraries, as files for an image. */
export function programFiles(path: string): string[] {
  const libraries = output("ldd", [path]);
  const found = [...libraries.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, file = ""]) => file);
  // Most names of libraries are links to files with their version.
  return [path, ...found, ...found.map((file) => realpathSync(file))];
}
