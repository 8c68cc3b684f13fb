import type { Principal } from "#access/principal.ts";
import type {
  CommitIndexes,
  CommitIndexPage,
  GranaryBuildReport,
  GranaryBuilds,
  Quarantine,
  Savings,
} from "#api/granary.ts";

/** What granaries told of builds, what the farm knows of commits for them, and what is in doubt. */
export interface GranaryFarm {
  granaryBuilds(listing: {
    readonly project: string;
    readonly repository: string | undefined;
    readonly commit: string | undefined;
    readonly after: string | undefined;
    readonly limit: number;
  }): Promise<GranaryBuilds>;
  granaryBuild(id: string): Promise<GranaryBuildReport | undefined>;
  granarySavings(project: string, days: number): Promise<Savings>;
  commitIndexes(project: string, limit: number): Promise<CommitIndexes>;
  commitIndex(
    which: {
      readonly project: string;
      readonly repository: string;
      readonly commit: string;
      /** Undefined means that whose index changed last. */
      readonly environment: string | undefined;
    },
    from: number,
  ): Promise<CommitIndexPage | undefined>;
  quarantine(project: string): Promise<Quarantine>;
  releaseResult(
    which: { readonly project: string; readonly namespace: string; readonly key: string },
    by: Principal,
  ): Promise<Quarantine>;
  /** What was made from it goes into quarantine, too. */
  quarantineMadeFrom(
    which: { readonly project: string; readonly namespace: string; readonly key: string },
    by: Principal,
  ): Promise<Quarantine>;
}
