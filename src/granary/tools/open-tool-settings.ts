import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { bazelrcText, namesJobs } from "./bazel-settings.ts";
import { bazelrcFiles } from "./bazelrc-files.ts";
import { cachesSetInFiles, compilerCheckInFile } from "./caches-set-in-files.ts";
import { gradleInitScript } from "./gradle-settings.ts";
import { granaryProcess, type Shim, shims, shimText } from "./shim-text.ts";
import { cacheUrl, keptBy, type ToolSettingsSource, toolSettings } from "./tool-settings.ts";

interface OpenToolSettings {
  /** The build's whole environment. */
  readonly variables: Readonly<Record<string, string>>;
  readonly leftAlone: readonly string[];
  /** The directory for more files of the build; `close` removes it. */
  readonly directory: string;
  close(): Promise<void>;
}

export interface ToolSettingsPlace extends ToolSettingsSource {
  /** The directory in which the build runs; default: the current directory. */
  readonly workingDirectory?: string;
  /** Variables of other parts, such as the address of a socket; they have priority. */
  readonly extra?: Readonly<Record<string, string>>;
}

/**
 * Connects a build's tools to the granary. It sets variables. For a tool without such variables, it puts a program with
 * the tool's name first in PATH, which adds a file of this build. The programs stay at the same path, so that PATH
 * changes only once.
 *
 * File system calls run one after the other, without the thread pool: a build waits for them, there is no other work
 * meanwhile, and each of the sixty calls costs a tenth of a pooled call.
 */
export async function openToolSettings(
  place: ToolSettingsPlace,
  parentDirectory: string,
): Promise<OpenToolSettings> {
  const home = place.variables["HOME"] || homedir();
  const bazelrcs = bazelrcFiles(place.workingDirectory ?? process.cwd(), home);
  const setInFiles = cachesSetInFiles(bazelrcs, place.variables);
  const source = {
    ...place,
    setInFiles,
    compilerCheckInFile: compilerCheckInFile(place.variables),
  };
  const settings = toolSettings(source);
  const variables: Record<string, string> = { ...settings.variables };
  if (place.pid !== undefined) variables[granaryProcess] = `${place.pid}`;
  const files = new Map<string, string>();
  if (keptBy("bazel", source) === undefined) {
    const setsJobs = !namesJobs(bazelrcs.map(({ text }) => text).join("\n"));
    files.set("bazelrc", bazelrcText(source, setsJobs));
  }
  if (keptBy("gradle", source) === undefined) {
    files.set("init.gradle", gradleInitScript(cacheUrl("gradle", source)));
  }
  const directory = writeFilesOfBuild(files, parentDirectory);
  if (files.has("bazelrc")) variables["GRANGE_BAZELRC"] = join(directory, "bazelrc");
  if (files.has("init.gradle")) variables["GRANGE_GRADLE_INIT"] = join(directory, "init.gradle");
  const path = pathWithShims(place.variables["PATH"] ?? "", join(parentDirectory, "shims"));
  return {
    variables: { ...definedOf(place.variables), PATH: path, ...variables, ...place.extra },
    leftAlone: settings.leftAlone,
    directory,
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** On a full disk the files are written elsewhere, because the granary can still be read. */
function writeFilesOfBuild(files: ReadonlyMap<string, string>, parentDirectory: string): string {
  try {
    mkdirSync(parentDirectory, { recursive: true, mode: 0o700 });
    return writtenIn(mkdtempSync(join(parentDirectory, "build-")), files);
  } catch {
    return writtenIn(mkdtempSync(join(tmpdir(), "grange-build-")), files);
  }
}

function writtenIn(directory: string, files: ReadonlyMap<string, string>): string {
  try {
    for (const [name, text] of files) writeFileSync(join(directory, name), text);
    return directory;
  } catch (reason) {
    rmSync(directory, { recursive: true, force: true });
    throw reason;
  }
}

/**
 * Each shim has a separate directory: if Bazel is not installed, PATH must not contain a shim for
 * it.
 */
function pathWithShims(path: string, parent: string): string {
  const directoryOf = ({ program }: Shim) => join(parent, program);
  const own = shims.map(directoryOf);
  const others = path.split(delimiter).filter((directory) => !own.includes(directory));
  const used: string[] = [];
  for (const shim of shims) {
    if (!isIn(others, shim.program)) continue;
    if (writeShim(join(directoryOf(shim), shim.program), shimText(shim, own))) {
      used.push(directoryOf(shim));
    }
  }
  return [...used, ...others].join(delimiter);
}

function isIn(directories: readonly string[], program: string): boolean {
  return directories.filter(isAbsolute).some((directory) => isProgram(join(directory, program)));
}

function isProgram(path: string): boolean {
  // The check avoids an exception, which costs more than the check, and most of these files do not
  // exist.
  if (!existsSync(path)) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Writes the shim by renaming, because another build may be starting it at this moment. Returns false when the disk
 * fails; the tool then runs without the cache.
 */
function writeShim(file: string, text: string): boolean {
  const mine = `${file}.${randomUUID()}`;
  try {
    if (existsSync(file) && readFileSync(file, "utf8") === text) return true;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(mine, text);
    chmodSync(mine, 0o700);
    renameSync(mine, file);
    return true;
  } catch {
    rmSync(mine, { force: true });
    return false;
  }
}

function definedOf(variables: ToolSettingsSource["variables"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}
