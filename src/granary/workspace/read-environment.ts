import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { canonicalJson } from "#core/canonical-json.ts";
import { knownCLibrary } from "./c-library.ts";
import { findTool } from "./find-tool.ts";
import { defaultTools, type GranarySettings } from "./granary-settings.ts";
import type { KnownDigests } from "./known-digests.ts";
import { systemImage } from "./system-image.ts";

/** Variables that name the programs that compile: `ccache clang-15`, `/opt/gcc/bin/gcc -m32`. */
const naming: ReadonlySet<string> = new Set([
  "CC",
  "CXX",
  "CPP",
  "LD",
  "AR",
  "HOSTCC",
  "HOSTCXX",
  "RUSTC",
]);

const mostWords = 20;

/** The properties that builds must share so that one may use the index and the results of the other. */
interface BuildEnvironment {
  /** A text of 64 characters. */
  readonly name: string;
  /** The facts that it was derived from, for display. */
  readonly facts: Readonly<Record<string, string>>;
}

interface EnvironmentSource {
  readonly settings: GranarySettings;
  /** The root of the workspace; undefined when there is no workspace, so its files do not count. */
  readonly root: string | undefined;
  /** The variables that the build will have. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** The digests of compilers, which take a while to compute. */
  readonly digests: KnownDigests;
}

/**
 * Derives the environment of a build: machines with the same system, compilers and settings have the same environment,
 * wherever the files are.
 *
 * It is part of the keys under which results of most tools are shared (`keyInEnvironment`), so that compilers are
 * distinguished by their content.
 */
export async function readEnvironment(source: EnvironmentSource): Promise<BuildEnvironment> {
  const { settings, variables, root, digests } = source;
  const named = compilersNamedIn(variables, settings.variables);
  const names = [...new Set([...settings.tools, ...named])];
  const [libc, image, tools, files] = await Promise.all([
    knownCLibrary(),
    systemImage(),
    Promise.all(names.map((name) => toolOf(name, variables["PATH"], digests))),
    Promise.all(
      root === undefined ? [] : settings.files.map((name) => fileOf(root, name, digests)),
    ),
  ]);
  await digests.save();

  const facts: Record<string, string> = { os: process.platform, arch: process.arch };
  if (libc !== "") facts["libc"] = libc;
  if (image !== "") facts["image"] = image;
  // The path of a tool is only for display; its content counts.
  const counted: Record<string, string> = { ...facts };
  const note = (fact: string, value: string, valueText = value) => {
    counted[fact] = value;
    facts[fact] = valueText;
  };
  for (const tool of tools) {
    if (tool) note(`tool ${tool.name}`, tool.hash, `${tool.hash.slice(0, 12)} ${tool.path}`);
  }
  for (const { name, hash } of files) note(`file ${name}`, hash);
  for (const name of settings.variables) {
    const value = variables[name];
    if (value) {
      note(`variable ${name}`, root === undefined ? value : value.replaceAll(root, "<root>"));
    }
  }
  return { name: createHash("sha256").update(canonicalJson(counted)).digest("hex"), facts };
}

/**
 * Computes in advance what most builds will need, one after the other, so that the first build does not wait for it.
 * Never throws.
 */
export async function digestDefaultTools(
  digests: KnownDigests,
  path: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  await knownCLibrary();
  for (const name of defaultTools) {
    if (signal.aborted) break;
    await toolOf(name, path, digests);
  }
  await digests.save();
}

async function toolOf(name: string, path: string | undefined, digests: KnownDigests) {
  const found = await findTool(name, path);
  const hash = found && (await digests.of(found));
  return found && hash ? { name, path: found, hash } : undefined;
}

/**
 * A missing file gives another value than an existing one; a link that points out of the repository counts as missing.
 */
async function fileOf(root: string, name: string, digests: KnownDigests) {
  const real = await realpath(join(root, name)).catch(() => undefined);
  const top = await realpath(root).catch(() => root);
  const isWithin = real?.startsWith(top.endsWith(sep) ? top : top + sep) === true;
  const hash = real !== undefined && isWithin ? await digests.of(real) : undefined;
  return { name, hash: hash ?? "absent" };
}

/**
 * Returns the compilers that a build's variables name, for those variables that count for its environment. Words that
 * are not programs, such as values of flags, are not found later and do not count.
 */
function compilersNamedIn(
  variables: Readonly<Record<string, string | undefined>>,
  counting: readonly string[],
): string[] {
  const words = counting
    .filter((name) => naming.has(name))
    .flatMap((name) => (variables[name] ?? "").split(/\s+/));
  return [...new Set(words.filter((word) => /^[A-Za-z0-9/._+-]+$/.test(word)))]
    .filter((word) => !word.startsWith("-"))
    .slice(0, mostWords);
}
