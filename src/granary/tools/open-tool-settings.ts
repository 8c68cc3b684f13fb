import { randomUUID } from "node:crypto";
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  writeFile,
} from "node:fs/promises";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { bazelrcText } from "./bazel-settings.ts";
import { cachesSetInFiles } from "./caches-set-in-files.ts";
import { gradleInitScript } from "./gradle-settings.ts";
import { granaryProcess, type Shim, shims, shimText } from "./shim-text.ts";
import { cacheUrl, keptBy, type ToolSettingsSource, toolSettings } from "./tool-settings.ts";

export interface OpenToolSettings {
  /** The build's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly leftAlone: readonly string[];
  /** Where more files of the build may be put; removed by `close`. */
  readonly directory: string;
  close(): Promise<void>;
}

export interface ToolSettingsPlace extends ToolSettingsSource {
  /** Where the build runs; the current directory without. */
  readonly workingDirectory?: string;
  /** Variables of others, such as a socket's; they win. */
  readonly extra?: Readonly<Record<string, string>>;
}

/**
 * Leads a build's tools to the granary: by variables, and where a tool knows none, by a program of its name that stands before it in
 * PATH and names a file of this build's. The programs stay, always at the same path: who notes PATH sees it change once.
 */
export async function openToolSettings(
  place: ToolSettingsPlace,
  parentDirectory: string,
): Promise<OpenToolSettings> {
  const setInFiles = await cachesSetInFiles(
    place.workingDirectory ?? process.cwd(),
    place.variables,
  );
  const source = { ...place, setInFiles };
  const settings = toolSettings(source);
  await mkdir(parentDirectory, { recursive: true, mode: 0o700 });
  const directory = await mkdtemp(join(parentDirectory, "build-"));
  const variables: Record<string, string> = { ...settings.variables };
  if (place.pid !== undefined) variables[granaryProcess] = `${place.pid}`;
  if (keptBy("bazel", source) === undefined) {
    variables["GRANGE_BAZELRC"] = join(directory, "bazelrc");
    await writeFile(join(directory, "bazelrc"), bazelrcText(source));
  }
  if (keptBy("gradle", source) === undefined) {
    variables["GRANGE_GRADLE_INIT"] = join(directory, "init.gradle");
    await writeFile(join(directory, "init.gradle"), gradleInitScript(cacheUrl("gradle", source)));
  }
  const path = await pathWithShims(place.variables["PATH"] ?? "", join(parentDirectory, "shims"));
  return {
    variables: { ...definedOf(place.variables), PATH: path, ...variables, ...place.extra },
    leftAlone: settings.leftAlone,
    directory,
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** A directory for each shim: who has no Bazel must not find one. */
async function pathWithShims(path: string, parent: string): Promise<string> {
  const directoryOf = ({ program }: Shim) => join(parent, program);
  const own = shims.map(directoryOf);
  const others = path.split(delimiter).filter((directory) => !own.includes(directory));
  const used: string[] = [];
  for (const shim of shims) {
    if (!(await isIn(others, shim.program))) continue;
    await writeShim(join(directoryOf(shim), shim.program), shimText(shim, own));
    used.push(directoryOf(shim));
  }
  return [...used, ...others].join(delimiter);
}

async function isIn(directories: readonly string[], program: string): Promise<boolean> {
  for (const directory of directories.filter(isAbsolute)) {
    const isThere = await access(join(directory, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return true;
  }
  return false;
}

/** By renaming: another build may be starting it at this moment. */
async function writeShim(file: string, text: string): Promise<void> {
  if ((await readFile(file, "utf8").catch(() => "")) === text) return;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const mine = `${file}.${randomUUID()}`;
  await writeFile(mine, text);
  await chmod(mine, 0o700);
  await rename(mine, file);
}

function definedOf(variables: ToolSettingsSource["variables"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
