import type { CacheTool } from "#api/tool-cache.ts";

/** What the lines depend on. */
export interface Farm {
  /** The address of the farm's pages: all else is served there, too. */
  readonly origin: string;
  readonly project: string;
  /** A token, or a word in its place; undefined where the farm asks for none. */
  readonly token: string | undefined;
}

/** Text for a file, or for a shell. */
export interface Lines {
  /** Where they go. */
  readonly where: string;
  readonly text: string;
}

/** How to point a tool at the farm. */
export interface Recipe {
  readonly tool: string;
  /** What the tool gets from it. */
  readonly gives: string;
  readonly lines: (farm: Farm) => readonly Lines[];
  /** What will be seen when it works. */
  readonly expect: string;
  /** By what its use is seen: entries of a cache, or invocations of a tool by its name's beginning; some tell nothing of themselves. */
  readonly seen:
    | { readonly cache: CacheTool }
    | { readonly invocationsOf: string }
    | { readonly nowhere: true };
}

/** As tools write a gRPC address: `grpc://host:port`, `grpcs://host:443`. */
export function grpcAddress(origin: string): string {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === "https:";
  return `${secure ? "grpcs" : "grpc"}://${hostname}:${port || (secure ? "443" : "80")}`;
}

export function cacheUrl({ origin, project }: Farm, tool: CacheTool): string {
  return `${origin}/cache/${project.split("/").map(encodeURIComponent).join("/")}/${tool}`;
}

/** What stands before an invocation's id in the address of its page. */
export function invocationsUrl({ origin, project }: Farm): string {
  return project === unnamed
    ? `${origin}/invocations/`
    : `${origin}/in/${encodeURIComponent(project)}/`;
}

/** The farm takes no instance for this project: tools need not be told of one. */
export const unnamed = "default";

export const joined = (...lines: readonly (string | false | undefined)[]) =>
  `${lines.filter((line) => typeof line === "string").join("\n")}\n`;

export const orNone = (value: string | undefined, line: (value: string) => string) =>
  value === undefined ? undefined : line(value);
