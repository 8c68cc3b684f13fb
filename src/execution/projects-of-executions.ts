import { recentlyUsed } from "#core/recently-used.ts";
import type { Tx } from "#db/db.ts";
import type { ExecutionId } from "./execution.ts";
import type { LeasedExecution } from "./leasing/lease.ts";
import { projectOfExecution } from "./project-of-execution.store.ts";

/**
 * Some hundred bytes each; more than the executions of one server's workers, so that the database is rarely queried.
 */
const mostRemembered = 100_000;

/**
 * Returns the projects of executions, which never change: remembered from their assignment, or read from the database.
 */
export function projectsOfExecutions(db: Tx) {
  const known = recentlyUsed<string>(mostRemembered);
  return {
    handedOut(leased: readonly LeasedExecution[]): void {
      for (const { lease, project } of leased) known.set(lease.executionId, project);
    },
    /** Undefined when the execution no longer exists. */
    async of(id: ExecutionId): Promise<string | undefined> {
      const project = known.peek(id) ?? (await projectOfExecution(db, id));
      if (project !== undefined) known.set(id, project);
      return project;
    },
  };
}
