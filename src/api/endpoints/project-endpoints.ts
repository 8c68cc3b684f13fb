import { z } from "zod";
import { rightOnFarm, rightOnListed } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import { Project, RemovedProjects, RemoveProjects } from "../project.ts";
import { ToolCaches } from "../tool-cache.ts";

/** Projects, and the contents of build tools' caches in them. */
export const projectEndpoints = {
  projects: endpoint({
    method: "GET",
    path: "/projects",
    right: rightOnFarm("administer"),
    summary:
      "Projects with blobs of their own, who began them and what they hold. Counts every file, so not for a loop.",
    answer: json(z.array(Project)),
  }),
  removeProjects: endpoint({
    method: "POST",
    path: "/projects/remove",
    right: rightOnFarm("administer"),
    summary:
      "Removes the projects that are named, or all `empty` ones; `withBlobs` removes the blobs of named ones that nobody asked for within some 3 hours. Answers which projects stay, and why.",
    body: RemoveProjects,
    answer: json(RemovedProjects),
  }),
  toolCaches: endpoint({
    method: "GET",
    path: "/caches",
    right: rightOnListed("read"),
    summary:
      "What the caches of build tools keep, by project and tool, and hits, misses and writes since the server started ([docs/caches.md](caches.md)).",
    answer: json(ToolCaches),
  }),
} as const;
