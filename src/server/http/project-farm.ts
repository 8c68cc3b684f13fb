import type { z } from "zod";
import type { Principal } from "#access/principal.ts";
import type { Project, RemovedProjects, RemoveProjects } from "#api/project.ts";

/** Projects that have blobs of their own. All calls need the right `administer`. */
export interface ProjectFarm {
  projects(by: Principal): Promise<Project[]>;
  removeProjects(wanted: z.output<typeof RemoveProjects>, by: Principal): Promise<RemovedProjects>;
}
