import type { ForgeKind } from "./forge-kind.ts";
import { gitKind } from "./git/git-kind.ts";
import { gitHubKind } from "./github/github-kind.ts";

/** The kinds of forges that Grange knows. */
export const forgeKinds: readonly ForgeKind[] = [gitKind, gitHubKind];
