import { rightAt, rightOnFarm } from "#core/right.ts";
import { endpoint, json } from "../endpoint.ts";
import { RepositorySettings, SetRepository } from "../repository-settings.ts";

/** Settings of repositories. */
export const repositoryEndpoints = {
  repositorySettings: endpoint({
    method: "GET",
    path: "/repositories/:repository/settings",
    right: rightAt("repository", "read"),
    summary: "Its project, through which its blobs and results are read.",
    answer: json(RepositorySettings),
  }),
  setRepository: endpoint({
    method: "PUT",
    path: "/repositories/:repository/settings",
    right: rightOnFarm("administer"),
    summary:
      "Graphs that were submitted before keep the project that they have. What the body leaves out stays as it is.",
    body: SetRepository,
    answer: json(RepositorySettings),
  }),
} as const;
