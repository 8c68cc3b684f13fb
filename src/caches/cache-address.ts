import { CacheTool } from "#api/tool-cache.ts";
import { Fault } from "#core/fault.ts";

/** The address of a request: `/cache/PROJECT/TOOL/…`. */
interface CacheAddress {
  /** As in the URL; not yet checked to be a project name. */
  readonly project: string;
  readonly tool: CacheTool;
  readonly rawPath: string;
  readonly path: readonly string[];
  readonly isFolder: boolean;
  readonly query: URLSearchParams;
}

/** The prefix of all their paths. */
export const cachePrefix = "/cache/";

const longestPath = 1_024;

/**
 * Parses a URL; throws `invalid_argument` for other URLs.
 *
 * A project's name may have slashes: it ends before the first tool's name. A project name that contains a tool's name
 * needs %2F for its slashes.
 */
export function cacheAddressOf(url: string): CacheAddress {
  const question = url.indexOf("?");
  const rawPath = question < 0 ? url : url.slice(0, question);
  if (rawPath.length > longestPath)
    throw new Fault(
      "invalid_argument",
      `the path of a cache request has at most ${longestPath} characters`,
    );
  const parts = rawPath.slice(cachePrefix.length).split("/");
  const at = parts.findIndex((part, i) => i > 0 && CacheTool.safeParse(part).success);
  if (at < 0) {
    throw new Fault(
      "not_found",
      `caches are at ${cachePrefix}PROJECT/TOOL/..., where TOOL is one of ${CacheTool.options.join(", ")}`,
    );
  }
  const isFolder = at === parts.length - 1 || parts.at(-1) === "";
  const below = parts.slice(at + 1, parts.at(-1) === "" && at < parts.length - 1 ? -1 : undefined);
  return {
    project: parts.slice(0, at).map(decoded).join("/"),
    tool: CacheTool.parse(parts[at]),
    rawPath,
    path: below.map(fileName),
    isFolder,
    query: new URLSearchParams(question < 0 ? "" : url.slice(question + 1)),
  };
}

/** Keys of tools have no other characters, and no part with a special meaning in a file system. */
function fileName(part: string): string {
  const name = decoded(part);
  if (/^[A-Za-z0-9._@+=,~:-]{1,255}$/.test(name) && name !== "." && name !== "..") return name;
  throw new Fault(
    "invalid_argument",
    "a part of the path is empty, longer than 255 characters, or has other characters than A-Z a-z 0-9 . _ @ + = , ~ : -",
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (cause) {
    throw new Fault("invalid_argument", "the path has an invalid percent-encoding", { cause });
  }
}
