import type { ResolvedBranch } from "#api/branch.ts";

export const nameOfBranch = (branch: string) => (branch === "*" ? "all branches" : branch);

/** Describes the source of the definitions of a branch's graphs, for people. */
export function sourceText(source: ResolvedBranch["source"]): string {
  switch (source.kind) {
    case "commit":
      return "the commit’s own .grange/";
    case "repository":
      return `${source.repository} at ${source.rev}`;
    case "directory":
      return source.path;
    case "pushed":
      return "pushed definitions";
  }
}
