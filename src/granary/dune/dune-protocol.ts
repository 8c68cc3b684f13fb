import { type Csexp, CsexpParser, encodeCsexp, fieldOf, isList, textOf } from "./csexp.ts";
import { DuneDigest } from "./dune-digest.ts";

/** A version of the protocol between dune and its cache daemon: 1.2 of dune 2.6 to 2.9. dune 3 has no daemon. */
interface DuneVersion {
  readonly major: number;
  readonly minor: number;
}

export interface DuneFile {
  /** The path relative to the build directory. */
  readonly path: string;
  readonly digest: DuneDigest;
}

export interface DuneRepository {
  readonly directory: string;
  readonly commit: string;
}

/** The messages of dune. Messages of other versions, which Grange does not need, are `unknown`. */
export type DuneMessage =
  | { readonly kind: "lang"; readonly versions: readonly DuneVersion[] }
  | { readonly kind: "set-build-root"; readonly directory: string }
  /** The repositories of the sources, the outer before the inner. */
  | { readonly kind: "set-repos"; readonly repositories: readonly DuneRepository[] }
  | {
      readonly kind: "promote";
      readonly key: DuneDigest;
      readonly files: readonly DuneFile[];
      /** The index in the list of repositories. */
      readonly repository: number | undefined;
      readonly duplication: "hardlink" | "copy" | undefined;
    }
  /** dune itself has already put the rule into its store. */
  | { readonly kind: "promoted"; readonly key: DuneDigest }
  | { readonly kind: "hint"; readonly keys: readonly DuneDigest[] }
  | { readonly kind: "unknown"; readonly name: string };

/**
 * Reports that a promoted file was already cached: dune replaces it by a hard link. Before `set-repos`, this message
 * kills the thread of dune that reads it.
 */
export function encodeDedup({ path, digest }: DuneFile): Buffer {
  return encodeCsexp(["dedup", [path, digest]]);
}

/** The largest number of messages from one dune; a large build promotes some ten thousand rules. */
const mostMessages = 5_000_000;

/** Reads the messages of a dune. Throws `invalid_argument` at the first invalid message. */
export class DuneReader {
  readonly #parser = new CsexpParser();
  #messages = 0;

  push(bytes: Uint8Array): DuneMessage[] {
    const messages = this.#parser.push(bytes).map((one) => readMessage(one));
    this.#messages += messages.length;
    return this.#messages > mostMessages ? [] : messages;
  }
}

/** Fields may come in any order: dune's own parser expects one order, later versions send another. */
export function readMessage(one: Csexp): DuneMessage {
  if (!isList(one)) return { kind: "unknown", name: "an atom" };
  const [head, ...rest] = one;
  const name = textOf(head) ?? "";
  switch (name) {
    case "lang":
      return { kind: "lang", versions: rest.slice(1).flatMap((pair) => versionOf(pair) ?? []) };
    case "set-build-root": {
      const directory = textOf(rest[0]);
      return isAbsolute(directory) ? { kind: name, directory } : { kind: "unknown", name };
    }
    case "set-repos":
      return { kind: name, repositories: rest.slice(0, mostRepositories).map(repositoryOf) };
    case "promote":
      return promoteOf(rest) ?? { kind: "unknown", name };
    case "promoted": {
      const key = digestOf(fieldOf(rest, "key")?.[0] ?? rest[0]);
      return key === undefined ? { kind: "unknown", name } : { kind: name, key };
    }
    case "hint":
      return { kind: name, keys: rest.flatMap((key) => digestOf(key) ?? []) };
    default:
      return { kind: "unknown", name: name.slice(0, 40) };
  }
}

const mostRepositories = 1_000;

function repositoryOf(one: Csexp): DuneRepository {
  const fields = isList(one) ? one : [];
  return {
    directory: textOf(fieldOf(fields, "dir")?.[0]) ?? "",
    commit: textOf(fieldOf(fields, "commit_id")?.[0]) ?? "",
  };
}

function promoteOf(fields: readonly Csexp[]): DuneMessage | undefined {
  const key = digestOf(fieldOf(fields, "key")?.[0]);
  const files = filesOf(fieldOf(fields, "files") ?? []);
  if (key === undefined || files === undefined) return undefined;
  const repository = Number(textOf(fieldOf(fields, "repo")?.[0]) ?? Number.NaN);
  const duplication = textOf(fieldOf(fields, "duplication")?.[0]);
  return {
    kind: "promote",
    key,
    files,
    repository: Number.isSafeInteger(repository) && repository >= 0 ? repository : undefined,
    duplication: duplication === "hardlink" || duplication === "copy" ? duplication : undefined,
  };
}

/** Returns undefined when one of them is not a file: an incomplete rule is useless. */
export function filesOf(pairs: readonly Csexp[]): DuneFile[] | undefined {
  const files: DuneFile[] = [];
  for (const pair of pairs) {
    const path = isList(pair) ? textOf(pair[0]) : undefined;
    const digest = isList(pair) ? digestOf(pair[1]) : undefined;
    if (path === undefined || digest === undefined || !isInside(path)) return undefined;
    files.push({ path, digest });
  }
  return files;
}

/** Whether a path stays in the directory that it is relative to. */
export function isInside(path: string): boolean {
  return (
    path.length > 0 &&
    path.length <= 4_096 &&
    !path.includes("\0") &&
    path.split("/").every((part) => part !== "" && part !== "." && part !== "..")
  );
}

function isAbsolute(path: string | undefined): path is string {
  return path !== undefined && path.startsWith("/") && !path.includes("\0") && path.length <= 4_096;
}

function versionOf(pair: Csexp): DuneVersion | undefined {
  if (!isList(pair)) return undefined;
  const [major, minor] = [Number(textOf(pair[0])), Number(textOf(pair[1]))];
  return Number.isSafeInteger(major) && Number.isSafeInteger(minor) ? { major, minor } : undefined;
}

function digestOf(one: Csexp | undefined): DuneDigest | undefined {
  return DuneDigest.safeParse(textOf(one)).data;
}
