import { z } from "zod";
import { Project, RemovedProjects, type RemoveProjects } from "#api/project.ts";
import type { ApiClient } from "./api-client.ts";

export function projectCalls({ get, post }: Pick<ApiClient, "get" | "post">) {
  return {
    projects: () => get(z.array(Project), "/projects"),
    removeProjects: (wanted: RemoveProjects) => post(RemovedProjects, "/projects/remove", wanted),
  };
}
