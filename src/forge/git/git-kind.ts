import type { ForgeKind } from "../forge-kind.ts";

/** Plain Git remotes. A slug is the address for Git: a URL or a path. */
export const gitKind: ForgeKind = {
  kind: "git",
  async open(_, parts) {
    const { openGitForge } = await import("./open-git-forge.ts");
    return openGitForge(parts);
  },
};
