import type { LateBecause, ResultSource } from "#api/granary.ts";
import type { ResultKey } from "#commit-index/result-key.ts";
import type { Digest } from "#core/digest.ts";
import type { GranaryResult } from "../granary-result.ts";

/** What was found out about a result that a build asked for. */
export interface Asked {
  readonly source: ResultSource;
  readonly because: LateBecause | undefined;
  readonly waitedMs: number;
  /** What was found; undefined of a miss. */
  readonly result: GranaryResult | undefined;
  /** Found out when the build was over: when it was asked for nobody knows. */
  readonly isNotedLater?: boolean;
  /** Since it was asked for, where it is told only now. */
  readonly agoMs?: number;
}

/** What is fetched ahead for a build. Never in the way of what the build asks for itself. */
export interface Prefetch {
  /** When the result (or blob) is on its way: resolves once it is here, or will not come. Undefined: it is not. */
  coming(wish: ResultKey | Digest): Promise<void> | undefined;
  /**
   * While nobody knows yet what an index names: resolves once that is known, and what is asked for meanwhile is on its way
   * then before all else, if it is named. Undefined: it is known.
   */
  planning?(key: ResultKey): Promise<void> | undefined;
  /** How long it has been here, when it was fetched ahead; undefined when it was not. */
  leadMs(key: ResultKey): number | undefined;
  /** Why a result was not fetched ahead in time. */
  whyNot(key: ResultKey): LateBecause;
  /** When the index's builds asked for it, from their start. */
  firstMs?(key: ResultKey): number | undefined;
  /** What an index names of a result; empty when none does. */
  blobsOf?(key: ResultKey): readonly Digest[];
  /** A build waits for the farm by itself: where that would take the line from it, nothing further is asked for ahead until this is called. */
  giveWay(): () => void;
  /** What a build system announces: fetched before all that is only expected. */
  hint(keys: readonly ResultKey[]): void;
}

/** A build under way on this machine: what it asks for is noted, for its report and its commit's index. */
export interface Build {
  readonly id: string;
  readonly project: string;
  /** The name of its environment: results of tools that do not identify their compilers are shared within one only. */
  readonly environment: string;
  readonly prefetch: Prefetch | undefined;
  /** Whether the farm may have a result: false only when it did not at the start. */
  mayBeAtFarm(key: ResultKey): boolean;
  /**
   * Until the farm has said at the build's start what is in quarantine, or had its time to: what is here may have to be
   * dropped by then. Undefined once that is known.
   */
  newsOfQuarantine?(): Promise<void> | undefined;
  asked(key: ResultKey, what: Asked): void;
  /** A blob of a result was read by the build, or written. */
  askedBlob(digest: Digest): void;
  made(result: GranaryResult): void;
  /** What making it took, by when the build asked for it in vain: for tools that do not say. To be asked once. */
  tookMs?(key: ResultKey): number | undefined;
  /** Where the build's outputs have it, by the least of its paths: of two results in one place the later is there. */
  knowsPlace?(key: ResultKey, paths: readonly string[]): void;
  /** Who sees the commit in a tool's own requests, where the workspace did not say. */
  toldCommit?(commit: string, dirty: boolean): void;
}

/** The builds of this machine. Whoever serves tools finds theirs here. */
export interface BuildDesk {
  /** By the id that its tools send with their requests; undefined: served without being noted. */
  find(id: string | undefined): Build | undefined;
  /** What requests without an id belong to: the only build under way of that project, if there is exactly one. */
  only(project: string): Build | undefined;
  /** The environment of requests of a project that belong to no known build. */
  environmentOf(project: string): Promise<string>;
}
