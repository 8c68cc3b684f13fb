import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type {
  Activate,
  Clone,
  ClonedGraph,
  Customise,
  CustomisedJob,
  Deactivate,
  GraphSet,
  PlannedChange,
  Release,
  ReleasedBreakpoint,
  Retrigger,
  Waive,
} from "#api/rerun.ts";

/** What people do to jobs and edges of graphs. Each answers undefined when there is no such graph. */
export interface RerunFarm {
  retrigger(
    graphId: string,
    request: z.output<typeof Retrigger>,
    by: Principal,
  ): Promise<PlannedChange | undefined>;
  activate(
    graphId: string,
    request: z.output<typeof Activate>,
    by: Principal,
  ): Promise<PlannedChange | undefined>;
  deactivate(
    graphId: string,
    request: z.output<typeof Deactivate>,
    by: Principal,
  ): Promise<PlannedChange | undefined>;
  waive(
    graphId: string,
    request: z.output<typeof Waive>,
    by: Principal,
  ): Promise<PlannedChange | undefined>;
  release(
    graphId: string,
    request: z.output<typeof Release>,
    by: Principal,
  ): Promise<ReleasedBreakpoint | undefined>;
  customise(
    graphId: string,
    request: z.output<typeof Customise>,
    by: Principal,
  ): Promise<CustomisedJob | undefined>;
  clone(
    graphId: string,
    request: z.output<typeof Clone>,
    by: Principal,
  ): Promise<ClonedGraph | undefined>;
  /** The id of a set by its name, or by a graph of it: its id, the beginning of that, or `latest`. */
  findSet(written: string): Promise<string | undefined>;
  /** All graphs of a set. */
  graphSet(setId: string): Promise<GraphSet | undefined>;
}
