import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { z } from "zod";
import { Fault, messageOf } from "#core/fault.ts";

/** A project's settings for its builds. */
export interface GranarySettings {
  /** The project of the results; undefined: `grange exec` states it. */
  readonly project: string | undefined;
  /** The targets of a build that names none. */
  readonly targets: readonly string[];
  /** Programs that builds use although their keys do not contain them: found in PATH under these names. */
  readonly tools: readonly string[];
  readonly variables: readonly string[];
  /** Files of the repository. */
  readonly files: readonly string[];
}

/** In a separate directory, because every other file in `.grange` is a definition of the farm. */
export const settingsFile = ".grange/granary/settings.yml";

export const defaultTools = [
  "cc",
  "c++",
  "gcc",
  "g++",
  "clang",
  "clang++",
  "as",
  "ld",
  "rustc",
  "go",
  "javac",
  "ocamlfind",
  "ocamlopt",
  "dune",
  "node",
  "python3",
] as const;

/**
 * Variables that compilers read besides their arguments. Without those that differ in each build, such as
 * SOURCE_DATE_EPOCH.
 */
export const defaultVariables = [
  "CC",
  "CXX",
  "CPP",
  "LD",
  "AR",
  "CFLAGS",
  "CXXFLAGS",
  "CPPFLAGS",
  "LDFLAGS",
  "CPATH",
  "C_INCLUDE_PATH",
  "CPLUS_INCLUDE_PATH",
  "LIBRARY_PATH",
  "OCAMLPARAM",
  "RUSTFLAGS",
  "CARGO_ENCODED_RUSTFLAGS",
  "CARGO_BUILD_TARGET",
  "RUSTUP_TOOLCHAIN",
  "GOFLAGS",
  "GOOS",
  "GOARCH",
  "CGO_ENABLED",
  "JAVA_TOOL_OPTIONS",
  "NODE_ENV",
  "NODE_OPTIONS",
  "SDKROOT",
  "MACOSX_DEPLOYMENT_TARGET",
] as const;

const File = z
  .string()
  .max(1_024)
  .regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\0]+$/, "a path within the repository, without ..");

const Settings = z.strictObject({
  project: z
    .string()
    .regex(/^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/, "a name, such as default or team/web")
    .max(200)
    .optional(),
  targets: z.array(z.string().min(1).max(1_024)).max(100).default([]),
  environment: z
    .strictObject({
      tools: z
        .array(
          z.string().regex(/^[A-Za-z0-9._+-]{1,100}$/, "a program's name, without a directory"),
        )
        .max(100)
        .default([...defaultTools]),
      variables: z
        .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,199}$/, "a variable's name"))
        .max(100)
        .default([...defaultVariables]),
      files: z.array(File).max(100).default([]),
    })
    .prefault({}),
});

const mostBytes = 64 * 1024;

/**
 * Reads the settings of a workspace, or returns the defaults. Each list in the environment replaces the default list.
 *
 * Throws `invalid_argument` with the problem and its place.
 */
export async function readGranarySettings(root: string): Promise<GranarySettings> {
  return parseGranarySettings((await readSome(join(root, settingsFile))) ?? "{}");
}

export function parseGranarySettings(text: string): GranarySettings {
  const wrong = (what: string) => new Fault("invalid_argument", `${settingsFile}: ${what}`);
  if (Buffer.byteLength(text) > mostBytes) throw wrong(`it is larger than ${mostBytes} bytes`);
  const { value, trouble } = yamlIn(text);
  if (trouble !== undefined) throw wrong(trouble);
  const parsed = Settings.safeParse(value ?? {});
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw wrong(issue === undefined ? "it is wrong" : wordsOf(issue));
  }
  const { project, targets, environment } = parsed.data;
  return { project, targets, ...environment };
}

/** The settings of a workspace without any. */
export const defaultSettings: GranarySettings = parseGranarySettings("{}");

function wordsOf(issue: z.core.$ZodIssue): string {
  const where = issue.path.join(".");
  const isEnvironment = where === "environment";
  const may = isEnvironment ? "tools, variables and files" : "project, targets and environment";
  if (issue.code === "unrecognized_keys") {
    const name = [...issue.path, issue.keys[0]].join(".");
    return `there is no "${name}"; ${isEnvironment ? "environment" : "the file"} may have ${may}`;
  }
  if (where === "" || isEnvironment) return `${where || "the whole"} must be a map with ${may}`;
  return `${where}: ${issue.message}`;
}

function yamlIn(text: string): { readonly value?: unknown; readonly trouble?: string } {
  try {
    const document = parseDocument(text);
    const [error] = document.errors;
    // The first line has the problem and its place; the others show a part of the file.
    const trouble = error?.message.split("\n")[0]?.replace(/:$/, "");
    return trouble === undefined ? { value: document.toJS() } : { trouble };
  } catch (reason) {
    // Nested aliases, which would fill the memory.
    return { trouble: messageOf(reason) };
  }
}

/** Reads one byte more than is allowed, to notice a file that is too large. */
async function readSome(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) return undefined;
    const buffer = Buffer.alloc(mostBytes + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
