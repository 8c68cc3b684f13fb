import type { CacheTool } from "#api/tool-cache.ts";

/** The data on which the lines depend. */
export interface Farm {
  /** The address of the farm's pages, which serves all other protocols, too. */
  readonly origin: string;
  readonly project: string;
  /** A token, or a placeholder; undefined when the farm requires none. */
  readonly token: string | undefined;
}

/** Text for a file, or for a shell. */
export interface Lines {
  /** The file or shell for the lines. */
  readonly where: string;
  readonly text: string;
}

/** How to connect a tool to the farm. */
export interface Recipe {
  readonly tool: string;
  /** The features that the tool gets. */
  readonly gives: string;
  readonly lines: (farm: Farm) => readonly Lines[];
  /** The visible result when it works. */
  readonly expect: string;
  /**
   * How its use is detected: by entries of a cache, or by invocations of a tool with this name prefix; some tools
   * cannot be detected.
   */
  readonly seen:
    | { readonly cache: CacheTool }
    | { readonly invocationsOf: string }
    | { readonly nowhere: true };
}

/** Returns a gRPC address in the notation of tools: `grpc://host:port`, `grpcs://host:443`. */
export function grpcAddress(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === "https:";
  return `${secure ? "grpcs" : "grpc"}://${hostname}:${port || (secure ? "443" : "80")}`;
}

export function cacheUrl({ origin, project }: Farm, tool: CacheTool): string {
  return `${origin}/cache/${project.split("/").map(encodeURIComponent).join("/")}/${tool}`;
}

/** Returns the prefix of the address of an invocation's page, before its id. */
export function invocationsUrl({ origin, project }: Farm): string {
  return project === unnamed
    ? `${origin}/invocations/`
    : `${origin}/in/${encodeURIComponent(project)}/`;
}

/** The farm needs no instance name for this project, so tools do not have to configure one. */
export const unnamed = "default";

export const joined = (...lines: readonly (string | false | undefined)[]) =>
  `${lines.filter((line) => typeof line === "string").join("\n")}\n`;

export const orNone = (value: string | undefined, line: (value: string) => string) =>
  value === undefined ? undefined : line(value);
