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
      "Projects with their own blobs, their creators and contents. The server counts every file, so do not call this in a loop.",
    answer: json(z.array(Project)),
  }),
  removeProjects: endpoint({
    method: "POST",
    path: "/projects/remove",
    right: rightOnFarm("administer"),
    summary:
      "Removes the named projects, or all `empty` ones; `withBlobs` also removes blobs of named projects that nobody has requested for about 3 hours. Answers the projects that remain, with reasons.",
    body: RemoveProjects,
    answer: json(RemovedProjects),
  }),
  toolCaches: endpoint({
    method: "GET",
    path: "/caches",
    right: rightOnListed("read"),
    summary:
      "The contents of the caches of build tools, by project and tool, and hits, misses and writes since the server started ([docs/caches.md](caches.md)).",
    answer: json(ToolCaches),
  }),
} as const;
