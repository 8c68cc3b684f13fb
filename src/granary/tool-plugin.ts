import type { Logger } from "pino";
import type { Service } from "#core/service.ts";
import type { NestedRepository } from "./builds/build-facts.ts";
import type { RunningBuild } from "./builds/start-build.ts";
import type { Repository } from "./protocol/messages.ts";
import type { GranaryStore } from "./store/granary-store.ts";
import type { PlaceBlob } from "./store/link-out.ts";
import type { TieredCache } from "./tiered-cache/tiered-cache.ts";

/** A build tool that sends no requests to a cache, so that the granary serves it by a protocol of the tool's own. */
export interface ToolPlugin {
  /** The tool's name: in the messages that announce a build, and in the configuration. */
  readonly tool: string;
  serve(parts: ToolParts): ToolServer;
}

/** The parts of the granary that each plug-in gets. */
export interface ToolParts {
  readonly store: GranaryStore;
  readonly place: PlaceBlob;
  readonly tieredCache: Pick<TieredCache, "keep" | "forget">;
  /** Starts builds that were not announced. */
  readonly builds: {
    start(of: { readonly directory: string; readonly command: string }): Promise<RunningBuild>;
    end(id: string): Promise<void>;
  };
  /** Reads the state of nested repositories that a tool reports. */
  readNested(repositories: readonly Repository[]): Promise<NestedRepository[]>;
  /** The granary's own directory, with its socket and the files of builds. */
  readonly directory: string;
  readonly logger: Logger;
}

export type Variables = Readonly<Record<string, string | undefined>>;

interface ToolServer extends Service {
  /** Serves the tool in a build that `grange exec` runs. Returns undefined when the tool cannot be served. */
  attach(build: RunningBuild, where: ToolPlace): Promise<ToolAttachment | undefined>;
  /** Serves the tool for all processes with these variables, without an announcement. Returns false when it cannot. */
  stand(variables: Variables): Promise<boolean>;
}

/** Where a tool runs in a build. */
export interface ToolPlace {
  readonly variables: Variables;
  readonly directory: string;
  /** Whether the tool's start may be delayed when that is worthwhile. */
  readonly waits?: boolean;
}

/** A build with a served tool. */
export interface ToolAttachment {
  /** The environment variables that the tool of this build must have. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Resolves when all expected results are where the tool looks for them, or will be there in time, or after `mostMs`
   * ms. While results of other tools are expected, too, it resolves only when all are present.
   */
  prepared?(mostMs: number): Promise<void>;
  /**
   * Called when the build's command has ended: determines what the tool used. The build directory may be removed when
   * this resolves.
   */
  learn(): Promise<ToolUse>;
  /** Called after that, and before its build ends: stores the results that the tool made and used. */
  finish(): Promise<unknown>;
}

/** How many results a tool made in a build, and how many it found. */
interface ToolUse {
  readonly made: number;
  readonly used: number;
}
